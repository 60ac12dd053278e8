"""Coefficients that rows have in common behind the filter: one column for each, which moves all of its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.expressions.kinks import distinct
from itoscope.fit.filtered.drift import drift_support
from itoscope.fit.filtered.family import climbed
from itoscope.fit.filtered.gamma import gamma_support
from itoscope.fit.filtered.state import State
from itoscope.fit.sampler import NOTHING
from itoscope.fit.shapers import extended

if TYPE_CHECKING:
    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array
    from itoscope.fit.filtered.candidates import Candidates
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.state import Task
    from itoscope.fit.question import Question
    from itoscope.posterior.equation import Equation

__all__ = ["common_equation", "in_common", "members", "same_terms"]

POINTS, ROUNDING = 8, 1e-9
"""Points for each term at which sums of terms are told, and what of the largest coefficient is zero there."""


def members(question: Question) -> list[list[tuple[str, str]]]:
    """Of each coefficient the rows that it is in, each with what it multiplies there; the first one stands for all."""
    orbits = question.orbits
    if orbits is None:
        return []
    found = []
    for p in range(len(orbits.labels)):
        rows = [(question.states[key[0]], m[p]) for key, m in orbits.maps.items() if m[p].any()]
        found.append([(row, _text(question, weights)) for row, weights in rows])
    return found


def _text(question: Question, weights: Array) -> str:
    """A sum of terms as an expression, `x2 - 2*x1`."""
    text = ""
    for k in sorted(np.flatnonzero(weights).tolist(), key=lambda k: weights[k] < 0.0):
        weight, one = float(weights[k]), question.own.expressions[k]
        one = one if one.replace("_", "").isalnum() else f"({one})"
        size = (
            ""
            if abs(weight) == 1.0
            else f"{abs(weight):.0f}*"
            if weight.is_integer()
            else f"{abs(weight)!r}*"
        )
        sign = ("-" if weight < 0.0 else "") if not text else (" - " if weight < 0.0 else " + ")
        text += f"{sign}{size}{one}"
    return text


def in_common(question: Question) -> tuple[Question, list[list[tuple[str, str]]]]:
    """The question whose candidates are the common coefficients, and `members` by the names of its library."""
    made = members(question)
    if not made:
        return question, []
    library = extended(question.library, question.states, [text for one in made for _, text in one])
    texts = [text for one in made for _, text in one]
    _, where = distinct([*library.expressions, *texts], library.inputs)
    numbers = {number: k for k, number in reversed(list(enumerate(where[: len(library.names)])))}
    name = {text: library.names[numbers[n]] for text, n in zip(texts, where[len(library.names) :])}
    named = [[(row, name[text]) for row, text in one] for one in made]
    said = dict(question.said)
    for row in (question.states[k] for k in question.rows):
        mine = {one[0][1] for one in named if one[0][0] == row}
        said[row] = replace(said.get(row, NOTHING), excluded=frozenset(library.names) - mine)
    return replace(question, library=library, said=said), named


def common_equation(question: Question, fit: FilteredFit, named: list[list[tuple[str, str]]]) -> Equation:
    """The posterior of the common coefficients."""
    assert question.orbits is not None
    rows = [question.states.index(one[0][0]) for one in named]
    places = [fit.drift[row].terms.index(one[0][1]) for row, one in zip(rows, named)]
    among = fit.recording.candidates
    number = dict(zip(question.library.names, among.drift_terms))
    parameters = [Parameter("drift", row, number[one[0][1]]) for row, one in zip(rows, named)]
    cov = np.zeros((len(named), len(named)))
    inside = [p for p, parameter in enumerate(parameters) if parameter in fit.maximum.parameters]
    for a in inside:
        for b in inside:
            cov[a, b] = fit.maximum.cov_of(parameters[a], parameters[b])

    def stacked(name: str) -> Array:
        found = [getattr(fit.drift[row], name)[..., place] for row, place in zip(rows, places)]
        return np.stack(found, axis=-1)

    names = ("pip", "pip_mcse", "mean", "selected", "samples", "included", "inclusion")
    changed: dict[str, Any] = {name: stacked(name) for name in names}
    return replace(
        fit.drift[rows[0]],
        terms=list(question.orbits.labels),
        cov=cov,
        positive=None,
        aliases={},
        warnings=[],
        **changed,
    )


def same_terms(tied: Task, apart: Task, fit: FilteredFit) -> float:
    """Log evidence of the shown coefficients over those of the same terms, each of its own."""
    model = fit.maximum.model
    few, many = tied.recording.candidates, apart.recording.candidates
    wide = tied.recording.echoed(model.drift)
    gamma = np.zeros((len(many.pairs), many.n_terms))
    _, where = distinct([*few.expressions[: few.n_terms], *many.expressions[: many.n_terms]], many.states)
    place = {number: k for k, number in enumerate(where[few.n_terms :])}
    for k in np.flatnonzero((model.gamma != 0.0).any(axis=0)).tolist():
        gamma[:, place[where[k]]] = model.gamma[:, k]
    drift = wide @ _sums(many, few, apart.recording.stages).T
    drift[np.abs(drift) < ROUNDING * np.abs(drift).max(initial=0.0)] = 0.0
    alone, height = replace(model, drift=drift, gamma=gamma), fit.maximum.loglik
    return _mass(tied, model, height) - _mass(apart, alone, height)


def _sums(own: Candidates, made: Candidates, backend: Backend) -> Array:
    """Each term of `made` as a sum of those of `own`: weights `(K, L)`."""
    points = np.random.default_rng(1).uniform(0.5, 1.5, size=(POINTS * own.n_terms, len(own.states)))
    points *= np.random.default_rng(2).choice([-1.0, 1.0], size=points.shape)

    def values(of: Candidates) -> Array:
        return backend.compile(list(of.expressions[: of.n_terms]), list(of.states)).evaluate(points)

    return np.asarray(np.linalg.lstsq(values(own), values(made), rcond=None)[0], dtype=np.float64)


def _mass(task: Task, model: Model, loglik: float) -> float:
    state, _ = task.drift_ranking(State(model, loglik))
    if task.gamma_sought:
        state, _ = task.gamma_ranking(state)
    return climbed(task, state, drift_support(task, model), gamma_support(task, model)).log_mass
