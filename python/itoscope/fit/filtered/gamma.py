"""One round of Gamma: a regression of squared innovations, the terms of largest evidence, a damped step to them."""

from __future__ import annotations

import math
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
    from itoscope.fit.filtered.recording import Recording

__all__ = ["Aim", "gamma_aim", "gamma_round", "gamma_support", "single_terms"]

TRIES = 4
"""How often a step to other terms is halved."""
NOISE_FACTOR = 2.0
"""Logarithm of the largest factor by which a noise variance, or a Gamma_ii of one term, falls in one step."""
PART = 5_000
"""Samples on which single terms are compared."""
SINGLES = 3
"""Single terms of a Gamma_ii that are kept."""


class Aim(NamedTuple):
    """Where the regression of Gamma points: its table, the free noise variances and links, errors of the columns."""

    gamma: Array
    noise: Array
    error: Array


def gamma_support(task: Task, model: Model) -> Set:
    """The columns of Gamma in the model, as numbers among all candidates."""
    return tuple(support(model.gamma, task.recording.candidates.all_gamma))


def gamma_aim(among: Candidates, state: State, chosen: Sequence[int]) -> Aim:
    """Least-squares values of the `chosen` columns of Gamma and of the free noise variances.

    A Gamma_ii of one term stays positive: its mean falls by the factor `exp(-NOISE_FACTOR)` at most, so that a row
    without noise does not keep the others from theirs.
    """
    assert state.noise_sums is not None
    assert state.sizes is not None
    columns, n, means = among.all_gamma, len(chosen), state.sizes.means
    found = state.noise_sums.solve([*chosen, *range(len(columns), len(state.noise_sums.moment))])
    gamma = table((len(among.pairs), among.n_terms), columns, chosen, found.theta[:n])
    for p in among.variances:
        own, former = np.flatnonzero(gamma[p]), np.flatnonzero(state.model.gamma[p])
        size = float(state.model.gamma[p, former] @ means[former]) * math.exp(-NOISE_FACTOR)
        if len(own) == 1 and size > 0.0 and means[own[0]] > 0.0:
            gamma[p, own] = np.maximum(gamma[p, own], size / means[own])
    return Aim(gamma, found.theta[n:], found.errors[:n])


def single_terms(task: Task, state: State) -> list[Set]:
    """Each term alone in a Gamma_ii that explains a part of the recording better than the Gamma_ii of the model.

    Little data say little through the squares of innovations that a constant Gamma has weighted; the likelihood of a
    model whose Gamma_ii is one term, positive along the path and of the same mean, says more. A Gamma_ii whose constant
    is no candidate has the best of them.
    """
    among = task.recording.candidates
    part, now = task.recording.part(PART), gamma_support(task, state.model)
    means, height = _means(part, state.model), part.loglik(state.model)
    held = {p: [c for c in now if among.all_gamma[c][0] == p] for p in range(len(among.pairs))}
    better: dict[int, list[int]] = {}
    for p in among.variances:
        if len(among.terms_of(p)) > 1 or not held[p]:
            found = _alone(part, state.model, p, means)
            better[p] = [c for value, c in found if value > height or not held[p]][:SINGLES]
            held[p] = held[p] or better[p][:1]
    return [
        tuple(sorted([c, *(k for q, own in held.items() if q != p for k in own)]))
        for p, found in better.items()
        for c in found
    ]


class Along(NamedTuple):
    """Means of terms along a path, and which of them are positive all along it."""

    mean: dict[int, float]
    positive: set[int]


def _means(part: Recording, model: Model) -> Along:
    """Of the constant and the terms of Gamma, along the smoothed path."""
    among = part.candidates
    terms = list(dict.fromkeys([among.constant, *among.gamma_terms]))
    program = part.stages.compile([among.expressions[k] for k in terms], list(among.states))
    states = np.ascontiguousarray(np.concatenate(part.smooth(model)[0]))
    with np.errstate(all="ignore"):
        values = program.evaluate(states[np.isfinite(states).all(axis=1)])
        mean = values.mean(axis=0) if len(values) else np.zeros(len(terms))
    positive = np.all(values >= 0.0, axis=0) & np.isfinite(mean) & (mean > 0.0)
    return Along(dict(zip(terms, mean.tolist())), {k for k, there in zip(terms, positive) if there})


def _alone(part: Recording, model: Model, p: int, along: Along) -> list[tuple[float, int]]:
    """Log-likelihood and column of each term alone in a Gamma_ii of the same mean, the highest first."""
    among = part.candidates
    size = sum(float(model.gamma[p, k]) * mean for k, mean in along.mean.items())
    heights = []
    for k in (k for k in among.terms_of(p) if k in along.positive and size > 0.0):
        gamma = model.gamma.copy()
        gamma[p] = 0.0
        gamma[p, k] = size / along.mean[k]
        heights.append((part.loglik(replace(model, gamma=gamma)), among.all_gamma.index((p, k))))
    return sorted(heights, reverse=True)


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
    now = gamma_support(task, state.model)
    singles = single_terms(task, state)

    def height(one: Ranked) -> float:
        if one.columns == now:
            return state.evidence(task, state.model, state.loglik)
        trial = replace(state.model, gamma=gamma_aim(among, state, one.columns).gamma)
        return state.evidence(task, *maximise_noise(task.recording, trial, 2, tries=3))

    ranked = ranking.explore([now, *singles], quick=True)
    if not ranked:
        return state, Round("diffusion", state, now, tuple(ranking.names[c] for c in now), 0.0)
    chosen = best_rival(ranked, [ranking.rank(one) for one in (now, *singles)], height)
    aim = gamma_aim(among, state, chosen.columns)
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
    among = int(free.sum())
    change, positive = np.nan_to_num(aim.noise[:among] - noise[free]), np.ones(among, dtype=bool)

    def at(share: float) -> tuple[Model, float]:
        levels = noise.copy()
        levels[free] = moved(noise[free], share * change, positive, NOISE_FACTOR)
        trial = replace(state.model, gamma=gamma + share * (aim.gamma - gamma), noise=levels)
        return maximise_noise(recording, trial, 3)

    taken = damped(at, lambda model, value: state.better(task, model, value), 1 if same else TRIES)
    return (state, 0.0) if taken is None else (state.at(taken.model, taken.loglik), taken.share)
