"""Workbooks of Excel: the first sheet with rows, what stands before the table left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.data.columns import Column, Table
from itoscope.data.headings import heading
from itoscope.data.layout import MISSING, titles_above
from itoscope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__all__ = ["read_sheet"]


def read_sheet(path: str | PathLike[str]) -> Table:
    """Read the first sheet of a workbook that holds a row with a number."""
    openpyxl = require("openpyxl", "data", "Reading Excel")
    with open(path, "rb") as handle:
        try:
            book = openpyxl.load_workbook(handle, read_only=True, data_only=True)
        except Exception as problem:
            raise DataError(f"{path} cannot be read as an Excel workbook: {problem}") from problem
        sheets = [[list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book.worksheets]
    for rows in sheets:
        table = _table(rows, f"{path}")
        if table is not None:
            return table
    raise DataError(f"{path} holds no row with a number in any sheet: one row per sample is needed")


def _table(rows: list[list[Any]], where: str) -> Table | None:
    filled = [k for k, row in enumerate(rows) if any(_is_number(cell) for cell in row)]
    if not filled:
        return None
    last = rows[filled[-1]]
    width = max((c + 1 for c, cell in enumerate(last) if cell is not None), default=0)
    places = [c for c in range(width) if _is_number(last[c])]
    start = next(k for k in filled if all(_is_number(rows[k][c]) or _is_missing(rows[k][c]) for c in places))
    words = [["" if cell is None else str(cell).strip() for cell in row[:width]] for row in rows[:start]]
    titles, units = titles_above(words, width, False)
    body = [row[:width] for row in rows[start:] if any(cell is not None for cell in row[:width])]
    columns = [
        Column(heading(title, units[c] if units else ""), _values([row[c] for row in body]))
        for c, title in enumerate(titles or [f"x{c + 1}" for c in range(width)])
    ]
    kept = [column for column in columns if column.heading.text or not _empty(column.values)]
    return Table(kept, where=where, headed=bool(titles))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def _empty(values: np.ndarray[Any, Any]) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).all())


def _values(cells: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Numbers, dates, or words as they stand."""
    plain = [None if _is_missing(cell) else cell for cell in cells]
    if all(cell is None or _is_number(cell) for cell in plain):
        return np.array([np.nan if cell is None else cell for cell in plain], dtype=np.float64)
    if all(cell is None or hasattr(cell, "year") for cell in plain):
        return np.array(plain, dtype="datetime64[us]")
    return np.array(plain, dtype=object)
