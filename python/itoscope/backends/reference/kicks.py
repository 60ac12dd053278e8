r"""Steps of unknown size: a normal law of the state for each mode, weighed by the readings.

Between two samples every mode is predicted once; with each of the sizes :math:`v_k` its covariance is
:math:`\Phi P \Phi^T + v_k Q`. All are given the reading, weigh :math:`w\,\pi_k\,N(r; 0, S)`, and those that lead to
one mode are put together, normal of the mean and covariance that they have (Blom and Bar-Shalom, "The interacting
multiple model algorithm for systems with Markovian switching coefficients", 1988; the modes are those of
`stats.sizes`). What is known of a size goes along with the modes for `LAG` steps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.backends.reference.filter import Update, predict, update
from itoscope.stats.sizes import LAG, Modes, modes_of

if TYPE_CHECKING:
    from itoscope.backends.records import StateSpace
    from itoscope.common.types import Array

__all__ = ["Weighed", "sizes_believed", "weighed"]

LEAST = 1e-300
"""Smallest probability of a tail that has a normal score."""
TURNS = 8
"""Newton steps to a normal score."""
_erfc = np.vectorize(math.erfc, otypes=[float])


class Weighed(NamedTuple):
    """What the readings of `p` paths of `T` samples tell of the sizes of steps.

    Attributes
    ----------
    gained : (p, T) array
        Log density of each sample given those before.
    scores : (p, T, q) array
        Normal scores of the readings given those before, NaN where missing and at the first sample.
    believed : (p, T, 2) array
        Of the step to each sample its mean size, and the probability of a jump.
    """

    gained: Array
    scores: Array
    believed: Array

    @property
    def total(self) -> Array:
        """Log-likelihoods `(p,)`; minus infinity where the filter left the finite range."""
        total = self.gained.sum(axis=1)
        return np.where(np.isfinite(total), total, -np.inf)


def sizes_believed(model: StateSpace, y: Array, steps: Array) -> tuple[Array | None, Array | None]:
    """The size that each step is given `(p, T)` and the log-likelihoods `(p,)`; None where steps are normal."""
    if not model.kicks:
        return None, None
    found = weighed(model, y, steps)
    return found.believed[:, :, 0], found.total


def weighed(model: StateSpace, y: Array, steps: Array) -> Weighed:
    """Follow a block of paths of equal length by a law for each mode."""
    modes, plain, q = modes_of(model.kicks), replace(model, kicks=()), len(model.observation)
    p, length, _ = y.shape
    h, k = modes.after.shape
    lanes = _Lanes(plain, modes, p)
    gained, scores = np.zeros((p, length)), np.full((p, length, q), np.nan)
    believed = np.ones((p, length, 2)) * [1.0, 0.0]
    for n in range(length):
        spread = lanes.advance(steps[:, n - 1]) if n else np.zeros_like(lanes.cov)
        mean = np.repeat(lanes.mean, k, axis=0)
        cov = (lanes.cov[:, None] + (modes.variances - 1.0)[:, None, None] * spread[:, None]).reshape(
            -1, *lanes.cov.shape[1:]
        )
        log_weight = lanes.log_weight[:, :, None] + modes.shares
        given = list(model.given)
        if given:
            mean[:, given] = np.repeat(y[:, n, q : q + len(given)], h * k, axis=0)
            cov[:, given] = cov[:, :, given] = 0.0
        seen, mean, cov, density = update(plain, n, np.repeat(y[:, n], h * k, axis=0), mean, cov)
        if n:
            scores[:, n] = _scores(seen, log_weight.reshape(p, h * k))
        # a wide law that has left the range of the model's terms is no rival of the others
        there = ~np.isneginf(log_weight) & np.isfinite(density.reshape(p, h, k))
        joint = np.where(there, log_weight + density.reshape(p, h, k), -np.inf).reshape(p, h * k)
        most = joint.max(axis=1, keepdims=True)
        gained[:, n] = (most + np.log(np.exp(joint - most).sum(axis=1, keepdims=True)))[:, 0]
        weight = np.exp(joint - gained[:, n, None])
        lanes.collapse(weight, mean.reshape(p, h * k, -1), cov.reshape(p, h * k, *cov.shape[1:]), n > 0)
        if n >= LAG - 1:
            believed[:, n - LAG + 1] = lanes.told(LAG - 1)
    for lag in range(min(LAG - 1, length)):
        believed[:, length - 1 - lag] = lanes.told(lag)
    believed[:, 0] = [1.0, 0.0]
    return Weighed(gained, scores, believed)


class _Lanes:
    """Mean `(p h, m)`, covariance `(p h, m, m)` and log weight `(p, h)` of each mode, and what it knows."""

    def __init__(self, model: StateSpace, modes: Modes, p: int) -> None:
        self.model, self.modes, self.p, self.h = model, modes, p, len(modes.after)
        self.mean = np.tile(model.mean0, (p * self.h, 1))
        self.cov = np.tile(model.cov0, (p * self.h, 1, 1))
        self.log_weight = np.full((p, self.h), -np.inf)
        self.log_weight[:, 0] = 0.0
        self.known = np.tile([1.0, 0.0], (p, self.h, LAG, 1))

    def advance(self, gap: Array) -> Array:
        """A step of each mode with noise of size one; the covariance that it added `(p h, m, m)`."""
        pieces = np.maximum(1, np.ceil(gap / self.model.max_step - 1e-9))
        spread = np.zeros_like(self.cov)
        for piece in range(int(pieces.max())):
            each = np.repeat(np.where(piece < pieces, gap / pieces, 0.0), self.h)[:, None, None]
            step, self.mean, self.cov = predict(self.model, self.mean, self.cov, each, np.ones_like(each))
            spread = step.phi @ spread @ np.swapaxes(step.phi, 1, 2) + step.spread
        return spread

    def collapse(self, weight: Array, mean: Array, cov: Array, stepped: bool) -> None:
        """Put those together that lead to one mode; a mode that nothing leads to is where all of them are."""
        p, h, k = self.p, self.h, self.modes.after.shape[1]
        after = self.modes.after.reshape(-1) if stepped else np.repeat(np.arange(h), k)
        onto = (after == np.arange(h)[:, None]).astype(float)
        own = weight[:, None, :] * onto
        total = own.sum(axis=2)
        share = np.where(total[:, :, None] > 0.0, own, weight[:, None, :])
        share = share / share.sum(axis=2, keepdims=True)
        there = np.where(weight[:, :, None] > 0.0, mean, 0.0)
        middle = share @ there
        apart = there[:, None] - middle[:, :, None]
        spread = np.where(weight[:, :, None, None] > 0.0, cov, 0.0)
        self.mean = middle.reshape(p * h, -1)
        within = np.einsum("phc,pcij->phij", share, spread)
        between = np.einsum("phc,phci,phcj->phij", share, apart, apart)
        self.cov = (within + between).reshape(p * h, *cov.shape[2:])
        self.log_weight = np.log(total)
        if not stepped:
            return
        fresh = np.stack([self.modes.variances, self.modes.wide], axis=1)
        before = np.repeat(self.known[:, :, :-1], k, axis=1)
        known = np.concatenate([np.tile(fresh, (p, h, 1))[:, :, None], before], axis=2)
        self.known = np.einsum("phc,pcla->phla", share, known)

    def told(self, lag: int) -> Array:
        """What all modes know of the step so many samples before `(p, 2)`."""
        found: Array = np.einsum("ph,pha->pa", np.exp(self.log_weight), self.known[:, :, lag])
        return found


def _scores(seen: Update, log_weight: Array) -> Array:
    """Normal scores of the channels `(p, q)`, each given those before it, under a sum of laws."""
    p, c = log_weight.shape
    q = seen.r.shape[1]
    white = np.linalg.solve(seen.factor, seen.r[:, :, None])[:, :, 0].reshape(p, c, q)
    size = np.log(np.einsum("pii->pi", seen.factor)).reshape(p, c, q)
    there = seen.seen.reshape(p, c, q)[:, 0]
    log_weight, out = log_weight.copy(), np.full((p, q), np.nan)
    for a in range(q):
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        upper, lower = (
            (weight * 0.5 * _erfc(sign * white[:, :, a] / math.sqrt(2.0))).sum(axis=1) for sign in (1, -1)
        )
        tail = np.minimum(upper, lower)
        out[:, a] = np.where(there[:, a], np.where(upper < lower, 1.0, -1.0) * _beyond(tail), np.nan)
        log_weight += np.where(there[:, a, None], -0.5 * white[:, :, a] ** 2 - size[:, :, a], 0.0)
    return out


def _beyond(tail: Array) -> Array:
    """The number beyond which a normal law has a probability of at most a half."""
    tail = np.clip(tail, LEAST, 0.5)
    t = np.sqrt(-2.0 * np.log(tail))
    z = t - (2.515517 + t * (0.802853 + 0.010328 * t)) / (
        1.0 + t * (1.432788 + t * (0.189269 + 0.001308 * t))
    )
    for _ in range(TURNS):
        mass = 0.5 * _erfc(z / math.sqrt(2.0))
        z = z + mass * np.log(mass / tail) * math.sqrt(2.0 * math.pi) * np.exp(0.5 * z**2)
    return np.asarray(z)
