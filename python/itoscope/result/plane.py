"""The density that a diffusion in the plane settles on, by finite differences on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Array, Integers

__all__ = ["settled"]

DRIFT = ((2, -1.0), (1, 6.0), (0, -3.0), (-1, -2.0))
"""Six times the slope by the neighbours along the drift, of third order; it damps what alternates from node to node."""
NOISE = ((1, 1.0), (0, -2.0), (-1, 1.0))
"""The second derivative."""
NUDGE, ROUNDS = 1e-9, 4
"""By how much of the largest rate the operator is moved off its zero, and solutions until only that one is left."""


def settled(x: Array, y: Array, drift: Array, gamma: Array) -> Array:
    r"""The density `p >= 0` with the integral 1 that solves the stationary Fokker-Planck equation between four walls.

    With the generator :math:`L = f \cdot \nabla + \Gamma : \nabla \nabla / 2` on the nodes, each of whose rows adds up
    to zero, :math:`L^T p = 0`. One state without noise, as the position of an oscillator, is no exception.

    Parameters
    ----------
    x, y : (n,) and (k,) arrays
        Evenly spaced.
    drift : (n, k, 2) array
    gamma : (n, k, 2, 2) array
        Not negative.

    Returns
    -------
    (n, k) array
    """
    sparse = require("scipy.sparse", "density", "A stationary density of two states")
    linear = require("scipy.sparse.linalg", "density", "A stationary density of two states")
    nodes = len(x) * len(y)
    rows, columns, values = map(np.concatenate, zip(*_entries(x, y, drift, gamma)))
    forward = sparse.csc_matrix((values, (columns, rows)), shape=(nodes, nodes))
    nudge = NUDGE * abs(forward.diagonal()).max()
    solved = linear.splu(forward - nudge * sparse.eye(nodes, format="csc"))
    law: Any = np.ones(nodes)
    for _ in range(ROUNDS):
        law = solved.solve(law)
        law = law / law.sum()
    law = np.maximum(law, 0.0).reshape(len(x), len(y))
    density: Array = law / (law.sum() * (x[1] - x[0]) * (y[1] - y[0]))
    return density


def _entries(x: Array, y: Array, drift: Array, gamma: Array) -> Iterator[tuple[Integers, Integers, Array]]:
    """Rows, columns and values of the generator; a neighbour behind a wall is the node at the wall."""
    shape = (len(x), len(y))
    number = np.arange(len(x) * len(y)).reshape(shape)
    i, j = np.indices(shape)
    steps = (x[1] - x[0], y[1] - y[0])

    def entry(di: int, dj: int, value: Array) -> tuple[Integers, Integers, Array]:
        to = number[np.clip(i + di, 0, shape[0] - 1), np.clip(j + dj, 0, shape[1] - 1)]
        return number.ravel(), to.ravel(), np.ravel(value)

    for axis, along in enumerate(((1, 0), (0, 1))):
        for way in (1, -1):
            rate = np.maximum(way * drift[..., axis], 0.0) / (6.0 * steps[axis])
            for far, weight in DRIFT:
                yield entry(way * far * along[0], way * far * along[1], weight * rate)
        spread = gamma[..., axis, axis] / (2.0 * steps[axis] ** 2)
        for far, weight in NOISE:
            yield entry(far * along[0], far * along[1], weight * spread)
    mixed = gamma[..., 0, 1] / (4.0 * steps[0] * steps[1])
    for a in (1, -1):
        for b in (1, -1):
            yield entry(a, b, a * b * mixed)
