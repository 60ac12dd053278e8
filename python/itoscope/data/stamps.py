"""Times that stand in several columns: a date and a clock, or year, month and day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data import calendars, looks
from itoscope.data.columns import Column, words_of
from itoscope.data.headings import heading

if TYPE_CHECKING:
    from itoscope.data.columns import Table

__all__ = ["as_time", "with_whole_times"]

_PARTS = ("year", "month", "day", "hour", "minute", "second")
_UNITS = ("Y", "M", "D", "h", "m", "s")
_ALSO = {"jahr": "year", "monat": "month", "tag": "day", "stunde": "hour", "mon": "month", "yr": "year", "mo": "month",
         "année": "year", "mois": "month", "jour": "day", "año": "year", "mes": "month", "día": "day",
         "min": "minute", "sec": "second", "hr": "hour", "dy": "day"}  # fmt: skip


def as_time(column: Column) -> np.ndarray[Any, Any]:
    """The values of a column, dates where they are written as text or as numbers by a heading of time."""
    values = column.values
    if values.dtype.kind in "USO" and not calendars.is_dated(values):
        words = (
            calendars.of_bytes(values) if values.dtype.kind == "S" else calendars.of_text(words_of(values))
        )
        return values if words is None else words
    if column.heading.speaks_of_time and column.numeric:
        return calendars.as_dates(values)
    return values


def with_whole_times(table: Table) -> Table:
    """Put a date and a clock, or the numbers of a date, into one column."""
    parts = {_ALSO.get(column.heading.joined, column.heading.joined): column for column in table.columns}
    found = [name for name in _PARTS if name in parts]
    if (
        len(found) > 1
        and found == list(_PARTS[: len(found)])
        and all(_fits(parts[name], name) for name in found)
    ):
        whole = parts["year"].values.astype(np.int64) - 1970
        stamps = whole.astype("datetime64[Y]").astype("datetime64[M]") + (
            parts["month"].values.astype(np.int64) - 1
        )
        if len(found) > 2:
            stamps = stamps.astype("datetime64[s]")
            for name, unit in zip(found[2:], _UNITS[2:]):
                number = parts[name].values.astype(np.int64) - (name == "day")
                stamps = stamps + number.astype(f"timedelta64[{unit}]")
        return _replaced(table, [parts[name] for name in found], stamps)
    words = [column for column in table.columns if column.values.dtype.kind in "USO"]
    if len(words) < 2:
        return table
    timed = [replace(column, values=as_time(column)) for column in words]
    dates = [column for column in timed if column.values.dtype.kind == "M" and _whole_days(column.values)]
    clocks = [column for column in timed if column.values.dtype.kind == "m"]
    if len(dates) == 1 and len(clocks) == 1:
        # The clock was carried over midnight, which the date does by itself.
        clock = clocks[0].values % np.timedelta64(86400 * 10**9, "ns")
        stamps = dates[0].values.astype("datetime64[us]") + clock.astype("timedelta64[us]")
        return _replaced(table, [dates[0], clocks[0]], stamps)
    return table


def _fits(column: Column, name: str) -> bool:
    """Whether the values are such numbers of a date."""
    if not looks.is_count(column.values) or not len(column.values):
        return False
    low, high = column.values.min(), column.values.max()
    least, most = dict(zip(_PARTS, ((1000, 3000), (1, 12), (1, 31), (0, 24), (0, 59), (0, 60))))[name]
    return bool(least <= low and high <= most)


def _whole_days(values: np.ndarray[Any, Any]) -> bool:
    return bool((values == values.astype("datetime64[D]")).all())


def _replaced(table: Table, columns: list[Column], stamps: np.ndarray[Any, Any]) -> Table:
    """The table with one column of times in place of several."""
    gone = {id(column.heading) for column in columns}
    text = " ".join(column.heading.text for column in columns)
    made = Column(heading("time") if not text else replace(heading("time"), text=text, label=text), stamps)
    rest = [column for column in table.columns if id(column.heading) not in gone]
    return replace(table, columns=[made, *rest])
