"""The time over which a recorded state forgets: the unit in which the slab of its drift is measured."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Times

__all__ = ["correlation_time", "efolding_lag", "recorded_correlation"]


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

    Lags are doubled until one is beyond, and the last doubling is halved.
    """
    joined = np.concatenate(series)
    mean, variance = float(np.nanmean(joined)), float(np.nanvar(joined))
    centred = [x - mean for x in series]

    def beyond(lag: int) -> bool:
        products = np.concatenate([x[lag:] * x[: len(x) - lag] for x in centred if len(x) > lag])
        products = products[np.isfinite(products)]
        return bool(products.size and products.mean() < exp(-1.0) * variance)

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
        moved = np.diff(x)
        length = np.full(len(moved), float(time)) if np.ndim(time) == 0 else np.diff(np.asarray(time))
        seen = np.isfinite(moved)
        squares += float(moved[seen] @ moved[seen])
        spans += float(length[seen].sum())
        steps += int(seen.sum())
        duration = max(duration, float(length.sum()))
    if not steps:
        return 1.0, 1.0
    step = spans / steps
    variance = float(np.nanvar(np.concatenate(series)))
    covered = correlation_time(variance, squares / spans, duration)
    found = min(covered, efolding_lag(series) * step)
    return found if found > 0.0 else step, step
