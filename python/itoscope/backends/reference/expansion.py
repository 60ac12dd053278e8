"""The integration schemes as truncated Ito-Taylor expansions.

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

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from itoscope.common.types import Array

if TYPE_CHECKING:
    from itoscope.expressions.ito import Operators

__all__ = ["Increment", "Integral", "expansion"]

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


def expansion(scheme: str, operators: Operators) -> list[Increment]:
    """The terms of one step of a scheme, without those that vanish."""
    c, noises = operators, range(operators.n_noise)
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
    return [term for term in terms if operators.graph.constant(term.coefficient) != 0]
