"""What a question says of the drift's terms by row: which may not be in, which must be, between which bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error, naming
from itoscope.expressions.kinks import distinct
from itoscope.posterior.said import Said

if TYPE_CHECKING:
    from collections.abc import Collection

    from itoscope.library.bound import BoundLibrary

__all__ = ["check_bounds", "check_named", "deviations_of", "said_of", "settings_of"]

WANTED = "two numbers of which the first is less, None for no bound, as (None, 0)"


def check_named(named: Any, option: str) -> None:
    """Raise `ArgumentError` unless terms are named as `{"v1": ["1", "x1^2"]}`."""
    if named is None:
        return
    if not isinstance(named, Mapping):
        raise argument_error(option, named, "rows and names of terms, as {'v1': ['1', 'x1^2']}")
    for row, terms in named.items():
        if not checks.is_list(terms) or not all(isinstance(term, str) for term in terms):
            raise argument_error(f"{option}[{row!r}]", terms, "a list of terms, such as ['1', 'x1^2']")


def check_bounds(bounds: Any) -> None:
    """Raise `ArgumentError` unless bounds are given as `{"v1": {"x1": (None, 0)}}`."""
    if bounds is None:
        return
    if not isinstance(bounds, Mapping):
        raise argument_error("bounds", bounds, "rows, terms and bounds, as {'v1': {'x1': (None, 0)}}")
    for row, terms in bounds.items():
        if not isinstance(terms, Mapping) or not all(isinstance(term, str) for term in terms):
            raise argument_error(f"bounds[{row!r}]", terms, "terms and bounds, as {'x1': (None, 0)}")
        for term, pair in terms.items():
            _pair(f"bounds[{row!r}][{term!r}]", pair)


def _pair(argument: str, pair: Any) -> tuple[float, float]:
    """A lower and an upper bound, infinite where there is none."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise argument_error(argument, pair, WANTED)
    for end in pair:
        if end is not None and (isinstance(end, bool) or not isinstance(end, int | float | np.number)):
            raise argument_error(argument, pair, WANTED)
    low, high = (
        -math.inf if pair[0] is None else float(pair[0]),
        math.inf if pair[1] is None else float(pair[1]),
    )
    if not low < high:
        raise argument_error(argument, pair, WANTED)
    return low, high


def said_of(
    library: BoundLibrary,
    rows: Collection[str],
    exclude: Mapping[str, Sequence[str]] | None = None,
    include: Mapping[str, Sequence[str]] | None = None,
    bounds: Mapping[str, Mapping[str, tuple[float | None, float | None]]] | None = None,
    parts: Mapping[str, str] | None = None,
    own: Collection[str] = (),
) -> dict[str, Said]:
    """What is said of the terms of each row, as the library shows them; rows of which nothing is said are left out.

    A term is named as it is shown or by any expression that means the same. Known `parts` of rows are terms of the
    library too, of which only the `own` ones are candidates: in their row they are held at 1.

    Raises
    ------
    ArgumentError
        For a row that is not sought, a term that is no candidate, a row of which no candidate is left, and a term of
        which two things are said that cannot both be.
    """
    excluded = _named(exclude, "exclude", library, rows)
    included = _named(include, "include", library, rows)
    bounded = _named(bounds, "bounds", library, rows)
    for row, terms in excluded.items():
        if len(terms) == len(library.names):
            raise ArgumentError(f"exclude[{row!r}] names all {len(terms)} candidates: leave a term to find")
        for option, named in (("include", included), ("bounds", bounded)):
            both = [term for term in named.get(row, {}) if term in terms]
            if both:
                raise argument_error(f"{option}[{row!r}]", both[0], "a term that is not excluded")
    held = {row: library.names[_number(text, "known_drift", library)] for row, text in (parts or {}).items()}
    added = frozenset(library.names).difference(own or library.names)
    found = {}
    for row in rows:
        asked = (bounds or {}).get(row, {})
        limits = {term: _pair("bounds", asked[text]) for term, text in bounded.get(row, {}).items()}
        known = {held[row]} if row in held else set()
        for option, named in (("exclude", excluded), ("include", included), ("bounds", bounded)):
            if known & set(named.get(row, {})):
                raise argument_error(
                    f"{option}[{row!r}]", held[row], "a term that is not the known part of the row"
                )
        one = Said(
            excluded=(frozenset(excluded.get(row, {})) | added) - known,
            included=frozenset(included.get(row, {})),
            held=dict.fromkeys(known, 1.0),
            bounds=limits,
        )
        if one != Said():
            found[row] = one
    return found


def settings_of(said: Mapping[str, Said], library: BoundLibrary) -> dict[str, Any]:
    """What `said_of` was made of, by option, plain values in the order of the library."""

    def ordered(terms: Collection[str]) -> list[str]:
        return [name for name in library.names if name in terms]

    def plain(pair: tuple[float, float]) -> list[float | None]:
        return [end if math.isfinite(end) else None for end in pair]

    found: dict[str, Any] = {
        "exclude": {row: ordered(one.excluded) for row, one in said.items() if one.excluded},
        "include": {row: ordered(one.included) for row, one in said.items() if one.included},
        "bounds": {
            row: {term: plain(one.bounds[term]) for term in ordered(one.bounds)}
            for row, one in said.items()
            if one.bounds
        },
    }
    return {option: named for option, named in found.items() if named}


def deviations_of(
    library: BoundLibrary,
    rows: Collection[str],
    vary: Mapping[str, Sequence[str]] | None,
    exclude: Mapping[str, Sequence[str]] | None,
    taken: Collection[str],
) -> dict[str, dict[str, str]]:
    """By row, the terms whose coefficients differ by recording, each with a name for what a recording has of its own.

    Raises
    ------
    ArgumentError
        For a row that is not sought, and a term that is no candidate or is excluded.
    """
    named = _named(vary, "vary", library, rows)
    excluded = _named(exclude, "exclude", library, rows)
    found: dict[str, dict[str, str]] = {}
    names = set(taken)
    for row, terms in named.items():
        for term in terms:
            if term in excluded.get(row, {}):
                raise argument_error(f"vary[{row!r}]", term, "a term that is not excluded")
            name = f"differs_{row}" if not found.get(row) else f"differs_{row}_{len(found[row]) + 1}"
            while name in names:
                name += "_"
            names.add(name)
            found.setdefault(row, {})[term] = name
    return found


def _named(
    named: Mapping[str, Collection[str]] | None, option: str, library: BoundLibrary, rows: Collection[str]
) -> dict[str, dict[str, str]]:
    """The named terms of each row as the library shows them, in its order, each with the text that named it."""
    found = {}
    for row, terms in (named or {}).items():
        if row not in rows:
            raise argument_error(option, row, f"a row that is sought: {', '.join(rows)}")
        numbers = {_number(text, f"{option}[{row!r}]", library): text for text in terms}
        found[row] = {library.names[k]: numbers[k] for k in sorted(numbers)}
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
