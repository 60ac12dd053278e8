"""The damped climb: every step to a better model is a whole one or, where that is not better, a half, a quarter, ..."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model

__all__ = ["Ascent", "Pace", "Taken", "Top", "climb", "damped", "moved"]

AGREES = 0.1
"""Share of what a step promised by which its gain may differ where the likelihood is the parabola that promised it."""


@dataclass(frozen=True)
class Taken:
    """A model on the way, its log-likelihood, and the share of a whole step that led to it."""

    model: Model
    loglik: float
    share: float


def damped(
    at: Callable[[float], tuple[Model, float]], better: Callable[[Model, float], bool], tries: int
) -> Taken | None:
    """The first model that is better, after a whole step, a half, a quarter, ...: `tries` of them; or None.

    Parameters
    ----------
    at : callable
        Model and log-likelihood after a share of the step.
    better : callable
        Whether a model of this log-likelihood is taken.
    tries : int
    """
    for halving in range(tries):
        share = 0.5**halving
        model, loglik = at(share)
        if better(model, loglik):
            return Taken(model, loglik, share)
    return None


def moved(now: Array, step: Array, positive: NDArray[np.bool_], most: float) -> Array:
    """`now + step`; those that must stay positive and fall do so by the factor `exp(step / now)`, within `exp(-most)`.

    One that rises goes the whole way: a step of all parameters together leads up only in its own direction, and from
    near zero a factor would bend it.
    """
    with np.errstate(all="ignore"):
        factor = np.exp(np.maximum(step / np.where(positive, now, 1.0), -most))
    out: Array = np.where(positive & (step < 0.0), now * factor, now + step)
    return out


@dataclass(frozen=True)
class Ascent:
    """A way up from a model: the model after a share of the step, the gain it promises, the estimates' covariance."""

    at: Callable[[float], Model]
    promise: float
    cov: Array


@dataclass(frozen=True)
class Pace:
    """When a climb ends.

    Attributes
    ----------
    steps : int
        At most so many.
    tries : int
        Whole step, half, quarter, ...: so many of them.
    enough : float
        Gain of log-likelihood that is not worth a step: it ends when the next one promises less.
    whole, part : float
        It also ends after a whole step, or a part of one, that gained less than this.
    last : float
        And at its top, after a whole step that promised less than this and kept it.
    """

    steps: int
    tries: int
    enough: float
    whole: float = -math.inf
    part: float = -math.inf
    last: float = -math.inf


@dataclass(frozen=True)
class Top:
    """Where a climb ended: `converged` if it no longer rose by what counts; `cov` is of the last way that was seen."""

    model: Model
    loglik: float
    converged: bool
    cov: Array


def climb(
    loglik: Callable[[Model], float],
    way: Callable[[Model], Ascent],
    start: tuple[Model, float],
    pace: Pace,
) -> Top:
    """Climb a likelihood by scoring steps, each halved until it rises.

    Parameters
    ----------
    loglik : callable
        Log-likelihood of a model.
    way : callable
        The scoring step from a model.
    start : (Model, float)
        With its log-likelihood.
    pace : Pace

    Returns
    -------
    Top
        Never lower than the start.
    """
    model, height = start
    converged, cov = False, np.zeros((0, 0))
    for _ in range(pace.steps):
        ahead = way(model)
        cov = ahead.cov
        if ahead.promise < pace.enough:
            return Top(model, height, True, cov)
        taken = _risen(loglik, ahead, height, pace.tries)
        if taken is None:
            return Top(model, height, True, cov)
        gain = taken.loglik - height
        model, height = taken.model, taken.loglik
        kept = taken.share == 1.0 and abs(gain - ahead.promise) < AGREES * ahead.promise
        if kept and ahead.promise < pace.last:
            return Top(model, height, True, cov)
        converged = converged or gain < pace.enough
        if gain < (pace.whole if taken.share == 1.0 else pace.part):
            break
    return Top(model, height, converged, cov)


def _risen(loglik: Callable[[Model], float], ahead: Ascent, height: float, tries: int) -> Taken | None:
    """The first share of a way up that ends above `height`."""

    def at(share: float) -> tuple[Model, float]:
        model = ahead.at(share)
        return model, loglik(model)

    return damped(at, lambda _, value: value > height, tries)
