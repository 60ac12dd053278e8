"""The diffusion that a covariance belongs to, where its entries show one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.numbers import exact
from itoscope.errors import argument_error
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.stats.covariance import negative_part, root_of_covariance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = [
    "constant_of",
    "is_positive",
    "modulus_of",
    "roots_of_covariance",
]


def roots_of_covariance(gamma: list[list[str]], states: Sequence[str]) -> list[list[str]] | None:
    """A diffusion g with `g g^T = Gamma`, one column per noisy state, or None where none is evident.

    Evident are the Cholesky factor of a constant matrix, and the roots of a diagonal one whose entries are
    squares (`c u^2` has the root `sqrt(c) |u|`) or positive everywhere (`0.5 + 0.3 x^2`).

    Raises
    ------
    ArgumentError
        For a constant matrix that is no covariance, with the entry and the eigenvalue that show it.
    """
    m = len(gamma)
    graph = Graph(states)
    nodes = [[parse(text, graph) for text in row] for row in gamma]
    constants = [[graph.constant(node) for node in row] for row in nodes]
    if all(value is not None for row in constants for value in row):
        values = np.asarray(constants, dtype=np.float64)
        _check_covariance(values)
        factor = root_of_covariance(values)
        columns = [j for j in range(m) if factor[:, j].any()]
        return [[exact(factor[i, j]) for j in columns] for i in range(m)]
    noisy = [i for i in range(m) if gamma[i][i] != "0"]
    if any(gamma[i][j] != "0" for i in range(m) for j in range(m) if i != j):
        return None
    roots = {i: _root(graph, nodes[i][i], gamma[i][i], states) for i in noisy}
    if any(root is None for root in roots.values()):
        return None
    return [[str(roots[i]) if i == j else "0" for j in noisy] for i in range(m)]


def _check_covariance(gamma: Array) -> None:
    least = float(negative_part(gamma))
    if least == 0:
        return
    i = int(np.argmin(np.diag(gamma)))
    j = i
    if gamma[i, i] >= 0:  # then two states correlate beyond one, or more of them cannot do so all at once
        excess = np.abs(gamma) - np.sqrt(np.outer(np.diag(gamma), np.diag(gamma)))
        np.fill_diagonal(excess, -np.inf)
        i, j = (int(k) for k in np.unravel_index(np.argmax(excess), excess.shape))
    allowed = f"a covariance, no eigenvalue below zero; the least of this one is {least:.6g}"
    raise argument_error(f"gamma[{i}][{j}]", float(gamma[i, j]), allowed)


def _root(graph: Graph, node: int, text: str, states: Sequence[str]) -> str | None:
    """The square root of a covariance entry as an expression, or None unless it is smooth or a modulus."""
    scale, squared = 1.0, node
    operation, arguments, _ = graph.nodes[node]
    if operation == "multiply":
        value = graph.constant(arguments[0])
        other = arguments[1]
        if value is None:
            value, other = graph.constant(arguments[1]), arguments[0]
        if value is not None:
            scale, squared = value, other
    value = graph.constant(squared)
    if value is not None:
        return exact(np.sqrt(value)) if value >= 0 else None
    modulus = _modulus(graph, squared, states)
    if modulus is not None and scale > 0:
        size = exact(np.sqrt(scale))
        return modulus if size == "1" else f"{size} {modulus}"
    return f"sqrt({text})" if _positive(graph, node) else None


def _modulus(graph: Graph, node: int, states: Sequence[str]) -> str | None:
    """`|x|` for a node that is the square of a state, else None."""
    operation, arguments, _ = graph.nodes[node]
    if operation != "power" or graph.constant(arguments[1]) != 2:
        return None
    base = graph.nodes[arguments[0]]
    return f"|{states[int(base.value)]}|" if base.operation == "input" else None


def constant_of(term: str, states: Sequence[str]) -> float | None:
    """The value of a term that is a number, else None."""
    graph = Graph(states)
    return graph.constant(parse(term, graph))


def modulus_of(term: str, states: Sequence[str]) -> str | None:
    """`|x|` for a term that is the square of a state, else None."""
    graph = Graph(states)
    return _modulus(graph, parse(term, graph), states)


def is_positive(text: str, states: Sequence[str]) -> bool:
    """Whether an expression is positive everywhere, as far as its form shows."""
    graph = Graph(states)
    return _positive(graph, parse(text, graph))


def _positive(graph: Graph, root: int) -> bool:
    """Whether a node is positive everywhere, as far as its form shows."""
    at_least_zero: dict[int, bool] = {}
    above_zero: dict[int, bool] = {}
    for node in graph.below([root]):
        operation, arguments, value = graph.nodes[node]
        weak = [at_least_zero[argument] for argument in arguments]
        strict = [above_zero[argument] for argument in arguments]
        if operation == "number":
            at_least_zero[node], above_zero[node] = value >= 0, value > 0
        elif operation == "add":
            at_least_zero[node], above_zero[node] = all(weak), all(weak) and any(strict)
        elif operation in ("multiply", "divide"):
            at_least_zero[node], above_zero[node] = all(weak), all(strict)
        elif operation == "power":
            exponent = graph.constant(arguments[1])
            even = exponent is not None and exponent % 2 == 0
            at_least_zero[node], above_zero[node] = even or weak[0], strict[0]
        else:
            at_least_zero[node] = operation in ("abs", "exp", "cosh", "sqrt")
            above_zero[node] = operation in ("exp", "cosh")
    return above_zero[root]
