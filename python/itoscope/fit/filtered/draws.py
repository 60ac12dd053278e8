"""Draws of whole models: each as often as it is probable, its coefficients by the covariance of their estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.family import Family, Member
    from itoscope.fit.filtered.ranking import Ranking

__all__ = ["Drawn", "draw"]

REJECTED = 100
"""How often draws outside of bounds are drawn again."""
WIDEST = 1.0
"""Largest standard deviation of the logarithm of a positive coefficient in a draw."""


class Drawn(NamedTuple):
    """Coefficients of all columns of drift `(n, K)` and Gamma `(n, L)`, zero outside the model of the draw."""

    drift: Array
    gamma: Array


def draw(family: Family, variance: Array, n: int, seed: int, limits: Array | None = None) -> Drawn:
    """Draw `n` models with their coefficients, models as evenly as `n` allows, in random order.

    Parameters
    ----------
    family : Family
    variance : (L,) array of int
        Number of the variance that a column of Gamma belongs to, -1 for one of a covariance: where a variance has one
        term, that stays positive.
    n, seed : int
    limits : (K, 2) array, optional
        Bounds of the coefficients of the drift.
    """
    rng = np.random.default_rng(seed)
    state = family.state
    assert state.drift is not None
    drift = np.zeros((n, len(state.drift.names)))
    gamma = np.zeros((n, len(variance)))
    edges = np.floor(np.cumsum(family.mass) * n + rng.random()).astype(int)
    edges = np.minimum(edges, n)
    edges[-1] = n
    begin = 0
    for member, end in zip(family.members, edges.tolist()):
        count = end - begin
        if count > 0:
            cov, own = _cov(member, state.drift), list(member.drift)
            drift[begin:end, own] = (
                _normal(rng, member.theta, cov, count)
                if limits is None
                else _between(rng, member.theta, cov, count, limits[own])
            )
            gamma[begin:end, list(member.gamma)] = _variances(rng, family, member, variance, count)
            begin = end
    order = rng.permutation(n)
    return Drawn(drift[order], gamma[order])


def _cov(member: Member, ranking: Ranking) -> Array:
    return ranking.sums.solve(member.drift).inverse if member.cov is None else member.cov


def _variances(
    rng: np.random.Generator, family: Family, member: Member, variance: Array, count: int
) -> Array:
    """Draws of the coefficients of Gamma `(count, s)`."""
    ranking, theta = family.state.gamma, member.gamma_theta
    cov = member.gamma_cov
    if cov is None:
        best = family.members[0].gamma_cov
        cov = ranking.sums.solve(member.gamma).inverse if ranking is not None else best
    assert cov is not None
    out = _normal(rng, theta, cov, count)
    of = variance[list(member.gamma)]
    for a, number in enumerate(of.tolist()):
        if number >= 0 and np.count_nonzero(of == number) == 1 and theta[a] > 0.0:
            sd = min(float(np.sqrt(max(cov[a, a], 0.0)) / theta[a]), WIDEST)
            out[:, a] = theta[a] * np.exp(sd * rng.standard_normal(count))
    return out


def _between(rng: np.random.Generator, mean: Array, cov: Array, count: int, limits: Array) -> Array:
    """Draws of a normal law within bounds, at the bound where hardly any is."""
    out = _normal(rng, mean, cov, count)
    for _ in range(REJECTED):
        outside = np.flatnonzero(np.any((out < limits[:, 0]) | (out > limits[:, 1]), axis=1))
        if not len(outside):
            break
        out[outside] = _normal(rng, mean, cov, len(outside))
    return np.clip(out, limits[:, 0], limits[:, 1])


def _normal(rng: np.random.Generator, mean: Array, cov: Array, count: int) -> Array:
    if not len(mean):
        return np.zeros((count, 0))
    scale = np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny))
    with np.errstate(all="ignore"):
        values, vectors = np.linalg.eigh(np.nan_to_num(cov / scale[:, None] / scale))
    # the symmetric root: that of a nearly equal covariance is nearly equal, whatever signs eigenvectors come with
    root = scale[:, None] * ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
    out: Array = mean + rng.standard_normal((count, len(mean))) @ root.T
    return out
