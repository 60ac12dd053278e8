r"""Noise that is not normal: a sum of normal laws over nodes, and how much a reading of it is believed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.heavy import nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.backends.records import StateSpace
    from itoscope.common.types import Array

__all__ = ["believed"]

LOG_2PI = math.log(2.0 * math.pi)


class Believed(NamedTuple):
    """Of innovations `(p,)` of a channel: log density, the precision by which the state follows, the one it gains."""

    log_density: Array
    precision: Array
    gained: Array


def believe(law: Sequence[float], r: Array, c: Array, noise: Array) -> Believed:
    r"""Innovations `r` whose parts from the state have variances `c`, with noise of the scale `noise`.

    With :math:`S_k = c + R/\lambda_k` and :math:`p_k \propto w_k N(r; 0, S_k)`: the mean of the state moves by
    :math:`P H^T r \sum p_k/S_k`, its covariance falls by :math:`P H^T H P` times that less
    :math:`r^2 \mathrm{Var}_p(1/S_k)`.
    """
    variances, shares = nodes(law)
    precision = 1.0 / (c[:, None] + noise[:, None] * variances)
    least = 0.5 * r**2 * precision[:, 0]
    density = np.sqrt(precision) * np.exp(shares + least[:, None] - 0.5 * r[:, None] ** 2 * precision)
    total = density.sum(axis=1)
    first, second = (density * precision).sum(axis=1) / total, (density * precision**2).sum(axis=1) / total
    return Believed(np.log(total) - least - 0.5 * LOG_2PI, first, first - r**2 * (second - first**2))


def believed(
    model: StateSpace, y: Array, seen: NDArray[np.bool_], scale: Array, mean: Array, cov: Array
) -> tuple[Array, Array, Array]:
    """How a sample is read where noise has tails, the channels taken one by one, those with a tail last.

    Returns
    -------
    scale : (p, q)
        Factors of the noise variances by which normal noise leads the mean of the state as far.
    lost : (p, q)
        How much less the covariance falls than with those factors, over the square of the gain.
    beside : (p,)
        What the log-likelihood has beside that of normal noise.
    """
    scale, mean, cov = scale.copy(), mean.copy(), cov.copy()
    lost, beside = np.zeros_like(scale), np.zeros(len(y))
    for c in sorted(range(len(model.tails)), key=lambda c: len(model.tails[c]) > 0):
        row, there = model.observation[c], seen[:, c]
        pulled = cov @ row
        own, r = pulled @ row, np.where(there, y[:, c], 0.0) - mean @ row
        noise = model.noise[c] * scale[:, c]
        precision = 1.0 / (own + noise)
        if model.tails[c]:
            found = believe(model.tails[c], r, np.maximum(own, 0.0), noise)
            precision = found.precision
            factor = np.maximum(1.0 / precision - own, np.finfo(float).tiny) / model.noise[c]
            scale[:, c] = np.where(there, factor, scale[:, c])
            lost[:, c] = np.where(there, (precision - found.gained) / precision**2, 0.0)
            normal = 0.5 * (np.log(precision) - LOG_2PI - r**2 * precision)
            beside += np.where(there, found.log_density - normal, 0.0)
        precision = np.where(there, precision, 0.0)
        mean += pulled * (precision * r)[:, None]
        cov -= pulled[:, :, None] * precision[:, None, None] * pulled[:, None, :]
    return scale, lost, beside
