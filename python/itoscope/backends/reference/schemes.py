"""The integration schemes as truncated Ito-Taylor expansions, and the kinds of noise that each is right for.

With `dX = a dt + sum_j b^j dW_j`, Gamma = b b^T, and the operators ::

    L0 = sum_k a_k d_k + 1/2 sum_ik Gamma_ik d_i d_k        Lj = sum_k b_kj d_k

every step of length h adds to row k a sum of (coefficient at its start) x (stochastic integral over it) ::

    Euler-Maruyama      a_k h + sum_j b_kj dW_j
    Milstein            ... + 1/2 sum_j Lj b_kj (dW_j^2 - h) + sum_{i<j} Li b_kj dW_i dW_j
    strong Taylor 1.5   ... + 1/2 L0 a_k h^2 + sum_j [ Lj a_k dZ_j + L0 b_kj (dW_j h - dZ_j)
                                                       + 1/2 Lj Lj b_kj (dW_j^2 / 3 - h) dW_j ]

where `dZ_j` is the integral of `W_j(s) - W_j(0)` over the step: normal, of variance h^3/3 and of covariance
h^2/2 with `dW_j`.

Source: Kloeden & Platen, Numerical Solution of Stochastic Differential Equations (1992), (10.2.4), (10.3.3),
(10.3.16), (10.4.5), (10.4.10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from itoscope.backends.reference.expr import check_inputs, parse
from itoscope.backends.reference.graph import Graph
from itoscope.common.types import Array
from itoscope.errors import argument_error

__all__ = ["SCHEMES", "Coefficients", "Increment", "Integral", "Scheme", "check_scheme", "expansion"]


@dataclass(frozen=True)
class Scheme:
    """What a scheme promises, and to which noise."""

    name: str
    strong_order: float
    weak_order: float
    structures: tuple[str, ...]
    """Noise structures it accepts; see `Coefficients.structure`."""


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            "euler-maruyama", 0.5, 1, ("none", "additive", "scalar", "diagonal", "commutative", "general")
        ),
        Scheme("milstein", 1, 1, ("none", "additive", "scalar", "diagonal", "commutative")),
        Scheme("taylor15", 1.5, 2, ("none", "additive", "scalar", "diagonal")),
    )
}


class Coefficients:
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
        self.drift = [parse(text, self.graph) for text in drift]
        self.diffusion = [[parse(text, self.graph) for text in row] for row in diffusion]

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
        if all(graph.derivative(node, k) == zero for node, _ in entries for k in range(self.n_states)):
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
    if name not in SCHEMES:
        raise argument_error("scheme", name, f"one of {', '.join(map(repr, SCHEMES))}")
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


Integral = Callable[[float, Array, Array], Array | float]
"""A stochastic integral over one step, of its length h and of dW and dZ, both `(n_noise, n_paths)`."""


class Increment(NamedTuple):
    """One term of an expansion: `coefficient(x) * integral(h, dW, dZ)` is added to `row`."""

    row: int
    coefficient: int
    integral: Integral


# The integrals by their indices in Kloeden & Platen: 0 stands for time, j for noise j, the innermost first.
def _i_0() -> Integral:
    return lambda h, dw, dz: h


def _i_00() -> Integral:
    return lambda h, dw, dz: h**2 / 2


def _i_j(j: int) -> Integral:
    return lambda h, dw, dz: dw[j]


def _i_jj(j: int) -> Integral:
    return lambda h, dw, dz: (dw[j] ** 2 - h) / 2


def _i_ij_and_ji(i: int, j: int) -> Integral:
    return lambda h, dw, dz: dw[i] * dw[j]


def _i_j0(j: int) -> Integral:
    return lambda h, dw, dz: dz[j]


def _i_0j(j: int) -> Integral:
    return lambda h, dw, dz: dw[j] * h - dz[j]


def _i_jjj(j: int) -> Integral:
    return lambda h, dw, dz: (dw[j] ** 2 / 3 - h) * dw[j] / 2


def expansion(scheme: str, coefficients: Coefficients) -> list[Increment]:
    """The terms of one step of a scheme, without those that vanish."""
    c, noises = coefficients, range(coefficients.n_noise)
    terms: list[Increment] = []
    for k, (a, b) in enumerate(zip(c.drift, c.diffusion)):
        terms += [Increment(k, a, _i_0())]
        terms += [Increment(k, b[j], _i_j(j)) for j in noises]
        if scheme in ("milstein", "taylor15"):
            terms += [Increment(k, c.along_noise(j, b[j]), _i_jj(j)) for j in noises]
            terms += [
                Increment(k, c.along_noise(i, b[j]), _i_ij_and_ji(i, j)) for j in noises for i in range(j)
            ]
        if scheme == "taylor15":
            terms += [Increment(k, c.along_drift(a), _i_00())]
            terms += [Increment(k, c.along_noise(j, a), _i_j0(j)) for j in noises]
            terms += [Increment(k, c.along_drift(b[j]), _i_0j(j)) for j in noises]
            terms += [Increment(k, c.along_noise(j, c.along_noise(j, b[j])), _i_jjj(j)) for j in noises]
    return [term for term in terms if coefficients.graph.constant(term.coefficient) != 0]
