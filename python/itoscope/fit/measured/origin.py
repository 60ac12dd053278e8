"""Where the terms are centred: at zero, or at the mean of data that are far from it, by the evidence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Target
from itoscope.fit.measured.regressions import Measured, regress
from itoscope.fit.streams import Stream
from itoscope.posterior.columns import sound
from itoscope.posterior.words import sum_text
from itoscope.stats.running import mean_and_variance

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.fit.question import Question
    from itoscope.fit.sampler import Sample
    from itoscope.posterior.equation import Equation

__all__ = ["far_states", "settle_origin"]

FAR = 5.0
"""A state whose mean is so many standard deviations from zero is far from it."""


def far_states(question: Question) -> list[tuple[str, float]]:
    """The measured states that are far from zero, each with the distance of its mean in standard deviations."""
    found = []
    for column, name in enumerate(question.data.names):
        mean, variance = mean_and_variance([x[:, column] for x in question.data.paths])
        spread = math.sqrt(variance)
        if spread > 0 and abs(mean) > FAR * spread:
            found.append((name, abs(mean) / spread))
    return found


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
    centred = question.recipe.about_mean()
    if not far or centred is question.recipe or question.said or question.deviations or question.orbits:
        return question, [], None
    options = question.options
    diffusion = options.diffusion_library
    other = type(question).of(
        question.data,
        replace(
            options,
            library=centred,
            diffusion_library=None if diffusion is None else diffusion.about_mean(),
            seed=question.sampling.seed,
        ),
        question.stream,
    )
    (zero, _), (mean, about_mean) = (_evidence(one, measured(one), sample(one)) for one in (question, other))
    where = ", ".join(f"{name} is {distance:.3g} standard deviations from zero" for name, distance in far)
    gain = mean - zero
    if options.library is None:
        place, size = ("their mean", gain) if gain > 0 else ("zero", -gain)
        return (
            other if gain > 0 else question,
            [
                f"{where}: terms are about {place}, which has the larger evidence (log Bayes factor {size:.3g})"
            ],
            gain,
        )
    rows = "; ".join(f"d{name} = ({sum_text(equation)}) dt" for name, equation in about_mean.items())
    better = "which the data prefer" if gain > 0 else "but the data prefer those about zero"
    words = (
        f'{where}: with terms about the mean (origin="mean", log Bayes factor {gain:+.3g}) the drift would be {rows}, '
        f"{better}"
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
