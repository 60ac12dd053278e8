"""Data frames and series of every library that narwhals knows, one or many, as tables and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.data.columns import Column, Table
from itoscope.data.headings import heading
from itoscope.data.meaning import parts_of_table
from itoscope.data.parts import Parts
from itoscope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from itoscope.data.asked import Asked

__all__ = [
    "is_frame", "joined", "parts_of_columns", "parts_of_frame", "parts_of_frames", "table_of_frame", "with_numbers",
]  # fmt: skip


def _narwhals() -> Any:
    return require("narwhals.stable.v1", "data", "A data frame")


def is_frame(data: Any) -> bool:
    """Whether `data` is a frame or series of pandas, polars, pyarrow or another library that narwhals knows."""
    if isinstance(data, np.ndarray | list | tuple | dict | str | bytes | float | int):
        return False
    home = type(data).__module__.partition(".")[0]
    if home in ("itoscope", "numpy", "builtins", "xarray"):
        return False
    known = _narwhals().dependencies
    return bool(known.is_into_dataframe(data) or known.is_into_series(data) or hasattr(data, "__narwhals_lazyframe__")
                or type(data).__name__ == "LazyFrame")  # fmt: skip


def with_numbers(frame: Any, column: str, codes: Callable[[Sequence[Any]], Any]) -> Any:
    """A frame whose column of words holds numbers, `codes` of them; the frame itself where there is no such column."""
    nw = _narwhals()
    data = nw.from_native(frame.collect() if type(frame).__name__ == "LazyFrame" else frame)
    if column not in data.columns:
        return frame
    values = codes(data.get_column(column).to_list())
    numbers = nw.new_series(column, values, nw.Float64, native_namespace=nw.get_native_namespace(data))
    return data.with_columns(numbers).to_native()


def parts_of_frame(frame: Any, asked: Asked) -> Parts:
    """Return the paths of a frame or series."""
    return parts_of_table(table_of_frame(frame), asked)


def parts_of_frames(frames: Iterable[Any], asked: Asked, ids: Sequence[Any] | None = None) -> Parts:
    """Return the paths of frames with the same states, each a recording or several."""
    found = joined([parts_of_table(table_of_frame(frame), asked) for frame in frames], ids)
    for k, name in enumerate(found.names or ()):
        held = {path[0, k] if len(path) and np.ptp(path[:, k]) == 0 else None for path in found.paths}
        if len(held) > 1 and None not in held and asked.columns is None:
            raise DataError(
                f"column {name!r} is one number in every table and another in each: it labels them and is no state; "
                "columns=[...] names the states"
            )
    return found


def joined(found: Sequence[Parts], ids: Sequence[Any] | None) -> Parts:
    """Put the paths of several tables together.

    Raises
    ------
    DataError
        Where one has other states than the first, or where only some have times.
    """
    first = found[0]
    for k, parts in enumerate(found):
        which = f"table {ids[k]!r}" if ids is not None else f"table {k}"
        if parts.names != first.names:
            raise DataError(
                f"{which} has the states {', '.join(parts.names or ())}, the first {', '.join(first.names or ())}: all "
                "tables have the same columns; columns=[...] chooses them"
            )
        if (parts.times is None) != (first.times is None) or parts.time_unit != first.time_unit:
            raise DataError(
                f"{which} has other times than the first: all have a column of times in one unit, or none has"
            )
    labels = [
        own if ids is None else ids[k] if len(parts.paths) == 1 else (ids[k], own)
        for k, parts in enumerate(found)
        for own in (parts.ids or [k] * len(parts.paths))
    ]
    return Parts(
        paths=[path for parts in found for path in parts.paths],
        times=None if first.times is None else [stamps for parts in found for stamps in parts.times],
        names=first.names,
        where=first.where,
        dt=first.dt,
        units=first.units,
        labels=first.labels,
        time_unit=first.time_unit,
        ids=labels,
    )


def parts_of_columns(data: Mapping[Any, Any], asked: Asked) -> Parts:
    """Return the paths of a mapping: of frames by recording, or of columns by heading."""
    values = list(data.values())
    if not values:
        raise DataError(
            "data is an empty dict: a dict of columns, or of one table for each recording, is wanted"
        )
    if any(is_frame(value) and not _is_series(value) for value in values):
        return parts_of_frames(values, asked, list(data))
    if all(np.ndim(value) == 1 for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) > 1:
            raise DataError(
                "the columns of the dict differ in length: a dict of columns has one length, recordings of "
                "different lengths are a dict of tables or a list of arrays"
            )
        columns = [
            table_of_frame(value, str(key)).columns[0]
            if is_frame(value)
            else Column(heading(key), _plain(np.asarray(value)))
            for key, value in data.items()
        ]
        return parts_of_table(Table(columns, where="the dict"), asked)
    return Parts(values, ids=list(data), dt=asked.step, time_unit=asked.step_unit)


def _is_series(data: Any) -> bool:
    return bool(_narwhals().dependencies.is_into_series(data))


def table_of_frame(frame: Any, name: str | None = None) -> Table:
    """Return a frame, or a series under its name, as a table; an index that says something comes along."""
    nw = _narwhals()
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    titles = getattr(frame, "columns", None)
    if getattr(titles, "nlevels", 1) > 1:
        frame = frame.set_axis(_flat(titles), axis=1)
    elif titles is not None and not callable(titles):
        listed = [str(title) for title in titles]
        twice = next((title for title in listed if listed.count(title) > 1), None)
        if twice is not None:
            raise DataError(f"the table has two columns {twice!r}: each heading once")
    data = nw.from_native(frame, allow_series=True)
    if hasattr(data, "collect"):
        data = data.collect()
    if isinstance(data, nw.Series):
        columns = [Column(heading(name or data.name or "x"), _values(data))]
    else:
        columns = [Column(heading(title), _values(data.get_column(title))) for title in data.columns]
    index = nw.maybe_get_index(data)
    return Table(columns, [] if index is None else _index(index), "the table")


def _flat(titles: Any) -> list[str]:
    """Headings in several rows as one; a row that is the same throughout says nothing."""
    rows = [level for level in range(titles.nlevels) if titles.get_level_values(level).nunique() > 1]
    return [" ".join(str(title[row]) for row in rows or [0] if str(title[row])) for title in titles]


def _values(series: Any) -> np.ndarray[Any, Any]:
    """A column as an array of NumPy: times at Greenwich, missing numbers as NaN, categories as words."""
    nw = _narwhals()
    kind = series.dtype
    if kind == nw.Datetime and getattr(kind, "time_zone", None):
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    elif kind == nw.Date:
        series = series.cast(nw.Datetime("us"))
    elif kind in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    elif (kind.is_integer() and series.null_count()) or kind.is_decimal():
        series = series.cast(nw.Float64)
    elif kind.is_float():
        return np.asarray(series.to_numpy(), dtype=np.float64)
    native = series.to_native()
    if str(getattr(native, "dtype", "")).startswith("period"):
        return np.asarray(native.dt.to_timestamp().to_numpy())
    return _plain(np.asarray(series.to_numpy()))


def _plain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Objects that are all numbers, or missing, as numbers."""
    if values.dtype != object:
        return values
    numbers = (int, float, np.integer, np.floating, type(None))
    if all(isinstance(value, numbers) and not isinstance(value, bool) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return values


def _index(index: Any) -> list[Column]:
    """The levels of an index of pandas; nothing for one that only numbers the rows."""
    if index.nlevels > 1:
        names = [f"level_{k}" if name is None else name for k, name in enumerate(index.names)]
        return [
            Column(heading(name), _level(index.get_level_values(k))) for k, name in enumerate(names)
        ]  # fmt: skip
    values = _level(index)
    name = index.names[0]
    if name is None and values.dtype.kind in "iu" and (values == np.arange(len(values))).all():
        return []
    return [Column(heading("" if name is None else name), values)]


def _level(index: Any) -> np.ndarray[Any, Any]:
    if getattr(index, "tz", None) is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    return _plain(np.asarray(index.to_numpy()))
