"""The Ito operators on drift and diffusion, the structure of the noise, and the schemes that are right for it.

With `dX = a dt + sum_j b^j dW_j` and Gamma = b b^T ::

    L0 = sum_k a_k d_k + 1/2 sum_ik Gamma_ik d_i d_k        Lj = sum_k b_kj d_k

Source: Kloeden & Platen, Numerical Solution of Stochastic Differential Equations (1992), chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.errors import argument_error
from itoscope.expressions.grammar import check_inputs, parse
from itoscope.expressions.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import DiscreteScheme

__all__ = ["SCHEMES", "Operators", "Scheme", "check_scheme"]


@dataclass(frozen=True)
class Scheme:
    """What a scheme promises, and to which noise."""

    name: DiscreteScheme
    strong_order: float
    weak_order: float
    structures: tuple[str, ...]
    """Noise structures it accepts; see `Operators.structure`."""


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            "euler-maruyama", 0.5, 1, ("none", "additive", "scalar", "diagonal", "commutative", "general")
        ),
        Scheme("milstein", 1, 1, ("none", "additive", "scalar", "diagonal", "commutative")),
        Scheme("taylor15", 1.5, 2, ("none", "additive", "scalar", "diagonal")),
    )
}


class Operators:
    """Drift and diffusion as nodes of one graph over states and parameters, with the operators L0 and Lj on them."""

    def __init__(
        self,
        drift: Sequence[str],
        diffusion: Sequence[Sequence[str]],
        states: Sequence[str],
        parameters: Sequence[str] = (),
    ) -> None:
        self.graph = Graph(check_inputs([*states, *parameters]))
        self.n_states = len(states)
        known: dict[str, int] = {}  # most entries of a large diffusion are the same text

        def node_of(text: str) -> int:
            if text not in known:
                known[text] = parse(text, self.graph)
            return known[text]

        self.drift = [node_of(text) for text in drift]
        self.diffusion = [[node_of(text) for text in row] for row in diffusion]

    @property
    def n_noise(self) -> int:
        """Columns of the diffusion."""
        return len(self.diffusion[0]) if self.diffusion else 0

    def total(self, nodes: Sequence[int]) -> int:
        """The sum of nodes."""
        total = self.graph.number(0.0)
        for node in nodes:
            total = self.graph.add(total, node)
        return total

    def covariance(self, k: int, l: int) -> int:  # noqa: E741 - the index pair of the formula
        """Gamma_kl."""
        return self.total(
            [self.graph.multiply(bk, bl) for bk, bl in zip(self.diffusion[k], self.diffusion[l])]
        )

    def along_drift(self, node: int) -> int:
        """L0 of a node."""
        graph, rows = self.graph, range(self.n_states)
        first = [graph.multiply(self.drift[k], graph.derivative(node, k)) for k in rows]
        second = [
            graph.multiply(self.covariance(i, k), graph.derivative(graph.derivative(node, i), k))
            for i in rows
            for k in rows
        ]
        return graph.add(self.total(first), graph.multiply(graph.number(0.5), self.total(second)))

    def along_noise(self, j: int, node: int) -> int:
        """Lj of a node."""
        rows = range(self.n_states)
        return self.total(
            [self.graph.multiply(self.diffusion[k][j], self.graph.derivative(node, k)) for k in rows]
        )

    def structure(self) -> str:
        """The kind of noise, the first that fits of

        - none: no noise;
        - additive: the diffusion is constant;
        - scalar: one noise;
        - diagonal: no noise acts on the coefficients of another, `Li b_kj = 0` and `Li Lj b_kj = 0` for
          i != j (in particular when noise j drives state j alone, with a coefficient in that state);
        - commutative: `Li b_kj = Lj b_ki`;
        - general.
        """
        graph, noises = self.graph, range(self.n_noise)
        entries = [(node, j) for row in self.diffusion for j, node in enumerate(row)]
        zero = graph.number(0.0)
        if all(node == zero for node, _ in entries):
            return "none"
        vary = [node for node, _ in entries if graph.constant(node) is None]
        if all(graph.derivative(node, k) == zero for node in set(vary) for k in range(self.n_states)):
            return "additive"
        if self.n_noise == 1:
            return "scalar"
        if all(
            self.along_noise(i, node) == zero and self.along_noise(i, self.along_noise(j, node)) == zero
            for node, j in entries
            for i in noises
            if i != j
        ):
            return "diagonal"
        if all(
            self.same(self.along_noise(i, row[j]), self.along_noise(j, row[i]))
            for row in self.diffusion
            for j in noises
            for i in range(j)
        ):
            return "commutative"
        return "general"

    def same(self, a: int, b: int) -> bool:
        """Whether two nodes are one function, judged by their values at random points."""
        points = np.random.default_rng(5).normal(size=(len(self.graph.inputs), 32))
        u, v = (np.broadcast_to(value, 32) for value in self.graph.evaluate([a, b], list(points)))
        known = np.isfinite(u) & np.isfinite(v)
        return bool(known.any() and np.all(np.abs(u - v)[known] <= 1e-9 * (np.abs(u) + np.abs(v))[known]))


def check_scheme(name: str, structure: str) -> Scheme:
    """The scheme of this name, if it is right for noise of this structure.

    Raises
    ------
    ArgumentError
        For an unknown name, or naming the schemes that would do.
    """
    name = checks.choice("scheme", name, tuple(SCHEMES))
    if structure not in SCHEMES[name].structures:
        fitting = " or ".join(
            repr(scheme.name) for scheme in SCHEMES.values() if structure in scheme.structures
        )
        *others, last = SCHEMES[name].structures[1:]
        accepted = f"{', '.join(others)} or {last} noise"
        raise argument_error(
            "scheme", name, f"needs {accepted}; the noise of this SDE is {structure}, use {fitting}"
        )
    return SCHEMES[name]
