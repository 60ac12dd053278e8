"""How probable a result makes a recording: each sample given those before it, by the filter, whatever the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.data.driving import carried
from itoscope.errors import ArgumentError
from itoscope.expressions.affine import affine
from itoscope.expressions.kinks import closed_kinks
from itoscope.result.jumps import numbers_of
from itoscope.result.observer import Observer
from itoscope.result.steps import recording_of, steps_of
from itoscope.result.values import drift_at, gamma_at
from itoscope.stats.jumps import log_density

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings
    from itoscope.result.steps import Steps

__all__ = ["Likelihood", "likelihood", "observer_of"]


SMALL = 1e-5
"""Step of a difference of the drift, in standard deviations of the state."""


class Likelihood(NamedTuple):
    """Log-likelihood of a recording, and of how many samples; the first of each path, which has none, is left out."""

    total: float
    samples: int

    @property
    def per_sample(self) -> float:
        """Their ratio."""
        return self.total / self.samples


def likelihood(result: Findings, data: Trajectories | None = None) -> Likelihood:
    """The predictive log-likelihood of a recording under the mean model of a result.

    ``sum log p(y_n | y_1, ..., y_{n-1})`` over the samples after the first of each path, by the filter: normal laws
    whose mean and covariance follow the local linearisation of the model. Of states that were taken as exact it is the
    same filter without measurement noise.

    Parameters
    ----------
    result : Findings
    data : Trajectories, optional
        By default that of the fit.

    Raises
    ------
    ArgumentError
        For a model without any noise.

    Notes
    -----
    Of a model with a function of Python, under which no filter runs, the likelihood is that of its Euler steps. A fit
    that went along a course is linearised about that of the recording, which hangs on later readings too.
    """
    data = result.driven(recording_of(result, data, "the likelihood"))
    if not result.diffusion:
        raise ArgumentError(
            "no row has noise, so there is no likelihood: give discover a diffusion or measurement_noise='estimate'"
        )
    customs = set(result.settings.get("custom_terms", ()))
    if any(term in customs for terms in result.coefficients().values() for term in terms):
        return _of_steps(result, data)
    if result.observer is None and result.diagnostics.get("diffusion_law"):
        return _of_laws(result, data)
    observer = observer_of(result, data)
    observer.check(data)
    stages, space = get_backend(observer.backend), observer.space()
    columns, steps = observer.columns(data), observer.times(data)
    whole = stages.filter_loglik(space, columns, steps)
    firsts = [np.ascontiguousarray(column[:1]) for column in columns]
    starts = [one if np.ndim(one) == 0 else np.asarray(one)[:1] for one in steps]
    total = float((whole - stages.filter_loglik(space, firsts, starts)).sum())
    seen = sum(int(np.isfinite(path[1:]).any(axis=1).sum()) for path in data.paths)
    return Likelihood(total, seen)


def _of_steps(result: Findings, data: Trajectories) -> Likelihood:
    """That of the noisy rows by Euler steps: normal with mean `f dt` and covariance `Gamma dt` at their start."""
    steps = steps_of(result, data, "the likelihood")
    rows = [i for i, state in enumerate(result.states) if (state, state) in result.diffusion]
    left = (steps.y - steps.x)[:, rows] - drift_at(result, steps.x)[:, rows] * steps.dt[:, None]
    values, vectors = np.linalg.eigh(gamma_at(result, steps.x)[:, rows][:, :, rows] * steps.dt[:, None, None])
    values = np.maximum(values, float(result.settings.get("weight_floor", 0.01)) * values.mean())
    turned = np.einsum("nji,nj->ni", vectors, left)
    return Likelihood(float(-0.5 * (turned**2 / values + np.log(2 * np.pi * values)).sum()), len(left))


def _of_laws(result: Findings, data: Trajectories) -> Likelihood:
    """That of rows the noise of whose steps is not normal, by the steps of the trapezoid.

    The increment less the mean drift of both ends has the law; from it to the end of the step the density changes by
    the determinant of ``1 - dt A / 2``, A the slopes of the drift in the noisy rows there.
    """
    steps = steps_of(result, data, "the likelihood")
    noisy = [i for i, state in enumerate(result.states) if (state, state) in result.diffusion]
    left = _left(result, steps, steps.y, noisy)
    slopes = np.zeros((len(left), len(noisy), len(noisy)))
    for b, row in enumerate(noisy):
        away = np.zeros_like(steps.y)
        away[:, row] = SMALL * float(np.std(steps.y[:, row]))
        turned = _left(result, steps, steps.y + away, noisy) - _left(result, steps, steps.y - away, noisy)
        slopes[:, :, b] = turned / (2.0 * away[:, row : row + 1])
    total = float(np.log(np.abs(np.linalg.det(slopes))).sum())
    gamma = gamma_at(result, steps.x)[:, noisy][:, :, noisy] * steps.dt[:, None, None]
    names = [result.states[i] for i in noisy]
    found = result.diagnostics["diffusion_law"]
    groups = {tuple(law["rows"]): numbers_of(law) for law in found.values()}
    rest = tuple(name for name in names if name not in found)
    for rows, law in {**groups, **({rest: ()} if rest else {})}.items():
        own = [names.index(row) for row in rows]
        values, vectors = np.linalg.eigh(gamma[:, own][:, :, own])
        values = np.maximum(values, float(result.settings.get("weight_floor", 0.01)) * values.mean())
        q = (np.einsum("nji,nj->ni", vectors, left[:, own]) ** 2 / values).sum(axis=1)
        total += float((log_density(law, q, len(own)) - 0.5 * np.log(values).sum(axis=1)).sum())
    return Likelihood(total, len(left))


def _left(result: Findings, steps: Steps, y: Array, rows: list[int]) -> Array:
    """What the mean drift of both ends leaves of steps that end at `y`, of some rows."""
    mean = 0.5 * (drift_at(result, steps.x) + drift_at(result, y))
    return np.asarray(
        (y[:, : len(result.states)] - steps.x[:, : len(result.states)] - mean * steps.dt[:, None])[:, rows]
    )


def observer_of(result: Findings, data: Trajectories) -> Observer:
    """How the mean model sees a recording: the observer of a noisy result; of exact states, one without noise.

    Parameters
    ----------
    result : Findings
    data : Trajectories
        From which the scale of a variance is taken, of which it is never less than the share `weight_floor`.
    """
    if result.observer is not None:
        return result.observer
    if not result.diffusion:
        raise ArgumentError(
            "no row has noise, so there is no likelihood: discover with measurement_noise='estimate'"
        )
    modes = {} if data.driving is None else dict(data.driving.modes)
    more = carried(result.inputs, modes, result.states)
    states, m = (*result.states, *more), len(result.states)
    model = result.mean_model()
    known = {**{result.states.index(row): text for row, text in result.known_drift.items()},
             **dict(enumerate(more.values(), m))}  # fmt: skip
    terms = list(
        dict.fromkeys(
            term for found in (*model.drift.values(), *model.gamma.values()) for term in found.terms
        )
    )
    texts = [*terms, *known.values()]
    drift = np.zeros((len(states), len(texts)))
    for row, found in model.drift.items():
        drift[result.states.index(row), [terms.index(term) for term in found.terms]] = found.values[0]
    drift[list(known), np.arange(len(terms), len(texts))] = 1.0
    pairs = tuple((result.states.index(a), result.states.index(b)) for a, b in model.gamma)
    gamma = np.zeros((len(pairs), len(texts)))
    for p, found in enumerate(model.gamma.values()):
        gamma[p, [terms.index(term) for term in found.terms]] = found.values[0]
    used = (drift != 0.0).any(axis=0) | (gamma != 0.0).any(axis=0)
    texts = [text for text, inside in zip(texts, used) if inside]
    drift, gamma = np.ascontiguousarray(drift[:, used]), np.ascontiguousarray(gamma[:, used])
    mean, spread = _moments(data, len(states))
    space = StateSpace(
        program=get_backend(None).compile(texts, list(states)),
        drift=drift,
        gamma=gamma,
        pairs=pairs,
        observation=np.eye(m, len(states)),
        noise=np.zeros(m),
        mean0=mean,
        cov0=spread,
        floor=_floor(result, data, len(states)),
        max_step=_longest(data, texts, gamma, states),
        kinks=closed_kinks(texts, states),
        given=tuple(range(m, len(states))),
    )
    driven = {name: modes.get(name, "time") for name in result.inputs}
    return Observer.of(space, states, data.names, texts, None, driven)


def _moments(data: Trajectories, m: int) -> tuple[Array, Array]:
    """A wide law for the first sample, which is known as soon as it is seen."""
    mean, spread = np.zeros(m), np.eye(m)
    mean[: data.n_states] = data.mean()
    spread[np.arange(data.n_states), np.arange(data.n_states)] = np.maximum(
        np.asarray(data.sd()) ** 2, 1e-300
    )
    return mean, spread


def _floor(result: Findings, data: Trajectories, m: int) -> Array:
    """The smallest variance of each row that carries noise, as the fit held it."""
    rows = np.concatenate(result.rows(data))
    rows = rows[np.isfinite(rows).all(axis=1)]
    mean = np.einsum("nii->i", gamma_at(result, rows)) / max(len(rows), 1)
    floor = np.zeros(m)
    floor[: len(result.states)] = float(result.settings.get("weight_floor", 0.01)) * np.maximum(mean, 0.0)
    return floor


def _longest(data: Trajectories, texts: list[str], gamma: Array, states: tuple[str, ...]) -> float:
    """No step of a linear model is too long; others are predicted in pieces of the usual length."""
    varying = [k for k in np.flatnonzero((gamma != 0.0).any(axis=0)) if texts[k] != "1"]
    if not varying and affine(texts, states) >= set(range(len(texts))):
        return float("inf")
    usual = float(np.median(np.concatenate([np.diff(stamps) for stamps in data.times])))
    return usual * (1.0 + 1e-9)
