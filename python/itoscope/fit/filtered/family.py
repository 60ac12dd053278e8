"""The models of a recording with their probabilities: ranked by the moments, the likely ones climbed by likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import NumericalError
from itoscope.fit.filtered.drift import drift_support
from itoscope.fit.filtered.gamma import gamma_aim, gamma_support, single_terms
from itoscope.fit.filtered.model import Model, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.ranking import Ranked, Set
from itoscope.fit.filtered.settle import settled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.state import State, Task
    from itoscope.result.diagnostics import Tried

__all__ = ["Family", "Member", "climbed", "family", "with_member"]

ENOUGH = 0.95
"""Share of the mass in models that were climbed, at which climbing ends."""
FEW, WORK = 3, 400_000
"""Models that are climbed at most: `FEW`, and as many more as the samples times the states go into `WORK`."""
MOST = 40
"""Models that are climbed at most, however short the recording."""
NEGLIGIBLE = 12.0
"""Difference of log evidence from the best under which a model is not counted."""
COUNTED = 2_000
"""Models that are counted."""
MOVES = 4
"""How often the moments are made again at a model that was climbed and is better."""
BETTER = 0.5
"""Gain of log evidence that makes them be made again."""


Pair = tuple[Ranked, Ranked | None]
"""Sets of the drift and of Gamma, where that is sought."""


@dataclass(frozen=True)
class Member:
    """One model of a recording.

    Attributes
    ----------
    drift, gamma : tuples of int
        Its columns.
    theta, gamma_theta : (r,) and (s,) array
        Their coefficients.
    log_mass : float
        Log evidence.
    loglik : float or None
        Of a model that was climbed.
    model : Model or None
        Of one that was climbed.
    cov, gamma_cov : arrays or None
        Covariances of the coefficients, of a model that was climbed.
    """

    drift: Set
    gamma: Set
    theta: Array
    gamma_theta: Array
    log_mass: float
    loglik: float | None = None
    model: Model | None = None
    cov: Array | None = None
    gamma_cov: Array | None = None

    @property
    def key(self) -> tuple[Set, Set]:
        """What tells it from others."""
        return self.drift, self.gamma

    def as_dict(self, task: Task, mass: float) -> Tried:
        """For the record."""
        among, zeros = (
            task.recording.candidates,
            {*task.recording.zeros.values(), *task.recording.walks.values()},
        )
        gamma = [among.all_gamma[c] for c in self.gamma]
        return {
            "drift": [_name(among.states, among.expressions, among.all_drift[c]) for c in self.drift],
            "diffusion": [
                _name(among.pair_names, among.expressions, one)
                for one in gamma
                if among.pairs[one[0]][0] not in zeros
            ],
            "mass": mass,
            "climbed": self.loglik is not None,
            "loglik": self.loglik,
            "log_evidence": self.log_mass,
        }


def _name(rows: Sequence[str], terms: Sequence[str], column: tuple[int, int]) -> str:
    return f"{rows[column[0]]}: {terms[column[1]]}"


@dataclass
class Family:
    """Models and what they weigh.

    Attributes
    ----------
    members : list of Member
        By falling evidence.
    state : State
        At the climbed model of largest evidence, with the regressions there.
    settled : bool
        Whether no better model was found on the last moments.
    known : dict
        Those that were climbed.
    pairs : list
        What the regressions say.
    """

    members: list[Member]
    state: State
    settled: bool = True
    known: dict[tuple[Set, Set], Member] = field(default_factory=dict, repr=False)
    pairs: list[Pair] = field(default_factory=list, repr=False)

    @property
    def best(self) -> Member:
        """The climbed model of largest evidence."""
        return max(self.known.values(), key=lambda member: member.log_mass)

    @property
    def mass(self) -> Array:
        """Share of each member `(n,)`."""
        heights = np.array([member.log_mass for member in self.members])
        weight = np.exp(heights - heights.max())
        out: Array = weight / weight.sum()
        return out

    def probabilities(self, part: str, count: int) -> Array:
        """Inclusion probabilities of the `count` columns of "drift" or "gamma"."""
        out = np.zeros(count)
        for member, mass in zip(self.members, self.mass):
            out[list(getattr(member, part))] += mass
        return np.minimum(out, 1.0)

    def marginal(self, part: str, columns: Set) -> dict[Set, float]:
        """Mass of each set of those among `columns` of "drift" or "gamma" that a model has."""
        out: dict[Set, float] = {}
        inside = set(columns)
        for member, mass in zip(self.members, self.mass):
            own = tuple(c for c in getattr(member, part) if c in inside)
            out[own] = out.get(own, 0.0) + float(mass)
        return out


def family(task: Task, state: State) -> Family:
    """Weigh the models of a recording from the best one known.

    Sets of terms of drift and Gamma are ranked by the regressions at the model of the moment, pairs of them by the sum.
    The likeliest pairs are climbed until those hold `ENOUGH` of the mass. The others count with the evidence of the
    regressions, moved by what climbing did to that of those climbed. Where a climbed model is better than the one at
    which the regressions were made, they are made again there.
    """
    known: dict[tuple[Set, Set], Member] = {}
    left = int(
        min(MOST, FEW + WORK // max(task.recording.samples * len(task.recording.candidates.states), 1))
    )
    for move in range(MOVES):
        state = _with_rankings(task, state)
        estimates = _pairs(task, state, known)
        assert state.drift is not None
        own = state.drift.complete(drift_support(task, state.model))
        here = climbed(task, state, own, gamma_support(task, state.model))
        known[here.key] = here
        better = None
        for _ in range(left):
            members = _weighed(task, state, estimates, known)
            best = members[0]
            mass = np.exp([m.log_mass - best.log_mass for m in members])
            open_ = [m for m in members if m.loglik is None]
            done = sum(w for m, w in zip(members, mass) if m.loglik is not None) / mass.sum()
            if not open_ or done > ENOUGH:
                break
            left -= 1
            found = climbed(task, state, open_[0].drift, open_[0].gamma)
            known[found.key] = found
            if found.log_mass > here.log_mass + BETTER:
                better = found
                break
        if better is None or left <= 0 or move == MOVES - 1:
            break
        assert better.loglik is not None
        assert better.model is not None
        state = state.at(better.model, better.loglik)
    members = _weighed(task, state, estimates, known)
    return Family(members, state, settled=better is None, known=known, pairs=estimates)


def with_member(task: Task, models: Family, member: Member) -> Family:
    """The family with one more model that was climbed."""
    known = {**models.known, member.key: member}
    members = _weighed(task, models.state, models.pairs, known)
    return Family(members, models.state, models.settled, known, models.pairs)


def _with_rankings(task: Task, state: State) -> State:
    """The state with regressions at its model; of Gamma where there is a choice."""
    state, _ = task.drift_ranking(state)
    return task.gamma_ranking(state)[0] if task.gamma_sought else replace(state, gamma=None)


def _pairs(task: Task, state: State, known: dict[tuple[Set, Set], Member]) -> list[Pair]:
    """Pairs of sets of the drift and of Gamma, by falling sum of their evidence."""
    assert state.drift is not None
    starts = [drift_support(task, state.model), *(key[0] for key in known)]
    drifts = _near(state.drift.explore(starts))
    if state.gamma is None:
        return [(drift, None) for drift in drifts[:COUNTED]]
    here = gamma_support(task, state.model)
    gammas = _near(state.gamma.explore([here, *single_terms(task, state), *(key[1] for key in known)]))
    if not gammas:
        return [(drift, None) for drift in drifts[:COUNTED]]
    top = drifts[0].log_mass + gammas[0].log_mass - NEGLIGIBLE
    pairs = [(d, g) for d in drifts for g in gammas if d.log_mass + g.log_mass >= top]
    pairs.sort(key=lambda pair: -(pair[0].log_mass + pair[1].log_mass))
    return list(pairs[:COUNTED])


def _near(ranked: list[Ranked]) -> list[Ranked]:
    ranked = ranked[:COUNTED]
    return [one for one in ranked if one.log_mass >= ranked[0].log_mass - NEGLIGIBLE]


def climbed(task: Task, state: State, drift: Set, gamma: Set) -> Member:
    """A model at the maximum of its likelihood, with the evidence there."""
    among = task.recording.candidates
    model, loglik, sums, noise_sums = settled(task.recording, _model(task, state, drift, gamma))
    cov, gamma_cov = sums.solve().inverse, noise_sums.solve().inverse[: len(gamma), : len(gamma)]
    theta = np.array([model.drift[among.all_drift[c]] for c in drift])
    gamma_theta = np.array([model.gamma[among.all_gamma[c]] for c in gamma])
    log_mass = loglik
    if drift_support(task, model) != drift or gamma_support(task, model) != gamma:
        log_mass = -math.inf  # a coefficient that the data do not determine
    elif state.drift is not None:
        log_mass += state.drift.cost(drift, theta, cov)
    if state.gamma is not None and np.isfinite(log_mass):
        log_mass += state.gamma.cost(gamma, gamma_theta, gamma_cov)
    return Member(drift, gamma, theta, gamma_theta, log_mass, loglik, model, cov, gamma_cov)


def _weighed(
    task: Task, state: State, pairs: list[Pair], known: dict[tuple[Set, Set], Member]
) -> list[Member]:
    """All models by falling evidence: of the climb, or of the regressions, moved by what climbing did to it."""
    now = gamma_support(task, state.model)
    here = np.array([state.model.gamma[task.recording.candidates.all_gamma[c]] for c in now])
    estimate: dict[tuple[Set, Set], tuple[float, Pair]] = {}
    for drift, gamma in pairs:
        key = (drift.columns, now if gamma is None else gamma.columns)
        estimate[key] = (drift.log_mass + (0.0 if gamma is None else gamma.log_mass), (drift, gamma))
    both = [(one.log_mass, _estimated(state, key, estimate)) for key, one in known.items()]
    both = [(one, other) for one, other in both if np.isfinite(one) and np.isfinite(other)]
    offset = _log_sum([one for one, _ in both]) - _log_sum([other for _, other in both]) if both else 0.0
    members = [one for one in known.values() if np.isfinite(one.log_mass)]
    if not members:
        raise NumericalError(
            "no model of the recording has a finite evidence: it does not determine their coefficients, or a size "
            "leaves the range of floating point"
        )
    best = max(one.log_mass for one in members)
    for key, (height, (drift, gamma)) in estimate.items():
        if key not in known and height + offset > best - NEGLIGIBLE:
            values = here if gamma is None else gamma.theta
            members.append(Member(*key, drift.theta, values, height + offset))
    return sorted(members, key=lambda member: -member.log_mass)


def _estimated(
    state: State, key: tuple[Set, Set], estimate: Mapping[tuple[Set, Set], tuple[float, Pair]]
) -> float:
    """The evidence of a model by the regressions, near the best one by them or not."""
    if key in estimate:
        return estimate[key][0]
    assert state.drift is not None
    gamma = 0.0 if state.gamma is None else state.gamma.rank(key[1]).log_mass
    return state.drift.rank(key[0]).log_mass + gamma


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def _model(task: Task, state: State, drift: Set, gamma: Set) -> Model:
    """A model at its least squares by the regressions of the state."""
    among, model = task.recording.candidates, state.model
    if drift != drift_support(task, model):
        assert state.drift is not None
        values = state.drift.rank(drift).theta
        theta = table(model.drift.shape, among.all_drift, drift, values)
        numbers = model.numbers
        if state.follow is not None:
            every = np.zeros(len(among.all_drift))
            every[list(drift)] = values
            numbers = among.named.numbers.within(state.follow.moved(numbers, every))
        model = replace(model, drift=among.within(theta), numbers=numbers)
    if gamma != gamma_support(task, model):
        model = replace(model, gamma=gamma_aim(among, state, gamma).gamma)
        model, _ = maximise_noise(task.recording, model, 3)
    return model
