"""Symmetric matrices as covariances: their roots, what they have below zero, and the nearest that has nothing there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array, Bools

__all__ = ["nearest_covariance", "negative_part", "root_of_covariance"]

#: An eigenvalue below zero by less than this share of the largest is rounding.
ROUNDING = 1e-9
#: A pivot of this share of its diagonal entry counts as zero.
PIVOT = 1e-12


def negative_part(gamma: Array) -> Array:
    """The least eigenvalue of each symmetric matrix `(..., m, m)` where it is below zero beyond rounding, else 0."""
    eigenvalues = np.linalg.eigvalsh(gamma)
    least, size = eigenvalues[..., 0], np.abs(eigenvalues).max(axis=-1)
    return np.asarray(np.where(least < -ROUNDING * size, least, 0.0))


def nearest_covariance(gamma: Array) -> Array:
    """Symmetric matrices `(..., m, m)` with their negative eigenvalues set to zero."""
    eigenvalues, vectors = np.linalg.eigh(gamma)
    return np.asarray((vectors * np.maximum(eigenvalues, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def root_of_covariance(gamma: Array) -> Array:
    """Matrices b `(..., m, m)` with ``b b^T = gamma``, of which only the lower triangle is read.

    The Cholesky factor, in which a pivot that is not above 1e-12 of its diagonal entry counts as zero and so does its
    column, since covariances may be semidefinite. A matrix with an eigenvalue below zero is no covariance: b is then
    the symmetric root of the nearest one. NaN where an entry is not finite.
    """
    finite = np.asarray(np.isfinite(gamma).all(axis=(-2, -1)))
    safe = np.where(finite[..., None, None], gamma, 0.0)
    root, sound = _cholesky(safe)
    if not sound.all():
        lower = np.tril(safe[~sound])
        full = lower + np.swapaxes(np.tril(lower, -1), -1, -2)
        eigenvalues, vectors = np.linalg.eigh(full)
        sizes = np.sqrt(np.maximum(eigenvalues, 0.0))
        root[~sound] = (vectors * sizes[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    root[~finite] = np.nan
    return root


def _cholesky(gamma: Array) -> tuple[Array, Bools]:
    """The lower factors, and which of them are factors of what was given."""
    m = gamma.shape[-1]
    factor = np.zeros_like(gamma)
    sound = np.ones(gamma.shape[:-2], dtype=bool)
    for j in range(m):
        size = np.abs(gamma[..., j, j])
        pivot = gamma[..., j, j] - np.sum(factor[..., j, :j] ** 2, axis=-1)
        counts = pivot > PIVOT * size
        sound &= ~(pivot < -PIVOT * size)
        root = np.sqrt(np.where(counts, pivot, 1.0))
        factor[..., j, j] = np.where(counts, root, 0.0)
        for i in range(j + 1, m):
            rest = gamma[..., i, j] - np.sum(factor[..., i, :j] * factor[..., j, :j], axis=-1)
            factor[..., i, j] = np.where(counts, rest / root, 0.0)
            sound &= counts | ~(rest**2 > PIVOT * size * np.abs(gamma[..., i, i]))
    return factor, sound
