"""How many samples a recording has in a period, or in a relaxation time, by column, and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.numbers import rough
from itoscope.stats.pace import LEAVES, pace_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.pace import Pace

__all__ = ["paces", "said_of"]

GAP = 3.0
"""Mean steps from which two samples of uneven times have a gap in between."""


def paces(data: Trajectories, noise: Sequence[float], left_out: Sequence[str] = ()) -> dict[str, Pace | None]:
    """By column; None where it does not settle within a path.

    Of uneven times a straight line between samples is looked at, at even steps.

    Parameters
    ----------
    data : Trajectories
    noise : sequence of float
        Standard deviation of the noise of each column.
    left_out : sequence of str
        Columns of which it is not asked.
    """
    series = on_grid(data)
    return {
        name: pace_of([path[:, k] for path in series], float(noise[k]))
        for k, name in enumerate(data.names)
        if name not in left_out
    }


def step_of(data: Trajectories) -> float:
    """The step, or the mean one."""
    return data.dt or float(np.mean(np.concatenate([np.diff(stamps) for stamps in data.times])))


def on_grid(data: Trajectories) -> Sequence[Array]:
    """The paths at even steps; of gaps nothing is known."""
    if data.dt is not None:
        return data.paths
    step, found = step_of(data), []
    for path, stamps in zip(data.paths, data.times):
        grid = np.arange(stamps[0], stamps[-1] + step / 2, step)
        columns = []
        for column in path.T:
            there = np.isfinite(column)
            known = stamps[there]
            if len(known) < 2:
                columns.append(np.full(len(grid), np.nan))
                continue
            values = np.interp(grid, known, column[there], left=np.nan, right=np.nan)
            after = np.clip(np.searchsorted(known, grid), 1, len(known) - 1)
            values[known[after] - known[after - 1] > GAP * step] = np.nan
            columns.append(values)
        found.append(np.stack(columns, axis=1))
    return found


def said_of(data: Trajectories, found: Mapping[str, Pace | None], positions: bool) -> str:
    """A line on the pace of all columns, with what follows where there are too few samples or far too many.

    Parameters
    ----------
    data : Trajectories
    found : mapping of str to Pace or None
    positions : bool
        Whether the columns are positions whose velocities were not measured.
    """
    step, unit = step_of(data), f" {data.time_unit}" if data.time_unit else ""
    words, slow = [], [name for name, pace in found.items() if pace is None]
    if slow:
        words.append(f"{', '.join(slow)} {'does' if len(slow) == 1 else 'do'} not settle within a recording")
    for name, pace in found.items():
        if pace is None:
            continue
        whole = f"{rough(pace.samples * step)}{unit}"
        many = rough(pace.samples) if pace.samples >= 1.0 else "less than one"
        kind = f"a period of {whole}" if pace.rings else f"its relaxation time, {whole}"
        words.append(f"{name} has {'about ' if pace.samples >= 1.0 else ''}{many} samples in {kind}")
    known = [pace for pace in found.values() if pace is not None]
    line = "; ".join(words)
    if any(pace.blind for pace in known):
        line += ", too few to tell the shape of a drift: sample faster"
    elif not positions and any(pace.coarse for pace in known):
        line += ', too few for a regression on steps: scheme="filter"'
    elif known and len(known) == len(found) and (thin := min(pace.thin for pace in known)) > 1:
        line += f", far more than needed: data.thin({thin}) leaves {rough(LEAVES)} or more"
    return line
