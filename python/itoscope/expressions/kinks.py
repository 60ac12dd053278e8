"""Kinks: which terms have a derivative that jumps, and for which of them a Gaussian expectation is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Kink", "closed_kinks", "distinct", "kinked"]

Kind = Literal["sgn", "abs", "product"]


class Kink(NamedTuple):
    """A term whose derivative jumps: `sgn(x_j)`, `|x_j|` ("abs") or `x_i |x_j|` ("product"), i = j where unused."""

    term: int
    kind: Kind
    i: int
    j: int


def closed_kinks(expressions: Sequence[str], inputs: Sequence[str]) -> tuple[Kink, ...]:
    """The terms that are `sgn(x)`, `|x|` or `x|y|` of inputs, in any spelling; their Gaussian expectation is known."""
    graph = Graph(inputs)
    places = [graph.input(j) for j in range(len(graph.inputs))]
    kinds: dict[int, tuple[Kind, int, int]] = {}
    for j, x in enumerate(places):
        size = graph.call("abs", x)
        kinds[graph.call("sgn", x)] = ("sgn", j, j)
        kinds[size] = ("abs", j, j)
        kinds.update({graph.multiply(y, size): ("product", i, j) for i, y in enumerate(places)})
    nodes = [parse(text, graph) for text in expressions]
    return tuple(Kink(k, *kinds[node]) for k, node in enumerate(nodes) if node in kinds)


def kinked(expressions: Sequence[str], inputs: Sequence[str]) -> frozenset[int]:
    """Which terms have a sign or a magnitude in them, in any spelling, anywhere."""
    graph = Graph(inputs)
    nodes = [parse(text, graph) for text in expressions]
    return frozenset(k for k, node in enumerate(nodes) if _is_kinked(graph, node))


def _is_kinked(graph: Graph, root: int) -> bool:
    """Whether a node needs a sign; `|x|^2`, which is `x^2`, does not."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        atoms = {atom for powers, _ in graph.forms[node] for atom, _ in powers}
        operation, arguments, _ = graph.nodes[node]
        if atoms == {node}:
            if operation == "sgn":
                return True
            waiting.extend(arguments)
        waiting.extend(atoms)
    return False


def distinct(expressions: Sequence[str], inputs: Sequence[str]) -> tuple[list[str], list[int]]:
    """The expressions without those that repeat another in any spelling, and the place of each among them."""
    graph = Graph(inputs)
    places: dict[int, int] = {}
    kept: list[str] = []
    where = []
    for text in expressions:
        node = parse(text, graph)
        if node not in places:
            places[node] = len(kept)
            kept.append(text)
        where.append(places[node])
    return kept, where
