"""The search for a model of a noisy recording: the order of the rounds, and when they end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.drift import drift_round, drift_support
from itoscope.fit.filtered.gamma import gamma_round, gamma_support
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.start import first_states, walks
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT
from itoscope.fit.streams import Stream

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Found", "search"]

MAX_GAMMA_ROUNDS = 6
"""Rounds of Gamma, each followed by one of the drift, after which the search ends unsettled."""
SELECTION_FLOOR, FINAL_FLOOR = 2e-2, 1e-4
"""Smallest Gamma_ii as a share of the constant Gamma_ii of the first rounds: while terms are chosen, and at the end."""
RIVALS_FROM = 2
"""Drift round from which the models that the chains visited often are compared by their likelihood."""
START_PART = 10_000
"""Samples of a recording on which the starts of the search are compared."""
PART = 50_000
"""Samples of a long recording that are enough for Gamma and the noise between two rounds of the drift."""
SETTLED_SHIFT = 10 * STABLE_SHIFT
"""Movement of a coefficient, in standard errors, that does not keep rounds of unchanged terms from ending."""


@dataclass(frozen=True)
class Found:
    """Where a search ended, its rounds, and whether terms and coefficients became stable."""

    state: State
    rounds: tuple[Round, ...]
    settled: bool


def search(task: Task, noise: Array, *, select_gamma: bool, max_rounds: int) -> Found:
    """From the integrated random walk to a model: rounds of the drift, then of Gamma and the drift in turn.

    Parameters
    ----------
    task : Task
    noise : (q,) array
        Noise variances; where they are free they are found.
    select_gamma : bool
        Whether Gamma may depend on the state.
    max_rounds : int
        Drift rounds with constant Gamma after which the search goes on unsettled.
    """
    model = _start(task, noise)
    state = State(model, task.recording.loglik(model))
    found = _drift_rounds(task, Found(state, (Round("start", state),), False), max_rounds)
    return _gamma_rounds(task, found) if select_gamma else found  # the drift has rounds there too


def _start(task: Task, noise: Array) -> Model:
    """The random walk from which a round of the drift leads highest, on a part of a long recording.

    The most likely walk itself has hardly any noise in the sensor: it explains what restores the motion by noise of the
    path.
    """
    part = replace(task, recording=task.recording.part(START_PART))
    models = walks(part.recording, noise, task.upper)

    def height(model: Model) -> float:
        state = State(model, part.recording.loglik(model))
        state = drift_round(part, state, Stream.drift(0), rivals=False)[0].refitted(part.recording, 5)
        return task.evidence(state.model, state.loglik)

    best = models[0] if len(models) == 1 else max(models, key=height)
    return first_states(task.recording, maximise_noise(_held(task.recording), best, sweeps=5)[0])


def _held(recording: Recording) -> Recording:
    """The same with all noise variances held."""
    return replace(recording, free_noise=np.zeros_like(recording.free_noise))


def _drift_rounds(task: Task, found: Found, most: int) -> Found:
    """Drift with constant Gamma, until selection and coefficients are stable."""
    state, rounds = found.state, list(found.rounds)
    before: tuple[int, ...] | None = None
    for i in range(most):
        state, last = drift_round(task, state, Stream.drift(i), rivals=i >= RIVALS_FROM)
        rounds.append(last)
        same = last.chosen == before == tuple(drift_support(task, state.model))
        if same and last.moved < SETTLED_SHIFT:
            return Found(state.refitted(task.recording, 3).reopened(task), tuple(rounds), True)
        state = _follow_noise(task.recording, state)
        if last.chosen != before:
            state = state.reopened(task)
        before = last.chosen
    return Found(state, tuple(rounds), False)


def _follow_noise(recording: Recording, state: State) -> State:
    """Gamma and the noise fitted to a new drift, on a part of a long recording where that raises the likelihood."""
    count = len(recording.paths)
    stride = max(1, recording.samples // PART)
    if 1 < stride < count:
        part = recording.subset(range(0, count, stride))
        model, _ = maximise_noise(part, state.model, 3, tries=3)
        loglik = recording.loglik(model)
        if loglik > state.loglik:
            return state.at(model, loglik)
    return state.refitted(recording, 3, tries=3)


def _gamma_rounds(task: Task, found: Found) -> Found:
    """Gamma's terms and the drift in turn, until both are stable; Gamma_ii is held above a share of what it was."""
    scale = _constant_gamma(task.recording, found.state.model)
    state, rounds = _with_floor(task.recording, found.state, SELECTION_FLOOR * scale), list(found.rounds)
    before: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    stable = False
    for i in range(MAX_GAMMA_ROUNDS):
        state, gamma = gamma_round(task, state, Stream.gamma(i))
        state, drift = drift_round(task, state, Stream.drift_beside_gamma(i), rivals=True)
        rounds += [gamma, drift]
        now = (tuple(gamma_support(task, state.model)), tuple(drift_support(task, state.model)))
        if before == (gamma.chosen, drift.chosen) == now and drift.moved < SETTLED_SHIFT:
            stable = True
            break
        before = (gamma.chosen, drift.chosen)
    return Found(_with_floor(task.recording, state, FINAL_FLOOR * scale), tuple(rounds), stable)


def _constant_gamma(recording: Recording, model: Model) -> Array:
    """The constant part of each Gamma_ii `(m,)`."""
    among = recording.candidates
    scale = np.zeros(len(among.states))
    for p, (i, j) in enumerate(among.pairs):
        if i == j:
            scale[i] = abs(model.gamma[p, among.constant])
    return scale


def _with_floor(recording: Recording, state: State, floor: Array) -> State:
    """The same model with Gamma_ii held above `floor`."""
    model = replace(state.model, floor=floor)
    return state.at(model, recording.loglik(model))
