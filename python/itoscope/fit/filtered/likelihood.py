"""The last step: all coefficients of the chosen terms and the noise by maximum likelihood of the filter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.climb import Ascent, Pace, Top, climb, moved
from itoscope.stats.positive import EDGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.backends.records import Parameter
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Maximum", "maximise", "observed_information"]

MAX_STEPS, TRIES = 8, 6
"""Scoring steps of the climb, and how often a step is tried, half as long each time."""
TAILED_STEPS = 30
"""Scoring steps where noise or steps have tails, whose scores are no parabola's."""
ENOUGH = 0.01
"""Gain of log-likelihood that a further step would bring, under which the climb ends."""
NEARLY = 0.3
"""Promise of a whole step after which the next would bring less than `ENOUGH`, scoring being nearly Newton's method."""
FACTOR = 1.5
"""Logarithm of the largest factor by which a variance falls in one step."""
BEND = 0.1
"""Share of a number that shapes a law by which it is moved for a second difference."""
DIFFERENCE, SMALL = 0.05, 1e-2
"""Steps of the central differences of the gradient: in standard errors; in sizes of the value, where that is less."""
STRIDE = 0.7
"""Length of the second differences, in standard errors."""
LEAST = 0.1
"""Smallest share of Fisher's information that an observed one is believed to have."""
FALL, QUANTILE = 1.353, 1.645
"""Fall of the log-likelihood at a bound that holds in 95 %, and how many standard errors that is."""
DOUBLINGS = 80
"""How often the distance to a bound is doubled."""
SHAPES = ("tails", "kicks")
"""Kinds of parameters that shape a law."""
FULL = 8
"""Most parameters whose mixed second differences are taken."""


@dataclass(frozen=True)
class Maximum:
    """Maximum likelihood over `parameters`: the model, its log-likelihood, the covariance `(p, p)` of the estimates.

    `observed` tells whether `cov` is the inverse of the observed information, or, where that is not positive, of
    Fisher's along the recording. `positive` are those that keep their sign: noise variances, a Gamma_ii of one term.
    """

    model: Model
    parameters: tuple[Parameter, ...]
    loglik: float
    cov: Array
    converged: bool
    observed: bool = False
    positive: frozenset[Parameter] = frozenset()

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
    sizes[[kind == "link" for kind, _, _ in parameters]] = 1.0
    drift = model.drift_columns()
    errors: list[float] = []
    if drift:
        errors += recording.drift_moments(model, drift).solve().errors.tolist()
    errors += recording.noise_moments(model, model.gamma_columns()).solve().errors.tolist()
    errors += [np.inf] * sum(kind in SHAPES for kind, _, _ in parameters)
    named = len(model.numbers)
    least = SMALL * recording.candidates.named.numbers.sizes
    sizes[len(sizes) - named :] = np.maximum(sizes[len(sizes) - named :], least)
    errors += (SMALL * sizes[len(sizes) - named :]).tolist()
    steps = DIFFERENCE * np.array(errors)
    positive = np.array([kind != "drift" for kind, _, _ in parameters])
    small = positive & (steps > SMALL * sizes)
    return np.where(small | (steps <= 0.0), SMALL * sizes, steps)


def maximise(recording: Recording, model: Model, *, final: bool = True) -> Maximum:
    """Climb the likelihood over every coefficient in `model` and the free noise variances, by Fisher scoring.

    Gradient and information come from `filter_information`: the exact gradient of the filter's log-likelihood, and the
    Fisher information summed along the recording. What must stay positive falls by a factor. The covariance of the
    estimates is the inverse of the observed information, the curvature of the likelihood at its top; of Fisher's,
    which costs nothing more, where the fit is not the `final` one.
    """
    parameters = model.parameters(recording.free_noise, recording.links.free.tolist())
    if not parameters:
        return Maximum(model, (), recording.loglik(model), np.zeros((0, 0)), True)
    steps = differences(recording, model, parameters).tolist()
    positive = np.array([keeps_sign(recording, model, parameter) for parameter in parameters])

    def way(model: Model) -> Ascent:
        sums = recording.information(model, parameters, steps)
        change, cov = sums.solve()
        now = model.values(parameters)

        def at(share: float) -> Model:
            found = model.with_values(parameters, moved(now, change * share, positive, FACTOR))
            among = recording.candidates
            numbers = among.named.numbers.within(found.numbers)
            return replace(found, drift=among.within(found.drift), numbers=numbers)

        return Ascent(at, 0.5 * float(change @ sums.moment), cov)

    pace = Pace(TAILED_STEPS if model.heavy else MAX_STEPS, TRIES, ENOUGH, last=NEARLY)
    top = climb(recording.loglik, way, (model, recording.loglik(model)), pace)
    seen = None
    if final:
        top = replace(top, cov=sharpened(recording, top, parameters))
        seen = observed_information(recording, top.model, parameters, top.cov, top.loglik)
    cov = top.cov if seen is None else seen
    if final:
        cov = bounded(recording, top, parameters, positive, cov)
    names = frozenset(parameter for parameter, sign in zip(parameters, positive.tolist()) if sign)
    return Maximum(top.model, parameters, top.loglik, cov, top.converged, seen is not None, names)


