"""What is reported of a posterior: coefficients given a model, draws from an enumerated one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Chains
from itoscope.backends.reference.enumerate import members_of
from itoscope.backends.reference.evidence import Regression
from itoscope.backends.reference.gibbs import variance
from itoscope.backends.reference.noise import Draws, Stream, Tape
from itoscope.backends.reference.slab import SlabPosterior, slab_posterior
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools, Draw
    from itoscope.stats.quadratic import Quadratic

__all__ = ["exact_draws", "model_posterior", "record_exact_draws"]


def model_posterior(quadratic: Quadratic, prior: Prior, included: Bools) -> tuple[float, Array, Array]:
    """Return log joint mass, mean and covariance of the coefficients given a model.

    Given v they are Student's t with ``nu = 2 a_s + n`` degrees of freedom, mean ``mu`` and covariance
    ``(2 b_s + E) / (nu - 2) S``; v is integrated by quadrature.
    """
    regression = Regression(quadratic, prior)
    members = regression.usable(included)
    slab = slab_posterior(regression, members)
    r, k = len(members), regression.n_columns
    nu_less_2 = 2 * regression.power - 2
    first, second = np.zeros(r), np.zeros((r, r))
    for v, weight in zip(slab.v, slab.weight):
        if weight > 1e-15:
            lower, z, energy = regression.factor(members, v)
            inverse = np.linalg.solve(lower, np.eye(r))
            mu = inverse.T @ z
            spread = energy / nu_less_2 if nu_less_2 > 0 else math.inf
            first += weight * mu
            second += weight * (inverse.T @ inverse * spread + np.outer(mu, mu))
    at, raw = regression.kept[members], regression.raw[members]
    mean, cov = np.zeros(k), np.zeros((k, k))
    mean[at] = first * raw
    cov[np.ix_(at, at)] = (second - np.outer(first, first)) * np.outer(raw, raw)
    return regression.log_model(r) + slab.log_integral, mean, cov


def exact_draws(
    quadratic: Quadratic,
    prior: Prior,
    *,
    log_mass: Array,
    n_draws: int,
    seed: int,
    draws: Sequence[Draw] | None,
) -> Chains:
    """Draw independently from the enumerated posterior."""
    source: Draws = Stream(seed, 0) if draws is None else Tape(draws)
    return _draw(Regression(quadratic, prior), log_mass, n_draws, source)


def record_exact_draws(
    quadratic: Quadratic, prior: Prior, *, log_mass: Array, n_draws: int, seed: int
) -> tuple[Chains, list[Draw]]:
    """Draw, and return the record of the random draws too."""
    stream = Stream(seed, 0, keep=True)
    chain = _draw(Regression(quadratic, prior), log_mass, n_draws, stream)
    return chain, stream.record or []


def _draw(regression: Regression, log_mass: Array, n_draws: int, draws: Draws) -> Chains:
    """Draw the model by its mass, then v on the nodes of its quadrature, s2, theta and p0."""
    usable, k, prior = regression.n_usable, regression.n_columns, regression.prior
    if log_mass.shape != (2**usable,):
        raise argument_error("log_mass.size", log_mass.size, f"one mass for each of {2**usable} models")
    mass = np.exp(log_mass - log_mass.max())
    cumulative = np.cumsum(mass)
    models = np.arange(mass.size)
    pip = np.array([mass[models >> j & 1 == 1].sum() for j in range(usable)]) / cumulative[-1]
    shape = (1, n_draws, k)
    samples, included, inclusion = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape)
    inclusion[..., regression.kept] = pip
    noise_var, slab_var, p0 = (np.zeros((1, n_draws)) for _ in range(3))
    known: dict[int, SlabPosterior] = {}
    for draw in range(n_draws):
        model = _pick(cumulative, draws.uniform() * cumulative[-1])
        members = members_of(model)
        if model not in known:
            known[model] = slab_posterior(regression, members)
        slab = known[model]
        v = float(slab.v[_pick(np.cumsum(slab.weight), draws.uniform())])
        lower, z, energy = regression.factor(members, v)
        s2 = variance(0.5 * energy, draws.gamma(regression.power))
        theta = np.linalg.solve(lower.T, z + math.sqrt(s2) * draws.normals(len(members)))
        at = regression.kept[members]
        samples[0, draw, at] = theta * regression.raw[members]
        included[0, draw, at] = True
        noise_var[0, draw] = s2 * regression.target_scale**2
        slab_var[0, draw] = v
        p0[0, draw] = draws.beta(prior.a_p + len(members), prior.b_p + usable - len(members))
    return Chains(samples, included, inclusion, noise_var, slab_var, p0, [{}])


def _pick(cumulative: Array, level: float) -> int:
    """Return the first index whose cumulative weight exceeds `level`."""
    return min(int(np.searchsorted(cumulative, level, side="right")), cumulative.size - 1)
