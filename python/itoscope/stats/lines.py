"""A line in the periodogram: a period that stands out of what is around it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers

__all__ = ["Line", "line", "periodogram", "power_tail"]

AROUND = 24
"""Frequencies to each side that tell the power around a line."""
OWN = 3
"""Frequencies that a line spreads over, to each side."""
LOWEST = 2
"""Periods of a line that the recording holds at least."""


class Line(NamedTuple):
    """A line of so many cycles a sample, its `power` over that around it, its `amplitude`, and its p-value."""

    frequency: float
    power: float
    amplitude: float
    p_value: float


def periodogram(series: Sequence[Array]) -> tuple[Array, Array, int]:
    """Frequencies in cycles a sample, mean power of the series tapered by Hann's window, and how many they are.

    Series shorter than half of the longest are left out, the others filled with zeros; missing samples are zero.
    """
    longest = max(len(x) for x in series)
    kept = [x for x in series if 2 * len(x) > longest]
    power = np.zeros(longest // 2 + 1)
    for x in kept:
        there = np.isfinite(x)
        window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(len(x)) + 0.5) / len(x))
        centre = float((window * np.where(there, x, 0.0)).sum() / max(float((window * there).sum()), 1e-300))
        tapered = window * np.where(there, x - centre, 0.0)
        power += np.abs(np.fft.rfft(tapered, longest)) ** 2 / max(float((window**2 * there).sum()), 1e-300)
    return np.asarray(np.fft.rfftfreq(longest), dtype=np.float64), power / len(kept), len(kept)


def line(series: Sequence[Array], highest: float = 0.5) -> Line | None:
    """The strongest line below a frequency, against the mean power of its neighbours; None for short series.

    The power of noise has a gamma law whose shape is the number of series, and a mean that is estimated from the
    neighbours, the larger of those of both sides: at least their mean, which has twice the degrees of freedom. So many
    frequencies are looked at.
    """
    frequencies, power, many = periodogram(series)
    n = len(power)
    if n < 4 * AROUND:
        return None
    sums = np.concatenate([[0.0], np.cumsum(power)])

    def total(first: Integers, last: Integers) -> tuple[Array, Integers]:
        a, b = np.clip(first, LOWEST, n), np.clip(last, LOWEST, n)
        return sums[b] - sums[a], b - a

    k = np.arange(n, dtype=np.int64)
    low, few = total(k - OWN - AROUND, k - OWN)
    high, some = total(k + OWN + 1, k + OWN + 1 + AROUND)
    # the larger of both sides: the edge of a broad band is no line
    below, above = few >= AROUND // 2, some >= AROUND // 2
    left = np.where(below, low / np.maximum(few, 1), 0.0)
    right = np.where(above, high / np.maximum(some, 1), 0.0)
    background = np.maximum(np.maximum(left, right), 1e-300)
    ratio = np.where((k >= LOWEST) & (frequencies <= highest), power / background, 0.0)
    b = many * (few * below + some * above) / 2.0  # neighbours of a taper count half
    best = int(np.argmax(b * np.log1p(many * ratio / np.maximum(b, 1.0))))
    tail = power_tail(float(ratio[best]), many, float(b[best]))
    around = slice(max(best - 1, 0), best + 2)
    frequency = float((frequencies[around] * power[around]).sum() / power[around].sum())
    excess = float(power[max(best - OWN, 0) : best + OWN + 1].sum() - background[best] * (2 * OWN + 1))
    longest = 2 * (n - 1)
    amplitude = 2.0 * math.sqrt(max(excess, 0.0) / longest)
    return Line(frequency, float(ratio[best]), amplitude, min(1.0, tail * max(int((ratio > 0).sum()), 1)))


def power_tail(ratio: float, many: int, b: float) -> float:
    r"""How often a gamma number of shape `many` exceeds `ratio` times an independent one of shape b, over their means.

    :math:`(1-x)^b \sum_{j < many} x^j \Gamma(b+j) / (\Gamma(b) j!)` with :math:`x = r m / (r m + b)`.
    """
    x = ratio * many / (ratio * many + b)
    if not x < 1.0:
        return 0.0
    j = range(many)
    logs = [
        i * math.log(max(x, 1e-300)) + math.lgamma(b + i) - math.lgamma(b) - math.lgamma(i + 1) for i in j
    ]
    return math.exp(min(b * math.log1p(-x) + float(np.logaddexp.reduce(logs)), 0.0))
