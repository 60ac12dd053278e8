"""How a text table is written: its encoding, what stands before it, delimiter, headings, units, decimal sign."""

from __future__ import annotations

import csv
import gzip
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from itoscope.common import units
from itoscope.data.calendars import as_unit
from itoscope.data.headings import Heading, heading
from itoscope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

__all__ = ["MISSING", "Layout", "encoding_of", "is_number", "opened", "sniffed", "titles_above"]

HEAD = 1 << 16
"""Bytes at the start of a file from which its layout is told."""

TAIL = 20
"""Lines at the end of that from which the shape of a row is told."""

MISSING = frozenset(
    {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", "---", "?", "."}
)


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    encoding : str
    delimiter : str or None
        None stands for blanks.
    decimal_comma : bool
    skip : int
        Lines before the first row.
    headings : list of Heading
        One for every column; made up where `headed` is False.
    headed : bool
    first : list of str
        The cells of the first row.
    preamble : list of str
        The lines before headings and rows.
    """

    encoding: str
    delimiter: str | None
    decimal_comma: bool
    skip: int
    headings: list[Heading]
    headed: bool
    first: list[str]
    preamble: list[str]


@contextmanager
def opened(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is packed with gzip."""
    with open(path, "rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
        handle.seek(0)
        if packed:
            with gzip.open(handle) as inner:
                yield inner  # type: ignore[misc]
        else:
            yield handle


def encoding_of(head: bytes) -> str:
    """Tell the encoding from the mark at the start, the zero bytes of UTF-16, and whether UTF-8 can be read."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if head.startswith(mark):
            return name
    if head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    if head[::2].count(0) > len(head) // 4:
        return "utf-16-be"
    try:
        head[: head.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def sniffed(path: str | PathLike[str]) -> Layout:
    """Find the layout of a file from its first lines.

    Raises
    ------
    DataError
        For a file without a row.
    """
    with opened(path) as handle:
        head = handle.read(HEAD)
    encoding = encoding_of(head)
    lines = head.decode(encoding, errors="replace").splitlines()
    if len(head) == HEAD and len(lines) > 1:
        lines.pop()
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not written:
        raise DataError(f"{path} holds no row: one row per sample is needed")
    tail = written[-min(len(written), TAIL) :]
    delimiter = _delimiter(tail)
    if delimiter == "," and _is_one_column(written):
        delimiter = None
    decimal_comma = delimiter != "," and any("," in line for line in tail) and not _points(tail, delimiter)
    rows = [_cells(line, delimiter) for line in lines]
    start = _first_row(rows, [line.lstrip().startswith("#") for line in lines], decimal_comma)
    if start is None:
        raise DataError(
            f"{path} holds no row with a number in its first {len(lines)} lines: one row per sample is needed"
        )
    titles, own_units = titles_above(rows[:start], len(rows[start]), decimal_comma)
    if not titles:
        titles = _short_titles(rows[: start + 1], delimiter, decimal_comma, f"{path}")
    headings = [
        heading(title, own_units[k] if own_units else "")
        for k, title in enumerate(titles or [f"x{k + 1}" for k in range(len(rows[start]))])
    ]
    return Layout(
        encoding, delimiter, decimal_comma, start, headings, bool(titles), rows[start], lines[:start]
    )


def _is_one_column(written: Sequence[str]) -> bool:
    """Whether commas are those of decimals: one word above, and below it lines with a comma each, no sign besides."""
    words = [line for line in written if "," not in line]
    return (
        len(words) == 1
        and words[0] is written[0]
        and len(words[0].split()) == 1
        and not is_number(words[0])
        and all(line.count(",") == 1 and line.strip("+-0123456789,eE \r") == "" for line in written[1:])
    )


def _points(lines: Sequence[str], delimiter: str | None) -> bool:
    """Whether numbers with a point stand in the cells, so that a comma is no decimal sign."""
    cells = [cell for line in lines for cell in _cells(line, delimiter)]
    return any("," not in cell and "." in cell and is_number(cell) for cell in cells)


def _cells(line: str, delimiter: str | None) -> list[str]:
    """Split a line; a sign of a comment at its start is no part of the first cell."""
    line = line.strip("\r\n ") if delimiter == "\t" else line.strip()
    line = line.lstrip("#%").strip(" ") if line[:1] in ("#", "%") else line
    if delimiter is None:
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    row: list[str] = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [cell.strip() for cell in row]


def _delimiter(tail: Sequence[str]) -> str | None:
    """The sign that is in the last lines; a comma that only parts the digits of numbers is none."""
    for sign in ";\t|,":
        if sum(sign in line for line in tail) * 2 > len(tail):
            cells = [cell for line in tail for cell in _cells(line, sign)]
            if sign == "," and any(
                len(cell.split()) > 1 and all(map(is_number, cell.split())) for cell in cells
            ):
                continue
            return sign
    return None


def is_number(cell: str, decimal_comma: bool = False) -> bool:
    """Whether a cell reads as a number."""
    if decimal_comma and "," in cell:
        cell = cell.replace(".", "").replace(",", ".")
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _first_row(rows: Sequence[list[str]], comments: Sequence[bool], decimal_comma: bool) -> int | None:
    """The first line that has numbers where the last lines have them."""
    plain = [k for k, row in enumerate(rows) if any(row) and not comments[k]]
    tail = plain[-TAIL:]
    lengths = [len(rows[k]) for k in tail]
    count = max(lengths, key=lambda length: (lengths.count(length), -lengths.index(length)))
    columns = {
        c for k in tail if len(rows[k]) == count for c in range(count) if is_number(rows[k][c], decimal_comma)
    }
    for k in plain:
        fits = len(rows[k]) == count and all(
            rows[k][c].lower() in MISSING or is_number(rows[k][c], decimal_comma) for c in columns
        )
        if columns and fits:
            return k
    return None


def titles_above(rows: Sequence[list[str]], count: int, decimal_comma: bool) -> tuple[list[str], list[str]]:
    """The titles of `count` columns among the lines before the first row, and the units in a line of their own.

    Of several lines of titles the one above the units counts, or the nearest; a line may name columns that rows lack.
    """
    above: list[list[str]] = []
    for row in reversed(rows):
        if not any(row):
            continue
        numbers = [cell for cell in row if is_number(cell, decimal_comma)]
        counted = (
            [str(k) for k in range(int(numbers[0]), int(numbers[0]) + len(numbers))]
            if _is_whole(numbers)
            else []
        )
        full = 2 * sum(bool(cell) for cell in row[:count]) >= count or any(
            cell[:1] in "([" for cell in row if cell
        )
        if len(row) < count or not (full or above) or (numbers and numbers != counted):
            if above:
                break
            continue
        above.append(row[:count])
    if not above:
        return [], []
    if len(above) > 1 and all(map(_is_unit_cell, above[0])):
        return above[1], [cell.strip("()[]<> ") for cell in above[0]]
    return above[0], []


def _short_titles(
    rows: Sequence[list[str]], delimiter: str | None, decimal_comma: bool, where: str
) -> list[str]:
    """The titles of the last of `rows` where the line above it names fewer columns: one less leaves out row labels.

    Raises
    ------
    DataError
        Where more than one column has no name: which one is which cannot be told.
    """
    *above, first = rows
    line = next((k for k in range(len(above), 0, -1) if any(above[k - 1])), 0)
    words = above[line - 1] if line else []
    if not words or not all(words) or any(is_number(cell, decimal_comma) for cell in words):
        return []
    labelled = first[0] in ("0", "1") or not is_number(first[0], decimal_comma)
    if len(words) == len(first) - 1 and labelled:
        return ["", *words]
    if delimiter is None or not 2 <= len(words) < len(first):
        return []
    commas = "; numbers with decimal commas want ';' or tabs between the columns" if delimiter == "," else ""
    raise DataError(
        f"{where}: line {line} names {len(words)} columns ({', '.join(words[:4])}) and the rows below it have "
        f"{len(first)}: give every column its name, or take that line out{commas}"
    )


def _is_whole(numbers: Sequence[str]) -> bool:
    return len(numbers) > 1 and numbers[0].isdecimal()


def _is_unit_cell(cell: str) -> bool:
    inside = cell.strip("()[]<> ")
    bracketed = cell[:1] in ("(", "[", "<") and cell[-1:] in (")", "]", ">")
    return inside in ("", "-") or bracketed or units.is_unit(inside) or as_unit(inside) is not None
