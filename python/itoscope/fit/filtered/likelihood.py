"""The last step: all coefficients of the chosen terms and the noise by maximum likelihood of the filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.climb import Ascent, Pace, climb, moved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.records import Parameter
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Maximum", "maximise", "observed_information"]

MAX_STEPS, TRIES = 8, 6
"""Scoring steps of the climb, and how often a step is tried, half as long each time."""
ENOUGH = 0.01
"""Gain of log-likelihood that a further step would bring, under which the climb ends."""
FACTOR = 1.5
"""Logarithm of the largest factor by which a noise variance moves in one step."""
DIFFERENCE, SMALL = 0.05, 1e-2
"""Steps of the central differences of the gradient: in standard errors; in sizes of the value, where that is less."""
STRIDE = 0.7
"""Length of the second differences, in standard errors."""
LEAST = 0.1
"""Smallest share of Fisher's information that an observed one is believed to have."""
EDGE = 3.0
"""Standard errors from zero under which a noise variance is at its edge."""
FULL = 8
"""Most parameters whose mixed second differences are taken."""


@dataclass(frozen=True)
class Maximum:
    """Maximum likelihood over `parameters`: the model, its log-likelihood, the covariance `(p, p)` of the estimates.

    `observed` tells whether `cov` is the inverse of the observed information, or, where that is not positive, of
    Fisher's along the recording.
    """

    model: Model
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


def differences(recording: Recording, model: Model, parameters: Sequence[Parameter]) -> Array:
    """Steps `(p,)` of the central differences: a twentieth of the standard error that the moments give.

    A hundredth of the value for what the recording says nothing about, to which the moments give none.
    """
    sizes = np.abs(model.values(parameters))
    drift = model.drift_columns()
    errors: list[float] = []
    if drift:
        errors += recording.drift_moments(model, drift).solve().errors.tolist()
    errors += recording.noise_moments(model, model.gamma_columns()).solve().errors.tolist()
    steps = DIFFERENCE * np.array(errors)
    positive = np.array([kind != "drift" for kind, _, _ in parameters])
    small = positive & (steps > SMALL * sizes)
    return np.where(small | (steps <= 0.0), SMALL * sizes, steps)


def maximise(recording: Recording, model: Model, *, final: bool = True) -> Maximum:
    """Climb the likelihood over every coefficient in `model` and the free noise variances, by Fisher scoring.

    Gradient and information come from `filter_information`: the exact gradient of the filter's log-likelihood, and the
    Fisher information summed along the recording. Noise variances move by a factor. The covariance of the estimates
    is the inverse of the observed information, the curvature of the likelihood at its top; of Fisher's, which costs
    nothing more, where the fit is not the `final` one.
    """
    parameters = model.parameters(recording.free_noise)
    steps = differences(recording, model, parameters).tolist()
    positive = np.array([kind == "noise" for kind, _, _ in parameters])

    def way(model: Model) -> Ascent:
        sums = recording.information(model, parameters, steps)
        change, cov = sums.solve()
        now = model.values(parameters)

        def at(share: float) -> Model:
            return model.with_values(parameters, moved(now, change * share, positive, FACTOR))

        return Ascent(at, 0.5 * float(change @ sums.moment), cov)

    top = climb(recording.loglik, way, (model, recording.loglik(model)), Pace(MAX_STEPS, TRIES, ENOUGH))
    seen = observed_information(recording, top.model, parameters, top.cov, top.loglik) if final else None
    return Maximum(
        top.model, parameters, top.loglik, top.cov if seen is None else seen, top.converged, seen is not None
    )


def observed_information(
    recording: Recording, model: Model, parameters: Sequence[Parameter], cov: Array, loglik: float
) -> Array | None:
    """Inverse of the negative second derivatives of the log-likelihood, or None where they have no maximum.

    Second differences in the directions that Fisher's covariance `cov` makes independent, each a standard error long:
    `p + p^2` filters for `p` parameters. Of more than `FULL` only the pure second differences are taken, `2 p` filters.
    """
    spread = np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny))
    now = model.values(parameters)
    # a variance at the edge of zero has no curvature of its own there: its error stays Fisher's
    edge = np.array([kind == "noise" for kind, _, _ in parameters]) & (now < EDGE * spread)
    inner = np.flatnonzero(~edge)
    p = len(inner)
    values, vectors = np.linalg.eigh((cov / np.outer(spread, spread))[np.ix_(inner, inner)])
    directions = np.zeros((len(parameters), p))
    directions[inner] = (spread[inner, None] * vectors) * np.sqrt(np.maximum(values, 0.0))
    moves = STRIDE * directions

    def both(move: Array) -> float:
        up, down = (
            recording.loglik(model.with_values(parameters, now + sign * move)) for sign in (1.0, -1.0)
        )
        return up + down - 2.0 * loglik

    alone = [both(moves[:, a]) for a in range(p)]  # floats, whose infinities subtract in silence
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
