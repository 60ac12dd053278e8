"""One round of the drift: a regression of the innovations, the terms it selects, a damped step to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.climb import damped
from itoscope.fit.filtered.model import Model, support, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.selection import best_rival, moments_of
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.streams import Stream
    from itoscope.posterior.moments import Moments

__all__ = ["drift_moments", "drift_round", "drift_support"]

TRIES, FEW_TRIES = 6, 2
"""How often a step is halved; of one that only takes terms out of the model, as a whole step is what takes them out."""


def drift_support(task: Task, model: Model) -> list[int]:
    """The drift columns in the model, as numbers among all candidates."""
    return support(model.drift, task.recording.candidates.all_drift)


def drift_moments(task: Task, state: State) -> tuple[State, Moments]:
    """Moments of all drift candidates at the current model; those that are not finite are zero and noted."""
    names = task.drift_names()
    sums = task.recording.drift_moments(state.model, task.recording.candidates.all_drift)
    sums, bad = sums.finite()
    return state.without([names[c] for c in bad]), moments_of(sums, names)


def drift_round(task: Task, state: State, stream: Stream, *, rivals: bool) -> tuple[State, Round]:
    """One regression, selection and damped step of the drift.

    Parameters
    ----------
    task : Task
    state : State
    stream : Stream
        Of the chains that select.
    rivals : bool
        Whether models that the chains visited often are compared by their likelihood.

    Returns
    -------
    State, Round
    """
    recording = task.recording
    columns = recording.candidates.all_drift
    state, moments = drift_moments(task, state)
    now = drift_support(task, state.model)

    def with_least_squares(chosen: list[int]) -> Model:
        value, _ = moments.solve(chosen)
        return replace(state.model, drift=table(state.model.drift.shape, columns, chosen, value))

    def evidence(chosen: list[int], most: float) -> float:
        trial = with_least_squares(chosen)
        return task.evidence(trial, recording.loglik(trial))

    found = task.sample(moments, False, stream)
    chosen = np.flatnonzero(found.selected).tolist()
    if rivals:
        chosen = best_rival(chosen, found, evidence, [now])
    moved = _shift(moments, chosen, [state.model.drift[columns[c]] for c in chosen])
    if chosen == now and moved < STABLE_SHIFT:
        step = 0.0
    else:
        state, step = _step(task, state, with_least_squares(chosen).drift, same=chosen == now)
    if step == 0.0 and chosen == now:
        moved = 0.0  # the regression points elsewhere, but no step along it raises the likelihood: an end
    names = moments.terms or ()
    terms = tuple(names[c] for c in chosen)
    return state, Round("drift", state, tuple(chosen), terms, step, moved)


def _shift(moments: Moments, chosen: list[int], now: list[float]) -> float:
    """The largest distance of the least-squares values from those of `now`, in standard errors."""
    value, inverse = moments.solve(chosen)
    error = np.sqrt(np.maximum(np.diag(inverse), np.finfo(float).tiny))
    return float(np.max(np.abs(value - np.array(now)) / error, initial=0.0))


def _step(task: Task, state: State, aim: Array, *, same: bool) -> tuple[State, float]:
    """Towards the drift `aim`, as far as the evidence rises; where no part of the way is better, with a new Gamma.

    Returns the share of the way that was gone.
    """
    recording, drift = task.recording, state.model.drift

    def at(share: float) -> tuple[Model, float]:
        trial = replace(state.model, drift=drift + share * (aim - drift))
        return trial, recording.loglik(trial)

    grows = bool(np.any((aim != 0.0) & (drift == 0.0)))
    taken = damped(at, lambda m, value: state.better(task, m, value), TRIES if grows or same else FEW_TRIES)
    if taken is not None:
        return state.at(taken.model, taken.loglik), taken.share
    if not same:
        trial, loglik = maximise_noise(recording, replace(state.model, drift=aim), 3)
        if state.better(task, trial, loglik):
            return state.at(trial, loglik), 1.0
    return state, 0.0
