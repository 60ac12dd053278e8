"""What an `SDE` is given as checked lists of expressions."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.errors import ArgumentError, argument_error, naming
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.expressions.ito import Operators
from itoscope.expressions.sums import expression_of
from itoscope.library.bound import TIME, names_in
from itoscope.library.library import Library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["checked_expressions", "checked_inputs", "checked_rows", "checked_square", "from_library"]


def checked_inputs(inputs: Sequence[str], states: Sequence[str], expressions: Any) -> list[str]:
    """The names of the inputs, and after them the time `t` where an expression contains it and nothing has its name."""
    if not checks.is_list(inputs):
        raise argument_error("inputs", inputs, "a list of names")
    names = list(checks.names([*states, *inputs], "inputs"))
    if TIME not in names and any(TIME in names_in(text) for text in _texts(expressions)):
        names.append(TIME)
    return names[len(states) :]


def _texts(expressions: Any) -> Iterator[str]:
    """The texts among nested expressions."""
    if isinstance(expressions, str):
        yield expressions
    elif isinstance(expressions, list | tuple):
        for entry in expressions:
            yield from _texts(entry)


def checked_expressions(name: str, given: Any, names: Sequence[str], count: int) -> list[str]:
    """`count` expressions over states and inputs as strings that parse; numbers become strings.

    Raises
    ------
    ArgumentError
        For another number of entries, or an entry that is neither text nor a finite number.
    ExpressionError
        For an entry that does not parse.
    """
    if not checks.is_list(given) or not hasattr(given, "__len__") or len(given) != count:
        raise argument_error(name, given, f"{count} expressions")
    texts = []
    for i, entry in enumerate(given):
        if isinstance(entry, Real) and not isinstance(entry, bool):
            texts.append(exact(checks.finite(f"{name}[{i}]", entry, "an expression or a finite number")))
            continue
        if not isinstance(entry, str):
            raise argument_error(f"{name}[{i}]", entry, "an expression or a finite number")
        text = " ".join(entry.split())
        with naming(f"{name}[{i}]"):
            node = parse(text, graph := Graph(names))
        texts.append("0" if graph.constant(node) == 0 else text)
    return texts


def checked_rows(name: str, given: Any, states: Sequence[str], inputs: Sequence[str] = ()) -> list[list[str]]:
    """m rows of expressions, all of the length of the first."""
    if not checks.is_list(given) or not hasattr(given, "__len__") or len(given) != len(states):
        raise argument_error(name, given, f"{len(states)} rows of expressions, one per state")
    given = list(given)
    n = len(given[0]) if checks.is_list(given[0]) and hasattr(given[0], "__len__") else 1
    names = [*states, *inputs]
    return [checked_expressions(f"{name}[{i}]", row, names, n) for i, row in enumerate(given)]


def checked_square(
    name: str, given: Any, states: Sequence[str], inputs: Sequence[str] = ()
) -> list[list[str]]:
    """A symmetric m x m list of expressions."""
    m = len(states)
    rows = checked_rows(name, given, states, inputs)
    if len(rows[0]) != m:
        raise argument_error(name, given, f"{m} rows of {m} expressions")
    entries = Operators([], rows, states, inputs)
    for i in range(m):
        for j in range(i):
            if not entries.same(entries.diffusion[i][j], entries.diffusion[j][i]):
                raise argument_error(
                    f"{name}[{i}][{j}]", rows[i][j], f"the same as {name}[{j}][{i}], {rows[j][i]!r}"
                )
    return rows


def from_library(name: str, given: Any, library: Library, states: Sequence[str], axes: int) -> list[Any]:
    """Coefficients `(m, K)` or, with two axes, `(m, n, K)` as expressions in the terms of a library."""
    bound = checks.instance("library", library, Library, "a Library").bind(states)
    if bound.customs:
        raise ArgumentError("library: expressions alone, since an SDE cannot call a custom Python function")
    theta = checks.reals(name, given)
    if theta.ndim != axes + 1 or len(theta) != len(states) or theta.shape[-1] != len(bound.names):
        shape = f"({len(states)}, {'n, ' if axes == 2 else ''}{len(bound.names)})"
        raise ArgumentError(
            f"{name} of shape {theta.shape}: {shape}, one coefficient per term of the library"
        )
    if not np.isfinite(theta).all():
        raise ArgumentError(f"{name}: finite coefficients")

    def text(row: Any) -> str:
        return expression_of(dict(zip(bound.expressions, row.tolist())))

    return [text(row) if axes == 1 else [text(entry) for entry in row] for row in theta]
