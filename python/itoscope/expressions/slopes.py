"""Slopes of expressions as text: how an expression changes with one of the names in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.common.numbers import exact
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["multiples", "slope"]

_SIGNS = {"add": "+", "multiply": "*", "divide": "/", "power": "^"}


def slope(text: str, names: Sequence[str], name: str) -> str:
    """The derivative of an expression over `names` by one of them, as an expression; `"0"` where there is none.

    Examples
    --------
    >>> slope("-u/tau", ["u", "tau"], "tau"), slope("a*x^2 + x", ["x", "a"], "a")
    ('(((-1)*(((-1)*u)/tau))/tau)', '(x^2)')
    """
    graph = Graph(names)
    root = graph.derivative(parse(text, graph), list(names).index(name))
    return _written(graph, root)


def multiples(text: str, terms: Sequence[str], names: Sequence[str]) -> list[int]:
    """Which of the terms are an expression but for a factor, in any spelling.

    Examples
    --------
    >>> multiples("-2 x*y", ["x", "y x", "x^2", "x y + x"], ["x", "y"])
    [1]
    """
    graph = Graph(names)

    def powers(term: str) -> object:
        node = parse(term, graph)
        return None if graph.constant(node) == 0 else graph.factors(node).powers

    own = powers(text)
    return [k for k, term in enumerate(terms) if own is not None and powers(term) == own]


def _written(graph: Graph, root: int) -> str:
    """A node as an expression, in brackets wherever they may be needed."""
    texts: dict[int, str] = {}
    for node in graph.below([root]):
        operation, arguments, value = graph.nodes[node]
        inside = [texts[argument] for argument in arguments]
        if operation == "number":
            texts[node] = exact(value) if value >= 0 else f"({exact(value)})"
        elif operation == "input":
            texts[node] = graph.inputs[int(value)]
        elif operation in _SIGNS:
            texts[node] = f"({_SIGNS[operation].join(inside)})"
        else:
            texts[node] = f"{operation}({inside[0]})"
    return texts[root]
