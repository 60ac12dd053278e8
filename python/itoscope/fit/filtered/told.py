"""What a fit found of named numbers: estimates, how they go with the terms, and what the recording does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.result.findings import Key
from itoscope.result.parameters import Estimate, Parameters

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.question import Question
    from itoscope.posterior.equation import Equation

__all__ = ["told"]

FLAT = 1.0
"""Standard error, as a share of the sizes of what moves along a direction, from which nothing tells it."""
PART = 0.3
"""Share in a direction, of all its length, from which a number or term is named."""
LOST = 30.0
"""The same, from which there is no standard error."""
EDGE = 1e-3
"""Distance to a bound, as a share of the size, at which a number lies there."""


def told(question: Question, fit: FilteredFit) -> tuple[Parameters, list[str]]:
    """Mean, standard error and covariances of the numbers and the selected terms; what the recording does not tell."""
    numbers = question.numbers
    if not numbers:
        return Parameters.none(), []
    own, labels = _parameters(question, fit)
    notes, lost = _undetermined(question, fit, own, labels)
    index = [fit.maximum.parameters.index(one) for one in own]
    cov = fit.maximum.cov[np.ix_(index, index)]
    cov = np.where(np.isfinite(cov), cov, 0.0)
    return _estimates(question, fit, labels, cov, lost), notes


def _estimates(
    question: Question, fit: FilteredFit, labels: list[tuple[str, str]], cov: Array, lost: set[int]
) -> Parameters:
    numbers, asked = question.numbers, question.asked
    found = {}
    for a, name in enumerate(numbers.names):
        found[name] = Estimate(
            float(fit.model.numbers[a]),
            np.inf if a in lost else float(np.sqrt(max(cov[a, a], 0.0))),
            float(numbers.low[a]),
            float(numbers.high[a]),
            _degrees(fit),
        )
    written = {
        "drift": asked.drift,
        "parts": asked.parts,
        "noise": {",".join(pair): text for pair, text in asked.noise.items()},
    }
    gone = list(lost)
    cov[gone], cov[:, gone] = 0.0, 0.0
    return Parameters(found, labels, cov, written)


def _degrees(fit: FilteredFit) -> float:
    return float(next(iter(fit.drift.values())).degrees) if fit.drift else 1e6


def _parameters(question: Question, fit: FilteredFit) -> tuple[list[Parameter], list[tuple[str, str]]]:
    """The numbers, then the coefficients of the selected terms with their labels."""
    among, states = fit.recording.candidates, question.states
    own = [Parameter("number", a) for a in range(len(question.numbers))]
    labels: list[tuple[str, str]] = []

    def add(equation: Equation, key: Key, columns: dict[str, Parameter]) -> None:
        for k in np.flatnonzero(equation.selected & ~equation.given):
            parameter = columns.get(equation.terms[k])
            if parameter in fit.maximum.parameters:
                own.append(parameter)
                labels.append((str(key), equation.terms[k]))

    for row, equation in fit.drift.items():
        terms = dict(zip(question.library.names, among.drift_terms))
        add(equation, Key(states[row]), {name: Parameter("drift", row, k) for name, k in terms.items()})
    gamma = dict(zip(question.diffusion_library.names, among.gamma_terms)) | {"1": among.constant}
    for (i, j), equation in fit.diffusion.items():
        pair = among.pairs.index((i, j))
        columns = {name: Parameter("gamma", pair, k) for name, k in gamma.items()}
        add(equation, Key(states[i], states[j]), columns)
    return own, labels


def _undetermined(
    question: Question, fit: FilteredFit, own: list[Parameter], labels: list[tuple[str, str]]
) -> tuple[list[str], set[int]]:
    """What is said of numbers that the recording does not tell, alone or beside others, or that lie at a bound.

    Also which ones are lost: they have no standard error.
    """
    numbers = question.numbers
    names = [*numbers.names, *(f"the term {term} of {label}" for label, term in labels)]
    values = fit.model.values(own)
    sizes = np.abs(values)
    sizes[: len(numbers)] = np.maximum(sizes[: len(numbers)], 1e-3 * numbers.sizes)
    steps = (1e-3 * sizes).tolist()
    sums = fit.recording.information(fit.model, own, steps).finite()[0]
    found, lost = _flat(sums.gram * np.outer(sizes, sizes), names, len(numbers))
    for name, value, low, high, size in zip(
        numbers.names, fit.model.numbers, numbers.low, numbers.high, numbers.sizes
    ):
        end = low if abs(value - low) < EDGE * size else high if abs(value - high) < EDGE * size else None
        if end is not None:
            found.append(f"{name} lies at its bound {end:g}: the recording wants it beyond")
    return found, lost


def _flat(gram: Array, names: list[str], count: int) -> tuple[list[str], set[int]]:
    """Directions along which the likelihood hardly falls, that the first `count` of some columns take part in."""
    values, vectors = np.linalg.eigh(gram)
    found, lost = [], set()
    for value, vector in zip(values, vectors.T):
        if value > 1.0 / FLAT**2:
            break
        part = np.flatnonzero(np.abs(vector) > PART).tolist()
        if not any(k < count for k in part):
            continue
        if value < 1.0 / LOST**2:
            lost |= {int(k) for k in part if k < count}
        if len(part) == 1:
            found.append(
                f"the recording hardly tells {names[part[0]]}: it could as well be any number of its size"
            )
        else:
            way = [f"{names[k]} {'rises' if vector[k] * vector[part[0]] > 0 else 'falls'}" for k in part]
            found.append(
                f"the recording does not tell {', '.join(names[k] for k in part)} apart: the likelihood hardly "
                f"changes where {', '.join(way)} in proportion"
            )
    return found, lost
