"""Columns that an option of the sensors names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["check_columns"]


def check_columns(argument: str, asked: Iterable[str], names: Sequence[str]) -> None:
    """Raise `ArgumentError` for a name that no column has."""
    for name in asked:
        if name not in names:
            raise argument_error(argument, name, f"a column of the data: {', '.join(names)}")
