"""How many candidates a recording can carry: fewer than it has numbers to tell them from."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.common.types import Array, Bools, Ensemble
    from itoscope.data.trajectories import Trajectories

__all__ = ["degree_within", "most_carried"]

ENOUGH = 2**16
"""Samples of which numbers are counted at once, and half of it what is enough of them."""


def most_carried(data: Trajectories, rows: int, *, filtered: bool, ensemble: Ensemble = "pool") -> int:
    """The largest number of candidates of a row that leaves its regression a number for the noise.

    Of exact states each step with both ends is a row of the regression of a state, and as many candidates as steps fit
    any recording, noise and all. A filter has a reading of a column in the place of a step, and all rows of the drift
    share them.

    Parameters
    ----------
    data : Trajectories
    rows : int
        Rows of the drift that are sought.
    filtered : bool
    ensemble : {"pool", "mean"}
        Whether steps of all paths count, or those of the longest.
    """
    if filtered:
        return sum(_counted(_finite, path) for path in data.paths) // max(rows, 1) - 1
    steps = [_counted(_steps, path) for path in data.paths]
    return (max(steps) if ensemble == "mean" else sum(steps)) - 1


def _counted(count: Callable[[Array], int], path: Array) -> int:
    """What is counted along a path, until it is enough for any library."""
    found = 0
    for start in range(0, len(path), ENOUGH):
        found += count(path[start : start + ENOUGH])
        if found > ENOUGH // 2:
            break
    return found


def _finite(stretch: Array) -> int:
    """Readings of samples `(n, q)`."""
    return int(np.isfinite(stretch).sum())


def _steps(stretch: Array) -> int:
    """Steps whose ends are both there, of samples `(n, m)`."""
    whole: Bools = np.all(np.isfinite(stretch), axis=1)
    return int(np.count_nonzero(whole[1:] & whole[:-1]))


def degree_within(variables: int, most: int) -> int:
    """The largest degree of which there are at most so many monomials of some variables, 0 where there is none."""
    degree = 0
    while comb(variables + degree + 1, degree + 1) <= most:
        degree += 1
    return degree
