"""The search for a model of a noisy recording: the order of the rounds, and when they end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.drift import drift_round, drift_support
from itoscope.fit.filtered.gamma import gamma_round, gamma_support
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.start import first_states, walks
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT

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
"""Drift round from which the sets of terms of nearly the same evidence are compared by their likelihood."""
START_PART = 3_000
"""Samples of a recording on which the starts of the search are compared."""
REOPENED = 2
"""Drift rounds after which other levels of the noise are tried: the first ones, in which the drift becomes known."""
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
    ends = []
    for model in _starts(task, noise):
        state = State(model, task.recording.loglik(model))
        ends.append(_drift_rounds(task, Found(state, (Round("start", state),), False), max_rounds))
    found = ends[0] if len(ends) == 1 else max(ends, key=lambda end: _height(task, end.state))
    return _gamma_rounds(task, found) if select_gamma else found  # the drift has rounds there too


def _height(task: Task, state: State) -> float:
    return state.evidence(task, state.model, state.loglik)


def _starts(task: Task, noise: Array) -> list[Model]:
    """The random walk from which a round of the drift leads highest, on a part of a long recording.

    Where recordings differ, the likeliest of those with spreads too: no regression leads from none, at which the
    likelihood is level, and what a part of few recordings gains by spreads may not pay for the terms beside them.

    The most likely walk itself has hardly any noise in the sensor: it explains what restores the motion by noise of the
    path.
    """
    recording = task.recording
    part = replace(task, recording=recording.part(START_PART))
    models = walks(part.recording, noise, task.upper)

    def led(model: Model) -> State:
        state = State(model, part.recording.loglik(model))
        return drift_round(part, state, rivals=False)[0].refitted(part.recording, 5)

    def height(model: Model) -> float:
        return _height(task, led(model))

    best = models[0] if len(models) == 1 else max(models, key=height)
    others = _started(part.recording, best)
    best = max([best, *others], key=height)
    chosen = [best]
    if task.recording.candidates.constants_of_one and others:
        spread = max(others, key=lambda model: led(model).loglik)
        chosen += [] if spread is best else [spread]
    held = task.recording.held()
    return [first_states(task.recording, maximise_noise(held, one, sweeps=5)[0]) for one in chosen]


def _started(part: Recording, walk: Model) -> list[Model]:
    """A random walk with the coefficients and the numbers of each start, its noise at its best beside them."""
    among, found = part.candidates, []
    for start, numbers in product(among.starts or ({},), among.named.numbers.starts()):
        if not start and numbers is among.named.numbers.start:
            continue
        drift = walk.drift.copy()
        for column, value in start.items():
            drift[column] = value
        begun = replace(walk, drift=drift, numbers=numbers)
        found.append(first_states(part, maximise_noise(part.held(), begun, sweeps=8)[0]))
    return found


def _drift_rounds(task: Task, found: Found, most: int) -> Found:
    """Drift with constant Gamma, until selection and coefficients are stable."""
    state, rounds = found.state, list(found.rounds)
    before: tuple[int, ...] | None = None
    for i in range(most):
        state, last = drift_round(task, state, rivals=i >= RIVALS_FROM)
        rounds.append(last)
        same = last.chosen == before == drift_support(task, state.model)
        if same and last.moved < SETTLED_SHIFT:
            return Found(state.refitted(task.recording, 3), tuple(rounds), True)
        state = state.refitted(task.recording, 3, tries=3)
        if i < REOPENED:
            state = state.reopened(task, apart=False)
        before = last.chosen
    return Found(state, tuple(rounds), False)


def _gamma_rounds(task: Task, found: Found) -> Found:
    """Gamma's terms and the drift in turn, until both are stable; Gamma_ii is held above a share of what it was."""
    scale = _constant_gamma(task.recording, found.state.model)
    state, rounds = _with_floor(task.recording, found.state, SELECTION_FLOOR * scale), list(found.rounds)
    before: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    stable = False
    for _ in range(MAX_GAMMA_ROUNDS):
        state, gamma = gamma_round(task, state)
        state, drift = drift_round(task, state, rivals=True)
        rounds += [gamma, drift]
        now = (gamma_support(task, state.model), drift_support(task, state.model))
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
