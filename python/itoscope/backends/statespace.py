"""What the filter's stages take and give: the state-space model, its kinked terms, and the moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from itoscope.backends.protocol import Program
from itoscope.common.types import Array

__all__ = ["FilterMoments", "Kink", "StateSpace"]


class FilterMoments(NamedTuple):
    """A whitened regression: Gram matrix `(C, C)`, moment `(C,)`, the target's square, number of scalar rows."""

    gram: Array
    moment: Array
    yy: float
    n: float


class Kink(NamedTuple):
    """A term whose derivative jumps: `sgn(x_j)`, `|x_j|` ("abs") or `x_i |x_j|` ("product"), i = j where unused."""

    term: int
    kind: Literal["sgn", "abs", "product"]
    i: int
    j: int


@dataclass(frozen=True)
class StateSpace:
    """`dx = f dt + g dB` with `f = drift @ u(x)`, `(g g^T)[pair] = gamma @ u(x)`; `y = observation @ x + e`.

    Parameters
    ----------
    program : Program
        The K terms `u` over the m states, compiled by the backend that filters.
    drift : (m, K) array
    gamma : (n_pairs, K) array
    pairs : (i, j) of each row of `gamma`; other elements of Gamma are zero
    observation : (q, m) array
    noise : (q,) array
        Variances of the independent noises `e`.
    mean0, cov0 : (m,) and (m, m) array
        Normal law of the first state.
    floor : (m,) array
        Smallest Gamma_ii.
    max_step : float
        A longer step is predicted in several pieces.
    kinks : tuple of Kink
        Terms whose Gaussian expectation is taken in closed form.
    second_order : bool
        Keep the terms of order dt^2 and the averages over the state's uncertainty.
    """

    program: Program
    drift: Array
    gamma: Array
    pairs: tuple[tuple[int, int], ...]
    observation: Array
    noise: Array
    mean0: Array
    cov0: Array
    floor: Array
    max_step: float
    kinks: tuple[Kink, ...] = ()
    second_order: bool = True
