"""The time over which a recorded state forgets: the unit in which the slab of its drift is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Times

__all__ = ["correlation_time", "recorded_correlation"]


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


def recorded_correlation(paths: Sequence[Array], times: Sequence[Times], column: int) -> tuple[float, float]:
    """`correlation_time` of a measured column, and the mean step; `Gamma` is its mean squared increment per time.

    Parameters
    ----------
    paths : arrays `(n_i, m)`, NaN where a sample is missing
    times : the step of each path, or its time stamps
    column : int
    """
    values = np.concatenate([x[:, column] for x in paths])
    squares = spans = 0.0
    steps, duration = 0, 0.0
    for x, time in zip(paths, times):
        moved = np.diff(x[:, column])
        length = np.full(len(moved), float(time)) if np.ndim(time) == 0 else np.diff(np.asarray(time))
        seen = np.isfinite(moved)
        squares += float(moved[seen] @ moved[seen])
        spans += float(length[seen].sum())
        steps += int(seen.sum())
        duration = max(duration, float(length.sum()))
    if not steps:
        return 1.0, 1.0
    return correlation_time(float(np.nanvar(values)), squares / spans, duration), spans / steps
