"""Squared increments over a few samples: what noise of a sensor, averaging and a coarse step make of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Variogram", "variogram"]

BLOCKS = 24
"""Stretches of the recording whose spread gives the error of an average."""


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


def _mean(values: Array) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else math.nan
