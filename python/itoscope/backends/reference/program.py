"""Expressions compiled over named inputs: values and derivatives at many points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import ArgumentError
from itoscope.expressions.grammar import check_inputs, named, parse
from itoscope.expressions.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Program", "compile"]


class Program:
    """Expressions compiled over named inputs."""

    def __init__(self, expressions: Sequence[str], inputs: Sequence[str]) -> None:
        self.inputs = check_inputs(inputs)
        self.expressions = list(expressions)
        self._graph = Graph(self.inputs)
        self._outputs = [parse(text, self._graph) for text in self.expressions]
        self._vanished = [
            (output, at)
            for output, (text, node) in enumerate(zip(self.expressions, self._outputs))
            for at in sorted(named(text, self.inputs) - self._graph.inputs_of(node))
        ]

    def __repr__(self) -> str:
        return f"<Program of {len(self.expressions)} expressions in {', '.join(self.inputs)}>"

    def evaluate(self, x: Array) -> Array:
        """Values `(n, K)` at the rows of `x` `(n, n_inputs)`; NaN where an input that an expression names is."""
        table = self._table(self._outputs, x)
        for output, at in self._vanished:  # 0 x and x - x are 0, but not where there is no x
            table[np.isnan(np.asarray(x)[:, at]), output] = np.nan
        return table

    def gradient(self, x: Array) -> Array:
        """Derivatives `(n, K, n_inputs)` at the rows of `x` `(n, n_inputs)`."""
        positions = range(len(self.inputs))
        slopes = [self._graph.derivative(output, at) for output in self._outputs for at in positions]
        return self._table(slopes, x).reshape(-1, len(self.expressions), len(self.inputs))

    def _table(self, roots: Sequence[int], x: Array) -> Array:
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.inputs):
            columns = f"one column for each of {', '.join(self.inputs)}"
            raise ArgumentError(f"x of shape {x.shape}: (n, {len(self.inputs)}), {columns}")
        table = np.empty((len(x), len(roots)))
        for column, value in enumerate(self._graph.evaluate(roots, list(x.T))):
            table[:, column] = value
        return table


def compile(expressions: Sequence[str], inputs: Sequence[str]) -> Program:
    """Compile expressions over the named inputs.

    Parameters
    ----------
    expressions : sequence of str
        In the grammar of `itoscope.expressions.grammar`.
    inputs : sequence of str
        Names of the columns that `evaluate` will be given.

    Raises
    ------
    ExpressionError
        With the character at fault.
    """
    return Program(expressions, inputs)
