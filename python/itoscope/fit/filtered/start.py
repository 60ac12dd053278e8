"""Where the search starts: an integrated random walk fitted to the recording by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import DataError
from itoscope.fit.filtered.levels import CUTS
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Scales", "first_states", "scales", "walks"]

GAMMA_POWERS = range(10)
"""Powers of ten under its upper bound at which Gamma is tried."""
FIRST_SPREAD = 4.0
"""Variance of the first state over that of the states: two standard deviations, so that it says next to nothing."""


@dataclass(frozen=True)
class Scales:
    """Upper bounds of the noise variances `(q,)` and of Gamma_ii `(m,)`, and a law of the first state."""

    noise: Array
    gamma: Array
    mean0: Array
    cov0: Array


@dataclass(frozen=True)
class Channels:
    """Of each recorded channel `(q,)`: mean, variance, mean squares of first and second differences, noise bound."""

    mean: Array
    var: Array
    first: Array
    second: Array
    noise: Array


def _channels(recording: Recording) -> Channels:
    """Statistics of the channels; third differences of white noise have 20 times its variance."""
    rows = []
    for c in range(len(recording.observation)):
        columns = [y[:, c] for y in (recording.looked or recording).paths]
        values = np.concatenate([y[np.isfinite(y)] for y in columns])
        var = values.var()
        squares = []
        for order, instead in ((1, var), (2, 2 * var), (3, 20 * var)):
            d = np.concatenate([_differences(y, order) for y in columns])
            squares.append(np.mean(d**2) if len(d) else instead)
        rows.append((values.mean(), var, squares[0], squares[1], squares[2] / 20.0))
    return Channels(*np.array(rows).T)


def _differences(path: Array, order: int) -> Array:
    d = np.diff(path, n=order)
    return d[np.isfinite(d)]


def _usual_step(recording: Recording) -> float:
    if recording.looked is not None:
        return recording.looked.usual
    gaps = [
        np.full(max(len(y) - 1, 0), t) if np.ndim(t) == 0 else np.diff(t)
        for y, t in zip(recording.paths, recording.times)
    ]
    return float(np.median(np.concatenate(gaps)))


def scales(recording: Recording) -> Scales:
    """Sizes of noise, Gamma and states from differences of the recording.

    A state that is seen has Gamma below the mean square of its increments over the step. One that is not seen but
    drives a seen one through a given row has that of the second differences; any other is given the mean variance.
    """
    among, seen, dt = recording.candidates, _channels(recording), _usual_step(recording)
    m = len(among.states)
    shown = recording.observation if recording.shown is None else recording.shown
    mean0 = _means(recording, shown, seen.mean)
    slopes = np.zeros((m, m))
    if among.known:
        program = recording.stages.compile(list(among.known.values()), list(among.states))
        slopes[list(among.known)] = program.gradient(mean0[None])[0]
    moving = replace(seen, var=_within(recording, seen.var))
    sizes = [_size(shown, slopes, moving, dt, i) for i in range(m)]
    spread, gamma = np.array(sizes).T
    spread = np.where(spread > 0.0, spread, 1.0)
    for state, (channel, factor) in recording.derived.items():
        if not np.any(shown[:, state]):
            spread[state], gamma[state] = factor**2 * seen.var[channel], seen.var[channel] * dt
    # an offset is the slowest of all: over a record it covers what the channel does
    for channel, zero in recording.zeros.items():
        spread[zero] = seen.var[channel] / FIRST_SPREAD
        gamma[zero] = moving.var[channel] / _longest(recording)
    tiny = np.finfo(float).tiny
    first = _first_law(mean0, FIRST_SPREAD * spread, among.constants_of_one)
    return Scales(np.maximum(seen.noise, tiny), np.maximum(gamma, tiny), *first)


def _within(recording: Recording, var: Array) -> Array:
    """Variances of the channels, of those whose zero is not known about the mean of each path."""
    found: Array = var.copy()
    for channel in recording.zeros:
        paths = [y[np.isfinite(y[:, channel]), channel] for y in recording.paths]
        found[channel] = np.concatenate([y - y.mean() for y in paths if len(y)]).var()
    return found


def _longest(recording: Recording) -> float:
    """Duration of the longest path."""
    return max(
        float(t) * max(len(y) - 1, 1) if np.ndim(t) == 0 else float(np.ptp(np.asarray(t)))
        for y, t in zip(recording.paths, recording.times)
    )


def _means(recording: Recording, shown: Array, mean: Array) -> Array:
    """Means of the states by channels whose zero is known; what the others show beside these is their offset."""
    zeros = recording.zeros
    sure = [c for c in range(len(shown)) if c not in zeros]
    found: Array = np.linalg.pinv(shown[sure]) @ mean[sure] if sure else np.zeros(shown.shape[1])
    found[list(zeros.values())] = 0.0
    for channel, zero in zeros.items():
        found[zero] = mean[channel] - shown[channel] @ found
    return found


def _size(observation: Array, slopes: Array, seen: Channels, dt: float, i: int) -> tuple[float, float]:
    """Variance and Gamma_ii of one state."""
    channels = np.flatnonzero(observation[:, i])
    if len(channels):
        weights = np.abs(observation[channels, i])
        most = channels[weights == weights.max()]
        c = most[int(np.argmin(seen.first[most]))]  # of several sensors the one of least noise
        factor = observation[c, i] ** 2
        return seen.var[c] / factor, seen.first[c] / (dt * factor)
    for r in range(len(slopes)):
        for c in np.flatnonzero(observation[:, r]) if r != i and slopes[r, i] != 0.0 else ():
            factor = (slopes[r, i] * observation[c, r]) ** 2
            return seen.first[c] / (dt**2 * factor), seen.second[c] / (dt**3 * factor)
    return (float(np.mean(seen.var)),) * 2


def walks(recording: Recording, noise: Array, upper: Scales) -> list[Model]:
    """Random walks: no unknown drift, constant Gamma by maximum likelihood, one for each level of the noise, and one
    whose noise is by maximum likelihood too.

    Parameters
    ----------
    recording : Recording
        A part of one will do.
    noise : (q,) array
        Noise variances, where they are not free.
    upper : Scales

    Returns
    -------
    list of Model
        The one of largest likelihood first, with the law of the first state and no floor.

    Raises
    ------
    DataError
        When no random walk has a finite likelihood.
    """
    free = recording.free_noise
    held = recording.held()
    found: list[tuple[float, Model]] = []
    for cut in CUTS if free.any() else CUTS[:1]:
        level = np.where(free, upper.noise * 10.0**-cut, noise)
        trials = [_random_walk(recording, upper.gamma * 10.0**-power, level, upper) for power in GAMMA_POWERS]
        heights = [recording.loglik(trial) for trial in trials]
        best = int(np.argmax(np.nan_to_num(heights, nan=-np.inf)))
        if np.isfinite(heights[best]):
            model, value = maximise_noise(held, trials[best], sweeps=8, loglik=heights[best])
            found.append((value, model))
    if not found:
        raise DataError(
            "no random walk has a finite likelihood on this recording: its values are too large or constant"
        )
    found.sort(key=lambda entry: -entry[0])
    if free.any():
        found.insert(0, maximise_noise(recording, found[0][1], sweeps=15)[::-1])
    return [first_states(recording, model) for _, model in found]


def _random_walk(recording: Recording, gamma: Array, noise: Array, upper: Scales) -> Model:
    among = recording.candidates
    m, k = len(among.states), among.n_terms
    coefficients = np.zeros((len(among.pairs), k))
    for p, (i, j) in enumerate(among.pairs):
        if i == j:
            coefficients[p, among.constant] = gamma[i]
    start = among.named.numbers.start
    return Model(
        np.zeros((m, k)), coefficients, noise, upper.mean0, upper.cov0, np.zeros(m), start, recording.tails,
        np.array(recording.links.start), recording.kicks,
    )  # fmt: skip


def first_states(recording: Recording, model: Model) -> Model:
    """The same model with the law of the first state from the smoothed states."""
    means, covs = recording.smooth(model)
    states = np.concatenate(means)
    spread = states.var(axis=0) + np.concatenate([np.einsum("nii->ni", c) for c in covs]).mean(axis=0)
    mean, variance = states.mean(axis=0), FIRST_SPREAD * spread
    # a constant has no spread of its own by which its first value were known
    for zero in recording.zeros.values():
        variance[zero] = model.cov0[zero, zero]
    first = _first_law(mean, variance, recording.candidates.constants_of_one)
    return replace(model, mean0=first[0], cov0=first[1])


def _first_law(mean: Array, variance: Array, constants: tuple[int, ...]) -> tuple[Array, Array]:
    """Mean and covariance of the first state, standard normal where it is a constant of each recording."""
    mean, variance = mean.copy(), variance.copy()
    mean[list(constants)], variance[list(constants)] = 0.0, 1.0
    return mean, np.diag(variance)
