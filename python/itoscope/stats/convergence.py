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

TOGETHER = 2**18
"""Draws that are looked at together."""


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

    def of_columns(x: Array) -> Array:
        split = _split(x)
        folded = np.abs(split - np.median(split, axis=(1, 2), keepdims=True))
        return np.maximum(_rhat(_rank_normalise(split)), _rhat(_rank_normalise(folded)))

    return _by_columns(draws, of_columns, constant=1.0)


def ess_bulk(draws: Array) -> Array:
    """Return the effective sample size of the rank-normalised draws."""
    return _by_columns(draws, lambda x: _ess(_rank_normalise(_split(x))), constant=float(_count(draws)))


def ess_tail(draws: Array) -> Array:
    """Return the smaller of the effective sample sizes of the 5 % and the 95 % quantile."""

    def of_columns(x: Array) -> Array:
        low, high = np.quantile(x, [0.05, 0.95], axis=(1, 2), keepdims=True)
        return np.minimum(*(_ess(_split((x <= quantile).astype(float))) for quantile in (low, high)))

    return _by_columns(draws, of_columns, constant=float(_count(draws)))


def ess_mean(draws: Array) -> Array:
    """Return the effective sample size for the mean."""
    return _by_columns(draws, lambda x: _ess(_split(x)), constant=float(_count(draws)))


def mcse_mean(draws: Array) -> Array:
    """Return the Monte Carlo standard error of the mean, ``sd / sqrt(ess_mean)``."""
    draws = np.asarray(draws, dtype=float)
    sd: Array = draws.std(axis=(0, 1), ddof=1) if _count(draws) > 1 else np.full(draws.shape[2:], np.nan)
    return np.asarray(sd / np.sqrt(ess_mean(draws)))


def _count(draws: Array) -> int:
    return int(draws.shape[0] * draws.shape[1])


def _by_columns(draws: Array, function: Callable[[Array], Array], constant: float) -> Array:
    """Apply `function` to columns ``(k, chain, draw)``, some at a time; NaN for fewer than four draws."""
    draws = np.asarray(draws, dtype=float)
    flat = draws.reshape(*draws.shape[:2], -1)
    out = np.full(flat.shape[2], np.nan)
    if draws.shape[1] >= 4:
        moving = np.flatnonzero(np.ptp(flat, axis=(0, 1)) != 0)
        out[:] = constant
        some = max(1, TOGETHER // _count(draws))
        for start in range(0, len(moving), some):
            chosen = moving[start : start + some]
            out[chosen] = function(np.ascontiguousarray(np.moveaxis(flat[:, :, chosen], 2, 0)))
    return out.reshape(draws.shape[2:])


def _split(x: Array) -> Array:
    """Return each chain as two: its first and its last half (an odd middle draw is left out)."""
    half = x.shape[-1] // 2
    return np.concatenate([x[..., :half], x[..., -half:]], axis=1)


def _rank_normalise(x: Array) -> Array:
    """Return normal scores of the ranks over all chains of each column, ties sharing their mean rank."""
    scores = np.empty_like(x)
    for k, column in enumerate(x):
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        twice_rank = 2 * np.cumsum(counts) - counts + 1
        scores[k] = _scores(column.size)[twice_rank[inverse.reshape(column.shape)]]
    return scores


@lru_cache(maxsize=8)
def _scores(size: int) -> Array:
    """Return the normal score ``Phi^-1((rank - 3/8) / (size + 1/4))``, indexed by twice the rank."""
    from statistics import NormalDist  # brings decimals and fractions along, which an import can do without

    quantile = NormalDist().inv_cdf
    scores = np.zeros(2 * size + 1)
    scores[2:] = [quantile((rank / 2 - 0.375) / (size + 0.25)) for rank in range(2, 2 * size + 1)]
    return scores


def _rhat(x: Array) -> Array:
    """Return the classical R-hat of columns ``(k, chain, draw)`` whose chains are split already."""
    n = x.shape[-1]
    within = x.var(axis=2, ddof=1).mean(axis=1)
    between = n * x.mean(axis=2).var(axis=1, ddof=1)
    with np.errstate(all="ignore"):
        found = np.sqrt((between / within + n - 1) / n)
    return np.where(within == 0, np.where(between == 0, 1.0, np.inf), found)


def _autocovariance(x: Array) -> Array:
    """Return the mean over the chains of their autocovariance at all lags ``(k, n)``, by the fast Fourier transform."""
    n = x.shape[-1]
    size = 1 << (2 * n - 1).bit_length()
    transform = np.fft.rfft(x - x.mean(axis=-1, keepdims=True), size, axis=-1)
    power = (transform.real**2 + transform.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, size, axis=-1)[:, :n] / n)


def _ess(x: Array) -> Array:
    """Return the effective sample size of columns ``(k, chain, draw)`` by Geyer's initial monotone sequence."""
    _, n_chains, n = x.shape
    count = n_chains * n
    out = np.full(len(x), float(count))
    moving = np.flatnonzero(np.ptp(x, axis=(1, 2)) != 0)
    if not len(moving):
        return out
    x = x[moving]
    covariance = _autocovariance(x)
    variance = covariance[:, :1] * n / (n - 1)
    total = variance * (n - 1) / n
    if n_chains > 1:
        total = total + x.mean(axis=2).var(axis=1, ddof=1)[:, None]
    rho = 1 - (variance - covariance) / total
    rho[:, 0] = 1.0
    # Sums of neighbouring pairs are positive and falling for a reversible chain: cut where they are not.
    even, odd = rho[:, 0:-1:2], rho[:, 1::2]
    pairs = even[:, : odd.shape[1]] + odd
    last = max(1, (n - 3) // 2)
    falling = np.minimum.accumulate(pairs[:, :last], axis=1)
    negative = pairs[:, 1:last] <= 0
    stop = np.where(negative.any(axis=1), 1 + negative.argmax(axis=1) if last > 1 else last, last)
    tau = -1.0 + 2.0 * np.where(np.arange(last) < stop[:, None], falling, 0.0).sum(axis=1)
    # The even lag after the cut still counts if it is positive.
    after = np.maximum(rho[np.arange(len(x)), np.minimum(2 * stop, n - 1)], 0.0)
    tau += np.where(2 * stop < n, after, 0.0)
    out[moving] = count / np.maximum(tau, 1 / np.log10(count))
    return out
