"""Where the terms are centred: at zero, or at the mean of data that are far from it, by the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Target
from itoscope.fit.measured.regressions import Measured, regress
from itoscope.fit.origin import about_mean, choice_text, distance_text, far_states
from itoscope.fit.streams import Stream
from itoscope.posterior.columns import sound
from itoscope.posterior.words import sum_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.fit.question import Question
    from itoscope.fit.sampler import Sample
    from itoscope.posterior.equation import Equation

__all__ = ["settle_origin"]


def settle_origin(
    question: Question, measured: Callable[[Question], Measured], sample: Callable[[Question], Sample]
) -> tuple[Question, list[str], float | None]:
    """The question with its terms where the evidence is larger, what is to be said, and how much the mean gains.

    Where no library was given the origin is chosen, zero or the mean of the data; a library that was given stays, and
    what it would find about the mean is said. Where terms are named by row they stay as they are named.

    Parameters
    ----------
    question : Question
    measured : callable
        The regressions of a question.
    sample : callable
        What samples the posterior of a question's moments.
    """
    far = far_states(question)
    other = about_mean(question, far)
    if other is None:
        return question, [], None
    (zero, _), (mean, centred) = (_evidence(one, measured(one), sample(one)) for one in (question, other))
    gain = mean - zero
    if question.options.library is None:
        return other if gain > 0 else question, [choice_text(far, gain)], gain
    rows = "; ".join(f"d{name} = ({sum_text(equation)}) dt" for name, equation in centred.items())
    better = "which the data prefer" if gain > 0 else "but the data prefer those about zero"
    words = (
        f'{distance_text(far)}: with terms about the mean (origin="mean", log Bayes factor {gain:+.3g}) the drift '
        f"would be {rows}, {better}"
    )
    return question, [words], gain


def _evidence(question: Question, measured: Measured, sample: Sample) -> tuple[float, dict[str, Equation]]:
    """Log joint mass of the models that are shown, of unweighted regressions, and the equations of the drift.

    The variances are regressed on the residual of the full library, which is the same whatever the origin is: origins
    are held against each other on the same targets.
    """
    mass, rows, full = 0.0, {}, {}
    for q, row in enumerate(measured.rows):
        moments, _ = regress(measured, Target((row, row)), None)
        equation = sample(moments, False, Stream.equation(q))
        mass += _log_mass(equation)
        rows[question.states[row]], full[row] = equation, moments.solve().theta
    for q, (i, j) in enumerate(measured.pairs):
        if i == j:
            fitted = Fitted(measured.drift_program, np.array([full[i], full[j]]))
            moments, _ = regress(measured, Target((i, j), is_diffusion=True, drift=fitted), None)
            mass += _log_mass(sample(moments, False, Stream.equation(len(measured.rows) + q)))
    return mass, rows


def _log_mass(equation: Equation) -> float:
    """Log joint mass of the data and the model that is shown."""
    assert equation.moments is not None
    assert equation.prior is not None
    stages = get_backend(equation.backend)
    chosen = np.ascontiguousarray(equation.selected)
    return stages.model_posterior(sound(equation.moments), equation.prior, chosen)[0]
