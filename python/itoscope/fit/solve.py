"""`solve`: a question answered by the one of two paths that fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.checks.advice import advised
from itoscope.fit.filtered.answer import answer_filtered
from itoscope.fit.measured.answer import answer_measured
from itoscope.fit.size import check_size

if TYPE_CHECKING:
    from itoscope.fit.question import Question
    from itoscope.result.findings import Findings

__all__ = ["solve"]


def solve(question: Question) -> Findings:
    """Fit by regression where all states were measured without noise, by a filter where not; then say what to do."""
    check_size(question)
    return advised(answer_measured(question) if question.measured else answer_filtered(question))
