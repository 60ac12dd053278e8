"""Squared increments of motion that is fast beside its samples: noise, diffusion and smooth motion in few lags."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Increments", "Motion", "increments", "motion_of"]

BLOCKS = 24
"""Stretches of the recording, each of which is left out once for the errors."""
LONGEST, FEWEST = 60, 12
"""Lags in samples that are looked at, and the fewest that tell five numbers."""
LEVEL, SPAN = 0.9, 4
"""Share of their plateau up to which increments grow at first, and lags that are fitted in units of that."""
DECAYS, FREQUENCIES = 24, 40
"""Rates of decay and frequencies that are tried."""
SLOWEST, FASTEST = 2e-3, 1.5
"""The smallest rate of decay by sample that is tried, and the largest: what forgets faster is gone at the first lag."""
TINY = 1e-11
"""Share of its trace that is added to a matrix of three shapes, which are alike where nothing decays or rings."""
ROUNDS, HALVINGS, SETTLED = 60, 12, 0.999
"""Steps of the fit at most, halvings of each, and the share of what was left from which it has settled."""
TOLD = 1e-4
"""Share of the best known direction of the five numbers below which one is not told by the lags."""


class Increments(NamedTuple):
    """Sums of squared increments `(B, K)` over lags 1 to K of stretches, and their numbers."""

    sums: Array
    counts: Array

    @property
    def mean(self) -> Array:
        """Of all stretches `(K,)`."""
        return np.asarray(self.sums.sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1.0))

    @property
    def without(self) -> Array:
        """The same with each stretch left out `(B, K)`."""
        sums = self.sums.sum(axis=0) - self.sums
        return np.asarray(sums / np.maximum(self.counts.sum(axis=0) - self.counts, 1.0))


class Motion(NamedTuple):
    r"""Mean squared increments near lag zero, :math:`2 s^2 + D k + b k^2`, in units of one sample.

    `noise` is :math:`s`; `diffusive` is D and `ballistic` is b; `share` is that of the diffusion in the increment of
    the motion over `lag` samples, with its standard `error`.
    """

    noise: float
    diffusive: float
    ballistic: float
    share: float
    error: float


def increments(series: Sequence[Array], longest: int) -> Increments:
    """Of columns `(n_i,)` with even steps, NaN where a sample is missing."""
    total = sum(len(x) for x in series)
    size = max(-(-total // BLOCKS), 2 * longest)
    stretches = [x[a : a + size + longest] for x in series for a in range(0, max(len(x) - longest, 1), size)]
    groups = np.arange(len(stretches)) * BLOCKS // max(len(stretches), BLOCKS)
    sums, counts = np.zeros((2, int(groups[-1]) + 1, longest))
    for x, group in zip(stretches, groups):
        for lag in range(1, min(longest, len(x) - 1) + 1):
            squares = (x[lag:] - x[:-lag])[:size] ** 2
            there = np.isfinite(squares)
            sums[group, lag - 1] += squares[there].sum()
            counts[group, lag - 1] += np.count_nonzero(there)
    return Increments(sums, counts)


def motion_of(found: Increments, lag: float) -> Motion | None:
    r"""Fit :math:`g_k = a - e^{-\alpha k} (A \cos \omega k + B \sin \omega k / \omega)` to the first lags.

    Then :math:`2 s^2 = a - A`, :math:`D = \alpha A - B`, :math:`b = (\alpha^2 + \omega^2) A / 2 - \alpha D`: a position
    whose velocity is driven by noise has D = 0 however fast it rings, a state driven by noise has it. For given decay
    and frequency that is linear; they are searched on a grid. None where there are too few lags or stretches.

    Parameters
    ----------
    found : Increments
    lag : float
        Lag at which diffusion and smooth motion are compared.
    """
    many = found.counts.sum(axis=0)
    known = int(np.count_nonzero(many > many[0] / 4)) if len(many) else 0
    mean = found.mean[:known]
    if known < FEWEST or len(found.sums) < BLOCKS // 2 or not mean.min() > 0:
        return None
    grown = int(np.argmax(mean >= LEVEL * mean[known // 2 :].mean())) + 1
    lags = int(np.clip(SPAN * grown, FEWEST, known))
    whole, others = _settled(mean[:lags], found.without[:, :lags])
    diffusive, ballistic = _near_zero(whole)
    share = _share(whole, lag)
    shares = np.array([_share(other, lag) for other in others])
    error = float(np.sqrt((len(shares) - 1) * np.mean((shares - shares.mean()) ** 2)))
    noise = float(np.sqrt(max(whole[0] - whole[1], 0.0) / 2))
    return Motion(noise, diffusive, ballistic, share, error)


def _near_zero(p: Array) -> tuple[float, float]:
    """Slope and curvature of the increments at lag zero, not below zero."""
    _, cosine, sine, alpha, omega = p
    diffusive = max(float(alpha * cosine - sine), 0.0)
    return diffusive, max(float((alpha**2 + omega**2) * cosine / 2 - alpha * diffusive), 0.0)


def _share(p: Array, lag: float) -> float:
    diffusive, ballistic = _near_zero(p)
    return diffusive * lag / max(diffusive * lag + ballistic * lag**2, 1e-300)


def _settled(mean: Array, others: Array) -> tuple[Array, list[Array]]:
    """The five numbers that fit best, and those that fit other means as near to these as they are."""
    k, weight = np.arange(1.0, len(mean) + 1), 1.0 / mean
    p = _started(mean, weight)
    left = float(np.sum((weight * (mean - _curve(p, k)[0])) ** 2))
    for _ in range(ROUNDS):
        curve, slopes = _curve(p, k)
        step = _step(slopes * weight[:, None], weight * (mean - curve))
        for _ in range(HALVINGS):
            tried = _within(p + step)
            less = float(np.sum((weight * (mean - _curve(tried, k)[0])) ** 2))
            if less < left:
                break
            step = step / 2
        else:
            break
        done, p, left = less > SETTLED * left, tried, less
        if done:
            break
    slopes = _curve(p, k)[1] * weight[:, None]
    return p, [_within(p + _step(slopes, weight * (other - mean))) for other in others]


def _step(slopes: Array, rest: Array) -> Array:
    """The change of the numbers that explains a rest, along directions that can be told."""
    size = np.sqrt((slopes**2).sum(axis=0))
    size = np.where(size > 0, size, 1.0)
    return np.asarray(np.linalg.pinv(slopes / size, rcond=TOLD) @ rest / size)


def _within(p: Array) -> Array:
    return np.array([*p[:3], np.clip(p[3], 0.0, FASTEST), np.clip(p[4], 0.0, np.pi)])


def _curve(p: Array, k: Array) -> tuple[Array, Array]:
    """The increments at lags `k` `(K,)`, and their slopes by the five numbers `(K, 5)`."""
    level, cosine, sine, alpha, omega = p
    decay, c, s = np.exp(-alpha * k), np.cos(omega * k), k * np.sinc(omega * k / np.pi)
    bend = (k * c - s) / omega if omega > 1e-6 else -omega * k**3 / 3
    shape = decay * (cosine * c + sine * s)
    by_omega = decay * (cosine * k * np.sin(omega * k) - sine * bend)
    return level - shape, np.stack([np.ones(len(k)), -decay * c, -decay * s, k * shape, by_omega], axis=1)


def _started(mean: Array, weight: Array) -> Array:
    """The best of a grid of decays and frequencies."""
    k = np.arange(1.0, len(mean) + 1)
    alpha, omega = np.geomspace(SLOWEST, FASTEST, DECAYS), np.linspace(0.0, np.pi, FREQUENCIES)
    a, w = (part.ravel()[:, None] for part in np.meshgrid(alpha, omega, indexing="ij"))
    decay = np.exp(-a * k)
    shapes = [np.ones_like(decay), -decay * np.cos(w * k), -decay * k * np.sinc(w * k / np.pi)]
    basis = np.stack(shapes, axis=2) * weight[:, None]
    gram = np.einsum("gkc,gkd->gcd", basis, basis)
    ridge = TINY * np.trace(gram, axis1=1, axis2=2)
    moment = np.einsum("gkc,k->gc", basis, weight * mean)
    fits = np.linalg.solve(gram + ridge[:, None, None] * np.eye(3), moment[:, :, None])[:, :, 0]
    left = ((weight * mean - np.einsum("gkc,gc->gk", basis, fits)) ** 2).sum(axis=1)
    best = int(left.argmin())
    return np.array([*fits[best], a[best, 0], w[best, 0]])
