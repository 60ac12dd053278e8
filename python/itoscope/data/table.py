"""Tables and arrays with names as paths: rows with a time and a path column, pandas, Parquet, xarray, named arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from itoscope.common.extras import require
from itoscope.common.types import Array
from itoscope.data.parts import Parts
from itoscope.data.recording import Recording
from itoscope.errors import DataError, argument_error

__all__ = [
    "PATH_COLUMNS",
    "TIME_COLUMNS",
    "Table",
    "clean_names",
    "find_column",
    "parts_of_array",
    "parts_of_arrays",
    "parts_of_frame",
    "parts_of_table",
    "read_parquet",
    "to_array",
    "to_frame",
]

TIME_COLUMNS = ("t", "time")
"""Column, index and dimension names (in any case) that are taken as the time without being told."""

PATH_COLUMNS = ("path", "trajectory")
"""The same for the path that a row belongs to."""

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "y": 365.25 * 86400.0}


@dataclass(frozen=True)
class Table:
    """One row per sample: states as numbers, time as numbers or dates, path as labels of any kind."""

    names: list[str]
    values: Array
    time: np.ndarray[Any, Any] | None
    path: np.ndarray[Any, Any] | None
    where: str


def parts_of_table(table: Table, time_unit: str = "s") -> Parts:
    """Group the rows of a table by path, in order of first appearance; rows keep their order."""
    time = None if table.time is None else _as_numbers(table.time, time_unit)
    names = clean_names(table.names)
    if table.path is None:
        return Parts([table.values], None if time is None else [time], names, table.where)
    _, first, code = np.unique(table.path, return_index=True, return_inverse=True)
    code = np.argsort(np.argsort(first))[code.ravel()]
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    times = None if time is None else _shared([time[row] for row in rows])
    return Parts([table.values[row] for row in rows], times, names, table.where)


def _shared(times: list[Array]) -> list[Array]:
    """Give paths with the same stamps one array."""
    known: dict[bytes, Array] = {}
    return [known.setdefault(stamps.tobytes(), stamps) for stamps in times]


def _as_numbers(time: np.ndarray[Any, Any], unit: str) -> Array:
    """Return dates and time spans as multiples of `unit` after the first, numbers as they are."""
    if unit not in _SECONDS:
        raise argument_error("time_unit", unit, f"one of {', '.join(map(repr, _SECONDS))}")
    if time.dtype.kind == "M":
        time = time - time[0]
    if time.dtype.kind == "m":
        nanoseconds = time.astype("timedelta64[ns]")
        seconds = np.where(np.isnat(nanoseconds), np.nan, nanoseconds.astype(np.int64) * 1e-9)
        return np.asarray(seconds / _SECONDS[unit])
    try:
        return np.asarray(time, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the time column holds {time[0]!r}: allowed are numbers and dates") from None


def clean_names(names: Sequence[Any]) -> list[str]:
    """Return column titles as names that an equation can contain.

    Examples
    --------
    >>> clean_names(["x1", "Displacement (mm)", "2nd"])
    ['x1', 'Displacement_mm', 'x2nd']
    """
    words = [re.sub(r"\W+", "_", str(name), flags=re.ASCII).strip("_") for name in names]
    return [word if re.match(r"[A-Za-z_]", word) else f"x{word}" for word in words]


def find_column(names: Sequence[Any], known: Sequence[str]) -> Any | None:
    """Return the first of `names` that is one of `known` in any case."""
    return next((name for name in names if str(name).strip().lower() in known), None)


def parts_of_arrays(
    path: str | PathLike[str],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    *,
    time: str | int | None = None,
    columns: Sequence[str | int] | None = None,
) -> Parts:
    """Put the named arrays of a file together: one array of samples, or one per state, and times beside them."""
    for argument, key in (("time", time), *(("columns", column) for column in columns or ())):
        if key is not None and key not in arrays:
            raise argument_error(argument, key, f"one of the arrays {', '.join(arrays)}")
    stamps = find_column(list(arrays), TIME_COLUMNS) if time is None else str(time)
    found = _of_samples(arrays, {stamps, "dt", "names"}) if columns is None else [str(c) for c in columns]
    if not found:
        raise DataError(f"{path} holds the arrays {', '.join(arrays) or 'none'}: none of them holds samples")
    if len(found) == 1:
        data = arrays[found[0]]
        names = arrays["names"].tolist() if "names" in arrays else None
    else:
        data, names = _stacked(path, arrays, found), clean_names(found)
    if stamps is not None:
        return Parts(data, arrays[stamps], names, f"the array {stamps!r}")
    step = arrays["dt"].item() if "dt" in arrays and arrays["dt"].ndim == 0 else None
    return Parts(data, None, names, dt=step)


def _of_samples(arrays: Mapping[str, np.ndarray[Any, Any]], beside: set[str | None]) -> list[str]:
    """Names of the arrays that may hold samples."""
    return [
        key
        for key, value in arrays.items()
        if key not in beside and value.dtype.kind in "iufc" and value.ndim > 0
    ]


def _stacked(
    path: str | PathLike[str], arrays: Mapping[str, np.ndarray[Any, Any]], found: list[str]
) -> Array:
    """One array `(n_times,)` per state as columns."""
    if len({arrays[key].shape for key in found}) > 1 or any(arrays[key].ndim != 1 for key in found):
        listed = ", ".join(f"{key} {arrays[key].shape}" for key in found)
        raise DataError(
            f"{path} holds {listed}: one array of samples is needed, or one (n_times,) array per state; "
            "columns=[...] chooses among them"
        )
    return np.column_stack([arrays[key] for key in found])


# -- pandas ------------------------------------------------------------------------------------------------
def parts_of_frame(
    frame: Any,
    *,
    time: str | None = None,
    path_column: str | None = None,
    columns: Sequence[str] | None = None,
    time_unit: str = "s",
) -> Parts:
    """Return the paths of a pandas DataFrame; see `Trajectories.from_dataframe`."""
    index_names = [name for name in frame.index.names if name is not None]
    dated = frame.index.dtype.kind == "M" if frame.index.nlevels == 1 else False
    if index_names or dated:
        if dated and not index_names:
            frame = frame.rename_axis("time")
        used = {
            time,
            path_column,
            find_column(index_names, TIME_COLUMNS),
            find_column(index_names, PATH_COLUMNS),
        }
        lost = [name for name in index_names if name not in used] if not dated else []
        if dated and time is None and find_column(list(frame.columns), TIME_COLUMNS) is None:
            time = frame.index.names[0]
        frame = frame.reset_index().drop(columns=lost)
    titles = list(frame.columns)
    for given, argument in (
        (time, "time"),
        (path_column, "path_column"),
        *((name, "columns") for name in columns or ()),
    ):
        if given is not None and given not in titles:
            raise argument_error(argument, given, f"one of the columns {', '.join(map(str, titles))}")
    time = find_column(titles, TIME_COLUMNS) if time is None else time
    path_column = find_column(titles, PATH_COLUMNS) if path_column is None else path_column
    states = (
        [title for title in titles if title not in (time, path_column)] if columns is None else list(columns)
    )
    for title in states:
        if frame[title].dtype.kind not in "iuf":
            _check_numeric(frame, title)
    if not states:
        raise DataError(
            f"the frame has the columns {', '.join(map(str, titles))}: no state is left among them"
        )
    table = Table(
        names=states,
        values=frame[states].to_numpy(dtype=np.float64, na_value=np.nan),
        time=None if time is None else frame[time].to_numpy(),
        path=None if path_column is None else frame[path_column].to_numpy(),
        where=f"the time column {time!r}",
    )
    return parts_of_table(table, time_unit)


def _check_numeric(frame: Any, title: Any) -> None:
    """Raise DataError when a column is not real numbers; nullable and object columns may pass."""
    column = frame[title]
    try:
        if column.dtype.kind in "bcmM":
            raise TypeError
        column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(
            f"column {title!r} holds {column.iloc[0]!r} (dtype {column.dtype}): states are real numbers; "
            "choose the states with columns=[...]"
        ) from None


def to_frame(data: Recording) -> Any:
    """Return trajectories as a pandas DataFrame with columns ``path``, ``t`` and the states."""
    pandas = require("pandas", "data", "A DataFrame")
    lengths = [len(path) for path in data.paths]
    frame = pandas.DataFrame(np.concatenate(data.paths), columns=list(data.names))
    frame.insert(0, "t", np.concatenate(data.times))
    frame.insert(0, "path", np.repeat(np.arange(len(data.paths)), lengths))
    return frame


def read_parquet(path: str | PathLike[str]) -> Any:
    """Return a Parquet file as a DataFrame."""
    pandas = require("pandas", "data", "Reading Parquet")
    require("pyarrow", "data", "Reading Parquet")
    try:
        return pandas.read_parquet(path)
    except (ValueError, OSError) as problem:
        if isinstance(problem, FileNotFoundError):
            raise
        raise DataError(f"{path} cannot be read as Parquet: {problem}") from problem


# -- xarray ------------------------------------------------------------------------------------------------
def parts_of_array(array: Any, *, time_unit: str = "s") -> Parts:
    """Return the paths of an xarray DataArray; see `Trajectories.from_xarray`."""
    dims = list(array.dims)
    time = find_column(dims, (*TIME_COLUMNS, "sample"))
    path = find_column(dims, PATH_COLUMNS)
    rest = [dim for dim in dims if dim not in (time, path)]
    if time is None or len(rest) > 1:
        raise DataError(
            f"the array has dimensions {', '.join(map(str, dims))}: allowed are 'time' (or 't'), "
            "optionally 'path', and at most one other, whose labels name the states"
        )
    array = array.transpose(*([path] if path is not None else []), time, *rest)
    values = np.asarray(array.values)
    paths = list(values) if path is not None else [values]
    paths = [one if rest else one[:, None] for one in paths]
    names = None
    if rest and rest[0] in array.coords and array.coords[rest[0]].dtype.kind in "OUT":
        names = clean_names(list(array.coords[rest[0]].values))
    elif not rest and array.name is not None:
        names = clean_names([array.name])
    stamps = find_column(list(array.coords), TIME_COLUMNS)
    if stamps is None:
        return Parts(paths, None, names, "")
    where = f"the coordinate {stamps!r}"
    time_values = np.asarray(array.coords[stamps].values)
    if time_values.ndim == 1:
        return Parts(paths, [_as_numbers(time_values, time_unit)] * len(paths), names, where)
    lengths = [int(np.isfinite(row).sum()) for row in time_values]
    times = _shared([row[:length] for row, length in zip(time_values, lengths)])
    return Parts([one[:length] for one, length in zip(paths, lengths)], times, names, where)


def to_array(data: Recording) -> Any:
    """Return trajectories as an xarray DataArray; see `Trajectories.to_xarray`."""
    xarray = require("xarray", "data", "A DataArray")
    common = all(stamps is data.times[0] for stamps in data.times)
    length = max(len(path) for path in data.paths)
    values = np.full((len(data.paths), length, len(data.names)), np.nan)
    stamps = np.full((len(data.paths), length), np.nan)
    for i, (path, t) in enumerate(zip(data.paths, data.times)):
        values[i, : len(path)], stamps[i, : len(path)] = path, t
    coords = {"path": np.arange(len(data.paths)), "state": list(data.names)}
    if common:
        return xarray.DataArray(values, dims=("path", "time", "state"), coords={**coords, "time": stamps[0]})
    return xarray.DataArray(
        values, dims=("path", "sample", "state"), coords={**coords, "time": (("path", "sample"), stamps)}
    )
