"""A table as its reader found it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from itoscope.data.headings import Heading

__all__ = ["Column", "Table"]


@dataclass(frozen=True)
class Column:
    """One column: numbers, dates, words or objects, in the order of the rows."""

    heading: Heading
    values: np.ndarray[Any, Any]

    @property
    def numeric(self) -> bool:
        """Whether its values are real numbers by their type."""
        return self.values.dtype.kind in "iuf"


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    Attributes
    ----------
    columns : list of Column
    index : list of Column
        What labels the rows; a reader leaves out 0, 1, 2, ....
    where : str
        What the table is, for messages: ``"the file"``.
    headed : bool
        False where the headings were made up.
    """

    columns: list[Column]
    index: list[Column] = field(default_factory=list)
    where: str = "the table"
    headed: bool = True
