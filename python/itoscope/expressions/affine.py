"""Which terms are affine: of constant slopes in every input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.expressions.kinks import kinked

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["affine"]


def affine(expressions: Sequence[str], inputs: Sequence[str]) -> frozenset[int]:
    """Numbers of the expressions that are a constant and multiples of the inputs, in any spelling.

    Examples
    --------
    >>> sorted(affine(["1", "x", "2*x - y/3", "x*y", "|x|", "x + x", "sgn(x)"], ["x", "y"]))
    [0, 1, 2, 5]
    """
    graph = Graph(inputs)

    def is_affine(text: str) -> bool:
        node = parse(text, graph)
        slopes = (graph.derivative(node, j) for j in range(len(graph.inputs)))
        return all(graph.constant(slope) is not None for slope in slopes)

    jumps = kinked(expressions, inputs)  # a sign has the slope zero on both sides
    return frozenset(k for k, text in enumerate(expressions) if k not in jumps and is_affine(text))
