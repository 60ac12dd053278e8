"""How fast a recorded column is beside its samples: samples a period where it rings, else in its relaxation time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["LEAVES", "Pace", "pace_of"]

MOST = 2**18
"""Samples that are looked at, whole paths of them, the first one cut if need be."""
SETTLES, RINGS_IN = 10, 4
"""Relaxation times, and halves of a period, that the longest path holds at least; of slower ones nothing is said."""
RINGS, ERRORS = 0.15, 3.0
"""Anticorrelation half a period later from which a column rings, and standard errors that it is beyond."""
FINE_GRID = 16
"""Lags in samples below which the autocorrelation is interpolated."""
NOISIEST = 0.9
"""Share of the variance that noise of the sensor may be said to have."""
BLIND = (3.0, 6.0)
"""Samples in a relaxation time, and in a period, below which the shape of a drift is told by no fit."""
COARSE = 20.0
"""Samples in a period below which a regression on steps is wrong, and the filter is not."""
FINE, LEAVES = 1000.0, 200.0
"""Samples in either from which they are far more than is needed, and how many of them are left then."""


class Pace(NamedTuple):
    """Samples in a period if the column `rings`, else in its relaxation time; and in its memory, which is longer."""

    samples: float
    rings: bool
    memory: float

    @property
    def blind(self) -> bool:
        """Whether there are too few samples for any fit."""
        return self.samples < BLIND[self.rings]

    @property
    def coarse(self) -> bool:
        """Whether there are too few samples for a regression on steps."""
        return self.blind or (self.rings and self.samples < COARSE)

    @property
    def thin(self) -> int:
        """Every how manieth sample would do; 1 where there are not far too many."""
        return int(self.samples // LEAVES) if self.samples > FINE else 1


def pace_of(series: Sequence[Array], noise: float = 0.0) -> Pace | None:
    r"""Of a column `(n_i,)` with even steps, NaN where a sample is missing; None where it does not settle.

    The autocorrelation :math:`\rho` about the mean of each path, without what noise of the sensor adds at lag zero. It
    rings where the first minimum behind its first zero is an anticorrelation that one without a period, whose standard
    error is the root of the relaxation time over the length, does not have by chance; that minimum is half a period.
    The relaxation time is where it falls to 1/e, the memory where it stays below that in size.

    Parameters
    ----------
    series : sequence of (n_i,) arrays
    noise : float
        Standard deviation of the noise of the sensor.
    """
    longest = min(max(len(x) for x in series), MOST)
    rho, total = _autocorrelation(_most(series), longest // 2, noise)
    if len(rho) < 2 or not np.isfinite(rho).all():
        return None
    below = np.flatnonzero(rho < 1.0 / math.e)
    if not len(below) or below[0] > longest / SETTLES:
        return None
    relaxation = _crossing(rho, int(below[0]))
    looked = rho[: longest // RINGS_IN + 1]
    memory = float(np.flatnonzero(np.abs(looked) > 1.0 / math.e)[-1] + 1)
    half = _half_period(looked)
    if half is not None:
        # a mean of its own takes so much from all lags of a path
        least = max(RINGS, ERRORS * math.sqrt(relaxation / total)) + 2.0 * relaxation / longest
        if half[1] < -least:
            return Pace(2.0 * half[0], True, max(memory, relaxation))
    return Pace(relaxation, False, max(memory, relaxation))


def _most(series: Sequence[Array]) -> list[Array]:
    ends = np.cumsum([0, *(min(len(x), MOST) for x in series)])
    return [x[:MOST] for x in series[: max(int(np.searchsorted(ends, MOST)), 1)]]


def _autocorrelation(series: Sequence[Array], lags: int, noise: float) -> tuple[Array, int]:
    """At lags from zero on, about the mean of each path; and the number of samples."""
    sums, counts, total = np.zeros(lags + 1), np.zeros(lags + 1), 0
    for x in series:
        there = np.isfinite(x)
        if np.count_nonzero(there) < 2:
            continue
        total += int(np.count_nonzero(there))
        size = 2 ** math.ceil(math.log2(len(x) + min(lags, len(x)) + 1))
        kept = min(lags, len(x) - 1) + 1
        for values, into in (
            (np.where(there, x - x[there].mean(), 0.0), sums),
            (there.astype(float), counts),
        ):
            spectrum = np.abs(np.fft.rfft(values, size)) ** 2
            into[:kept] += np.fft.irfft(spectrum, size)[:kept]
    if not total or not sums[0] > 0:
        return np.zeros(0), total
    found = sums / np.maximum(np.round(counts), 1.0)
    kept = int(np.argmin(counts > counts[0] / 8)) or len(counts)  # lags that few pairs tell are left out
    variance = found[0] - min(noise**2, NOISIEST * found[0])
    rho = found[:kept] / variance
    rho[0] = 1.0
    return rho, total


def _crossing(rho: Array, first: int) -> float:
    """Where the logarithm falls to -1, between the lag before and the first below."""
    before, after = float(rho[first - 1]), max(float(rho[first]), 1e-3)
    return first - 1 + min((math.log(before) + 1.0) / max(math.log(before / after), 1e-12), 1.0)


def _half_period(rho: Array) -> tuple[float, float] | None:
    """Lag and value of the first minimum behind the first zero."""
    crossed = np.flatnonzero(rho < 0)
    if not len(crossed):
        return None
    zero = int(crossed[0])
    if zero > FINE_GRID:
        part = rho[zero : 3 * zero + 1]
        best = int(np.argmin(part))
        return float(zero + best), float(part[best])
    lags = np.arange(FINE_GRID * 3 * FINE_GRID + 1) / FINE_GRID
    k = np.arange(1 - len(rho[: 8 * FINE_GRID]), len(rho[: 8 * FINE_GRID]))
    taper = 0.5 + 0.5 * np.cos(np.pi * k / (len(rho[: 8 * FINE_GRID])))
    # what lies between samples that do not hang together is nothing
    if rho[zero : 3 * zero + 2].min() > -RINGS:
        return None
    fine = np.sinc(lags[:, None] - k) @ (rho[np.abs(k)] * taper)
    start = int(np.argmax(fine < 0)) if (fine < 0).any() else FINE_GRID * zero
    part = fine[start : 3 * start + 1]
    best = int(np.argmin(part))
    return float(lags[start + best]), float(part[best])
