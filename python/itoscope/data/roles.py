"""Which column of a table is the time, which tell recordings apart, which are states; what nobody can tell is asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data import calendars, looks
from itoscope.data.columns import Column, Table, words_of
from itoscope.data.headings import is_blank
from itoscope.data.stamps import as_time, with_whole_times
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.data.asked import Asked

__all__ = ["Roles", "decide"]


@dataclass
class Roles:
    """What the columns of a table are.

    Attributes
    ----------
    time : Column or None
        Numbers, dates or time spans.
    counts : bool
        Whether the time counts samples, so that a number that is missing is a sample that is missing.
    where : str
        What carries the time, for messages.
    ids : list of Column
        A recording is the rows that have the same values in all of them.
    states : list of Column
    chosen : bool
        Whether the caller picked the states.
    """

    time: Column | None = None
    counts: bool = False
    where: str = ""
    ids: list[Column] = field(default_factory=list)
    states: list[Column] = field(default_factory=list)
    chosen: bool = False

    @property
    def time_has_name(self) -> bool:
        """Whether the time has a heading that says what it is."""
        return self.time is not None and (self.time.heading.counts or self.time.heading.speaks_of_time)

    @property
    def code(self) -> np.ndarray[Any, Any] | None:
        """The number of the recording of each row; None where there is one."""
        return None if not self.ids else _code(self.ids)


def decide(table: Table, asked: Asked) -> Roles:
    """Return the roles of the columns.

    Raises
    ------
    ArgumentError
        For a column that was named and is not there, and for two sources of time.
    DataError
        For a column that looks like a clock or a label and that nobody named, with both remedies.
    """
    table = (
        with_whole_times(_with_row_numbers_as_index(_without_blanks(table)))
        if asked.time is None
        else (_with_row_numbers_as_index(_without_blanks(table)))
    )
    roles = Roles()
    if asked.time is not None:
        roles.time, roles.where, roles.counts = _time_named(table, asked)
    if asked.id is not None:
        names = list(asked.id) if isinstance(asked.id, list | tuple) else [asked.id]
        roles.ids = [_named(table, "id", name) for name in names]
    if asked.columns is not None:
        roles.states = [_named(table, "columns", name) for name in asked.columns]
        roles.chosen = True
    dated = [replace(column, values=as_time(column)) for column in table.columns if not _used(roles, column)]
    clocks = [column for column in dated if _may_be_time(column)]
    named = [column for column in dated if column.heading.names_path and _is_label(column)]
    labels = [column for column in named if _recurs(column)]
    index = [column for column in table.index if not _used(roles, column)]
    if asked.id is None:
        inner = [column for column in index if column.heading.names_path]
        clock = roles.time or (clocks[0] if clocks else None)
        labels = [column for column in labels if _parts_recordings(column, clock)]
        roles.ids = _found_ids([*labels, *inner], clock)
    clocks = [column for column in clocks if not _used(roles, column)]
    rising = _rising(clocks, roles.code)
    if asked.time is None:
        _find_time(roles, rising, clocks, index, asked)
    once = [column for column in named if _labels_rows(column)]
    aside = {id(column.heading) for column in (*rising, *labels, *once)}
    if not roles.chosen:
        roles.states = [
            column
            for column in table.columns
            if not _used(roles, column) and id(column.heading) not in aside and not _says_nothing(column)
        ]
        _check_states(table, roles)
    if not roles.states:
        raise DataError(
            f"{table.where} has the columns {_listed(table.columns)}: no state is left among them; "
            "columns=[...] names the states"
        )
    return roles


def _without_blanks(table: Table) -> Table:
    """Leave out columns without heading and values, as a sign at the end of every line makes them."""
    kept = [
        column
        for column in table.columns
        if not (
            is_blank(column.heading.text)
            and column.values.dtype.kind == "f"
            and np.isnan(column.values).all()
        )
    ]
    return replace(table, columns=kept)


def _with_row_numbers_as_index(table: Table) -> Table:
    """Take a column without a heading that counts or labels rows for what it was before: the index of the table.

    Rows that were sorted or put together since have numbers that do not rise, or recur.
    """
    numbers = [
        column
        for column in table.columns
        if is_blank(column.heading.text)
        and (looks.is_count(column.values) if column.numeric else _labels_rows(column))
    ]
    if not numbers or table.index or not table.headed:
        return table
    rest = [column for column in table.columns if column is not numbers[0]]
    return replace(table, columns=rest, index=numbers[:1])


def _used(roles: Roles, column: Column) -> bool:
    used = [*roles.ids, *roles.states, *([roles.time] if roles.time else [])]
    return any(one.heading is column.heading for one in used)


def _listed(columns: Sequence[Column]) -> str:
    return ", ".join(column.heading.text for column in columns)


# -- columns that the caller names ---------------------------------------------------------------------------
def _named(table: Table, argument: str, wanted: Any) -> Column:
    """The column with a heading, label or position."""
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        exact = [column for column in table.columns if column.heading.text == str(wanted)]
        if exact:
            return exact[0]
        if 0 <= wanted < len(table.columns):
            return table.columns[wanted]
    every = [*table.columns, *table.index]
    text = str(wanted).strip()
    for match in (
        [column for column in every if column.heading.text == text],
        [column for column in every if column.heading.label == text],
    ):
        if match:
            return match[0]
    raise argument_error(
        argument,
        wanted,
        f"one of the columns {_listed(every)}, or a position from 0 to {len(table.columns) - 1}",
    )


def _time_named(table: Table, asked: Asked) -> tuple[Column | None, str, bool]:
    """The column that `time` names; ``"index"`` is the index and ``"-age"`` runs against the column."""
    wanted, texts = asked.time, {column.heading.text for column in (*table.columns, *table.index)}
    if wanted == "index" and "index" not in texts:
        if not table.index:
            return None, "", False
        column = replace(table.index[0], values=as_time(table.index[0]))
        return column, "the index", _counts(column)
    back = isinstance(wanted, str) and wanted.startswith("-") and wanted not in texts
    column = _named(table, "time", wanted[1:] if back else wanted)
    values = as_time(column)
    if values.dtype.kind in "USO" and not calendars.is_dated(values):
        words = words_of(values) or [repr(value) for value in values[:1]]
        raise calendars.refused(words, f"the time column {column.heading.text!r}")
    if back:
        values = -values if values.dtype.kind != "M" else values.max() - values
    return replace(column, values=values), f"the time column {column.heading.text!r}", _counts(column)


# -- columns that speak for themselves -----------------------------------------------------------------------
def _may_be_time(column: Column) -> bool:
    """Whether heading and values allow it: dates, or numbers under a word for time or counts."""
    heading, values = column.heading, column.values
    if calendars.is_dated(values):
        return True
    if heading.names_time and heading.label != "T":
        return True
    if not column.numeric:
        return False
    if heading.counts:
        return looks.is_count(values) and looks.counts_on(values)
    return (heading.speaks_of_time or heading.is_age) and not (heading.is_age and not _ramp(values))


def _ramp(values: np.ndarray[Any, Any]) -> bool:
    """Whether values run in one direction on the whole, up to where a new recording begins."""
    steps = np.diff(values.astype(np.float64))
    turns = min(int((steps <= 0).sum()), int((steps >= 0).sum()))
    return turns * looks.SHORT <= len(steps)


def _is_label(column: Column) -> bool:
    """Whether values are words or whole numbers, of which some may be missing."""
    values = column.values
    if calendars.is_dated(values) or values.dtype.kind == "b":
        return False
    return not column.numeric or looks.is_count(
        values[~np.isnan(values)] if values.dtype.kind == "f" else values
    )


def _labels_rows(column: Column) -> bool:
    """Whether a label is another in every row: words, or numbers under a heading that ends in `id`."""
    worded = not column.numeric or column.heading.joined.endswith("id")
    return worded and len(set(column.values.tolist())) == len(column.values)


def _recurs(column: Column) -> bool:
    """Whether the values occur again and so can tell recordings apart."""
    count = int(looks.codes(column.values).max()) + 1 if len(column.values) else 0
    return count == 1 or count * 2 <= len(column.values)


def _parts_recordings(column: Column, clock: Column | None) -> bool:
    """Whether a label keeps the order of time: where time rises over all rows, its values follow each other."""
    if clock is None or clock.values.dtype == object or clock.values.dtype.kind in "US":
        return True
    code = looks.codes(column.values)
    if looks.rises(clock.values) or looks.rises(clock.values, falls=True):
        return looks.blocks(code) == int(code.max()) + 1
    return True


def _counts(column: Column) -> bool:
    """Whether a time counts samples: by its heading, or as an index of whole numbers."""
    return column.heading.counts and looks.is_count(column.values)


def _code(ids: Sequence[Column]) -> np.ndarray[Any, Any]:
    code = looks.codes(ids[0].values)
    for column in ids[1:]:
        more = looks.codes(column.values)
        code = looks.codes(code * (int(more.max()) + 1) + more)
    return code


def _found_ids(labels: list[Column], clock: Column | None) -> list[Column]:
    """The labels that tell recordings apart: one if it is enough, with the fewest recordings; else all."""
    if len(labels) < 2:
        return labels
    counted = sorted(labels, key=lambda column: int(looks.codes(column.values).max()))
    if clock is None or clock.values.dtype == object or clock.values.dtype.kind in "US":
        several = [column for column in counted if looks.codes(column.values).max() > 0]
        return several[:1] or counted[:1]
    for choice in (*([column] for column in counted), counted):
        if looks.rises_within(clock.values, _code(choice)):
            return choice
    return counted[-1:]


def _rising(clocks: list[Column], code: np.ndarray[Any, Any] | None) -> list[Column]:
    """The columns whose values rise or fall within every recording; objects are looked at when they are numbers."""
    if code is None:
        code = np.zeros(len(clocks[0].values) if clocks else 0, dtype=np.int64)
    return [
        column
        for column in clocks
        if column.values.dtype == object
        or (column.values.dtype.kind not in "US" and looks.rises_within(column.values, code))
    ]


def _find_time(
    roles: Roles, rising: list[Column], clocks: list[Column], index: list[Column], asked: Asked
) -> None:
    """Choose the time among columns and index, a plain word for it first, counts of samples last."""
    order = sorted(
        rising or [column for column in clocks if column.heading.names_time and column.heading.label != "T"],
        key=lambda column: (column.heading.is_age, column.heading.counts, not column.heading.names_time),
    )
    if order:
        column = order[0]
        if asked.timed and not roles.chosen:
            raise ArgumentError(
                f"t is given, and the table has the time column {column.heading.text!r} too: leave t out, or name the "
                "states with columns=[...]"
            )
        if not asked.timed:
            roles.time, roles.counts = _directed(column), _counts(column)
            roles.where = f"the time column {column.heading.text!r}"
        return
    named = [column for column in index if column.heading.names_path]
    _time_of_index(roles, [column for column in index if column not in named], asked)


def _directed(column: Column) -> Column:
    """An age before present runs backwards; of other ages nobody knows."""
    heading = column.heading
    if not heading.is_age:
        return column
    if heading.before_present:
        return replace(column, values=-column.values)
    raise DataError(
        f"column {heading.text!r} is an age, which may run with time or against it: time={heading.text!r} if it grows "
        f"with time, time={'-' + heading.text!r} if it is counted back from the present"
    )


def _time_of_index(roles: Roles, index: list[Column], asked: Asked) -> None:
    """Take an index for the time: dates, or numbers that rise; whole numbers without a name count samples."""
    if len(index) != 1:
        return
    column = replace(index[0], values=as_time(index[0]))
    values = column.values
    if values.dtype.kind in "US" or (values.dtype == object and not calendars.is_dated(values)):
        return
    counts = column.heading.counts or (looks.is_count(values) and not column.heading.speaks_of_time)
    if counts and (roles.ids or asked.timed):
        return
    if asked.timed:
        raise ArgumentError(
            "t is given, and the index of the table holds times too: leave t out, or drop the index with "
            "reset_index(drop=True)"
        )
    code = roles.code
    code = np.zeros(len(values), dtype=np.int64) if code is None else code
    if values.dtype != object and not looks.rises_within(values, code):
        if values.dtype.kind == "M" or column.heading.speaks_of_time:
            roles.time, roles.where = column, "the index"
            return
        row = int(np.argmax(np.diff(values) <= 0)) + 1
        raise DataError(
            f"the index of the table goes from {values[row - 1]} to {values[row]} at row {row}, so that rows are not "
            "in their order, or of several recordings: id='column' tells recordings apart, reset_index(drop=True) says "
            "that the order of the rows is the order of time"
        )
    roles.time, roles.counts, roles.where = _directed(column), counts, "the index"


# -- columns that are left -----------------------------------------------------------------------------------
def _says_nothing(column: Column) -> bool:
    """Whether a column of words is the same word throughout, as a note on the whole table is."""
    values = column.values
    return values.dtype.kind in "USO" and len(set(values.tolist())) == 1


def _check_states(table: Table, roles: Roles) -> None:
    """Raise DataError for a column that is left as a state and does not look like one."""
    code = roles.code
    first = slice(None) if code is None else code == code[0]
    clock = None if roles.time is None or roles.time.values.dtype == object else roles.time.values
    for column in roles.states:
        heading, values = column.heading, column.values
        others = [one.heading.text for one in roles.states if one is not column] or ["..."]
        if values.dtype.kind == "M" or (values.dtype.kind in "US" and as_time(column) is not values):
            raise DataError(_asked(heading.text, "holds dates", "time", others))
        if code is None and looks.is_label(values, clock):
            raise DataError(_asked(heading.text, "tells recordings apart, as it seems", "id", others))
        if not column.numeric:
            continue
        if len(roles.states) > 1 and looks.is_clock(values[first]):
            what = "rises evenly" if values[first][-1] > values[first][0] else "falls evenly"
            raise DataError(
                _asked(heading.text, f"{what}, as a clock or a count of rows does", "time", others)
            )


def _asked(text: str, what: str, argument: str, others: Sequence[str]) -> str:
    state = "it is a state" if argument == "time" else "they are states"
    listed = ", ".join(repr(one) for one in [text, *others][:4]) + (", ..." if len(others) > 3 else "")
    without = ", ".join(repr(one) for one in others[:4]) + (", ..." if len(others) > 4 else "")
    return (
        f"column {text!r} {what}: {argument}={text!r} if it is that, columns=[{without}] to leave it out, "
        f"columns=[{listed}] if {state}"
    )
