"""When a filter looks at a path: at its samples, and between them where exposures of sensors start and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.common.types import Array, Bools, Integers

__all__ = ["STEP", "Timeline", "Window", "reached", "timeline"]

SAME = 1e-6
"""Share of the shortest step within which two moments are one."""


class Window(NamedTuple):
    """The time over which a sensor looks at the states.

    Attributes
    ----------
    exposure : float or None
        How long, None for the whole step to the sample before.
    lag : float
        How long before its stamp it ends.
    """

    exposure: float | None = None
    lag: float = 0.0

    def starts(self, stamps: Array) -> Array:
        """When the exposures of the samples at `stamps` start `(n,)`, minus infinity where nobody knows."""
        if self.exposure is None:
            return np.concatenate([[-np.inf], stamps[:-1]]) - self.lag
        found: Array = stamps - self.lag - self.exposure
        return found


STEP = Window()
"""The whole step to the sample before."""


@dataclass(frozen=True)
class Timeline:
    """The moments of a path.

    Attributes
    ----------
    stamps : (N,) array
        Their times.
    samples : (n,) array of int
        Which of them are the samples of the recording.
    readings : dict of Window to (n,) array of int
        At which of them each sample was read by a sensor of that window, -1 where it was not.
    starts : dict of Window to (N,) array of bool
        After which of them its exposures start.
    """

    stamps: Array
    samples: Integers
    readings: dict[Window, Integers]
    starts: dict[Window, Bools]


def reached(window: Window, stamps: Array) -> Bools:
    """Which samples have an exposure that starts within the recording `(n,)`."""
    found: Bools = window.starts(stamps) >= stamps[0] - SAME * _shortest(stamps)
    return found


def timeline(stamps: Array, seen: Mapping[Window, Bools]) -> Timeline:
    """The moments of a path whose samples are at `stamps` `(n,)`.

    Parameters
    ----------
    stamps : (n,) array
    seen : mapping of Window to (n,) arrays of bool
        Which samples the sensors of a window have.
    """
    same = SAME * _shortest(stamps)
    begins, ends, used = {}, {}, {}
    for window, there in seen.items():
        used[window] = there & reached(window, stamps)
        begins[window] = _snapped(window.starts(stamps)[used[window]], stamps, same)
        ends[window] = _snapped(stamps[used[window]] - window.lag, stamps, same)
    between = np.sort(np.concatenate([*begins.values(), *ends.values(), np.zeros(0)]))
    between = between[~np.isin(between, stamps)]
    apart = between[np.diff(between, prepend=-np.inf) > same]
    every = np.sort(np.concatenate([stamps, apart]))
    readings, starts = {}, {}
    for window, which in used.items():
        readings[window] = np.full(len(stamps), -1)
        readings[window][which] = _nearest(every, ends[window])
        starts[window] = np.zeros(len(every), dtype=bool)
        starts[window][_nearest(every, begins[window])] = True
        if window.exposure is None:  # the next one begins where one ends
            over = (stamps - window.lag)[stamps - window.lag >= stamps[0]]
            starts[window][_nearest(every, _snapped(over, stamps, same))] = True
    return Timeline(every, _nearest(every, stamps), readings, starts)


def _shortest(stamps: Array) -> float:
    return float(np.diff(stamps).min()) if len(stamps) > 1 else 1.0


def _snapped(moments: Array, stamps: Array, same: float) -> Array:
    """Moments that are samples up to rounding, as these; the others as they are."""
    close = stamps[_nearest(stamps, moments)]
    found: Array = np.where(np.abs(close - moments) <= same, close, moments)
    return found


def _nearest(grid: Array, moments: Array) -> Integers:
    """Which of an increasing grid is closest to each moment."""
    after = np.clip(np.searchsorted(grid, moments), 1, max(len(grid) - 1, 1))
    if len(grid) < 2:
        return np.zeros(len(moments), dtype=np.intp)
    found: Integers = np.where(grid[after] - moments < moments - grid[after - 1], after, after - 1)
    return found
