"""From additive sums to the moments that the sampler is given: projection on the instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import NumericalError
from itoscope.stats.quadratic import RANK_TOLERANCE, Quadratic

if TYPE_CHECKING:
    from itoscope.backends.records import Sums
    from itoscope.common.types import Array

__all__ = ["project"]


def _unit_scale(diagonal: Array) -> Array:
    """Factors that bring a diagonal to one; a zero column keeps the factor zero."""
    root = np.sqrt(np.maximum(diagonal, 0.0))
    return np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)


def project(sums: Sums) -> Quadratic:
    """The regression on its instruments, whose quadratic `yy - 2 b.th + th.G.th` is the residual sum of squares.

    With `Om` scaled to unit diagonal and `Om = V diag(e) V^T`, `e > 1e-13 max(e)` kept:
    `Q = diag(e)^-1/2 V^T A`, `q = diag(e)^-1/2 V^T c`, `G = Q^T Q`, `b = Q^T q`; `yy` is chosen such that the minimum
    of the quadratic equals `s - 2 d.th + th.B.th` at the least-squares `th`.
    """
    parts = (sums.omega, sums.cross, sums.inner, sums.c, sums.d, sums.s)
    if not all(np.isfinite(part).all() for part in parts):
        raise NumericalError("the sums of the regression overflow; use smaller units or a lower degree")
    scale = _unit_scale(np.diag(sums.omega))
    values, vectors = np.linalg.eigh(sums.omega * np.outer(scale, scale))
    keep = values > RANK_TOLERANCE * max(values.max(initial=0.0), 0.0)
    whiten = (vectors[:, keep] / np.sqrt(values[keep])).T * scale
    q_matrix, q_vector = whiten @ sums.cross, whiten @ sums.c
    gram, moment = q_matrix.T @ q_matrix, q_matrix.T @ q_vector
    gram = (gram + gram.T) / 2
    theta = Quadratic(gram, moment, 0.0, sums.n).solve().theta
    residual = sums.s - 2 * sums.d @ theta + theta @ sums.inner @ theta
    return Quadratic(gram, moment, float(max(residual, 0.0) + moment @ theta), float(sums.n))
