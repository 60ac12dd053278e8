"""What differs by recording behind the filter: hidden constants of unit variance, whose terms have the spreads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.settle import settled
from itoscope.fit.sampler import NOTHING
from itoscope.fit.shapers import extended
from itoscope.library.bound import TIME
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
    """Coefficients from which the search starts beside none at all: between a tenth and three of a usual drift.

    Each with nothing else, and with what leads the state back in the time in which it forgets: without it, constants
    that differ are recordings that run away.
    """
    found = terms_of(question)
    if not found:
        return []
    usual = {row: _usual(question, row) for row in question.deviations}
    sizes = [usual[row][0] / _size_of(question, term) for row, term, *_ in found]
    back = {
        (row, position): -pull
        for row, (_, position, pull) in usual.items()
        if position in question.own.names and position not in question.said[row].excluded
    }
    spreads = [{(row, text): rate * size for size, (row, _, _, text) in zip(sizes, found)} for rate in RATES]
    return [*spreads, *({**back, **one} for one in spreads if back)]


def _usual(question: Question, row: str) -> tuple[float, str, float]:
    """The size of the drift of a row, the column that it moves, and the pull that leads this back.

    The spread of its state over the time in which that forgets, twice for a rate.
    """
    data, given = question.data, question.known_drift
    position = next((state for state, text in given.items() if text == row), row)
    column = data.names.index(position) if position in data.names else 0
    about = [path - np.nanmean(path, axis=0) for path in data.paths if np.isfinite(path).any(axis=0).all()]
    tau, _ = recorded_correlation(about, data.steps(), column)
    size = float(np.nanstd(np.concatenate(about)[:, column]))
    pull = 1.0 / tau if row == position else 1.0 / tau**2
    return size * pull, position, pull


def _size_of(question: Question, term: str) -> float:
    """The size of a term where columns have their root mean squares and the time is that of the end of a recording."""
    data, names = question.data, list(question.library.inputs)
    values = dict(zip(data.names, np.sqrt(np.nanmean(np.concatenate(data.paths) ** 2, axis=0)).tolist()))
    values[TIME] = max(float(np.ptp(stamps)) for stamps in data.times)
    point = np.array([[values.get(name, 1.0) for name in names]])
    text = dict(zip(question.own.names, question.own.expressions))[term]
    size = abs(float(question.backend.compile([text], names).evaluate(point)[0, 0]))
    return size if np.isfinite(size) and size > 0.0 else 1.0


def varied(question: Question, fit: FilteredFit) -> dict[str, dict[str, Varied]]:
    """What was found of each coefficient that differs, ready for JSON."""
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
            "gain": float(fit.maximum.loglik) - _alike(question, fit, row, text),
        }
    return found


def _alike(question: Question, fit: FilteredFit, row: str, text: str) -> float:
    """The log-likelihood of the same terms with one value for all recordings of one that differs."""
    among, drift = fit.recording.candidates, fit.model.drift.copy()
    drift[question.states.index(row), dict(zip(question.library.names, among.drift_terms))[text]] = 0.0
    return float(settled(fit.recording, replace(fit.model, drift=drift))[1])


def shown_apart(findings: Findings, question: Question) -> Findings:
    """The findings whose terms of hidden constants are shown as spreads of the coefficients that they belong to."""
    drift = dict(findings.drift)
    for row, term, _, text in terms_of(question):
        equation = drift[row]
        spread = abs(float(equation.mean[equation.terms.index(text)]))
        drift[row] = replace(equation, differs={**equation.differs, text: (term, spread)})
    return replace(findings, drift=Drift(drift))
