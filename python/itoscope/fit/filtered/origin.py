"""Where the terms of a noisy recording are centred, unless a library was given: of two fits the more evident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.fit.origin import about_mean, choice_text, far_states

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.question import Question

__all__ = ["fitted_about"]


def fitted_about(
    question: Question, fitted: Callable[[Question], FilteredFit]
) -> tuple[Question, FilteredFit, list[str], float | None]:
    """The fit about zero or about the mean of data far from it, its question, what is to be said, and the mean's gain.

    Parameters
    ----------
    question : Question
    fitted : callable
        The fit of a question.
    """
    here = fitted(question)
    far = far_states(question) if question.options.library is None else []
    other = about_mean(question, far)
    if other is None:
        return question, here, [], None
    there = fitted(other)
    gain = there.log_evidence - here.log_evidence
    said = [choice_text(far, gain)]
    return (other, there, said, gain) if gain > 0 else (question, here, said, gain)
