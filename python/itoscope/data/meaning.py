"""From a table with its roles to paths: rows grouped, times as numbers in one unit, gaps filled with NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data import calendars, looks
from itoscope.data.columns import Column, Table, words_of
from itoscope.data.grid import filled
from itoscope.data.headings import clean_names
from itoscope.data.parts import Parts
from itoscope.data.roles import Roles, decide
from itoscope.data.samples import agreeing_dt
from itoscope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.asked import Asked

__all__ = ["parts_of_table", "time_numbers"]

WIDE = 3
"""Numbered columns from which on somebody is asked whether they are states or repeats."""


def parts_of_table(table: Table, asked: Asked) -> Parts:
    """Return the paths of a table, recordings in order of first appearance, rows in their order."""
    if table.columns and not len(table.columns[0].values):
        raise DataError(f"{table.where or 'the table'} holds no row of samples: one row per sample is needed")
    roles = decide(table, asked)
    repeats = _repeats(table, roles, asked)
    values = np.column_stack([_numbers(column) for column in roles.states])
    rows, ids = _rows(roles, len(values))
    paths = [np.ascontiguousarray(values[row]) for row in rows]
    times, unit = _times(roles, asked, rows)
    if times is not None:
        paths, times = _in_order(paths, times)
        if ids is None and asked.per_year is None:
            _check_one_recording(times[0], roles.where)
    where, step = roles.where, asked.step
    if asked.per_year is not None:
        times, where = None, f"each row a step, {asked.per_year:g} in a year"
    elif times is not None and (roles.counts or step is not None):
        paths, times = filled(
            paths, times, step, counts=roles.counts, per_count=asked.fps is not None, where=where
        )
    if times is not None and step is not None and not roles.counts and asked.per_year is None:
        agreeing_dt(step, times, where)
    if roles.counts and not roles.time_has_name and step is None:
        times = None
    labels, units = [c.heading.label for c in roles.states], [c.heading.unit for c in roles.states]
    names = clean_names(labels)
    if repeats:
        paths, times, ids = _columns_as_paths(paths, times, labels)
        stem = roles.states[0].heading.numbered or ""
        names, labels, units = clean_names([stem or "x"]), [stem or "x"], units[:1]
    return Parts(
        paths=paths,
        times=None if times is None else _shared(times),
        names=names if table.headed else None,
        where=where,
        dt=step,
        units=units,
        labels=labels if table.headed else None,
        time_unit=unit,
        ids=ids,
    )


def _repeats(table: Table, roles: Roles, asked: Asked) -> bool:
    """Whether numbered columns are repeats of one state.

    Raises
    ------
    DataError
        Where they look like it and nobody said.
    """
    if asked.wide is not None or roles.chosen or not table.headed:
        return asked.wide == "repeats"
    headings = [column.heading for column in roles.states]
    stems = {heading.numbered for heading in headings}
    if len(headings) >= WIDE and len(stems) == 1 and all(heading.repeats for heading in headings):
        raise DataError(
            f"the {len(headings)} columns {headings[0].text} to {headings[-1].text} are numbered as recordings are: "
            "wide='repeats' if each is a recording of one state, wide='states' if they act on each other"
        )
    return False


def _numbers(column: Column) -> Array:
    """The values of a state as float64, a missing one as NaN."""
    values = column.values
    if values.dtype == object:
        try:
            return np.array([np.nan if value is None else _real(value) for value in values], dtype=np.float64)
        except (TypeError, ValueError):
            pass
    elif column.numeric:
        return np.asarray(values, dtype=np.float64)
    first = values[0]
    first = (
        first.decode(errors="replace")
        if isinstance(first, bytes)
        else getattr(first, "item", lambda: first)()
    )
    raise DataError(
        f"column {column.heading.text!r} holds {first!r} (dtype {values.dtype}): states are real numbers; choose the "
        "states with columns=[...], or tell recordings apart with id=..."
    )


def _real(value: Any) -> float:
    if isinstance(value, bool | str | bytes | complex):
        raise TypeError
    return float(value)


def _rows(roles: Roles, n_rows: int) -> tuple[list[Any], list[Any] | None]:
    """The rows of each recording, and its label."""
    code = roles.code
    if code is None:
        return [slice(None)], None
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    # Rows without a label, as of what a tracker could not assign, belong to no recording.
    rows = [row for row in rows if not any(_is_missing(column.values[row[0]]) for column in roles.ids)]
    labels = [tuple(_plain(column.values[row[0]]) for column in roles.ids) for row in rows]
    return rows, [label[0] if len(label) == 1 else label for label in labels]


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or value in ("", b"")
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
    )


def _plain(value: Any) -> Any:
    value = getattr(value, "item", lambda: value)()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _times(roles: Roles, asked: Asked, rows: Sequence[Any]) -> tuple[list[Array] | None, str]:
    """The times of each recording and their unit."""
    column = roles.time
    if column is None:
        return None, asked.step_unit
    if roles.counts:
        word = column.heading.words[0] if roles.time_has_name else ""
        unit = asked.step_unit if asked.step is not None else asked.unit or _singular(word)
        return [np.asarray(column.values[row], dtype=np.float64) for row in rows], unit
    if column.values.dtype.kind == "M" and asked.per_year is None and asked.unit is None:
        _check_weekends(column)
    numbers, unit = time_numbers(column, asked.unit)
    return [numbers[row] for row in rows], unit if asked.per_year is None else asked.step_unit


def _singular(word: str) -> str:
    return {"idx": "index", "index": "index", "frames": "frame", "samples": "sample", "steps": "step"}.get(
        word, word
    )


def time_numbers(column: Column, asked: str | None) -> tuple[Array, str]:
    """Return times in the unit `asked`, or in their own; dates are seconds by themselves."""
    values = column.values
    if calendars.is_dated(values):
        unit = asked or "s"
        return calendars.as_numbers(values, unit), unit
    if not column.numeric:
        words = words_of(values) or [repr(value) for value in values[:1]]
        raise calendars.refused(words, f"the time column {column.heading.text!r}")
    own = calendars.as_unit(column.heading.unit.partition(" since ")[0]) if column.heading.unit else None
    if own is None and len(column.heading.words) == 1 and len(column.heading.joined) > 1:
        own = calendars.as_unit(column.heading.joined)
    numbers = np.asarray(values, dtype=np.float64)
    if asked is None:
        return numbers, own or column.heading.unit
    return (numbers if own in (None, asked) else numbers * calendars.factor(own, asked)), asked


TRADING = 252
"""Trading days in a year."""


def _check_weekends(column: Column) -> None:
    """Raise DataError for daily dates without a weekend: nobody said whether time runs on Saturday."""
    days = column.values.astype("datetime64[D]").astype(np.int64)
    changes = days[np.append(True, days[1:] != days[:-1])]
    steps = np.diff(np.unique(changes))
    if len(steps) < looks.ENOUGH or np.median(steps) != 1 or not (steps > 1).any():
        return
    if ((days + 3) % 7 < 5).all():  # 1970-01-01 was a Thursday
        where = repr(column.heading.text) if column.heading.text else "the index"
        many = int(
            np.median(np.unique(np.unique(column.values).astype("datetime64[D]"), return_counts=True)[1])
        )
        asked, within = f"per_year={TRADING * many}", f", {many} samples in each" if many > 1 else ""
        raise DataError(
            f"the dates of {where} leave out every weekend: "
            f"Trajectories(..., {asked}) lets time run from trading day to trading day{within} (a year is the unit), "
            "time_unit='d' in its place lets it run over weekends too"
        )


def _in_order(paths: list[Array], times: list[Array]) -> tuple[list[Array], list[Array]]:
    """Turn recordings around whose times fall."""
    for i, stamps in enumerate(times):
        if len(stamps) > 1 and looks.rises(stamps, falls=True):
            times[i], paths[i] = np.ascontiguousarray(stamps[::-1]), np.ascontiguousarray(paths[i][::-1])
    return paths, times


def _check_one_recording(stamps: Array, where: str) -> None:
    """Raise DataError where times step back and nobody told recordings apart."""
    back = np.flatnonzero(np.diff(stamps) <= 0)
    if not len(back) or not np.isfinite(stamps).all():
        return
    k = int(back[0]) + 1
    how = "is repeated" if stamps[k] == stamps[k - 1] else f"comes after t[{k - 1}] = {stamps[k - 1]}"
    raise DataError(
        f"path 0, t[{k}] = {stamps[k]} {how}: times increase strictly within a recording; id='column' tells recordings "
        f"apart, and so does a list of tables; {where} may also want sorting"
    )


def _columns_as_paths(
    paths: list[Array], times: list[Array] | None, labels: Sequence[str]
) -> tuple[list[Array], list[Array] | None, list[Any]]:
    """Every column of every path as a path of one state, without the NaN at its end."""
    made: list[Array] = []
    stamps: list[Array] = []
    for i, path in enumerate(paths):
        for column in path.T:
            there = np.flatnonzero(~np.isnan(column))
            length = int(there[-1]) + 1 if len(there) else len(column)
            made.append(np.ascontiguousarray(column[:length, None], dtype=np.float64))
            if times is not None:
                stamps.append(times[i][:length])
    return made, None if times is None else stamps, list(labels) * len(paths)


def _shared(times: list[Array]) -> list[Array]:
    """Give paths with the same stamps one array."""
    known: dict[bytes, Array] = {}
    return [known.setdefault(stamps.tobytes(), stamps) for stamps in times]
