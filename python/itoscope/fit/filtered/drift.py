"""One round of the drift: a regression of the innovations, the terms of largest evidence, a damped step to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.climb import damped
from itoscope.fit.filtered.model import Model, support, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.fit.filtered.ranking import Ranked, Set
    from itoscope.stats.quadratic import Quadratic

__all__ = ["best_rival", "drift_round", "drift_support"]

TRIES, FEW_TRIES = 6, 2
"""How often a step is halved; of one that only takes terms out of the model, as a whole step is what takes them out."""
RIVALS = 4
"""Sets of terms that are compared by their likelihood in a round."""
RIVAL = 3.0
"""Difference of log evidence, twenty to one, within which a set of terms is a rival of the best."""


def drift_support(task: Task, model: Model) -> Set:
    """The drift columns in the model, as numbers among all candidates."""
    return tuple(support(model.drift, task.recording.candidates.all_drift))


def best_rival(
    ranked: Sequence[Ranked], others: Sequence[Ranked], height: Callable[[Ranked], float]
) -> Ranked:
    """Of the sets near the first of `ranked` and of the `others`, the one of largest `height`."""
    near = {one.columns: one for one in others}
    near |= {one.columns: one for one in ranked[:RIVALS] if ranked[0].log_mass - one.log_mass < RIVAL}
    return ranked[0] if len(near) == 1 else max(near.values(), key=height)


def drift_round(task: Task, state: State, *, rivals: bool) -> tuple[State, Round]:
    """One regression, choice of terms and damped step of the drift.

    Parameters
    ----------
    task : Task
    state : State
    rivals : bool
        Whether sets of terms of nearly the same evidence are compared by their likelihood.

    Returns
    -------
    State, Round
    """
    recording = task.recording
    columns = recording.candidates.all_drift
    state, ranking = task.drift_ranking(state)
    now = drift_support(task, state.model)

    def least_squares(chosen: Ranked) -> Model:
        drift = table(state.model.drift.shape, columns, chosen.columns, chosen.theta)
        among, numbers, theta = recording.candidates, state.model.numbers, np.zeros(len(columns))
        theta[list(chosen.columns)] = chosen.theta
        if state.follow is not None:
            numbers = among.named.numbers.within(state.follow.moved(numbers, theta))
        return replace(state.model, drift=among.within(drift), numbers=numbers)

    def height(one: Ranked) -> float:
        trial = least_squares(one)
        return state.evidence(task, trial, recording.loglik(trial))

    ranked = ranking.explore([now], quick=True)
    chosen = best_rival(ranked, [ranking.rank(now)], height) if rivals else ranked[0]
    aim = least_squares(chosen)
    moved = _shift(ranking.sums, chosen, [state.model.drift[columns[c]] for c in chosen.columns])
    if state.follow is not None:
        moved = max(moved, state.follow.distance(aim.numbers - state.model.numbers))
    same = chosen.columns == now
    step = 0.0
    if not same or moved >= STABLE_SHIFT:
        state, step = _step(task, state, aim, same=same)
    if step == 0.0 and same:
        moved = 0.0  # the regression points elsewhere, but no step along it raises the likelihood: an end
    terms = tuple(ranking.names[c] for c in chosen.columns)
    return state, Round("drift", state, chosen.columns, terms, step, moved)


def _shift(sums: Quadratic, chosen: Ranked, now: list[float]) -> float:
    """The largest distance of the least-squares values from those of `now`, in standard errors."""
    error = np.maximum(sums.solve(chosen.columns).errors, np.finfo(float).tiny)
    return float(np.max(np.abs(chosen.theta - np.array(now)) / error, initial=0.0))


def _step(task: Task, state: State, aim: Model, *, same: bool) -> tuple[State, float]:
    """Towards the drift of `aim`, as far as the evidence rises; where no part of the way is better, with a new Gamma.

    Returns the share of the way that was gone.
    """
    recording, drift, numbers = task.recording, state.model.drift, state.model.numbers

    def at(share: float) -> tuple[Model, float]:
        between = recording.candidates.within(drift + share * (aim.drift - drift))
        trial = replace(state.model, drift=between, numbers=numbers + share * (aim.numbers - numbers))
        return trial, recording.loglik(trial)

    grows = bool(np.any((aim.drift != 0.0) & (drift == 0.0)))
    taken = damped(at, lambda m, value: state.better(task, m, value), TRIES if grows or same else FEW_TRIES)
    if taken is not None:
        return state.at(taken.model, taken.loglik), taken.share
    if not same:
        trial, loglik = maximise_noise(recording, aim, 3)
        if state.better(task, trial, loglik):
            return state.at(trial, loglik), 1.0
    return state, 0.0
