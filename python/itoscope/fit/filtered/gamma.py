"""One round of Gamma: a regression of squared innovations, the terms of largest evidence, a damped step to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.fit.filtered.climb import damped, moved
from itoscope.fit.filtered.drift import best_rival
from itoscope.fit.filtered.model import Model, support, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.sampler import STABLE_SHIFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.candidates import Candidates
    from itoscope.fit.filtered.ranking import Ranked, Set
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Aim", "gamma_aim", "gamma_round", "gamma_support", "single_terms"]

TRIES = 4
"""How often a step to other terms is halved."""
NOISE_FACTOR = 2.0
"""Logarithm of the largest factor by which a noise variance falls in one step."""
PART = 5_000
"""Samples on which single terms are compared."""
SINGLES = 3
"""Single terms of a Gamma_ii that are kept."""


class Aim(NamedTuple):
    """Where the regression of Gamma points: the table of Gamma, the free noise variances, errors of the columns."""

    gamma: Array
    noise: Array
    error: Array


def gamma_support(task: Task, model: Model) -> Set:
    """The columns of Gamma in the model, as numbers among all candidates."""
    return tuple(support(model.gamma, task.recording.candidates.all_gamma))


def gamma_aim(among: Candidates, sums: Quadratic, chosen: Sequence[int]) -> Aim:
    """Least-squares values of the `chosen` columns of Gamma and of the free noise variances."""
    columns, n = among.all_gamma, len(chosen)
    found = sums.solve([*chosen, *range(len(columns), len(sums.moment))])
    gamma = table((len(among.pairs), among.n_terms), columns, chosen, found.theta[:n])
    return Aim(gamma, found.theta[n:], found.errors[:n])


def single_terms(task: Task, state: State) -> list[Set]:
    """Each term alone in a Gamma_ii that explains a part of the recording better than the Gamma_ii of the model.

    Little data say little through the squares of innovations that a constant Gamma has weighted; the likelihood of a
    model whose Gamma_ii is one term, positive along the path and of the same mean, says more.
    """
    recording, among = task.recording, task.recording.candidates
    columns, now = among.all_gamma, gamma_support(task, state.model)
    part = recording.part(PART)
    program = recording.stages.compile([among.expressions[k] for k in among.gamma_terms], list(among.states))
    states = np.ascontiguousarray(np.concatenate(part.smooth(state.model)[0]))
    with np.errstate(all="ignore"):
        values = program.evaluate(states[np.isfinite(states).all(axis=1)])
        mean = values.mean(axis=0) if len(values) else np.zeros(len(among.gamma_terms))
    positive = np.all(values >= 0.0, axis=0) & np.isfinite(mean) & (mean > 0.0)
    places = {k: place for place, k in enumerate(among.gamma_terms)}
    height = part.loglik(state.model)
    out: list[Set] = []
    for p, (i, j) in enumerate(among.pairs):
        if i != j:
            continue
        rest = [c for c in now if columns[c][0] != p]
        size = float(sum(state.model.gamma[p, k] * mean[place] for k, place in places.items()))
        heights = []
        for k in (k for k in among.gamma_terms if positive[places[k]] and size > 0.0):
            gamma = state.model.gamma.copy()
            gamma[p] = 0.0
            gamma[p, k] = size / mean[places[k]]
            heights.append((part.loglik(replace(state.model, gamma=gamma)), columns.index((p, k))))
        heights.sort(reverse=True)
        out += [tuple(sorted([*rest, c])) for value, c in heights[:SINGLES] if value > height]
    return out


def gamma_round(task: Task, state: State) -> tuple[State, Round]:
    """One regression of Gamma, its choice of terms and a damped step.

    Parameters
    ----------
    task : Task
    state : State

    Returns
    -------
    State, Round
    """
    among = task.recording.candidates
    state, ranking = task.gamma_ranking(state)
    now, sums = gamma_support(task, state.model), state.noise_sums
    assert sums is not None
    singles = single_terms(task, state)

    def height(one: Ranked) -> float:
        if one.columns == now:
            return state.evidence(task, state.model, state.loglik)
        trial = replace(state.model, gamma=gamma_aim(among, sums, one.columns).gamma)
        return state.evidence(task, *maximise_noise(task.recording, trial, 2, tries=3))

    ranked = ranking.explore([now, *singles], quick=True)
    if not ranked:
        return state, Round("diffusion", state, now, tuple(ranking.names[c] for c in now), 0.0)
    chosen = best_rival(ranked, [ranking.rank(one) for one in (now, *singles)], height)
    aim = gamma_aim(among, sums, chosen.columns)
    entries = tuple(np.array([among.all_gamma[c] for c in chosen.columns], dtype=int).reshape(-1, 2).T)
    shift = np.abs(aim.gamma[entries] - state.model.gamma[entries])
    step, same = 0.0, chosen.columns == now
    if not same or not np.all(shift < STABLE_SHIFT * aim.error):
        state, step = _step(task, state, aim, same=same)
    terms = tuple(ranking.names[c] for c in chosen.columns)
    return state, Round("diffusion", state, chosen.columns, terms, step)


def _step(task: Task, state: State, aim: Aim, *, same: bool) -> tuple[State, float]:
    """Towards Gamma and the noise of `aim`, as far as the evidence rises once both are climbed from there.

    A step within the `same` terms is tried once: the climb has gone most of that way already.
    """
    recording, gamma, noise = task.recording, state.model.gamma, state.model.noise
    free = recording.free_noise
    change, positive = np.nan_to_num(aim.noise - noise[free]), np.ones(int(free.sum()), dtype=bool)

    def at(share: float) -> tuple[Model, float]:
        levels = noise.copy()
        levels[free] = moved(noise[free], share * change, positive, NOISE_FACTOR)
        trial = replace(state.model, gamma=gamma + share * (aim.gamma - gamma), noise=levels)
        return maximise_noise(recording, trial, 3)

    taken = damped(at, lambda model, value: state.better(task, model, value), 1 if same else TRIES)
    return (state, 0.0) if taken is None else (state.at(taken.model, taken.loglik), taken.share)