def sharpened(recording: Recording, top: Top, parameters: Sequence[Parameter]) -> Array:
    """The covariance with smaller errors of what shapes laws where the likelihood bends more than scores tell.

    Products of scores are nothing where all outliers are of one size, and the law has the best width for each.
    """
    cov: Array = top.cov.copy()
    now = top.model.values(parameters)
    for a in [a for a, parameter in enumerate(parameters) if parameter.kind in SHAPES]:
        step = BEND * now[a]
        moved = [
            top.model.with_values([parameters[a]], np.array([now[a] + sign * step])) for sign in (1.0, -1.0)
        ]
        bend = (2.0 * top.loglik - sum(recording.loglik(model) for model in moved)) / step**2
        if bend > 0.0 and bend * cov[a, a] > 1.0:
            shrunk = 1.0 / np.sqrt(bend * cov[a, a])
            cov[a] *= shrunk
            cov[:, a] *= shrunk
    return cov


def keeps_sign(recording: Recording, model: Model, parameter: Parameter) -> bool:
    """Whether a parameter cannot change its sign: a noise variance, the one term of a Gamma_ii, a number so bounded."""
    if parameter.kind == "number":
        return bool(recording.candidates.named.numbers.positive[parameter.at])
    if parameter.kind != "gamma":
        return parameter.kind in ("noise", *SHAPES)
    i, j = recording.candidates.pairs[parameter.at]
    return bool(i == j and np.count_nonzero(model.gamma[parameter.at]) == 1)


def bounded(
    recording: Recording, top: Top, parameters: Sequence[Parameter], positive: NDArray[np.bool_], cov: Array
) -> Array:
    """The covariance with a standard error for what has no curvature: how far the likelihood falls by `FALL`.

    For parameters that keep their sign at the edge of zero, outwards, and for any whose error is zero or not finite, to
    both sides alike; infinite where the likelihood does not fall.
    """
    cov = np.where(np.isfinite(cov), cov, 0.0)
    now = top.model.values(parameters)
    for a, parameter in enumerate(parameters):
        sd = float(np.sqrt(max(cov[a, a], 0.0)))
        if sd > 0.0 and not (positive[a] and sd > EDGE * abs(now[a])):
            continue
        start = max(abs(float(now[a])) * 1e-3, sd * 1e-2, np.finfo(float).tiny)
        reach = start
        for _ in range(DOUBLINGS):
            away = reach if now[a] >= 0.0 else -reach
            trial = top.model.with_values([parameter], np.array([now[a] + away]))
            if not recording.loglik(trial) > top.loglik - FALL:
                break
            reach *= 2.0
        else:
            reach = np.inf
        if max(sd, reach / QUANTILE) > sd:
            cov[a], cov[:, a] = 0.0, 0.0
            with np.errstate(over="ignore"):
                cov[a, a] = np.square(reach / QUANTILE)
    return cov


def observed_information(
    recording: Recording,
    model: Model,
    parameters: Sequence[Parameter],
    cov: Array,
    loglik: float,
) -> Array | None:
    """Inverse of the negative second derivatives of the log-likelihood, or None where they have no maximum.

    Second differences in the directions that Fisher's covariance `cov` makes independent, each a standard error long:
    `p + p^2` filters for `p` parameters. Variances at the edge of zero are held in them: their errors, and how the
    others go with them, are Fisher's. Of more than `FULL` only the pure second differences are taken, `2 p` filters.
    """
    spread = np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny))
    now = model.values(parameters)
    # a variance at the edge of zero has no curvature of its own there: its error stays Fisher's
    edge = np.array([keeps_sign(recording, model, parameter) for parameter in parameters], dtype=bool)
    edge &= spread > EDGE * np.abs(now)
    inner = np.flatnonzero(~edge)
    p = len(inner)
    if p == 0:
        return None
    values, vectors = np.linalg.eigh((cov / np.outer(spread, spread))[np.ix_(inner, inner)])
    # a mixed difference takes two directions by their signs: these must not hang on the order of the parameters
    vectors *= np.where((vectors**3).sum(axis=0) < 0.0, -1.0, 1.0)
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
    held = np.flatnonzero(edge)
    if held.size:
        # the differences hold what is at the edge: how far the others go with it is Fisher's to say
        unit = cov / np.outer(spread, spread)
        own = unit[np.ix_(held, held)]
        pull = spread[inner, None] * (unit[np.ix_(inner, held)] @ np.linalg.pinv(own))
        out[np.ix_(inner, inner)] += pull @ own @ pull.T
        out[np.ix_(held, held)] = cov[np.ix_(held, held)]
        out[np.ix_(inner, held)] = pull @ own * spread[held]
        out[np.ix_(held, inner)] = out[np.ix_(inner, held)].T
    return out
