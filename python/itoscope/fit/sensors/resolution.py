"""How finely columns are read: the step to whose multiples their values are rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import number
from itoscope.errors import argument_error
from itoscope.fit.sensors.columns import check_columns
from itoscope.stats.marks import grid_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = ["check_resolution", "resolution_of", "rounding_of", "said_of_rounding", "variance"]

MOST, SMALL = 0.5, 0.15
"""Share of the increments that are 0 or one step of a grid, from which rounding is most of what is seen; and the mean
increment over that step under which its errors last from sample to sample."""
ALIKE = 0.01
"""Share by which the step that is found may differ from the one that is said."""


def check_resolution(asked: Mapping[str, float] | None) -> None:
    """Raise `ArgumentError` unless `resolution` is a mapping of columns to positive steps."""
    if asked is None:
        return
    if not isinstance(asked, Mapping):
        raise argument_error("resolution", asked, "columns and the step of their values, as {'x': 0.01}")
    for name, step in asked.items():
        checks.positive(f"resolution[{name!r}]", step)


def resolution_of(names: Sequence[str], asked: Mapping[str, float] | None) -> dict[int, float]:
    """The steps of the columns that have one, by number.

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    check_columns("resolution", asked or {}, names)
    return {c: float(asked[name]) for c, name in enumerate(names) if asked and name in asked}


def variance(step: float) -> float:
    """Variance of what is rounded off, even between half a step to either side."""
    return step**2 / 12.0


def rounding_of(data: Trajectories, resolution: Mapping[int, float]) -> Array | None:
    """Variances of rounding `(q,)`; columns whose samples have errors of their own have it within these."""
    own = () if data.errors is None else data.errors.names
    found = [
        variance(resolution.get(c, 0.0)) if name not in own else 0.0 for c, name in enumerate(data.names)
    ]
    return np.array(found) if any(found) else None


def said_of_rounding(data: Trajectories, resolution: Mapping[int, float]) -> list[str]:
    """What is to be said of columns that lie on another grid than was told, or hardly move from one step of it."""
    notes = []
    for c, step in resolution.items():
        series, name = [path[:, c] for path in data.paths], data.names[c]
        found = grid_step(series)
        moved = np.abs(np.concatenate([np.diff(x) for x in series]))
        moved = moved[np.isfinite(moved)] / step
        few = float(np.mean(moved < 1.5)) if len(moved) else 0.0
        if found and abs(found / step - 1.0) > ALIKE:
            said = f"resolution={{{name!r}: {number(found)}}}"
            notes.append(f"{name} lies on a grid of {number(found)}, not of {number(step)}: {said}")
        elif found and few > MOST and np.mean(moved) < SMALL:
            notes.append(
                f"{name} is rounded to {number(step)}, far more than it moves in a step of time ({100 * few:.0f} % of "
                "its increments are 0 or one of these), and errors of rounding last: rate and Gamma may come out too "
                "large; data.thin(k) to steps in which it moves by about the grid"
            )
    return notes
