"""Text tables: one row per sample, read by the compiled core block by block, and written."""

from __future__ import annotations

import gzip
import io
import os
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import numpy as np

from itoscope._core import read_table
from itoscope.common.checks import count
from itoscope.common.writing import replacing
from itoscope.data.columns import Column, Table
from itoscope.data.headings import Heading, heading
from itoscope.data.layout import MISSING, Layout, is_number, opened, sniffed
from itoscope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from itoscope.data.asked import Asked
    from itoscope.data.recording import Recording

__all__ = ["read_csv", "write_csv"]

BLOCK = 1 << 26
"""Bytes read at a time, so that a file is never held as text."""
PEEK = 1 << 16
"""Bytes asked for at what should be the end, which a file that grows has passed."""


def read_csv(path: str | PathLike[str], asked: Asked) -> Table:
    """Read a text table; where the caller names columns, other columns may hold anything."""
    layout = sniffed(path)
    kinds = _kinds(layout, asked)
    found: list[list[Any]] = [[] for _ in kinds]
    line, before = layout.skip, b""
    for block in _blocks(path, layout):
        line, before = line + before.count(b"\n"), block
        read, fault = read_table(
            block, kinds, None if layout.delimiter is None else ord(layout.delimiter), layout.decimal_comma
        )
        if fault is not None:
            raise _mistake(path, layout, line, fault)
        for parts, column in zip(found, read):
            if column is not None:
                parts.append(_words(column) if isinstance(column, tuple) else column)
    columns = [parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else None for parts in found]
    n_rows = next((len(values) for values in columns if values is not None), 0)
    unread = np.broadcast_to(np.nan, n_rows)
    return Table(
        [
            Column(title, unread if values is None else values)
            for title, values in zip(_headings(layout, kinds, asked), columns)
        ],
        where=f"{path}",
        headed=layout.headed,
    )


def _kinds(layout: Layout, asked: Asked) -> str:
    """What is read of each column: `n` numbers, `t` words, `s` nothing."""
    kinds = ""
    wanted = None if asked.columns is None else {str(name) for name in asked.columns}
    for k, (title, cell) in enumerate(zip(layout.headings, layout.first)):
        is_text = not (is_number(cell, layout.decimal_comma) or cell.lower() in MISSING)
        chosen = wanted is None or str(k) in wanted or title.text in wanted or title.label in wanted
        if not chosen and not _may_matter(title, k, asked):
            kinds += "s"
        else:
            kinds += "t" if is_text else "n"
    return kinds


def _may_matter(title: Heading, place: int, asked: Asked) -> bool:
    """Whether a column that is no state may be the time or tell recordings apart."""
    names = asked.id if isinstance(asked.id, list | tuple) else [asked.id]
    named = {str(name).lstrip("-") for name in [asked.time, *names] if name is not None}
    if {title.text, title.label, str(place)} & named:
        return True
    return title.speaks_of_time or title.counts or title.is_age or title.names_path


def _headings(layout: Layout, kinds: str, asked: Asked) -> list[Heading]:
    """The headings; in a file without them states count from one, whatever stands before them."""
    if layout.headed:
        return layout.headings
    names = asked.id if isinstance(asked.id, list | tuple) else [asked.id]
    special = {str(name) for name in [asked.time, *names] if name is not None}
    places = [k for k in range(len(kinds)) if str(k) not in special]
    if asked.columns is not None:
        places = [k for k in places if kinds[k] != "s"]
    return [
        heading(f"x{places.index(k) + 1}" if k in places else f"column {k}") for k in range(len(kinds))
    ]  # fmt: skip


def _blocks(path: str | PathLike[str], layout: Layout) -> Iterator[bytes]:
    """Whole lines of a file in UTF-8, those before the first row left out."""
    if layout.encoding in ("utf-8", "cp1252"):
        with opened(path) as handle:
            yield from _whole_lines(handle, layout.skip)
    else:
        with opened(path) as handle:
            text = io.TextIOWrapper(handle, layout.encoding, errors="replace", newline="")
            for _ in range(layout.skip):
                text.readline()
            while piece := text.read(BLOCK):
                yield (piece + text.readline()).encode()


def _whole_lines(handle: BinaryIO, skip: int) -> Iterator[bytes]:
    for _ in range(skip):
        handle.readline()
    rest = b""
    while piece := handle.read(_ahead(handle)):
        block = rest + piece if rest else piece
        end = block.rfind(b"\n") + 1
        if end:
            yield block if end == len(block) else block[:end]
        rest = block[end:]
    if rest:
        yield rest


def _ahead(handle: BinaryIO) -> int:
    """Bytes to ask for: no more than there are, where that is known, since room is made for all that is asked."""
    if isinstance(handle, gzip.GzipFile):
        return BLOCK
    left = os.fstat(handle.fileno()).st_size - handle.tell()
    return min(BLOCK, left) if left > 0 else PEEK


def _words(column: tuple[bytes, int]) -> np.ndarray[Any, Any]:
    """Texts of one width as an array of NumPy."""
    packed, width = column
    return np.frombuffer(packed, dtype=f"S{width}")


def _mistake(path: str | PathLike[str], layout: Layout, line: int, fault: tuple[int, int, str]) -> DataError:
    """The error for the first row that does not fit."""
    at, column, cell = fault
    where = f"{path}, line {line + at + 1}"
    if column < 0:
        return DataError(f"{where}: {cell} cells, where other rows have {len(layout.first)}")
    return DataError(
        f"{where}, column {layout.headings[column].text!r}: {cell!r} is no number; an empty cell, NA or nan stands for "
        "a missing sample, columns=[...] chooses the states"
    )


def write_csv(data: Recording, path: str | PathLike[str] | TextIO, *, digits: int = 17) -> None:
    """Write columns ``path``, ``t`` and the states, with their units where known, to a file or to an open stream."""
    count("digits", digits, 1, most=17)
    if hasattr(path, "write"):
        _write_rows(data, path, digits)
        return
    with (
        replacing(path) as beside,
        gzip.open(beside, "wt", encoding="utf-8")
        if str(path).endswith(".gz")
        else open(beside, "w", encoding="utf-8") as handle,
    ):
        _write_rows(data, handle, digits)


def _write_rows(data: Recording, handle: Any, digits: int) -> None:
    units = getattr(data, "units", None) or [""] * len(data.names)
    titles = [*zip(data.names, units)]
    unit = getattr(data, "time_unit", "")
    handle.write(
        ",".join(["path", _titled("t", unit), *(_titled(name, unit) for name, unit in titles)]) + "\n"
    )
    for i, (samples, times) in enumerate(zip(data.paths, data.times)):
        row = f"{i},%.15g," + ",".join([f"%.{digits}g"] * len(data.names))
        np.savetxt(handle, np.column_stack([times, samples]), fmt=row)


def _titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def cells_as_columns(rows: Sequence[Sequence[Any]], titles: Sequence[Heading]) -> list[Column]:
    """Columns of the cells of a sheet, numbers where all of them are."""
    return [Column(title, _cells(row)) for title, row in zip(titles, zip(*rows))]


def _cells(cells: Sequence[Any]) -> np.ndarray[Any, Any]:
    plain = [None if isinstance(cell, str) and cell.strip().lower() in MISSING else cell for cell in cells]
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in plain):
        return np.array([np.nan if cell is None else cell for cell in plain], dtype=np.float64)
    return np.array(plain, dtype=object)
