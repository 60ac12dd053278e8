"""Models near the best one, tried by their likelihood: those the chains visited, or all neighbours step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from itoscope.fit.filtered.drift import drift_moments, drift_support
from itoscope.fit.filtered.gamma import gamma_aim, gamma_moments, single_terms, with_variances
from itoscope.fit.filtered.likelihood import Maximum, maximise
from itoscope.fit.filtered.model import Columns, Model, support, table
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.selection import MAX_RIVALS, RIVAL_MASS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itoscope.common.types import Array
    from itoscope.fit.filtered.state import State, Task
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import Tried

__all__ = ["Compared", "Trial", "compare", "explore"]

MOVES = 6
"""Steps of the exploration from model to model."""
BREADTH = 8
"""Neighbours in the drift whose likelihood is maximised at each; half as many in Gamma."""


@dataclass(frozen=True)
class Trial:
    """A model that was compared: its log-likelihood and evidence, and, if it was climbed to, its maximum."""

    model: Model
    loglik: float
    evidence: float
    fit: Maximum | None = None

    def as_dict(self, task: Task) -> Tried:
        """For the record."""
        drift, diffusion = task.shown(self.model)
        return {
            "drift": list(drift),
            "diffusion": list(diffusion),
            "loglik": self.loglik,
            "log_evidence": self.evidence,
        }


@dataclass(frozen=True)
class Compared:
    """All models that were tried, the state at the best of them, and whether no neighbour of it is better."""

    tried: list[Trial]
    state: State
    settled: bool = True


def compare(task: Task, state: State, drift_all: Equation, gamma_all: Equation | None) -> Compared:
    """Maximum likelihood of the likeliest other models of the chains; the one of largest evidence stays."""
    tried = [Trial(state.model, state.loglik, task.evidence(state.model, state.loglik))]
    for trial in _from_chains(task, state.model, drift_all, gamma_all):
        model, loglik = maximise_noise(task.recording, trial, 3)
        tried.append(Trial(model, loglik, task.evidence(model, loglik)))
        if state.better(task, model, loglik):
            state = state.at(model, loglik)
    return Compared(tried, state)


def _from_chains(task: Task, base: Model, drift_all: Equation, gamma_all: Equation | None) -> Iterator[Model]:
    """The models that the chains visited often, other than `base`, at their least-squares values."""
    among = task.recording.candidates
    for drift in _visited(drift_all, base.drift, among.all_drift, sorted):
        yield replace(base, drift=drift)
    if gamma_all is not None:
        for gamma in _visited(gamma_all, base.gamma, among.all_gamma, partial(with_variances, among)):
            yield replace(base, gamma=gamma)


def _visited(
    whole: Equation, now: Array, columns: Columns, complete: Callable[[list[int]], list[int]]
) -> Iterator[Array]:
    """Tables of the models with a share of the draws, other than that of `now`, each made `complete`."""
    place = {name: c for c, name in enumerate(whole.terms)}
    current = support(now, columns)
    for model in whole.models(MAX_RIVALS):
        other = complete([place[name] for name in model.terms])
        if other != current and model.mass >= RIVAL_MASS:
            assert whole.moments is not None
            value, _ = whole.moments.solve(other)
            yield table(now.shape, columns, other, value)


def explore(task: Task, state: State, drift_all: Equation, gamma_all: Equation | None) -> Compared:
    """From model to better model by their evidence alone, until no neighbour is better.

    A neighbour has one term of the drift more, less, or another, or one other term as a Gamma_ii. Of the first kind
    those are tried that the regression at the model of the moment puts highest; the likelihood of each that is tried is
    maximised over all of its coefficients. The trials come back in the order of their evidence.
    """
    tried: dict[tuple[Any, ...], Trial] = {}

    def add(model: Model) -> None:
        key = (tuple(model.drift_columns()), tuple(model.gamma_columns()))
        if key not in tried:
            fit = maximise(task.recording, model, final=False)
            tried[key] = Trial(fit.model, fit.loglik, task.evidence(fit.model, fit.loglik), fit)

    def best() -> Trial:
        return max(tried.values(), key=lambda trial: trial.evidence)

    for model in (state.model, *_from_chains(task, state.model, drift_all, gamma_all)):
        add(model)
    settled = False
    for _ in range(MOVES):
        top = best()
        state = state.at(top.model, top.loglik)
        state, near = _other_drifts(task, state)
        if gamma_all is not None:
            state, more = _other_gammas(task, state)
            near += more
        for model in near:
            add(model)
        if best().evidence <= top.evidence:
            settled = True
            break
    top = best()
    ranked = sorted(tried.values(), key=lambda trial: -trial.evidence)
    return Compared(ranked, state.at(top.model, top.loglik), settled)


def _other_drifts(task: Task, state: State) -> tuple[State, list[Model]]:
    """The neighbours of the current drift that its regression puts highest."""
    columns, now = task.recording.candidates.all_drift, drift_support(task, state.model)
    state, moments = drift_moments(task, state)
    others = [c for c in range(len(columns)) if moments.gram[c, c] > 0.0 and c not in now]
    near = [sorted([*now, c]) for c in others]
    for out in now:
        rest = [c for c in now if c != out]
        near += [rest, *(sorted([*rest, c]) for c in others)]
    cost = task.cost(columns)
    ranked = []
    for chosen in near:
        value, _ = moments.solve(chosen)
        ranked.append((0.5 * float(value @ moments.moment[chosen]) - cost * len(chosen), chosen, value))
    ranked.sort(key=lambda entry: -entry[0])
    shape = state.model.drift.shape
    return state, [
        replace(state.model, drift=table(shape, columns, chosen, value))
        for _, chosen, value in ranked[:BREADTH]
    ]


def _other_gammas(task: Task, state: State) -> tuple[State, list[Model]]:
    """The best of the models with another single term as a Gamma_ii."""
    among = task.recording.candidates
    state, _, sums = gamma_moments(task, state)
    ranked = []
    for chosen in single_terms(task, state):
        trial = replace(state.model, gamma=gamma_aim(among, sums, chosen).gamma)
        model, loglik = maximise_noise(task.recording, trial, 3)
        ranked.append((task.evidence(model, loglik), model))
    ranked.sort(key=lambda entry: -entry[0])
    return state, [model for _, model in ranked[: BREADTH // 2]]
