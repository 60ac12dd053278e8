"""Models weighed along a course: steps linearised about the smoothed states, where that changes what is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from itoscope.fit.filtered.family import family
from itoscope.fit.filtered.settle import settled

if TYPE_CHECKING:
    from itoscope.fit.filtered.family import Family
    from itoscope.fit.filtered.state import State, Task

__all__ = ["family_along"]

FELT = 0.5
"""Change of the log-likelihood by the course of a model from which it is taken: half of one is no term's evidence."""
COURSES, ROUNDS = 8, 2
"""Courses that follow each other, each of the model at its best along the one before; and how often models are weighed,
again where the best of them has another course."""


def family_along(task: Task, state: State) -> tuple[Task, Family]:
    """The models of a recording from the best one known, weighed along its course; and the task with that.

    The filter is linearised where it stands; the smoothed states know the later readings too. A course is taken where
    the likelihood feels it and ends higher along it.
    """
    task, state = _on_course(task, state)
    models = family(task, state)
    for _ in range(1, ROUNDS):
        best = models.best
        assert best.model is not None
        assert best.loglik is not None
        trial, state = _on_course(task, state.at(best.model, best.loglik))
        if trial is task:
            break
        task, models = trial, family(trial, state)
    return task, models


def _on_course(task: Task, state: State) -> tuple[Task, State]:
    """The task along the course of a model, and that model at its best there; both as they are where it is not felt.

    Only of a drift that is bent: one that is affine is the same about any state. A Gamma that may move with the state
    would have to be followed too, and steps whose sizes vary are followed by several laws.
    """
    recording = task.recording
    if task.gamma_sought or recording.kicks or not recording.bends(state.model):
        return task, state
    if abs(recording.along_course(state.model).loglik(state.model) - state.loglik) < FELT:
        return task, state
    now = settled(recording, state.model)
    for _ in range(COURSES):
        trial = task.recording.along_course(now.model)
        top = settled(trial, now.model)
        gain = top.loglik - now.loglik
        if not gain > 0.0:
            break
        task, now = replace(task, recording=trial), top
        if gain < FELT:
            break
    return task, state.at(now.model, now.loglik)
