"""What differs by recording behind the filter: hidden constants of unit variance, whose terms have the spreads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.settle import settled
from itoscope.fit.sampler import NOTHING
from itoscope.fit.shapers import extended
from itoscope.result.findings import Drift
from itoscope.stats.correlation import recorded_correlation

if TYPE_CHECKING:
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.question import Question
    from itoscope.result.diagnostics import Varied
    from itoscope.result.findings import Findings

__all__ = ["differing", "shown_apart", "spread_starts", "terms_of", "varied", "with_constants"]

RATES = (0.1, 0.3, 1.0, 3.0)
"""Spreads from which the search starts, in what noise brings a state in the time in which it covers its spread."""


def terms_of(question: Question) -> list[tuple[str, str, str, str]]:
    """Row, term, hidden constant and their product as a term, of all that differs."""
    shown = dict(zip(question.own.names, question.own.expressions))
    return [
        (row, term, name, name if shown[term] == "1" else f"{name}*({shown[term]})")
        for row, terms in question.deviations.items()
        for term, name in terms.items()
    ]


def differing(question: Question) -> Question:
    """The question with a hidden state for each coefficient that differs, which no noise drives and which stands still.

    It is normal with variance 1 at the start of every recording, and its product with the term is in every model, with
    the spread as its coefficient.
    """
    found = terms_of(question)
    if not found:
        return question
    names = [name for _, _, name, _ in found]
    states = [*question.states, *names]
    said, library = dict(question.said), extended(question.library, states, [text for *_, text in found])
    new = frozenset(library.names).difference(question.library.names)
    for state in {*said, *(question.states[row] for row in question.rows)}:
        mine = frozenset(text for row, _, _, text in found if row == state)
        one = said.get(state, NOTHING)
        said[state] = replace(one, excluded=one.excluded | (new - mine), included=one.included | mine)
    return replace(
        question,
        library=library,
        diffusion_library=extended(question.diffusion_library, states),
        given=replace(question.given, drift={**question.given.drift, **dict.fromkeys(names, "0")}),
        said=said,
        observation=np.pad(question.observation, ((0, 0), (0, len(names)))),
        ties=np.pad(question.ties, ((0, 0), (0, len(names)))),
    )


def with_constants(question: Question, known: dict[str, str]) -> dict[str, str]:
    """What ties the states to the columns, the terms of what differs among it."""
    known = dict(known)
    for row, _, _, text in terms_of(question):
        known[row] = f"{known[row]} + {text}" if row in known else text
    return known


def spread_starts(question: Question) -> list[dict[tuple[str, str], float]]:
    """Coefficients from which the search starts beside none at all: between a tenth and three of a usual drift."""
    found = terms_of(question)
    return (
        [{(row, text): rate * _usual(question, row) for row, _, _, text in found} for rate in RATES]
        if found
        else []
    )


def _usual(question: Question, row: str) -> float:
    """The size of the drift of a row: the spread of its state over the time in which that forgets, twice for a rate."""
    data, given = question.data, question.known_drift
    position = next((state for state, text in given.items() if text == row), row)
    column = data.names.index(position) if position in data.names else 0
    about = [path - np.nanmean(path, axis=0) for path in data.paths if np.isfinite(path).any(axis=0).all()]
    tau, _ = recorded_correlation(about, data.steps(), column)
    size = float(np.nanstd(np.concatenate(about)[:, column]))
    return size / tau if row == position else size / tau**2


def varied(question: Question, fit: FilteredFit) -> dict[str, dict[str, Varied]]:
    """What was found of each coefficient that differs, ready for JSON."""
    plain = _alike(question, fit)
    means, covs = fit.recording.smooth(fit.model)
    found: dict[str, dict[str, Varied]] = {}
    for row, term, name, text in terms_of(question):
        equation, place = fit.drift[question.states.index(row)], question.states.index(name)
        at, of = equation.terms.index(text), equation.terms.index(term)
        size, sign = abs(float(equation.mean[at])), np.sign(float(equation.mean[at]))
        own = np.array([x[-1, place] for x in means])
        left = np.sqrt(np.maximum([c[-1, place, place] for c in covs], 0.0))
        ends = np.sort(np.abs(equation.interval(0.95, "model")[at]))
        low = 0.0 if np.prod(equation.interval(0.95, "model")[at]) <= 0.0 else float(ends[0])
        deviation = sign * size * own
        found.setdefault(row, {})[term] = {
            "input": name,
            "drawn": deviation.tolist(),
            "values": (float(equation.mean[of]) + deviation).tolist(),
            "errors": np.hypot(size * left, float(equation.sd[of])).tolist(),
            "spread": size,
            "low": low,
            "high": float(ends[1]),
            "gain": float(fit.maximum.loglik) - plain,
        }
    return found


def _alike(question: Question, fit: FilteredFit) -> float:
    """The log-likelihood of the same terms with one value for all."""
    among, drift = fit.recording.candidates, fit.model.drift.copy()
    number = dict(zip(question.library.names, among.drift_terms))
    for row, _, _, text in terms_of(question):
        drift[question.states.index(row), number[text]] = 0.0
    return float(settled(fit.recording, replace(fit.model, drift=drift))[1])


def shown_apart(findings: Findings, question: Question) -> Findings:
    """The findings whose terms of hidden constants are shown as spreads of the coefficients that they belong to."""
    drift = dict(findings.drift)
    for row, term, _, text in terms_of(question):
        equation = drift[row]
        spread = abs(float(equation.mean[equation.terms.index(text)]))
        drift[row] = replace(equation, differs={**equation.differs, text: (term, spread)})
    return replace(findings, drift=Drift(drift))
