"""Groups of ArviZ data beside the posterior: likelihood of each step, recordings like the data, draws of the prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.errors import ExpressionError
from itoscope.result.likeness import likenesses
from itoscope.result.steps import Steps

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings
    from itoscope.result.observer import Observer

__all__ = ["log_likelihood", "predictive", "prior", "simulable"]

MOST_VALUES = 5_000_000
"""Log-likelihoods that are kept: fewer draws of a longer recording."""
FEWEST_DRAWS = 10
"""Draws of a chain under which the group is left out."""
REPLICAS = 50
"""Simulated recordings at most."""


def log_likelihood(result: Findings, draws: int) -> Array | None:
    """Of every step under draws of all equations, `(chain, draw, step)`; None where there is none.

    Steps of the noisy rows are normal with mean `f dt` and covariance `Gamma dt` at their start, a variance being no
    less than the share `weight_floor` of its mean. Of noisy samples, each given those before it by the filter, with the
    noise of the sensors that was found.
    """
    if result.data is None or not result.diffusion:
        return None
    if result.observer is not None:
        return _filtered(result, result.driven(result.data), result.observer, draws)
    steps = Steps.of(result.driven(result.data), result.inputs)
    rows = [state for state in result.states if (state, state) in result.diffusion]
    chains, kept = result.diffusion[rows[0]].samples.shape[:2]
    each = min(draws // chains, kept, MOST_VALUES // (max(len(steps.x), 1) * chains))
    if each < FEWEST_DRAWS:
        return None
    picked = np.linspace(0, kept - 1, each).round().astype(int)
    try:
        rates = [_values(result, result.drift[row], steps.x, picked) for row in rows]
        gamma = {pair: _values(result, entry, steps.x, picked) for pair, entry in result.diffusion.items()}
    except ExpressionError:  # a function of Python
        return None
    floor = float(result.settings.get("weight_floor", 0.01))
    out = np.zeros((chains, each, len(steps.x)))
    moved = (steps.y - steps.x)[:, [result.states.index(row) for row in rows]]
    for chain, draw in np.ndindex(chains, each):
        left = moved - np.stack([rate(chain, draw) for rate in rates], axis=1) * steps.dt[:, None]
        table = np.zeros((len(left), len(rows), len(rows)))
        for (a, b), entry in gamma.items():
            i, j = rows.index(a), rows.index(b)
            table[:, i, j] = table[:, j, i] = entry(chain, draw)
        out[chain, draw] = _normal(left, table * steps.dt[:, None, None], floor)
    return out


def _filtered(result: Findings, data: Trajectories, observer: Observer, draws: int) -> Array | None:
    """Of every sample but the first of each path, given those before it."""
    customs = result.settings.get("custom_terms", ())
    used = dict.fromkeys(
        term
        for _, equation in result.labelled()
        for k, term in enumerate(equation.terms)
        if equation.samples[..., k].any() or (equation.selected[k] and equation.mean[k])
    )
    if any(term in customs for term in used):
        return None
    chains, kept = next(iter(result.diffusion.values())).samples.shape[:2]
    each = min(draws // chains, kept, MOST_VALUES // (max(int(data.n_steps), 1) * chains))
    if each < FEWEST_DRAWS:
        return None
    picked = np.linspace(0, kept - 1, each).round().astype(int)
    more, own = list(used), len(observer.expressions)
    rates = np.zeros((chains, each, len(observer.states), own + len(more)))
    spreads = np.zeros((chains, each, len(observer.pairs), own + len(more)))
    for row, equation in result.drift.items():
        rates[:, :, result.states.index(row), own:] = _moved(equation, more, picked)
    for (a, b), equation in result.diffusion.items():
        pair = tuple(sorted((result.states.index(a), result.states.index(b))))
        place = [tuple(sorted(one)) for one in observer.pairs].index(pair)
        spreads[:, :, place, own:] = _moved(equation, more, picked)
    flat = [list(np.concatenate(table)) for table in (rates, spreads)]
    return np.stack(list(observer.log_densities(data, more, *flat))).reshape(chains, each, -1)


def _moved(equation: Equation, terms: list[str], picked: Any) -> Array:
    """By how much the coefficients of draws differ from those of the mean model, `(chain, draw, K)`."""
    mean = np.where(equation.selected, equation.mean, 0.0)
    away = equation.samples[:, picked] - mean
    table = np.zeros((*away.shape[:2], len(terms)))
    for k, term in enumerate(equation.terms):
        if term in terms:
            table[..., terms.index(term)] = away[..., k]
    return table


def _values(result: Findings, equation: Equation, x: Array, picked: Any) -> Any:
    """The right-hand side of an equation at states `x` by chain and number of a draw."""
    customs = result.settings.get("custom_terms", ())
    used = np.flatnonzero(equation.samples.any(axis=(0, 1)))
    names = [equation.terms[k] for k in used]
    if any(name in customs for name in names):
        raise ExpressionError("a function of Python")
    if not names:
        return lambda chain, draw: np.zeros(len(x))
    table = (
        get_backend(equation.backend).compile(names, list(result.variables)).evaluate(np.ascontiguousarray(x))
    )
    samples = equation.samples[:, picked][..., used]
    return lambda chain, draw: table @ samples[chain, draw]


def _normal(left: Array, cov: Array, floor: float) -> Array:
    """Log density of residuals `(n, r)` with covariances `(n, r, r)`."""
    if left.shape[1] == 1:
        variance = cov[:, 0, 0]
        variance = np.maximum(variance, max(floor * float(variance.mean()), 1e-300))
        one: Array = -0.5 * (left[:, 0] ** 2 / variance + np.log(2 * np.pi * variance))
        return one
    values, vectors = np.linalg.eigh(cov)
    values = np.maximum(values, max(floor * float(values.mean()), 1e-300))
    turned = np.einsum("nji,nj->ni", vectors, left)
    return np.asarray(-0.5 * (turned**2 / values + np.log(2 * np.pi * values)).sum(axis=1))


def simulable(result: Findings) -> bool:
    """Whether no equation has a function of Python, which no model can call, in any draw."""
    customs = result.settings.get("custom_terms", ())
    return not any(
        name in customs and equation.samples[..., k].any()
        for _, equation in result.labelled()
        for k, name in enumerate(equation.terms)
    )


def predictive(result: Findings, data: Trajectories, draws: int, seed: int) -> list[list[Array]]:
    """Recordings like the data, each of a model drawn from the posterior: paths by replica, NaN where one has ended."""
    made = []
    for likeness in likenesses(result, data, min(draws, REPLICAS), seed, posterior=True):
        paths = []
        for path, recorded in zip(likeness.paths, data.paths):
            whole = np.full(recorded.shape, np.nan)
            whole[: len(path)] = path
            paths.append(whole)
        made.append(paths)
    return made


def prior(equation: Equation, draws: int, seed: int) -> Array | None:
    """Draws of the prior of the coefficients `(draw, K)`, given noise variances of the posterior; None without moments.

    The prior of the noise variance itself says nearly nothing, and no draws of it can be drawn in a picture.
    """
    hyper, sums = equation.prior, equation.moments
    if hyper is None or sums is None:
        return None
    rng = np.random.default_rng(seed)
    size = np.sqrt(np.maximum(np.diag(sums.gram), 0.0) / sums.n)
    target = np.sqrt(sums.yy / sums.n) if hyper.standardize else 1.0
    raw = target / np.where(size > 0.0, size, np.inf) if hyper.standardize else np.ones(len(size))
    noise = rng.choice(equation.noise_var.ravel(), draws) / target**2
    slab = hyper.b_v / rng.gamma(hyper.a_v, size=draws)
    inside = _included(hyper.a_p, hyper.b_p, hyper.empty, (draws, len(size)), rng)
    return np.asarray(inside * np.sqrt(noise * slab)[:, None] * raw * rng.standard_normal((draws, len(size))))


def _included(
    a: float, b: float, empty: float | None, shape: tuple[int, int], rng: np.random.Generator
) -> Array:
    """Draws of which terms are in: by the inclusion rate, with the probability `empty` of none where it is given."""
    inside = rng.random(shape) < rng.beta(a, b, size=(shape[0], 1))
    if empty is not None:
        while not (full := inside.any(axis=1)).all():
            more = rng.random((int((~full).sum()), shape[1])) < rng.beta(a, b, size=(int((~full).sum()), 1))
            inside[~full] = more
        inside[rng.random(shape[0]) < empty] = False
    return inside.astype(np.float64)
