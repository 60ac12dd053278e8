"""Terms of the drift that a question names by row: those that may not be in an equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error, naming
from itoscope.expressions.kinks import distinct

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from itoscope.library.bound import BoundLibrary

__all__ = ["check_named", "named_terms"]


def check_named(named: Any, option: str) -> None:
    """Raise `ArgumentError` unless terms are named as `{"v1": ["1", "x1^2"]}`."""
    if named is None:
        return
    if not isinstance(named, Mapping):
        raise argument_error(option, named, "rows and names of terms, as {'v1': ['1', 'x1^2']}")
    for row, terms in named.items():
        if not checks.is_list(terms) or not all(isinstance(term, str) for term in terms):
            raise argument_error(f"{option}[{row!r}]", terms, "a list of terms, such as ['1', 'x1^2']")


def named_terms(
    named: Mapping[str, Sequence[str]] | None, option: str, library: BoundLibrary, rows: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """The named terms of each row as the library shows them, in its order.

    A term is named as it is shown or by any expression that means the same.

    Raises
    ------
    ArgumentError
        For a row that is not sought, a term that is no candidate, and a row of which no candidate is left.
    """
    found = {}
    for row, terms in (named or {}).items():
        if row not in rows:
            raise argument_error(option, row, f"a row that is sought: {', '.join(rows)}")
        numbers = {_number(text, f"{option}[{row!r}]", library) for text in terms}
        if len(numbers) == len(library.names):
            raise ArgumentError(
                f"{option}[{row!r}] names all {len(numbers)} candidates: leave a term to find"
            )
        found[row] = tuple(library.names[k] for k in sorted(numbers))
    return found


def _number(text: str, argument: str, library: BoundLibrary) -> int:
    """Which candidate a text means."""
    names = list(library.names)
    if text in names:
        return names.index(text)
    with naming(argument):
        _, where = distinct([*library.expressions, text], library.inputs)
    if where[-1] not in where[:-1]:
        raise argument_error(argument, text, f"a term of the library: {', '.join(names)}")
    return where.index(where[-1])
