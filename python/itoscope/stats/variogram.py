"""Squared increments over a few samples: what noise of a sensor, averaging and a coarse step make of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Variogram", "steps_are_white", "variogram"]

BLOCKS = 24
"""Stretches of the recording whose spread gives the error of an average."""
OWN, FLAT, ALTERNATES = 0.15, 0.2, 0.25
"""Share of a squared step that noise of the state itself makes, from which it is no position; and, of that noise, by
how much the covariance may fall from one step to two, and lie below its course, which it does by half where the noise
is the sensor's."""
ERRORS = 4.0
"""Standard errors of that noise from which it is there."""


class Variogram(NamedTuple):
    r"""Mean squared increments :math:`g_k` over k samples, at the ends of short lags.

    White noise of variance :math:`s^2` adds :math:`2 s^2` to each, motion driven by white noise adds a multiple of k,
    smooth motion one of :math:`k^2`, so that :math:`3 g_1 - 3 g_2 + g_3` is :math:`2 s^2`, less a third of a step's
    diffusion where every sample is the mean over its step.

    Attributes
    ----------
    share : float
        That over the squared increment of one step.
    errors : float
        That in standard errors.
    noise : float
        The standard deviation s, 0 where it would be imaginary.
    bend : float
        :math:`g_1 - 2 g_2 + g_3` over the squared increment: 0 on a straight line.
    keep : (3,) array
        Autocorrelation at one sample, and ratios of those at two and three to the one before: equal where the motion
        forgets exponentially, the first the smallest where there is noise.
    """

    share: float
    errors: float
    noise: float
    bend: float
    keep: Array

    @property
    def moves(self) -> float:
        """Share of the motion that is forgotten in one sample, beside noise."""
        return float(np.clip(1.0 - self.keep[1], 0.0, 1.0))


def variogram(series: Sequence[Array]) -> Variogram | None:
    """Of columns `(n_i,)` with even steps, NaN where a sample is missing; None for fewer than some hundred samples."""
    total = sum(len(x) for x in series)
    size = max(total // BLOCKS, 16)
    stretches = [x[k : k + size] for x in series for k in range(0, max(len(x) - size // 2, 1), size)]
    stretches = [x for x in stretches if np.count_nonzero(np.isfinite(x)) > 8]
    if len(stretches) < BLOCKS // 2:
        return None
    with np.errstate(all="ignore"):
        g = np.array([[_mean((x[k:] - x[:-k]) ** 2) for k in (1, 2, 3)] for x in stretches])
    g = g[np.isfinite(g).all(axis=1)]
    if len(g) < BLOCKS // 2 or not g[:, 0].mean() > 0:
        return None
    found = g @ np.array([3.0, -3.0, 1.0])
    one = float(g[:, 0].mean())
    error = float(found.std(ddof=1)) / math.sqrt(len(found))
    centre = float(np.nanmean(np.concatenate(series)))
    c = [
        _mean(np.concatenate([(x[k:] - centre) * (x[: len(x) - k] - centre) for x in series]))
        for k in range(4)
    ]
    return Variogram(
        share=float(found.mean()) / one,
        errors=float(found.mean()) / max(error, 1e-300),
        noise=math.sqrt(max(float(found.mean()), 0.0) / 2.0),
        bend=float((g @ np.array([1.0, -2.0, 1.0])).mean()) / one,
        keep=np.array([b / a if a > 0 else 0.0 for a, b in pairwise(c)]),
    )


def steps_are_white(series: Sequence[Array]) -> bool:
    r"""Whether steps of columns `(n_i,)` carry white noise of their own beside a slow part, as no position's do.

    Their covariances :math:`c_k` at two to four steps are carried on to none by a parabola; noise of the state leaves
    :math:`N = c_0 - 6 c_2 + 8 c_3 - 3 c_4 > 0` there and nothing at one step, noise of the sensor minus half as much.
    A velocity that forgets within a few samples has a course that falls from one step to two.
    """
    total = sum(len(x) for x in series)
    size = max(total // BLOCKS, 16)
    moved = [np.diff(x[k : k + size + 1]) for x in series for k in range(0, max(len(x) - size // 2, 1), size)]
    moved = [d for d in moved if np.count_nonzero(np.isfinite(d)) > 8]
    if len(moved) < BLOCKS // 2:
        return False
    with np.errstate(all="ignore"):
        c = np.array([[_mean(d[k:] * d[: len(d) - k]) for k in range(5)] for d in moved])
    c = c[np.isfinite(c).all(axis=1)]
    if len(c) < BLOCKS // 2:
        return False
    noise = c @ np.array([1.0, 0.0, -6.0, 8.0, -3.0])
    own, error = float(noise.mean()), float(noise.std(ddof=1)) / math.sqrt(len(noise))
    zero, one, two, three, four = c.mean(axis=0)
    if own < max(OWN * zero, ERRORS * error) or one - two > FLAT * own:
        return False
    return bool(one - (3.0 * two - 3.0 * three + four) > -ALTERNATES * own)


def _mean(values: Array) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else math.nan
