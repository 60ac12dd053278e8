"""Correlation matrices by numbers without bounds: inverse tangents of partial correlations, of two alone Fisher's z."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["FURTHEST", "MOST_CORRELATED", "correlations", "left_alone", "links_of", "pairs_of", "slopes"]

MOST_CORRELATED = 0.999
"""Largest partial correlation of two noises: 0.2 % of a variance stay its own, far above what rounding takes from a
pivot."""
FURTHEST = math.atanh(MOST_CORRELATED)
"""The link of that."""
IMAGINARY = 1e-30
"""Step of the derivatives along the imaginary axis, whose error is its square."""


def pairs_of(size: int) -> list[tuple[int, int]]:
    """The pairs of so many quantities in the order of links and correlations: `(0, 1), (0, 2), (1, 2), (0, 3), ...`."""
    return [(j, i) for i in range(size) for j in range(i)]


def _root(links: Any, size: int) -> Any:
    """Lower factor of the correlation matrix `(size, size)`.

    Row `i` has `w_ij` times what the columns before have left, `sqrt(1 - w_ij^2)` each; `w = tanh(link)`.
    """
    low = np.zeros((size, size), dtype=np.asarray(links).dtype)
    partial = np.tanh(links)
    for i in range(size):
        left = 1.0
        for j in range(i):
            w = partial[i * (i - 1) // 2 + j]
            low[i, j] = w * left
            left = left * np.sqrt(1.0 - w * w)
        low[i, i] = left
    return low


def _of_pairs(links: Any, size: int) -> Any:
    low = _root(links, size)
    whole = low @ low.T
    return np.array([whole[pair] for pair in pairs_of(size)], dtype=whole.dtype)


def correlations(links: Array, size: int) -> Array:
    """The correlations of the pairs `(P,)` of so many quantities whose links are these `(P,)`."""
    found: Array = _of_pairs(np.clip(links, -FURTHEST, FURTHEST), size)
    return found


def slopes(links: Array, size: int) -> Array:
    """Derivatives of the correlations of the pairs by the links `(P, P)`."""
    links = np.clip(links, -FURTHEST, FURTHEST)
    moved = [_of_pairs(links + 1j * IMAGINARY * unit, size).imag / IMAGINARY for unit in np.eye(len(links))]
    found: Array = np.array(moved).T.reshape(len(links), len(links))
    return found


def links_of(matrix: Array) -> Array:
    """The links `(P,)` of a correlation matrix, within bounds."""
    low, found = np.linalg.cholesky(matrix), []
    for i in range(len(matrix)):
        left = 1.0
        for j in range(i):
            w = float(np.clip(low[i, j] / left, -MOST_CORRELATED, MOST_CORRELATED))
            found.append(math.atanh(w))
            left *= math.sqrt(1.0 - w * w)
    return np.array(found)


def left_alone(links: Array, size: int) -> Array:
    """Share of the variance of each quantity that the others do not tell `(size,)`."""
    low = _root(np.clip(links, -FURTHEST, FURTHEST), size)
    inverse = np.linalg.inv(low)
    found: Array = 1.0 / np.einsum("ij,ij->j", inverse, inverse)
    return found
