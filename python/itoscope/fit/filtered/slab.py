"""What a set of terms costs: the slab of its coefficients in units of information, the prior of the set itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from itoscope.stats.correlation import correlation_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Sizes", "log_sets", "log_slab", "sizes_of"]

LOG_V = np.linspace(math.log(1e-8), math.log(1e12), 101)
"""Grid of the slab variance's logarithm: the integrand is smooth and a unit or more wide on it."""
V = np.exp(LOG_V)
PART = 20_000
"""Samples from which the sizes of the terms are taken."""


@dataclass(frozen=True)
class Sizes:
    """The size of a coefficient for which the slab variance is 1: of the drift `(m, K)`, of Gamma `(n_pairs, K)`.

    Of the drift, `sqrt(Gamma_ii / tau_i) / rms_k`: a drift that moves the state by its own noise in the time
    `tau_i = min(2 Var(x_i) / Gamma_ii, T)` in which that noise covers the spread of the state; of a row without noise,
    the root mean square of its rate over `rms_k`. Of Gamma,
    `sqrt(Gamma_ii Gamma_jj + Gamma_ij^2) / rms_k`. Means and root mean squares are along the smoothed states. Not
    finite for a term that is zero or overflows there. `means` `(K,)` are those of the terms. With the slab of a prior
    whose `slab_unit` is a sample, `tau_i` is the step. `scales` `(m,)` are a step over `tau_i`.
    """

    drift: Array
    gamma: Array
    means: Array
    scales: Array


def sizes_of(recording: Recording, model: Model, prior: Prior) -> Sizes:
    """The sizes along the states that a model sees behind a recording."""
    among, part = recording.candidates, recording.part(PART)
    means, covs = part.smooth(model)
    states = np.ascontiguousarray(np.concatenate(means))
    with np.errstate(all="ignore"):
        good = np.isfinite(states).all(axis=1)
        states = states[good] if good.any() else np.ascontiguousarray(model.mean0[None])
        program = part.stages.compile(list(among.expressions[: among.n_terms]), list(among.states))
        values = program.evaluate(states)
        rms = np.sqrt(np.mean(values**2, axis=0))
        rms = np.where(rms > 0.0, rms, np.nan)
        left = np.concatenate([np.einsum("nii->ni", c) for c in covs])
        spread = states.var(axis=0) + np.nan_to_num(left).mean(axis=0)
        mean_gamma = np.mean(values @ model.gamma.T, axis=0)
        covariance = _matrix(among.pairs, mean_gamma, len(among.states))
        own = np.maximum(np.diag(covariance), np.finfo(float).tiny)
        step = max(_usual_step(recording), np.finfo(float).tiny)
        if prior.slab_unit == "sample":
            tau = np.full(len(own), step)
        else:
            longest = max(_duration(t, len(y)) for y, t in zip(recording.paths, recording.times))
            tau = np.array([correlation_time(v, g, longest) for v, g in zip(spread.tolist(), own.tolist())])
        power = own / np.maximum(tau, np.finfo(float).tiny)
        silent = list(among.silent)
        power[silent] = _square_rates(part, means)[silent]
        drift = np.sqrt(power)[:, None] / rms
        joint = [math.sqrt(own[i] * own[j] + covariance[i, j] ** 2) for i, j in among.pairs]
        gamma = np.array(joint).reshape(-1, 1) / rms
    return Sizes(drift, gamma, values.mean(axis=0), step / np.maximum(tau, np.finfo(float).tiny))


def _matrix(pairs: tuple[tuple[int, int], ...], values: Array, m: int) -> Array:
    out = np.zeros((m, m))
    for (i, j), value in zip(pairs, values):
        out[i, j] = out[j, i] = value
    return out


def _square_rates(recording: Recording, states: Sequence[Array]) -> Array:
    """Mean square `(m,)` of the rate between samples of the states."""
    rates = []
    for x, t in zip(states, recording.times):
        gaps = np.full(max(len(x) - 1, 0), float(t)) if np.ndim(t) == 0 else np.diff(np.asarray(t))
        rates.append(np.diff(x, axis=0) / gaps[:, None])
    squares = np.concatenate(rates) ** 2
    counts = np.isfinite(squares).sum(axis=0)
    out: Array = np.where(counts > 0, np.nansum(squares, axis=0) / np.maximum(counts, 1), np.nan)
    return out


def _usual_step(recording: Recording) -> float:
    if recording.looked is not None:
        return recording.looked.mean
    spans = [_duration(t, len(y)) for y, t in zip(recording.paths, recording.times)]
    return sum(spans) / max(sum(len(y) - 1 for y in recording.paths), 1)


def _duration(times: float | Array, n: int) -> float:
    return float(times) * (n - 1) if np.ndim(times) == 0 else float(np.ptp(np.asarray(times)))


def log_slab(theta: Array, information: Array, prior: Prior) -> Array:
    """Log of what the slab leaves of the likelihood's maximum, for coefficients in units of their sizes.

    ``log int dv IG(v; a_v, b_v) prod_j (1 + v e_j)^(-1/2) exp(-z_j^2 e_j / (1 + v e_j) / 2)``

    with the eigenvalues `e` of the information and `z` the coefficients along its eigenvectors: the integral of the
    likelihood, a normal law around its maximum, over the slab `N(0, v I)`.

    Parameters
    ----------
    theta : (..., r) array
    information : (..., r, r) array
    prior : Prior

    Returns
    -------
    (...) array
    """
    eigenvalues, vectors = np.linalg.eigh(information)
    e = np.maximum(eigenvalues, 0.0)[..., None, :]
    squares = (theta[..., None, :] @ vectors) ** 2
    grown = 1.0 + V[:, None] * e
    left = -0.5 * np.sum(np.log(grown) + squares * e / grown, axis=-1)
    weight, total = _weights(prior.a_v, prior.b_v)
    return _log_sum(weight + left) - total


@cache
def _weights(a_v: float, b_v: float) -> tuple[Array, Array]:
    """Log density of the slab's variance on the grid, up to a constant, and the logarithm of its sum."""
    weight = -a_v * LOG_V - b_v / V
    return weight, _log_sum(weight)


def _log_sum(values: Array) -> Array:
    """Logarithm of the sum of exponentials along the last axis."""
    top = np.max(values, axis=-1)
    out: Array = top + np.log(np.sum(np.exp(values - top[..., None]), axis=-1))
    return out


@cache
def log_sets(count: int, candidates: int, prior: Prior) -> float:
    """Log prior of one set of `count` terms among the `candidates` of an equation, the rate of inclusion integrated.

    Where the prior says how probable the empty set is, the others share the rest in these proportions.
    """
    a, b = prior.a_p, prior.b_p

    def free(count: int) -> float:
        return (
            math.lgamma(a + count) + math.lgamma(b + candidates - count) - math.lgamma(a + b + candidates)
            - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)
        )  # fmt: skip

    if prior.empty is None or not candidates:
        return free(count)
    if count == 0:
        return math.log(prior.empty)
    return free(count) + math.log1p(-prior.empty) - math.log(-math.expm1(prior.log_none(candidates)))
