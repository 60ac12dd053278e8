"""Named arrays of a file as paths: one array of samples, or one for each state, and times beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itoscope.data import calendars
from itoscope.data.columns import Column, Table
from itoscope.data.frames import joined
from itoscope.data.headings import Heading, clean_names, heading
from itoscope.data.looks import refuse_clock
from itoscope.data.meaning import parts_of_table, time_numbers
from itoscope.data.parts import Parts
from itoscope.errors import DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import numpy as np

    from itoscope.data.asked import Asked

__all__ = ["parts_of_arrays"]

_STEPS = ("dt", "delta_t", "deltat", "timestep", "tstep")
_RATES = (
    "fs",
    "fps",
    "rate",
    "samplerate",
    "samplingrate",
    "frequency",
    "sfreq",
    "framerate",
    "sampling_rate",
)


def parts_of_arrays(
    path: str | PathLike[str],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    asked: Asked,
    units: Mapping[str, str] | None = None,
) -> Parts:
    """Return the paths that named arrays hold.

    Parameters
    ----------
    path : path-like
        For messages.
    arrays : mapping of str to array
    asked : Asked
        `time` and `columns` choose arrays by name.
    units : mapping of str to str, optional
        Of arrays for which they are known.

    Raises
    ------
    DataError
        For arrays that do not fit together.
    """
    groups = _groups(arrays)
    if len(groups) > 1 and len({frozenset(group) for group in groups.values()}) == 1:
        recordings = []
        for group in groups.values():
            inside = {leaf: arrays[name] for leaf, name in group.items()}
            known = {leaf: (units or {}).get(name, "") for leaf, name in group.items()}
            recordings.append(parts_of_arrays(path, inside, asked, known))
        return joined(recordings, list(groups))
    arrays = {
        name: value[:, 0] if value.ndim == 2 and value.shape[1] == 1 else value
        for name, value in arrays.items()
    }
    titles = {name: heading(_leaf(name), (units or {}).get(name, "")) for name in arrays}
    wanted = [_key(titles, "columns", column) for column in asked.columns or ()]
    of_time = _of_time(arrays, titles) if asked.time is None else _key(titles, "time", asked.time)
    found = wanted or _of_samples(arrays, of_time)
    if not found:
        raise DataError(f"{path} holds the arrays {', '.join(arrays) or 'none'}: none of them holds samples")
    rows = {arrays[name].shape for name in (*found, *([of_time] if of_time else []))}
    if len(rows) == 1 and arrays[found[0]].ndim == 1 and (len(found) > 1 or of_time is not None):
        return _as_table(path, arrays, titles, found, of_time, asked)
    if len(found) > 1:
        listed = ", ".join(f"{name} {arrays[name].shape}" for name in found)
        raise DataError(
            f"{path} holds {listed}: one array of samples is needed, or one (n_times,) array per state; "
            "columns=[...] chooses among them"
        )
    return _one_array(arrays, titles, found[0], of_time, asked)


def _groups(arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, dict[str, str]]:
    """The arrays of each group by their names in it; a file with a group for every recording has the same in all."""
    found: dict[str, dict[str, str]] = {}
    for name in arrays:
        leaf = _leaf(name)
        found.setdefault(name[: len(name) - len(leaf)].rstrip("/"), {})[leaf] = name
    return found


def _leaf(name: str) -> str:
    """The name of an array without the groups that it is in; a slash within brackets parts units."""
    front = name.partition("[")[0].partition("(")[0]
    return name[front.rfind("/") + 1 :]


def _key(titles: Mapping[str, Heading], argument: str, wanted: Any) -> str:
    """The array that a caller names: with its groups, without them, or without its unit."""
    text = str(wanted)
    for found in (
        [name for name in titles if name == text],
        [name for name, title in titles.items() if title.text == text],
        [name for name, title in titles.items() if title.label == text],
    ):
        if len(found) == 1:
            return found[0]
    raise argument_error(argument, wanted, f"one of the arrays {', '.join(titles)}")


def _of_time(arrays: Mapping[str, np.ndarray[Any, Any]], titles: Mapping[str, Heading]) -> str | None:
    """The array of times: a plain word for time first."""
    flat = [name for name, value in arrays.items() if value.ndim in (1, 2) and value.dtype.kind in "iufM"]
    plain = [name for name in flat if titles[name].names_time]
    return next(iter([*plain, *(name for name in flat if titles[name].speaks_of_time)]), None)


def _of_samples(arrays: Mapping[str, np.ndarray[Any, Any]], of_time: str | None) -> list[str]:
    """Names of the arrays that may hold samples."""
    return [
        name
        for name, value in arrays.items()
        if name not in (of_time, "names") and value.dtype.kind in "iufc" and value.ndim > 0 and value.size > 1
    ]


def _step(arrays: Mapping[str, np.ndarray[Any, Any]]) -> tuple[float | None, str]:
    """A step or a rate that stands beside the samples, and the unit of time if it tells one."""
    for name, value in arrays.items():
        word = _leaf(name).lower()
        if value.size == 1 and value.dtype.kind in "iuf":
            if word in _STEPS:
                return float(value.item()), ""
            if word in _RATES and value.item() > 0:
                return 1.0 / float(value.item()), "s"
    return None, ""


def _as_table(
    path: str | PathLike[str],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    titles: Mapping[str, Heading],
    found: list[str],
    of_time: str | None,
    asked: Asked,
) -> Parts:
    """Arrays of one length as the columns of a table."""
    beside = [] if of_time is None else [of_time]
    names = [str(name) for name in arrays["names"].tolist()] if "names" in arrays else []
    if len(names) == len(found):
        titles = {**titles, **{key: heading(name, titles[key].unit) for key, name in zip(found, names)}}
    columns = [Column(titles[name], arrays[name]) for name in dict.fromkeys([*beside, *found])]
    said = replace(
        asked,
        columns=None if asked.columns is None else [titles[name].text for name in found],
        time=None if asked.time is None else titles[of_time or ""].text,
    )
    parts = parts_of_table(Table(columns, where=f"{path}"), said)
    where = parts.where.replace("the time column", "the array")
    step, unit = _step(arrays) if parts.times is None and parts.dt is None else (parts.dt, parts.time_unit)
    return Parts(**{**parts.__dict__, "where": where, "dt": step, "time_unit": unit or parts.time_unit})


def _one_array(
    arrays: Mapping[str, np.ndarray[Any, Any]],
    titles: Mapping[str, Heading],
    name: str,
    of_time: str | None,
    asked: Asked,
) -> Parts:
    """One array of samples of any shape, with its times or its step."""
    title, data = titles[name], arrays[name]
    labels = [str(one) for one in arrays["names"].tolist()] if "names" in arrays else None
    states = data.shape[-1] if data.ndim > 1 else 1
    units = [title.unit] * states if title.unit else None
    if of_time is None:
        step, unit = _step(arrays)
        if labels is None and not asked.named:
            refuse_clock(data, asked.step or step)
        return Parts(
            data,
            names=clean_names(labels) if labels else None,
            dt=asked.step or step,
            units=units,
            labels=labels,
            time_unit=asked.step_unit or unit,
        )
    column = Column(titles[of_time], arrays[of_time])
    flat = column.values.ndim == 1
    stamps, unit = time_numbers(column, asked.unit) if flat else (column.values, titles[of_time].unit)
    if data.ndim == 2 and flat and data.shape[0] != len(stamps) and data.shape[1] == len(stamps):
        data = data.T
        units = [title.unit] * data.shape[1] if title.unit else None
    return Parts(
        data,
        stamps,
        clean_names(labels) if labels else None,
        f"the array {of_time!r}",
        units=units,
        labels=labels,
        time_unit=calendars.as_unit(unit) or unit,
    )
