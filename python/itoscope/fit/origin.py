"""Where terms may be centred: states far from zero, the same question about the mean, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from itoscope.stats.running import mean_and_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.fit.question import Question
    from itoscope.result.findings import Findings

__all__ = ["about_mean", "choice_text", "distance_text", "far_states", "with_origin"]

FAR = 5.0
"""A state whose mean is so many standard deviations from zero is far from it."""


def far_states(question: Question) -> list[tuple[str, float]]:
    """The measured states that are far from zero, each with the distance of its mean in standard deviations."""
    found = []
    for column, name in enumerate(question.data.names):
        mean, variance = mean_and_variance([x[:, column] for x in question.data.paths])
        spread = math.sqrt(variance)
        if name in question.states and spread > 0 and abs(mean) > FAR * spread:
            found.append((name, abs(mean) / spread))
    return found


def about_mean(question: Question, far: list[tuple[str, float]]) -> Question | None:
    """The same question with its terms about the mean, or None.

    None where no state is far from zero, where no term is about zero, and where terms are named by row: they stay as
    they are named.
    """
    centred = question.recipe.about_mean()
    if not far or centred is question.recipe or question.said or question.deviations or question.orbits:
        return None
    options, diffusion = question.options, question.options.diffusion_library
    asked = replace(
        options,
        library=centred,
        diffusion_library=None if diffusion is None else diffusion.about_mean(),
        seed=question.sampling.seed,
    )
    return type(question).of(question.data, asked, question.stream)


def distance_text(far: list[tuple[str, float]]) -> str:
    """Which states are how far from zero."""
    return ", ".join(f"{name} is {distance:.3g} standard deviations from zero" for name, distance in far)


def choice_text(far: list[tuple[str, float]], gain: float) -> str:
    """Which origin was taken, by how much the evidence of the mean exceeds that of zero."""
    place = "their mean" if gain > 0 else "zero"
    factor = f"log Bayes factor {abs(gain):.3g}"
    return f"{distance_text(far)}: terms are about {place}, which has the larger evidence ({factor})"


def with_origin(findings: Findings, said: Sequence[str], gain: float | None) -> Findings:
    """The findings with what is to be said of their origin."""
    findings.warnings += said
    if gain is not None:
        findings.diagnostics["origin_gain"] = gain
    return findings
