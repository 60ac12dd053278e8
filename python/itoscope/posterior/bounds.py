"""Coefficients between bounds: how much of a normal law lies there, its mean and covariance there, draws from there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array, Bools, Integers

__all__ = ["CONTRADICTED", "log_share", "resampled", "truncated", "weights"]

CONTRADICTED = 0.01
"""Share of a term's law within its bounds under which the data contradict them: the term goes, or lies at a bound."""
FAR = 8.0
"""Standard deviations outside of a bound from which the tail is taken to be exponential."""


def weights(samples: Array, included: Bools, limits: Array) -> Array:
    """How much each draw `(..., K)` of a posterior without bounds counts in the one with them.

    Zero for one that breaks a bound. The prior within the bounds has its whole mass there: a draw counts twice for each
    coefficient of one sign alone that it has.
    """
    inside = np.all(~included | ((samples >= limits[:, 0]) & (samples <= limits[:, 1])), axis=-1)
    signed = np.count_nonzero(included & one_signed(limits), axis=-1)
    out: Array = np.where(inside, 2.0**signed, 0.0)
    return out


def one_signed(limits: Array) -> Bools:
    """Which bounds leave one sign alone `(K,)`."""
    out: Bools = (limits[:, 0] >= 0.0) | (limits[:, 1] <= 0.0)
    return out


def resampled(weight: Array, seed: int) -> Integers:
    """Places `(chain, draw)` among all draws, as often as their weight says; of their own chain where that has some."""
    rng = np.random.default_rng([seed, weight.size])
    n = weight.shape[1]
    out = np.zeros(weight.shape, dtype=int)
    for chain, own in enumerate(weight):
        first, among = (chain * n, own) if own.sum() > 0 else (0, weight.ravel())
        edges = np.cumsum(among) / among.sum()
        places = np.searchsorted(edges, (np.arange(n) + rng.random()) / n, side="right")
        out[chain] = rng.permutation(first + np.minimum(places, len(among) - 1))
    return out


def log_share(mean: Array, cov: Array, limits: Array) -> float:
    """Log of the mass that a normal law has within bounds, over that of the prior: one coefficient at a time.

    Exact where one coefficient has bounds, or their estimates are independent.
    """
    total = math.log(2.0) * float(np.count_nonzero(one_signed(limits)))
    for k in np.flatnonzero(np.isfinite(limits).any(axis=1)).tolist():
        total += _moments(float(mean[k]), math.sqrt(max(float(cov[k, k]), 0.0)), *limits[k].tolist())[0]
    return total


def truncated(mean: Array, cov: Array, limits: Array) -> tuple[Array, Array]:
    """Mean and covariance of a normal law within bounds, brought there one coefficient after the other.

    A coefficient of infinite variance, of which nothing is known, stays where it is, or goes to the bound.
    """
    mean, cov = np.array(mean), np.array(cov)
    for k in np.flatnonzero(np.isfinite(limits).any(axis=1)).tolist():
        var = float(cov[k, k])
        log_mass, centre, spread = _moments(float(mean[k]), math.sqrt(max(var, 0.0)), *limits[k].tolist())
        if not 0.0 < var < math.inf:
            mean[k] = min(max(float(mean[k]), limits[k, 0]), limits[k, 1])
        elif log_mass < 0.0:
            slope = np.where(np.isfinite(cov[:, k]), cov[:, k], 0.0) / var
            mean += slope * (centre - mean[k])
            cov -= np.outer(slope, slope) * (var - spread**2)
    return mean, 0.5 * (cov + cov.T)


def _moments(mean: float, sd: float, low: float, high: float) -> tuple[float, float, float]:
    """Log mass, mean and standard deviation of a normal law between two bounds; of an endless one, as of the prior."""
    if sd == math.inf:
        return (math.log(0.5) if low >= 0.0 or high <= 0.0 else 0.0), min(max(mean, low), high), sd
    if not sd > 0.0:
        return (0.0 if low <= mean <= high else -math.inf), mean, 0.0
    a, b = (low - mean) / sd, (high - mean) / sd
    if a > FAR or b < -FAR:
        near, sign = (a, 1.0) if a > FAR else (-b, -1.0)
        bound = low if a > FAR else high
        log_mass = -0.5 * near**2 - math.log(near * math.sqrt(2.0 * math.pi))
        step = min(sd / near, 0.5 * (high - low))
        return log_mass, bound + sign * step, step
    mass = 0.5 * (math.erfc(a / math.sqrt(2.0)) - math.erfc(b / math.sqrt(2.0)))
    if a > 0.0 or b < 0.0:  # the difference of the two small tails
        c, d = (a, b) if a > 0.0 else (-b, -a)
        mass = 0.5 * (math.erfc(c / math.sqrt(2.0)) - math.erfc(d / math.sqrt(2.0)))
    if not mass > 0.0:
        return -math.inf, min(max(mean, low), high), 0.0
    first, second = _density(a), _density(b)
    shift = (first - second) / mass
    turn = ((a * first if math.isfinite(a) else 0.0) - (b * second if math.isfinite(b) else 0.0)) / mass
    return math.log(mass), mean + sd * shift, sd * math.sqrt(max(1.0 + turn - shift**2, 0.0))


def _density(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) if math.isfinite(z) else 0.0
