"""`"trend"` in `vary`: a constant that drifts along each recording, by a slope of its own, as a term in the time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from itoscope.errors import argument_error
from itoscope.expressions.kinks import distinct
from itoscope.library.bound import TIME
from itoscope.library.library import Library, bind_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.fit.options import Options

__all__ = ["with_trends"]

TREND = "trend"
"""What stands among the terms of `vary` for a slope in time."""


def with_trends(
    options: Options, recipe: Library, states: Sequence[str], sought: Sequence[str], inputs: Sequence[str]
) -> tuple[Options, Library]:
    """The options and the library with the time as a term whose coefficient differs, where a trend is asked for.

    Other rows do not have the term, unless the library had it before.

    Raises
    ------
    ArgumentError
        Where a state or an input is called like the time.
    """
    names = [*states, *inputs]
    asked = {} if TREND in names else options.vary or {}
    rows = [row for row, terms in asked.items() if TREND in terms]
    if not rows:
        return options, recipe
    if TIME in states:
        raise argument_error(f"vary[{rows[0]!r}]", TREND, f"no state of the name {TIME}, which is the time's")
    driven = [name for name in inputs if name != TIME]
    bound = bind_together([recipe], list(states), None, driven)[0]
    _, where = distinct([*bound.expressions, TIME], [*states, *driven, TIME])
    vary = {
        row: list(dict.fromkeys(TIME if term == TREND else term for term in terms))
        for row, terms in asked.items()
    }
    if where[-1] in where[:-1]:
        return replace(options, vary=vary), recipe
    exclude = {row: list(terms) for row, terms in (options.exclude or {}).items()}
    for row in sought:
        if row not in rows:
            exclude[row] = [*exclude.get(row, ()), TIME]
    recipe = recipe + Library.expressions(TIME)
    return replace(options, vary=vary, exclude=exclude, library=recipe), recipe
