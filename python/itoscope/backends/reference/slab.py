"""Quadrature over the slab variance: the trapezoid rule in ``u = log v``.

The integrand ``p(u) p(y | model, v)`` is analytic and falls off at both ends, on the left like ``exp(-b_v /
v)``, on the right like ``v^-(a_v + r/2)``: equal steps converge exponentially once they resolve its width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.backends.reference.evidence import Regression
    from itoscope.common.types import Array

__all__ = ["SlabPosterior", "slab_posterior"]

#: The integrand is left out where its logarithm is this far below the largest: 4e-18.
NEGLIGIBLE = 40.0
#: Step of the first scan for the interval that matters, and by how much it is divided for the next.
SCAN, FINER = 0.5, 16.0
#: A scan may have steps of so many of the grid's; where a shape of the prior is huge, it is repeated on what matters.
COARSE = 8.0


@dataclass(frozen=True)
class SlabPosterior:
    """The posterior of the slab variance given a model: nodes `v`, their probabilities `weight`."""

    log_integral: float
    v: Array
    weight: Array


def slab_posterior(regression: Regression, members: Sequence[int]) -> SlabPosterior:
    """Integrate the slab variance out of the evidence of the model with these usable columns.

    With ``G_rr = V diag(e) V^T`` and ``h = V^T b_r`` the evidence at any v costs O(r):
    ``log det(G_rr + I/v) = sum log(e + 1/v)``, ``b_r.mu = sum h^2 / (e + 1/v)``.
    """
    prior, r = regression.prior, len(members)
    if r == 0:
        # The empty model has no slab.
        return SlabPosterior(regression.log_evidence([], 1.0), np.array([prior.slab_start]), np.ones(1))
    index = list(members)
    eigenvalues, vectors = np.linalg.eigh(regression.gram[np.ix_(index, index)])
    squares = (vectors.T @ regression.moment[index]) ** 2

    def log_integrand(u: Array) -> Array:
        shifted = np.maximum(eigenvalues, 0) + np.exp(-u)[:, None]
        energy = prior.b_s + 0.5 * np.maximum(regression.yy - (squares / shifted).sum(axis=1), 0)
        log_prior = prior.a_v * (math.log(prior.b_v) - u) - math.lgamma(prior.a_v) - prior.b_v * np.exp(-u)
        evidence = -0.5 * (r * u + np.log(shifted).sum(axis=1)) - regression.power * np.log(energy)
        return np.asarray(regression.log_constant + log_prior + evidence)

    # Scan for the interval that matters, then lay the nodes.
    shape = prior.a_v + 0.5 * r
    step = min(0.7 / math.sqrt(shape), 0.25)
    mode = math.log(prior.b_v / shape)
    low, stride = mode, min(COARSE * step, 0.25)
    while shape * low + prior.b_v * math.exp(-low) < shape * mode + prior.b_v * math.exp(-mode) + NEGLIGIBLE:
        low -= stride
    high, scan = mode + 60 + 45 / (prior.a_v + 0.5), SCAN
    low, high = _mattering(log_integrand, low, high, scan)
    while scan > COARSE * step:
        scan /= FINER
        low, high = _mattering(log_integrand, low, high, scan)
    u = np.arange(low, high + step, step)
    terms = log_integrand(u)
    largest = terms.max()
    weight = np.exp(terms - largest)
    total = weight.sum()
    return SlabPosterior(float(largest + math.log(total * step)), np.exp(u), weight / total)


def _mattering(
    log_integrand: Callable[[Array], Array], first: float, last: float, scan: float
) -> tuple[float, float]:
    """The interval outside of which an integrand is negligible, by steps of `scan` from `first` to `last`."""
    u = np.arange(first, last, scan)
    values = log_integrand(u)
    matters = u[values > values.max() - NEGLIGIBLE]
    if not matters.size:  # infinite, which whoever asks for the posterior is told
        matters = u[:1]
    return float(matters[0] - scan), float(matters[-1] + scan)
