"""The last step: all coefficients of the chosen terms and the noise by maximum likelihood of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itoscope.backends.protocol import Array
from itoscope.filtering import Coefficients, Filtering, solve_moments

__all__ = ["Parameter", "Polished", "polish"]

Parameter = tuple[str, int, int]

MAX_STEPS = 8
ENOUGH = 0.01
"""Gain of log-likelihood that a further step would bring, under which the climb ends."""


@dataclass(frozen=True)
class Polished:
    """Maximum likelihood over `parameters`: the model, its log-likelihood, the covariance of the estimates."""

    model: Coefficients
    parameters: tuple[Parameter, ...]
    loglik: float
    cov: Array
    converged: bool

    def cov_of(self, a: Parameter, b: Parameter) -> float:
        """Covariance of two parameters."""
        return float(self.cov[self.parameters.index(a), self.parameters.index(b)])

    def sd_of(self, a: Parameter) -> float:
        """Standard error of a parameter."""
        return float(np.sqrt(max(self.cov_of(a, a), 0.0)))


def _values(model: Coefficients, parameters: Sequence[Parameter]) -> Array:
    return np.array(
        [model.noise[i] if kind == "noise" else getattr(model, kind)[i, k] for kind, i, k in parameters]
    )


def _with(model: Coefficients, parameters: Sequence[Parameter], values: Array) -> Coefficients:
    tables = {"drift": model.drift.copy(), "gamma": model.gamma.copy(), "noise": model.noise.copy()}
    for (kind, i, k), value in zip(parameters, values):
        tables[kind][i if kind == "noise" else (i, k)] = value
    return Coefficients(**tables)


def _steps(f: Filtering, model: Coefficients, parameters: Sequence[Parameter]) -> Array:
    """Steps of the central differences: a twentieth of the standard error that the moments give."""
    sizes = np.abs(_values(model, parameters))
    drift = [(i, k) for kind, i, k in parameters if kind == "drift"]
    errors: list[float] = []
    if drift:
        errors += np.sqrt(
            np.diag(solve_moments(f.drift_moments(model, drift), range(len(drift)))[1])
        ).tolist()
    noise = f.noise_moments(model, model.gamma_columns())
    errors += np.sqrt(np.diag(solve_moments(noise, range(len(noise.moment)))[1])).tolist()
    steps = 0.05 * np.array(errors)
    positive = np.array([kind != "drift" for kind, _, _ in parameters])
    return np.where(positive, np.minimum(steps, 1e-2 * sizes), steps)


def polish(f: Filtering, model: Coefficients) -> Polished:
    """Climb the likelihood over every coefficient in `model` and the free noise variances, by Fisher scoring.

    Gradient and information come from `filter_information`: the exact gradient of the filter's log-likelihood, and the
    Fisher information summed along the recording, whose inverse is the covariance of the estimates. Noise variances
    move by a factor; a step that does not raise the likelihood is halved.
    """
    parameters: list[Parameter] = [("drift", i, k) for i, k in model.drift_columns()]
    parameters += [("gamma", p, k) for p, k in model.gamma_columns()]
    parameters += [("noise", int(c), 0) for c in np.flatnonzero(f.free_noise)]
    steps = _steps(f, model, parameters)
    positive = np.array([kind == "noise" for kind, _, _ in parameters])
    converged = False
    loglik = f.loglik(model)
    for _ in range(MAX_STEPS):
        space, place = f.space(model)
        asked = [(kind, i, 0 if kind == "noise" else place[k]) for kind, i, k in parameters]
        sums, _ = f.stages.filter_information(space, f.paths, f.times, asked, steps.tolist())
        change, cov = solve_moments(sums, range(len(parameters)))
        if 0.5 * float(change @ sums.moment) < ENOUGH:
            converged = True
            break
        now, taken = _values(model, parameters), False
        for halving in range(6):
            part = change * 0.5**halving
            with np.errstate(all="ignore"):
                factor = np.exp(np.clip(part / np.where(positive, now, 1.0), -1.5, 1.5))
            trial = _with(model, parameters, np.where(positive, now * factor, now + part))
            value = f.loglik(trial)
            if value > loglik:
                gain, model, loglik, taken = value - loglik, trial, value, True
                break
        if not taken or gain < ENOUGH:
            converged = True
            if not taken:
                break
    return Polished(model, tuple(parameters), loglik, cov, converged)
