"""A table as its reader found it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from itoscope.data.headings import Heading

__all__ = ["Column", "Table", "words_of"]


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


def words_of(values: np.ndarray[Any, Any]) -> list[str]:
    """The words of an array of texts; nothing where it holds other objects."""
    if values.dtype.kind == "S":
        return [word.decode(errors="replace") for word in values.tolist()]
    words = values.tolist()
    return words if all(isinstance(word, str) for word in words) else []
