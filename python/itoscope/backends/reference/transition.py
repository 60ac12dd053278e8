"""Local linearisation of one step: `exp(A h)` and its integrals, by Taylor series and doubling.

Along a step the state follows `dx = (f + A (x - x_0) + c s^2) ds + g dB`, s the time since the start. All integrals are
exact for constant `A`: a linear system is forecast without error whatever the step (Ozaki 1992; Biscay et al. 1996).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["Node", "Transition", "euler", "transition"]

PLACES = (0.5 - math.sqrt(0.15), 0.5, 0.5 + math.sqrt(0.15))
WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)
DEGREE = 18
"""Terms of the Taylor series: with a norm of at most 1/2 the first that is left out is below 1e-16."""


class Node(NamedTuple):
    """A time within a step at which the terms are looked up."""

    s: Array  # (p, 1) time since the start
    weight: Array  # (p, 1, 1)
    phi: Array  # (p, m, m) transition from there to the end
    lead: Array  # (p, m, m) `int_0^s exp(A r) dr`: how far a unit drift leads by then


class Transition(NamedTuple):
    """The exponential of a step and what goes with it."""

    a: Array  # (p, m, m)
    h: Array  # (p, 1, 1)
    halvings: int
    degree: int
    phi: Array  # (p, m, m) `exp(A h)`
    lead: Array  # (p, m, m) `int_0^h exp(A s) ds`
    nodes: list[Node]

    def curve(self, c: Array) -> Array:
        """`int_0^h exp(A (h - s)) s^2 ds c` for vectors `(p, m)`."""
        t = self.h * 0.5**self.halvings
        one, two, three = (_series(self.a, t, c[:, :, None], k) for k in (1, 2, 3))
        phi, _ = _power(self.a, t, 0)
        for _ in range(self.halvings):
            three = phi @ three + three + 2.0 * t * two + t**2 * one
            two = phi @ two + two + t * one
            one = phi @ one + one
            phi, t = phi @ phi, 2.0 * t
        return np.asarray(three[:, :, 0])

    def spread(self, gamma: Array) -> Array:
        """`int_0^h exp(A s) Gamma exp(A s)^T ds` for symmetric `(p, m, m)`."""
        t = self.h * 0.5**self.halvings
        term = t * gamma
        total: Array = term.copy()
        for k in range(2, self.degree + 1):
            turned = self.a @ term
            term = (t / k) * (turned + np.swapaxes(turned, 1, 2))
            total = total + term
        phi, _ = _power(self.a, t, 0)
        for _ in range(self.halvings):
            total = total + phi @ total @ np.swapaxes(phi, 1, 2)
            phi = phi @ phi
        return total


def _series(a: Array, t: Array, c: Array, order: int) -> Array:
    """`int_0^t exp(A (t - s)) s^(order - 1) ds c = (order - 1)! sum_k A^k t^(k + order) / (k + order)! c`."""
    term = t**order / order * c
    total: Array = term.copy()
    for k in range(order + 1, DEGREE + order):
        term = (t / k) * (a @ term)
        total = total + term
    return total


def _power(a: Array, t: Array, halvings: int) -> tuple[Array, Array]:
    """`exp(A t)` and `int_0^t exp(A s) ds` after `halvings` doublings of series at `t / 2^halvings`."""
    t = t * 0.5**halvings
    one = np.eye(a.shape[-1])
    lead = _series(a, t, one + 0.0 * a, 1)
    phi = one + a @ lead
    for _ in range(halvings):
        lead = lead + phi @ lead
        phi = phi @ phi
    return phi, lead


def transition(a: Array, h: Array) -> Transition:
    """Transition of steps `h` `(p, 1, 1)` under Jacobians `a` `(p, m, m)`."""
    norm = 2.0 * float(np.max(np.abs(a * h).sum(axis=1), initial=0.0))
    halvings = max(0, math.ceil(math.log2(norm))) if 1.0 < norm < np.inf else 0
    phi, lead = _power(a, h, halvings)
    within = [_power(a, place * h, halvings) for place in PLACES]
    nodes = [
        Node(place * h[:, 0], weight * h, within[-1 - n][0], within[n][1])
        for n, (place, weight) in enumerate(zip(PLACES, WEIGHTS))
    ]
    return Transition(a, h, halvings, DEGREE, phi, lead, nodes)


def euler(a: Array, h: Array) -> Transition:
    """The same to first order: `1 + A h`, and integrands as they are at the start."""
    one = np.eye(a.shape[-1]) + 0.0 * a
    return Transition(a, h, 0, 1, one + h * a, h * one, [])
