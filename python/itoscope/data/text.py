"""Text tables: one row per sample, read in chunks with NumPy alone, and written."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TextIO

import numpy as np

from itoscope.common import checks
from itoscope.common.types import Array
from itoscope.data.recording import Recording
from itoscope.data.table import PATH_COLUMNS, TIME_COLUMNS, Table, find_column
from itoscope.errors import DataError, argument_error

__all__ = ["read_csv", "write_csv"]

_CHUNK = 1 << 22
"""Characters read at a time, so that a file is never held as text."""


@dataclass(frozen=True)
class _Layout:
    """How a text table is written."""

    delimiter: str | None
    """None stands for blanks."""
    titles: list[str]
    header_lines: int
    decimal_comma: bool

    def cells(self, line: str) -> list[str]:
        """Split a line that holds data."""
        if self.delimiter is None:
            return line.split()
        row: list[str] = next(csv.reader([line], delimiter=self.delimiter), [])
        return [cell.strip() for cell in row]

    def is_number(self, cell: str) -> bool:
        """Tell whether a cell reads as a number."""
        try:
            float(cell.replace(",", ".") if self.decimal_comma else cell)
        except ValueError:
            return False
        return True


def _open(path: str | PathLike[str]) -> TextIO:
    if str(path).endswith(".gz"):
        return io.TextIOWrapper(gzip.open(path, "rb"), encoding="utf-8-sig", errors="replace")
    return open(path, encoding="utf-8-sig", errors="replace")


def _sniff(path: str | PathLike[str]) -> _Layout:
    """Find delimiter, header and decimal sign from the first lines."""
    with _open(path) as handle:
        head = list(itertools.islice(handle, 50))
    rows = [(k, line.strip()) for k, line in enumerate(head) if line.strip()]
    written = [line for _, line in rows if not line.startswith("#")]
    if not written:
        raise DataError(f"{path} holds no row: one row per sample is needed")
    last = written[-1]
    delimiter = next((sign for sign in ";\t," if sign in last), None)
    decimal_comma = delimiter in (";", "\t") and "," in last and "." not in last
    layout = _Layout(delimiter, [], 0, decimal_comma)
    n_columns = len(layout.cells(last))
    titles: list[str] = []
    commented: list[str] = []
    for k, line in rows:
        cells = layout.cells(line.lstrip("#").strip())
        comment = line.startswith("#")
        if not comment and (any(map(layout.is_number, cells)) or not any(cells)):
            return _Layout(delimiter, titles or commented, k, decimal_comma)
        if len(cells) == n_columns and not any(map(layout.is_number, cells)):
            commented = cells if comment else commented
            titles = titles or ([] if comment else cells)
    raise DataError(
        f"{path} holds no row with a number in its first {len(head)} lines: one row per sample is needed"
    )


def read_csv(
    path: str | PathLike[str],
    *,
    time: str | int | None = None,
    path_column: str | int | None = None,
    columns: Sequence[str | int] | None = None,
) -> Table:
    """Read a text table in chunks; see `Trajectories.from_csv`."""
    layout = _sniff(path)
    with _open(path) as handle:
        first = next(line for line in _rows(itertools.islice(handle, layout.header_lines, None)))
    cells = layout.cells(first)
    titles = layout.titles or [f"x{k + 1}" for k in range(len(cells))]
    at_time = _position(titles, "time", time, TIME_COLUMNS)
    at_path = _position(titles, "path_column", path_column, PATH_COLUMNS)
    if columns is None:
        states = [k for k in range(len(titles)) if k not in (at_time, at_path)]
    else:
        states = [_found(titles, "columns", column) for column in columns]
    if not states:
        raise DataError(f"{path} has the columns {', '.join(titles)}: no state is left among them")
    if not layout.titles:
        # Without a header the states count from one, whatever stands before them.
        titles = [f"x{states.index(k) + 1}" if k in states else titles[k] for k in range(len(titles))]
    reader = _Reader(path, layout, titles, len(cells), {"time": at_time, "path": at_path}, cells)
    values, labels = reader.read(states)
    return Table([titles[k] for k in states], values, labels["time"], labels["path"], "the time column")


def _rows(lines: Iterable[str]) -> Iterator[str]:
    """Leave out blank lines and comments."""
    return (line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def _has_any(text: str, *parts: str) -> bool:
    return any(part in text for part in parts)


def _found(titles: list[str], argument: str, column: str | int) -> int:
    """Return the position of a column given by name or position."""
    if isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(titles):
        return column
    if isinstance(column, str) and column in titles:
        return titles.index(column)
    raise argument_error(
        argument, column, f"one of {', '.join(titles)}, or a position from 0 to {len(titles) - 1}"
    )


def _position(titles: list[str], argument: str, given: str | int | None, known: Sequence[str]) -> int | None:
    if given is not None:
        return _found(titles, argument, given)
    guess = find_column(titles, known)
    return None if guess is None else titles.index(guess)


@dataclass(frozen=True)
class _Reader:
    """One pass over the rows: numbers by `numpy.loadtxt`, dates and path labels cell by cell."""

    path: str | PathLike[str]
    layout: _Layout
    titles: list[str]
    n_cells: int
    special: dict[str, int | None]
    first: list[str]

    def read(self, states: list[int]) -> tuple[Array, dict[str, np.ndarray[Any, Any] | None]]:
        """Return the state columns, and the special columns by name."""
        numeric = {
            key: k
            for key, k in self.special.items()
            if k is not None and self.layout.is_number(self.first[k])
        }
        text = {key: k for key, k in self.special.items() if k is not None and key not in numeric}
        wanted = [*states, *numeric.values()]
        blocks: list[Array] = []
        words: dict[str, list[str]] = {key: [] for key in text}
        with _open(self.path) as handle:
            for _ in range(self.layout.header_lines):
                handle.readline()
            while chunk := handle.readlines(_CHUNK):
                if _has_any("".join(chunk), "#", "\n\n", "\n ") or not chunk[0].strip():
                    chunk = list(_rows(chunk))
                    if not chunk:
                        continue
                blocks.append(self._numbers(chunk, wanted))
                if text:
                    rows = [self.layout.cells(line) for line in chunk]
                    for key, k in text.items():
                        words[key].extend(row[k] for row in rows)
        table = np.concatenate(blocks)
        found: dict[str, np.ndarray[Any, Any] | None] = dict.fromkeys(self.special)
        for j, key in enumerate(numeric):
            found[key] = np.ascontiguousarray(table[:, len(states) + j])
        for key in text:
            found[key] = self._dates(words[key]) if key == "time" else np.array(words[key])
        return np.ascontiguousarray(table[:, : len(states)]), found

    def _numbers(self, chunk: list[str], wanted: list[int]) -> Array:
        sign = self.layout.delimiter
        if self.layout.decimal_comma:
            chunk = [line.replace(",", ".") for line in chunk]
        if sign is not None:
            chunk = _fill_empty(chunk, sign)
        # loadtxt looks at no cell beyond the chosen columns, so a row that is too long is found here.
        even = sign is None or sum(line.count(sign) for line in chunk) == len(chunk) * (self.n_cells - 1)
        everything = len(wanted) == self.n_cells
        columns = None if everything else wanted
        try:
            block = np.loadtxt(chunk, delimiter=sign, usecols=columns, ndmin=2, quotechar='"', comments=None)
        except ValueError:
            self._explain(wanted)
            raise
        if not even:
            self._explain(wanted)
        return np.asarray(block[:, wanted] if everything else block, dtype=np.float64)

    def _explain(self, wanted: list[int]) -> None:
        """Go through the file again, slowly, and raise for the first cell that does not fit."""
        with _open(self.path) as handle:
            for number, line in enumerate(handle, start=1):
                if number <= self.layout.header_lines or not line.strip() or line.lstrip().startswith("#"):
                    continue
                row = self.layout.cells(line)
                if len(row) != self.n_cells:
                    raise DataError(
                        f"{self.path}, line {number}: {len(row)} cells, where other rows have {self.n_cells}"
                    )
                for k in wanted:
                    if row[k] and not self.layout.is_number(row[k]):
                        raise DataError(
                            f"{self.path}, line {number}, column {self.titles[k]!r}: {row[k]!r} is no "
                            "number; an empty cell or nan stands for a missing sample, columns=[...] "
                            "chooses the states"
                        )

    def _dates(self, words: list[str]) -> np.ndarray[Any, Any]:
        try:
            return np.array(words, dtype="datetime64[us]")
        except ValueError:
            for k, word in enumerate(words):
                try:
                    np.datetime64(word, "us")
                except ValueError:
                    raise DataError(
                        f"{self.path}, row {k + 1} of the data, time {word!r}: allowed are numbers and dates "
                        "as in 2024-03-01 or 2024-03-01T12:00:00"
                    ) from None
            raise


def _fill_empty(chunk: list[str], sign: str) -> list[str]:
    """Write nan into empty cells, which `numpy.loadtxt` refuses; a chunk without one is left alone."""
    text = "".join(chunk)
    if not _has_any(f"\n{text}\n", sign * 2, f"{sign} ", f"\n{sign}", f"{sign}\n", f"{sign}\r"):
        return chunk
    rows = (
        csv.reader(chunk, delimiter=sign)
        if '"' in text
        else (line.strip("\r\n").split(sign) for line in chunk)
    )
    return [sign.join(cell.strip().replace(sign, " ") or "nan" for cell in row) for row in rows]


def write_csv(data: Recording, path: str | PathLike[str] | TextIO, *, digits: int = 17) -> None:
    """Write columns ``path``, ``t`` and the states to a file, or to a stream that is open."""
    checks.count("digits", digits, most=17)
    if isinstance(path, io.TextIOBase):
        _write_rows(data, path, digits)
        return
    name = str(path)
    with gzip.open(name, "wt") if name.endswith(".gz") else open(name, "w", encoding="utf-8") as handle:
        _write_rows(data, handle, digits)


def _write_rows(data: Recording, handle: Any, digits: int) -> None:
    handle.write(",".join(["path", "t", *data.names]) + "\n")
    for i, (samples, times) in enumerate(zip(data.paths, data.times)):
        row = f"{i},%.15g," + ",".join([f"%.{digits}g"] * len(data.names))
        np.savetxt(handle, np.column_stack([times, samples]), fmt=row)
