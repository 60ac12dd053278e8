"""A quick climb of one model's likelihood: steps of the drift and of the variances in turn, from moments alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.fit.filtered.climb import damped
from itoscope.fit.filtered.likelihood import maximise
from itoscope.fit.filtered.model import Model, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.fit.filtered.recording import Recording

__all__ = ["Settled", "settled"]

TURNS, TRIES = 4, 4
"""Steps of the drift, each followed by one of the variances, and how often one is halved."""
CLIMBS = 4
"""How often a climb of all parameters together goes on where it still rises."""
ENOUGH = 0.05
"""Gain of log-likelihood of a turn that is not worth another."""


class Settled(NamedTuple):
    """A model near the top of its likelihood, that, and the regressions of its own drift and variances there."""

    model: Model
    loglik: float
    drift: Quadratic
    gamma: Quadratic


def settled(recording: Recording, model: Model) -> Settled:
    """Climb the likelihood over all coefficients of a model, the free noise variances and named numbers."""
    columns = model.drift_columns()
    model, loglik = maximise_noise(recording, model, 2)
    if recording.candidates.named or model.kicks:
        return _climbed(recording, model)
    for _ in range(TURNS if columns else 0):
        before = loglik
        sums = recording.drift_moments(model, columns)
        aim = table(model.drift.shape, columns, range(len(columns)), sums.solve().theta)
        start = model

        def at(share: float, start: Model = start, aim: np.ndarray = aim) -> tuple[Model, float]:
            drift = recording.candidates.within(start.drift + share * (aim - start.drift))
            trial = replace(start, drift=drift)
            return trial, recording.loglik(trial)

        now = np.array([start.drift[column] for column in columns])
        step = np.array([aim[column] for column in columns]) - now
        if 0.5 * float(step @ sums.gram @ step) < ENOUGH:
            break
        taken = damped(at, _above(loglik), TRIES)
        if taken is None:
            break
        model, loglik = maximise_noise(recording, taken.model, 2, taken.loglik)
        if loglik - before < ENOUGH:
            break
    if recording.candidates.starts:
        return _climbed(recording, model)
    return Settled(model, loglik, _own_drift(recording, model), _own_gamma(recording, model))


def _climbed(recording: Recording, model: Model) -> Settled:
    """The same by steps of all parameters together: rates of hidden states and their noise move as one."""
    top = maximise(recording, model, final=False)
    for _ in range(CLIMBS):
        if top.converged:
            break
        top = maximise(recording, top.model, final=False)
    return Settled(top.model, top.loglik, _own_drift(recording, top.model), _own_gamma(recording, top.model))


def _above(height: float) -> Callable[[Model, float], bool]:
    return lambda _, value: value > height


def _own_drift(recording: Recording, model: Model) -> Quadratic:
    columns = model.drift_columns()
    if not columns:
        return Quadratic(np.zeros((0, 0)), np.zeros(0), 0.0, 0.0)
    return recording.drift_moments(model, columns)


def _own_gamma(recording: Recording, model: Model) -> Quadratic:
    return recording.noise_moments(model, model.gamma_columns())
