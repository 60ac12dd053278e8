"""Have the chains converged: rank-normalised split R-hat, effective sample sizes, Monte Carlo errors.

Definitions of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
localization", as ArviZ computes them. All functions take draws ``(chain, draw, ...)`` and return ``(...)``.
A quantity that never changes has R-hat 1, as many effective draws as draws, and no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.common.types import Array

__all__ = ["Convergence", "convergence", "ess_bulk", "ess_mean", "ess_tail", "mcse_mean", "rhat"]


@dataclass(frozen=True)
class Convergence:
    """Convergence of one quantity per term: `mcse`, `rhat`, `ess_bulk`, `ess_tail`, each ``(K,)``."""

    mcse: Array
    rhat: Array
    ess_bulk: Array
    ess_tail: Array


def convergence(draws: Array) -> Convergence:
    """Return all measures of draws ``(chain, draw, K)``."""
    return Convergence(mcse_mean(draws), rhat(draws), ess_bulk(draws), ess_tail(draws))


def rhat(draws: Array) -> Array:
    """Return the rank-normalised split R-hat: the larger of that of the draws and of the folded draws."""

    def of_column(x: Array) -> float:
        split = _split(x)
        folded = np.abs(split - np.median(split))
        return max(_rhat(_rank_normalise(split)), _rhat(_rank_normalise(folded)))

    return _per_column(draws, of_column, constant=1.0)


def ess_bulk(draws: Array) -> Array:
    """Return the effective sample size of the rank-normalised draws."""
    return _per_column(draws, lambda x: _ess(_rank_normalise(_split(x))), constant=float(_count(draws)))


def ess_tail(draws: Array) -> Array:
    """Return the smaller of the effective sample sizes of the 5 % and the 95 % quantile."""

    def of_column(x: Array) -> float:
        quantiles = np.quantile(x, [0.05, 0.95])
        return min(_ess(_split((x <= quantile).astype(float))) for quantile in quantiles)

    return _per_column(draws, of_column, constant=float(_count(draws)))


def ess_mean(draws: Array) -> Array:
    """Return the effective sample size for the mean."""
    return _per_column(draws, lambda x: _ess(_split(x)), constant=float(_count(draws)))


def mcse_mean(draws: Array) -> Array:
    """Return the Monte Carlo standard error of the mean, ``sd / sqrt(ess_mean)``."""
    draws = np.asarray(draws, dtype=float)
    sd: Array = draws.std(axis=(0, 1), ddof=1) if _count(draws) > 1 else np.full(draws.shape[2:], np.nan)
    return np.asarray(sd / np.sqrt(ess_mean(draws)))


def _count(draws: Array) -> int:
    return int(draws.shape[0] * draws.shape[1])


def _per_column(draws: Array, function: Callable[[Array], float], constant: float) -> Array:
    """Apply `function` to each ``(chain, draw)`` slice; NaN for fewer than four draws."""
    draws = np.asarray(draws, dtype=float)
    flat = draws.reshape(*draws.shape[:2], -1)
    out = np.full(flat.shape[2], np.nan)
    if draws.shape[1] >= 4:
        for k in range(flat.shape[2]):
            x = np.ascontiguousarray(flat[:, :, k])
            out[k] = constant if np.ptp(x) == 0 else function(x)
    return out.reshape(draws.shape[2:])


def _split(x: Array) -> Array:
    """Return each chain as two: its first and its last half (an odd middle draw is left out)."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _rank_normalise(x: Array) -> Array:
    """Return normal scores of the ranks over all chains, ties sharing their mean rank."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    twice_rank = 2 * np.cumsum(counts) - counts + 1
    scores: Array = _scores(x.size)[twice_rank[inverse.reshape(x.shape)]]
    return scores


@lru_cache(maxsize=8)
def _scores(size: int) -> Array:
    """Return the normal score ``Phi^-1((rank - 3/8) / (size + 1/4))``, indexed by twice the rank."""
    from statistics import NormalDist  # brings decimals and fractions along, which an import can do without

    quantile = NormalDist().inv_cdf
    scores = np.zeros(2 * size + 1)
    scores[2:] = [quantile((rank / 2 - 0.375) / (size + 0.25)) for rank in range(2, 2 * size + 1)]
    return scores


def _rhat(x: Array) -> float:
    """Return the classical R-hat of chains that are split already."""
    n = x.shape[1]
    within = x.var(axis=1, ddof=1).mean()
    between = n * x.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else np.inf
    return float(np.sqrt((between / within + n - 1) / n))


def _autocovariance(x: Array) -> Array:
    """Return the autocovariance of each row at all lags, by the fast Fourier transform."""
    n = x.shape[1]
    size = 1 << (2 * n - 1).bit_length()
    transform = np.fft.rfft(x - x.mean(axis=1, keepdims=True), size, axis=1)
    return np.asarray(np.fft.irfft(np.abs(transform) ** 2, size, axis=1)[:, :n] / n)


def _ess(x: Array) -> float:
    """Return the effective sample size by Geyer's initial monotone sequence."""
    n_chains, n = x.shape
    if np.ptp(x) == 0:
        return float(x.size)
    covariance = _autocovariance(x)
    variance = covariance[:, 0].mean() * n / (n - 1)
    total = variance * (n - 1) / n
    if n_chains > 1:
        total += x.mean(axis=1).var(ddof=1)
    rho = 1 - (variance - covariance.mean(axis=0)) / total
    rho[0] = 1.0
    # Sums of neighbouring pairs are positive and falling for a reversible chain: cut where they are not.
    even, odd = rho[0:-1:2], rho[1::2]
    pairs = even[: odd.size] + odd
    last = max(1, (n - 3) // 2)
    negative = pairs[1:last] <= 0
    stop = 1 + int(np.argmax(negative)) if negative.any() else last
    tau = -1.0 + 2.0 * np.minimum.accumulate(pairs[:stop]).sum()
    # The even lag after the cut still counts if it is positive.
    tau += max(rho[2 * stop], 0.0) if 2 * stop < n else 0.0
    tau = max(tau, 1 / np.log10(x.size))
    return float(x.size / tau)
