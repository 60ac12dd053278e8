"""`solve`: a question answered by the one of two paths that fits it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.advice import advised
from itoscope.errors import ArgumentError, DataError, ItoscopeError, NumericalError
from itoscope.fit.filtered.answer import answer_filtered
from itoscope.fit.jumps import check_beside
from itoscope.fit.measured.answer import answer_measured
from itoscope.fit.sensors.angles import said_of_followed, said_of_turns
from itoscope.fit.size import check_carried, check_size
from itoscope.result.states import smoothed

if TYPE_CHECKING:
    from itoscope.fit.question import Question
    from itoscope.result.findings import Findings

__all__ = ["solve"]


def solve(question: Question) -> Findings:
    """Fit by regression where all states were measured without noise, by a filter where not; then say what to do.

    Where the step is too coarse for a regression that was not asked for by name, the filter takes its place. Here
    is the border of the arithmetic: what overflows within, or has no factor, is an error of ours.
    """
    try:
        check_beside(question.step_laws, vars(question.options))
        found = _measured(question) if question.measured else answer_filtered(question)
        found.warnings = [*question.notes, *_said_of_angles(question, found), *found.warnings]
        if question.circles:
            found.diagnostics["angles"] = {
                state: circle._asdict() for state, circle in question.circles.items()
            }
        return advised(found)
    except ItoscopeError:
        raise
    except (ArithmeticError, np.linalg.LinAlgError) as problem:
        raise NumericalError(
            f"the numbers of this fit leave the range of floating point ({problem}): give the recording in units in "
            "which it is nearer to one, or fewer terms"
        ) from problem


def _said_of_angles(question: Question, found: Findings) -> list[str]:
    """What is to be said of the turns of angles: of the count, or of what the filter made of it."""
    if found.observer is None or not found.observer.periods:
        return said_of_turns(question.data, question.periods)
    return said_of_followed(question.data, question.periods, smoothed(found.observer, question.data).readings)


def _measured(question: Question) -> Findings:
    """By regression; again by the filter where the step is too coarse for that, the filter can, and nothing jumps."""
    check_carried(question)
    check_size(question)
    answer = answer_measured(question)
    if not answer.coarse:
        return answer.findings
    options = replace(answer.question.options, scheme="filter")
    try:
        findings = answer_filtered(replace(answer.question, options=options))
    except (ArgumentError, DataError, NumericalError):
        return answer.findings
    if any(check["name"] == "jumps" and check["fired"] for check in findings.diagnostics["checks"]):
        return answer.findings
    findings.warnings = [*answer.notes, *findings.warnings]
    return findings
