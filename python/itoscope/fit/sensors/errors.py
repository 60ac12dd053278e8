"""Errors of single samples, told with the noise of their column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.data.precision import SampleErrors
from itoscope.errors import argument_error
from itoscope.fit.sensors.classes import without_classes
from itoscope.fit.sensors.resolution import variance

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = ["with_errors"]


def with_errors(
    data: Trajectories, asked: Any, resolution: Mapping[str, float] | None = None
) -> Trajectories:
    """A recording with the errors of its samples, of the columns whose `measurement_noise` is an array or has classes.

    Parameters
    ----------
    data : Trajectories
    asked : number, str, None, or mapping of str to these or to an array
        Errors like the column: `(n,)` for a single path, a list of such arrays for several; or classes of error.

    resolution : mapping of str to float, optional
        Steps to which columns are rounded, whose variances are added.

    Raises
    ------
    ArgumentError
        For a name that no column has, and for errors that are not as many as the samples, or not positive where there
        is a sample.
    """
    if data.errors is not None:
        return data
    data, asked = without_classes(data, asked)
    told = asked.items() if isinstance(asked, Mapping) else ()
    arrays = {name: value for name, value in told if checks.is_list(value) or np.ndim(value)}
    if not arrays:
        return data
    for name in arrays:
        if name not in data.names:
            raise argument_error("measurement_noise", name, f"a column of the data: {', '.join(data.names)}")
    rounding = {name: variance(step) for name, step in (resolution or {}).items()}
    columns = [_squares(data, name, value, rounding.get(name, 0.0)) for name, value in arrays.items()]
    level = [
        np.mean(np.concatenate([s[~np.isnan(y)] for s, y in zip(column, _column(data, name))]))
        for name, column in zip(arrays, columns)
    ]
    factors = [
        np.stack(
            [
                np.where(np.isnan(y), 1.0, column[i] / size)
                for column, size, name in zip(columns, level, arrays)
                for y in [_column(data, name)[i]]
            ],
            axis=1,
        )
        for i in range(data.n_paths)
    ]
    made = data.select(data.names)
    made.errors = SampleErrors(tuple(arrays), np.sqrt(level), tuple(data.times), tuple(factors))
    return made


def _column(data: Trajectories, name: str) -> list[Array]:
    place = data.names.index(name)
    return [path[:, place] for path in data.paths]


def _squares(data: Trajectories, name: str, value: Any, more: float) -> list[Array]:
    """The variances of a column, path by path, and what is added to them."""
    argument = f"measurement_noise[{name!r}]"
    several = data.n_paths > 1 or (
        checks.is_list(value) and len(value) == 1 and np.ndim(next(iter(value))) == 1
    )
    paths = list(value) if several else [value]
    if len(paths) != data.n_paths:
        raise argument_error(argument, f"{len(paths)} arrays", f"one for each of the {data.n_paths} paths")
    found = []
    for i, (one, y) in enumerate(zip(paths, _column(data, name))):
        sd = checks.reals(argument, one, missing=True)
        where = f" of path {i}" if data.n_paths > 1 else ""
        if sd.shape != y.shape:
            raise argument_error(
                argument, f"array of shape {sd.shape}", f"{y.shape}, one for each sample{where}"
            )
        wrong = np.flatnonzero(~np.isnan(y) & ~(np.isfinite(sd) & (sd > 0.0)))
        if len(wrong):
            raise argument_error(
                argument,
                f"{sd[wrong[0]]} at sample {wrong[0]}{where}",
                "positive, finite standard deviations",
            )
        found.append(np.where(np.isnan(y), 1.0, sd) ** 2 + more)
    return found
