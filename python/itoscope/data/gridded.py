"""Arrays and data sets of xarray: dimensions as time, recordings and states; uneven, falling and cftime coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.data import calendars, looks
from itoscope.data.columns import Column
from itoscope.data.headings import clean_names, heading
from itoscope.data.meaning import time_numbers
from itoscope.data.parts import Parts
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from itoscope.common.types import Array
    from itoscope.data.asked import Asked

__all__ = ["is_gridded", "open_gridded", "parts_of_gridded"]

_STATES = (
    "state",
    "states",
    "variable",
    "component",
    "space",
    "dimension",
    "axis",
    "keypoints",
    "channel",
    "feature",
)


def is_gridded(data: Any) -> bool:
    """Whether `data` is a DataArray or Dataset of xarray, which is not imported to know it."""
    return any(
        kind.__module__.partition(".")[0] == "xarray" and kind.__name__ in ("DataArray", "Dataset")
        for kind in type(data).__mro__
    )


def open_gridded(path: str | PathLike[str], engine: str | None) -> Any:
    """Return a NetCDF file or a Zarr store as a data set in memory."""
    what = "Zarr" if engine == "zarr" else "NetCDF"
    xarray = require("xarray", "data", f"Reading {what}")
    if engine is None:
        with open(path, "rb"):
            pass
    try:
        return xarray.load_dataset(path, engine=engine)
    except (ValueError, OSError, KeyError) as problem:
        raise DataError(f"{path} cannot be read as {what}: {problem}") from problem


def parts_of_gridded(data: Any, asked: Asked) -> Parts:
    """Return the paths of an array or data set; see `Trajectories.from_xarray`."""
    named: dict[str, tuple[str, str]] = {}
    if hasattr(data, "data_vars"):
        data, named = _one_array(data, asked)
    dims = list(data.dims)
    time = _time_dim(data, asked)
    rest = [dim for dim in dims if dim != time]
    paths = _path_dims(data, rest, asked)
    rest = [dim for dim in rest if dim not in paths]
    if len(rest) == 1 and not _names_states(data, rest[0]) and asked.wide is None and data.sizes[rest[0]] > 1:
        rest = _ask(data, rest)
    if time is None or len(rest) > 1:
        raise DataError(
            f"the array has dimensions {', '.join(map(str, dims))}: allowed are 'time' (or 't'), those that tell "
            "recordings apart ('path', 'member', or id=...), and at most one other, whose labels name the states; "
            ".sel(...) and .mean(...) of the array make it smaller"
        )
    if asked.wide == "repeats" and rest:
        paths, rest = [*paths, *rest], []
    array = data.transpose(*paths, time, *rest)
    values = np.asarray(array.values)
    values = values if rest else values[..., None]
    ids = _labels(data, paths)
    samples = list(values.reshape(-1, *values.shape[-2:])) if paths else [values]
    labels, units = _states(data, rest, named)
    found = Parts(
        samples,
        names=None if labels is None else clean_names(labels),
        dt=asked.step,
        units=units,
        labels=labels,
        time_unit=asked.step_unit,
        ids=ids,
    )
    if asked.per_year is not None or asked.fps is not None:
        return found
    return _timed(found, data, time, asked, len(samples))


def _one_array(data: Any, asked: Asked) -> tuple[Any, dict[str, tuple[str, str]]]:
    """The variables of a data set as one array over states, and label and unit of each."""
    variables = [str(name) for name in data.data_vars]
    if asked.columns is not None:
        for name in asked.columns:
            if name not in variables:
                raise argument_error("columns", name, f"one of the variables {', '.join(variables)}")
        chosen = [str(name) for name in asked.columns]
    else:
        timed = [name for name in variables if any(_speaks_of_time(data, dim) for dim in data[name].dims)]
        numbers = [
            name
            for name in timed
            if data[name].dtype.kind in "iuf" and not name.endswith(("_bnds", "_bounds"))
        ]
        chosen = numbers or variables
    shapes = {data[name].dims for name in chosen}
    if len(shapes) > 1:
        listed = ", ".join(f"{name} ({', '.join(map(str, data[name].dims))})" for name in chosen)
        raise DataError(
            f"the variables {listed} have other dimensions: columns=[...] chooses those of the states"
        )
    if len(chosen) == 1:
        return data[chosen[0]], {}
    named = {name: (name, str(data[name].attrs.get("units", ""))) for name in chosen}
    return data[chosen].to_dataarray(dim="state"), named


def _speaks_of_time(data: Any, dim: Any) -> bool:
    title = heading(dim)
    if title.speaks_of_time or title.is_age or str(dim).lower() == "sample":
        return True
    return dim in data.coords and calendars.is_dated(np.asarray(data.coords[dim].values))


def _time_dim(data: Any, asked: Asked) -> Any:
    if asked.time is not None and asked.time != "index":
        wanted = str(asked.time)
        for dim in data.dims:
            if str(dim) in (wanted, wanted.removeprefix("-")):
                return dim
        raise argument_error("time", asked.time, f"one of the dimensions {', '.join(map(str, data.dims))}")
    found = [dim for dim in data.dims if _speaks_of_time(data, dim)]
    counts = [dim for dim in data.dims if heading(dim).counts]
    plain = [dim for dim in found if heading(dim).names_time]
    return next(iter([*plain, *found, *counts]), data.dims[0] if data.ndim == 1 else None)


def _path_dims(data: Any, rest: Sequence[Any], asked: Asked) -> list[Any]:
    """The dimensions that tell recordings apart."""
    if asked.id is None:
        return [dim for dim in rest if heading(dim).names_path and str(dim) not in _STATES]
    names = list(asked.id) if isinstance(asked.id, list | tuple) else [asked.id]
    for name in names:
        if name not in rest:
            raise argument_error("id", name, f"one of the dimensions {', '.join(map(str, rest))}")
    return names


def _names_states(data: Any, dim: Any) -> bool:
    """Whether a dimension is one of states: by its name, or by labels that are words."""
    words = dim in data.coords and data.coords[dim].dtype.kind in "OUT"
    return words or str(dim).lower() in _STATES or dim not in data.coords


def _ask(data: Any, rest: list[Any]) -> list[Any]:
    raise DataError(
        f"the dimension {rest[0]!r} has {data.sizes[rest[0]]} numbers as labels: id={rest[0]!r} if each is a "
        "recording, wide='states' if they are states that act on each other"
    )


def _labels(data: Any, paths: Sequence[Any]) -> list[Any] | None:
    """What tells each path apart, along the dimensions `paths`."""
    if not paths:
        return None
    along = [
        np.asarray(data.coords[dim].values).tolist() if dim in data.coords else list(range(data.sizes[dim]))
        for dim in paths
    ]
    labels: list[tuple[Any, ...]] = [()]
    for values in along:
        labels = [(*label, value) for label in labels for value in values]
    return [label[0] if len(label) == 1 else label for label in labels]


def _states(
    data: Any, rest: Sequence[Any], named: dict[str, tuple[str, str]]
) -> tuple[list[str] | None, list[str] | None]:
    """Labels and units of the states."""
    own = str(data.attrs.get("units", ""))
    if not rest:
        if data.name is None:
            return None, [own] if own else None
        title = heading(data.name, own)
        return [title.label], [title.unit]
    count = data.sizes[rest[0]]
    if rest[0] in data.coords and data.coords[rest[0]].dtype.kind in "OUT":
        titles = [str(value) for value in data.coords[rest[0]].values]
        headings = [heading(title, named.get(title, ("", own))[1]) for title in titles]
        return [one.label for one in headings], [one.unit for one in headings]
    return None, [own] * count if own else None


def _timed(found: Parts, data: Any, time: Any, asked: Asked, n_paths: int) -> Parts:
    """The paths with the times of their coordinate."""
    coordinate = time if time in data.coords else next(
        (name for name in data.coords if heading(name).names_time), None
    )  # fmt: skip
    if coordinate is None:
        return found
    if asked.timed:
        raise ArgumentError(
            f"t is given, and the array has the coordinate {coordinate!r} too: leave t out, or drop it"
        )
    title = heading(coordinate, str(data.coords[coordinate].attrs.get("units", "")))
    values = np.asarray(data.coords[coordinate].values)
    where = f"the coordinate {coordinate!r}"
    if values.ndim == 2:
        lengths = [int(np.isfinite(row).sum()) for row in values]
        times = _shared([row[:length] for row, length in zip(values, lengths)])
        paths = [one[:length] for one, length in zip(found.paths, lengths)]
        return replace(found, paths=paths, times=times, where=where, time_unit=title.unit)
    column = Column(title, values)
    backwards = isinstance(asked.time, str) and asked.time.startswith("-")
    if (title.is_age and title.before_present) or backwards:
        column = Column(title, -values)
    elif title.is_age and asked.time is None:
        raise DataError(
            f"the coordinate {coordinate!r} is an age, which may run with time or against it: time={coordinate!r} if "
            f"it grows with time, time='-{coordinate}' if it is counted back from the present"
        )
    stamps, unit = time_numbers(column, asked.unit)
    paths = found.paths
    if looks.rises(stamps, falls=True):
        stamps, paths = np.ascontiguousarray(stamps[::-1]), [np.ascontiguousarray(one[::-1]) for one in paths]
    return replace(
        found, paths=paths, times=[stamps] * n_paths, where=where, time_unit=calendars.as_unit(unit) or unit
    )


def _shared(times: list[Array]) -> list[Array]:
    """Give paths with the same stamps one array."""
    known: dict[bytes, Array] = {}
    return [known.setdefault(stamps.tobytes(), stamps) for stamps in times]
