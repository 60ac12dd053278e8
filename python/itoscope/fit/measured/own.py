"""What each recording has of its own, as an input of the model: one number for each, constant along it.

The number is a draw given the recording: what that leaves is as independent as the noise, where the most probable one
leaves too little of a short recording.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.data.driving import with_constants
from itoscope.posterior.holding import among_terms, holding

if TYPE_CHECKING:
    from itoscope.fit.measured.rounds import MeasuredFit
    from itoscope.fit.question import Question
    from itoscope.library.bound import BoundLibrary
    from itoscope.posterior.effects import Values
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import Varied

__all__ = ["varied", "with_own"]


def varied(question: Question, fit: MeasuredFit) -> dict[str, dict[str, Varied]]:
    """What differs by recording in the rows of the fit, by row and term, ready for JSON."""
    found: dict[str, dict[str, Varied]] = {}
    for row, own in fit.own.items():
        state, equation = question.states[row], fit.drift[row]
        selected = [k for k in np.flatnonzero(equation.selected).tolist() if not equation.given[k]]
        values = own.differing.values(own.ratio, selected, question.sampling.seed or 0)
        found[state] = {
            equation.terms[k]: _one(
                question.deviations[state][equation.terms[k]], values, q, float(equation.mean[k])
            )
            for q, k in enumerate(own.differing.varying)
        }
    return found


def _one(name: str, values: Values, q: int, mean: float) -> Varied:
    return {
        "input": name,
        "drawn": (values.drawn[:, q] - mean).tolist(),
        "values": values.values[:, q].tolist(),
        "errors": values.errors[:, q].tolist(),
        "spread": float(values.spread[q]),
        "low": float(values.ends[q, 0]),
        "high": float(values.ends[q, 1]),
        "gain": float(values.gain[q]),
    }


def with_own(
    question: Question, fit: MeasuredFit, found: dict[str, dict[str, Varied]]
) -> tuple[Question, MeasuredFit]:
    """The question and the fit of a model that has what differs as inputs, each recording with its own values."""
    if not found:
        return question, fit
    library, drift, constants = question.library, dict(fit.drift), {}
    shown = dict(zip(library.names, library.expressions))
    texts: dict[str, str] = {}
    for state, terms in found.items():
        row, differs = question.states.index(state), {}
        equation = drift[row]
        for term, one in terms.items():
            name = one["input"]
            text = name if shown[term] == "1" else f"{name}*({shown[term]})"
            texts[name], differs[text] = text, (term, one["spread"])
            constants[name] = np.array(one["drawn"])
        drift[row] = _with_terms(equation, differs)
    names = list(texts)
    library = _longer(library, names, list(texts.values()))
    drift = {row: among_terms(equation, library.names) for row, equation in drift.items()}
    changed = replace(
        question,
        data=with_constants(question.data, constants),
        library=library,
        diffusion_library=_longer(question.diffusion_library, names, []),
    )
    moments = {
        row: replace(one, sums=None) if row in fit.own else one for row, one in fit.drift_moments.items()
    }
    return changed, replace(fit, drift=drift, drift_moments=moments)


def _with_terms(equation: Equation, differs: dict[str, tuple[str, float]]) -> Equation:
    terms = [*equation.terms, *differs]
    return replace(holding(among_terms(equation, terms), list(differs)), differs=differs)


def _longer(library: BoundLibrary, inputs: list[str], texts: list[str]) -> BoundLibrary:
    """A library over more inputs, with further terms in them."""
    first = len(library.states) + len(library.driven)
    return replace(
        library,
        driven=[*library.driven, *inputs],
        inputs=[*library.inputs[:first], *inputs, *library.inputs[first:]],
        names=[*library.names, *texts],
        expressions=[*library.expressions, *texts],
    )
