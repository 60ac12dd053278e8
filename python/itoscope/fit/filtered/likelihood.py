"""The last step: all coefficients of the chosen terms and the noise by maximum likelihood of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.common.types import Array
from itoscope.fit.filtered.recording import Coefficients, Filtering

__all__ = ["Polished", "polish"]

MAX_STEPS = 8
ENOUGH = 0.01
"""Gain of log-likelihood that a further step would bring, under which the climb ends."""
STRIDE, LEAST, EDGE, FULL = 0.7, 0.1, 3.0, 8
"""Length of the second differences in standard errors; smallest share of Fisher's information that is believed;
standard errors from zero under which a noise variance is at its edge; most parameters with mixed differences."""


@dataclass(frozen=True)
class Polished:
    """Maximum likelihood over `parameters`: the model, its log-likelihood, the covariance of the estimates.

    `observed` tells whether `cov` is the inverse of the observed information, or, where that is not positive, of
    Fisher's along the recording.
    """

    model: Coefficients
    parameters: tuple[Parameter, ...]
    loglik: float
    cov: Array
    converged: bool
    observed: bool = False

    def cov_of(self, a: Parameter, b: Parameter) -> float:
        """Covariance of two parameters."""
        return float(self.cov[self.parameters.index(a), self.parameters.index(b)])

    def sd_of(self, a: Parameter) -> float:
        """Standard error of a parameter."""
        return float(np.sqrt(max(self.cov_of(a, a), 0.0)))


def _values(model: Coefficients, parameters: Sequence[Parameter]) -> Array:
    return np.array([parameter.of(model) for parameter in parameters])


def _with(model: Coefficients, parameters: Sequence[Parameter], values: Array) -> Coefficients:
    tables = {"drift": model.drift.copy(), "gamma": model.gamma.copy(), "noise": model.noise.copy()}
    for (kind, i, k), value in zip(parameters, values):
        tables[kind][i if kind == "noise" else (i, k)] = value
    return Coefficients(**tables)


def _steps(f: Filtering, model: Coefficients, parameters: Sequence[Parameter]) -> Array:
    """Steps of the central differences: a twentieth of the standard error that the moments give.

    A hundredth of the value for what the recording says nothing about, to which the moments give none.
    """
    sizes = np.abs(_values(model, parameters))
    drift = [(i, k) for kind, i, k in parameters if kind == "drift"]
    errors: list[float] = []
    if drift:
        errors += f.drift_moments(model, drift).solve().errors.tolist()
    noise = f.noise_moments(model, model.gamma_columns())
    errors += noise.solve().errors.tolist()
    steps = 0.05 * np.array(errors)
    positive = np.array([kind != "drift" for kind, _, _ in parameters])
    small = positive & (steps > 1e-2 * sizes)
    return np.where(small | (steps <= 0.0), 1e-2 * sizes, steps)


def polish(f: Filtering, model: Coefficients, *, final: bool = True) -> Polished:
    """Climb the likelihood over every coefficient in `model` and the free noise variances, by Fisher scoring.

    Gradient and information come from `filter_information`: the exact gradient of the filter's log-likelihood, and the
    Fisher information summed along the recording. Noise variances move by a factor; a step that does not raise the
    likelihood is halved. The covariance of the estimates is the inverse of the observed information, the curvature of
    the likelihood at its top; of Fisher's, which costs nothing more, where the fit is not the `final` one.
    """
    parameters: list[Parameter] = [Parameter("drift", i, k) for i, k in model.drift_columns()]
    parameters += [Parameter("gamma", p, k) for p, k in model.gamma_columns()]
    parameters += [Parameter("noise", int(c)) for c in np.flatnonzero(f.free_noise)]
    steps = _steps(f, model, parameters)
    positive = np.array([kind == "noise" for kind, _, _ in parameters])
    converged = False
    loglik = f.loglik(model)
    for _ in range(MAX_STEPS):
        sums = f.information(model, parameters, steps.tolist())
        change, cov = sums.solve()
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
    seen = observed_information(f, model, parameters, cov, loglik) if final else None
    return Polished(
        model, tuple(parameters), loglik, cov if seen is None else seen, converged, seen is not None
    )


def observed_information(
    f: Filtering, model: Coefficients, parameters: Sequence[Parameter], cov: Array, loglik: float
) -> Array | None:
    """Inverse of the negative second derivatives of the log-likelihood, or None where they have no maximum.

    Second differences in the directions that Fisher's covariance `cov` makes independent, each a standard error long:
    `p + p^2` filters for `p` parameters. Of more than `FULL` only the pure second differences are taken, `2 p` filters.
    """
    spread = np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny))
    now = _values(model, parameters)
    # a variance at the edge of zero has no curvature of its own there: its error stays Fisher's
    edge = np.array([kind == "noise" for kind, _, _ in parameters]) & (now < EDGE * spread)
    inner = np.flatnonzero(~edge)
    p = len(inner)
    values, vectors = np.linalg.eigh((cov / np.outer(spread, spread))[np.ix_(inner, inner)])
    directions = np.zeros((len(parameters), p))
    directions[inner] = (spread[inner, None] * vectors) * np.sqrt(np.maximum(values, 0.0))
    moves = STRIDE * directions

    def both(move: Array) -> float:
        up, down = (f.loglik(_with(model, parameters, now + sign * move)) for sign in (1.0, -1.0))
        return up + down - 2.0 * loglik

    alone = np.array([both(moves[:, a]) for a in range(p)])
    hessian = np.diag(alone)
    for a in range(p if p <= FULL else 0):
        for b in range(a):
            mixed = 0.5 * (both(moves[:, a] + moves[:, b]) - alone[a] - alone[b])
            hessian[a, b] = hessian[b, a] = mixed
    information = -hessian / STRIDE**2
    if not np.all(np.isfinite(information)):
        return None
    values, vectors = np.linalg.eigh(information)
    if values[0] < LEAST:
        return None
    half = directions @ (vectors / np.sqrt(values))
    out: Array = half @ half.T
    out[edge, edge] = np.diag(cov)[edge]
    return out
