"""One round of Gamma: a regression of squared innovations, the terms it selects, a damped step to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.fit.filtered.climb import damped
from itoscope.fit.filtered.model import Model, support, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.selection import best_rival, moments_of
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.candidates import Candidates
    from itoscope.fit.streams import Stream
    from itoscope.posterior.moments import Moments
    from itoscope.stats.quadratic import Quadratic

__all__ = [
    "Aim",
    "gamma_aim",
    "gamma_moments",
    "gamma_round",
    "gamma_support",
    "single_terms",
    "with_variances",
]

TRIES = 4
"""How often a step to other terms is halved."""
NOISE_FACTOR = 2.0
"""Logarithm of the largest factor by which a noise variance moves in one step."""


class Aim(NamedTuple):
    """Where the regression of Gamma points: the table of Gamma, the free noise variances, errors of the columns."""

    gamma: Array
    noise: Array
    error: Array


def gamma_support(task: Task, model: Model) -> list[int]:
    """The columns of Gamma in the model, as numbers among all candidates."""
    return support(model.gamma, task.recording.candidates.all_gamma)


def gamma_moments(task: Task, state: State) -> tuple[State, Moments, Quadratic]:
    """Moments of the Gamma candidates with the noise variances projected out, and those of both."""
    columns, names = task.recording.candidates.all_gamma, task.gamma_names()
    sums, bad = task.recording.noise_moments(state.model, columns).finite()
    state = state.without([f"Gamma {names[c]}" for c in bad if c < len(columns)])
    return state, moments_of(sums.profile(len(columns)), names), sums


def gamma_aim(among: Candidates, sums: Quadratic, chosen: list[int]) -> Aim:
    """Least-squares values of the `chosen` columns of Gamma and of the free noise variances."""
    columns, n = among.all_gamma, len(chosen)
    found = sums.solve([*chosen, *range(len(columns), len(sums.moment))])
    gamma = table((len(among.pairs), among.n_terms), columns, chosen, found.theta[:n])
    return Aim(gamma, found.theta[n:], found.errors[:n])


def with_variances(among: Candidates, chosen: list[int]) -> list[int]:
    """`chosen` with the constant added to each Gamma_ii that would be empty."""
    columns = among.all_gamma
    for p, (i, j) in enumerate(among.pairs):
        if i == j and not any(columns[c][0] == p for c in chosen) and (p, among.constant) in columns:
            chosen = [*chosen, columns.index((p, among.constant))]
    return sorted(chosen)


def single_terms(task: Task, state: State) -> list[list[int]]:
    """For a short recording, each term alone in a Gamma_ii, where it is positive along the path.

    Little data say little through the squares of innovations that a constant Gamma has weighted; the likelihood
    of each such model says more.
    """
    if not task.short:
        return []
    recording, among = task.recording, task.recording.candidates
    columns, now = among.all_gamma, gamma_support(task, state.model)
    program = recording.stages.compile([among.expressions[k] for k in among.gamma_terms], list(among.states))
    states = np.ascontiguousarray(np.concatenate(recording.smooth(state.model)[0]))
    positive = np.all(program.evaluate(states) >= 0.0, axis=0)
    out = []
    for p, (i, j) in enumerate(among.pairs):
        rest = [c for c in now if columns[c][0] != p]
        if i == j:
            own = [columns.index((p, k)) for k, good in zip(among.gamma_terms, positive.tolist()) if good]
            out += [sorted([*rest, c]) for c in own]
    return out


def gamma_round(task: Task, state: State, stream: Stream) -> tuple[State, Round]:
    """One regression of Gamma, its selection and a damped step.

    Parameters
    ----------
    task : Task
    state : State
    stream : Stream
        Of the chains that select.

    Returns
    -------
    State, Round
    """
    among = task.recording.candidates
    state, moments, sums = gamma_moments(task, state)
    now = gamma_support(task, state.model)

    def evidence(chosen: list[int], most: float) -> float:
        return _evidence(task, state, sums, chosen, most)

    found = task.sample(moments, False, stream)
    chosen = np.flatnonzero(found.selected).tolist()
    chosen = best_rival(chosen, found, evidence, [now, *single_terms(task, state)])
    chosen = with_variances(among, chosen)
    aim = gamma_aim(among, sums, chosen)
    entries = tuple(np.array([among.all_gamma[c] for c in chosen], dtype=int).reshape(-1, 2).T)
    shift = np.abs(aim.gamma[entries] - state.model.gamma[entries])
    step = 0.0
    if chosen != now or not np.all(shift < STABLE_SHIFT * aim.error):
        state, step = _step(task, state, aim, same=chosen == now)
    names = moments.terms or ()
    return state, Round("diffusion", state, tuple(chosen), tuple(names[c] for c in chosen), step)


def _evidence(task: Task, state: State, sums: Quadratic, chosen: list[int], most: float) -> float:
    """Evidence of the columns `chosen` after two scoring steps, fewer where it would stay below `most`."""
    among = task.recording.candidates
    chosen = with_variances(among, chosen)
    if chosen == gamma_support(task, state.model):
        return task.evidence(state.model, state.loglik)
    trial = replace(state.model, gamma=gamma_aim(among, sums, chosen).gamma)
    needed = most - task.evidence(trial, 0.0)
    return task.evidence(*maximise_noise(task.recording, trial, 2, tries=3, needed=needed))


def _step(task: Task, state: State, aim: Aim, *, same: bool) -> tuple[State, float]:
    """Towards Gamma and the noise of `aim`, as far as the evidence rises once both are climbed from there.

    A step within the `same` terms is tried once: the climb has gone most of that way already.
    """
    recording, gamma, noise = task.recording, state.model.gamma, state.model.noise
    free = recording.free_noise
    change = np.clip((aim.noise - noise[free]) / noise[free], -NOISE_FACTOR, NOISE_FACTOR)

    def at(share: float) -> tuple[Model, float]:
        levels = noise.copy()
        levels[free] = noise[free] * np.exp(share * change)
        trial = replace(state.model, gamma=gamma + share * (aim.gamma - gamma), noise=levels)
        return maximise_noise(recording, trial, 3)

    taken = damped(at, lambda model, value: state.better(task, model, value), 1 if same else TRIES)
    return (state, 0.0) if taken is None else (state.at(taken.model, taken.loglik), taken.share)
