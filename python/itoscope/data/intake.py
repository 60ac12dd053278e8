"""Anything that holds samples as `Parts`: arrays, frames, series, lists and dicts of them, arrays of xarray."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data import calendars
from itoscope.data.looks import refuse_clock
from itoscope.data.parts import Parts
from itoscope.data.samples import Finite
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from itoscope.data.asked import Asked

__all__ = ["parts_of", "parts_of_own"]


def parts_of(data: Any, asked: Asked) -> Parts:
    """Return anything that holds samples as `Parts`.

    Frames and arrays of xarray are told by the names of their classes, so that no package is imported for others.

    Parameters
    ----------
    data : Any
    asked : Asked
        What the caller says of it.
    """
    if isinstance(data, Parts):
        return data
    if isinstance(data, np.ndarray):
        return _of_array(data, asked)
    if isinstance(data, Iterator):
        data = list(data)
    if isinstance(data, list | tuple) and not any(_is_foreign(item) for item in data[:1]):
        return _plain(data, asked)
    from itoscope.data import frames, gridded

    if isinstance(data, list | tuple):
        return _of_list(data, asked)
    if isinstance(data, dict):
        return frames.parts_of_columns(data, asked)
    if isinstance(data, str | bytes) or hasattr(data, "__fspath__"):
        raise DataError(
            f"data = {data!r}: the samples are wanted; a file is read by itoscope.read({str(data)!r})"
        )
    if gridded.is_gridded(data):
        return gridded.parts_of_gridded(data, asked)
    if frames.is_frame(data):
        return frames.parts_of_frame(data, asked)
    return _plain(data, asked)


def _of_list(data: Sequence[Any], asked: Asked) -> Parts:
    """Recordings one by one, of a kind that neither Python nor NumPy has."""
    from itoscope.data import frames, gridded

    if all(hasattr(item, "time_source") for item in data):
        return frames.joined([parts_of_own(item, asked) for item in data], None)
    if all(gridded.is_gridded(item) for item in data):
        return frames.joined([gridded.parts_of_gridded(item, asked) for item in data], None)
    if all(frames.is_frame(item) for item in data):
        return frames.parts_of_frames(data, asked)
    return _plain(data, asked)


def _is_foreign(data: Any) -> bool:
    """Whether `data` is of a class that neither Python nor NumPy has."""
    return type(data).__module__.partition(".")[0] not in ("builtins", "numpy")


def _plain(data: Any, asked: Asked) -> Parts:
    for name in ("time", "id", "columns", "wide"):
        value = getattr(asked, name)
        if value is not None:
            raise ArgumentError(
                f"{name} = {value!r}: arrays have no headings, tables have; cut columns out of the array"
            )
    return Parts(data, dt=asked.step, time_unit=asked.step_unit)


def _of_array(data: np.ndarray[Any, Any], asked: Asked) -> Parts:
    """An array; one with fields is a table, and a first column that is the time is no state."""
    if data.dtype.names:
        from itoscope.data import frames

        return frames.parts_of_columns({name: data[name] for name in data.dtype.names}, asked)
    parts = _plain(data, asked)
    if not asked.named and type(data) is not Finite:
        refuse_clock(data, asked.step)
    return parts


def parts_of_own(data: Any, asked: Asked) -> Parts:
    """Trajectories as parts of new ones: the states that are asked for, with the times that they have."""
    if asked.columns is not None:
        data = data.select([str(name) for name in asked.columns])
    for name in ("time", "id", "wide", "fps", "per_year"):
        if getattr(asked, name) is not None:
            raise argument_error(
                name, getattr(asked, name), "nothing, since trajectories have their times and paths"
            )
    scale = 1.0
    if asked.unit is not None and data.time_unit and data.time_unit != asked.unit:
        scale = calendars.factor(calendars.checked_unit(data.time_unit), asked.unit)
    return Parts(
        data.paths,
        data.times if scale == 1 else [stamps * scale for stamps in data.times],
        data.names,
        data.time_source or "the trajectories",
        units=data.units,
        labels=data.labels,
        time_unit=asked.unit or data.time_unit,
        ids=data.ids,
        position_names=data.position_names,
        diverged=data.diverged,
        seed=data.seed,
    )
