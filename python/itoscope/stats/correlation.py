"""The time over which a recorded state forgets: the unit in which the slab of its drift is measured."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from itoscope.stats.running import PIECE, mean_and_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Times

__all__ = ["correlation_time", "efolding_lag", "recorded_correlation"]


STRETCH = 2**16
"""Values that follow each other in what is taken of more."""
MOST = 2**19
"""Values whose products at a lag are looked at: the lag at which they fall to 1/e needs no more."""


def correlation_time(variance: float, gamma: float, duration: float) -> float:
    r"""The time in which diffusion covers the spread of a state, `min(2 Var(x) / Gamma, duration)`.

    That of an Ornstein-Uhlenbeck process is one over its rate.

    Parameters
    ----------
    variance : float
        Of the state over the recording.
    gamma : float
        Mean of its diffusion `Gamma_ii`, squared units of the state per unit of time.
    duration : float
        Of the longest path: nothing slower was seen.
    """
    return min(2.0 * variance / gamma, duration) if gamma > 0.0 else duration


def efolding_lag(series: Sequence[Array]) -> int:
    """Steps in which the autocorrelation of series `(n_i,)` falls to 1/e, at most the longest of them; NaN is missing.

    Lags are doubled until one is beyond, and the last doubling is halved. Of more than `MOST` values the products are
    those of pieces at even distances.
    """
    mean, variance = mean_and_variance(series)
    stride = STRETCH * max(1, sum(map(len, series)) // MOST)

    def beyond(lag: int) -> bool:
        total, count = 0.0, 0
        for x in series:
            for start in range(0, len(x) - lag, stride):
                here = x[start : min(start + STRETCH, len(x) - lag)]
                products = (x[start + lag : start + lag + len(here)] - mean) * (here - mean)
                there = products[np.isfinite(products)]
                total, count = total + float(there.sum()), count + len(there)
        return bool(count and total / count < exp(-1.0) * variance)

    longest = max(len(x) for x in series) - 1
    low, high = 0, 1
    while high < longest and not beyond(high):
        low, high = high, 2 * high
    high = min(high, longest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def recorded_correlation(paths: Sequence[Array], times: Sequence[Times], column: int) -> tuple[float, float]:
    """The correlation time of a measured column, and the mean step.

    The smaller of `correlation_time`, with the mean squared increment per time as `Gamma`, and of the time in which the
    autocorrelation falls to 1/e: that of a state which others drive is less than its own diffusion says. A step where
    the squares of the state leave the range of floating point.

    Parameters
    ----------
    paths : arrays `(n_i, m)`, NaN where a sample is missing
    times : the step of each path, or its time stamps
    column : int
    """
    series = [x[:, column] for x in paths]
    squares = spans = 0.0
    steps, duration = 0, 0.0
    for x, time in zip(series, times):
        whole = 0.0
        for start in range(0, len(x) - 1, PIECE):
            moved = np.diff(x[start : start + PIECE + 1])
            stamps = time if np.ndim(time) == 0 else np.asarray(time)[start : start + PIECE + 1]
            length = np.full(len(moved), float(time)) if np.ndim(time) == 0 else np.diff(stamps)
            seen = np.isfinite(moved)
            squares += float(moved[seen] @ moved[seen])
            spans += float(length[seen].sum())
            steps += int(seen.sum())
            whole += float(length.sum())
        duration = max(duration, whole)
    if not steps:
        return 1.0, 1.0
    step = spans / steps
    _, variance = mean_and_variance(series)
    covered = correlation_time(variance, squares / spans, duration)
    found = min(covered, efolding_lag(series) * step)
    return found if found > 0.0 else step, step
