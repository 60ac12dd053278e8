"""Whether the step is too coarse for a regression on measured states, and whether the filter can take its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted
from itoscope.checks.measured import QUIET, check_bias
from itoscope.checks.steps import compact
from itoscope.fit.measured.bias import drift_bias, given_left_over, variance_bias
from itoscope.fit.measured.regressions import coefficients

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.backends.records import Program
    from itoscope.checks.check import Check
    from itoscope.common.types import Array
    from itoscope.fit.measured.regressions import Measured
    from itoscope.fit.measured.rounds import MeasuredFit
    from itoscope.fit.question import Question

__all__ = ["bias_checks", "can_follow"]


def bias_checks(question: Question, measured: Measured, fit: MeasuredFit) -> list[Check]:
    """How far the step leads the coefficients of each noisy row off, drift and variance.

    Of regressions by the trapezoid over all steps; without terms that have no derivative.
    """
    if measured.scheme != "trapezoid" or measured.ensemble != "pool" or question.library.customs:
        return []
    if not measured.noisy:
        return []
    local, names = _Local(measured, fit, _given(question)), question.states
    checks = []
    for row in measured.noisy:
        variance = fit.diffusion[row, row]
        gamma = measured.gamma(variance)
        if gamma.any():
            drift = drift_bias(measured, row, fit.drift[row], gamma)
            checks.append(check_bias(names[row], max(drift, variance_bias(measured, row, variance, local))))
    return checks


def can_follow(question: Question, measured: Measured) -> bool:
    """Whether a filter without noise of the sensors follows the recording as it is.

    Every unknown row carries noise, and given rows hold to the error of the step: to the filter a state that its row
    does not lead to is all but impossible, where a regression does not look at it.
    """
    if question.diffusion_library.customs or len(measured.noisy) < len(measured.rows):
        return False
    for row, program in _given(question).items():
        left, by_step = given_left_over(measured, row, program)
        if left > QUIET * by_step:
            return False
    return True


def _given(question: Question) -> dict[int, Program]:
    return {
        question.states.index(state): question.backend.compile([text], question.library.inputs)
        for state, text in question.known_drift.items()
    }


class _Local:
    """The slopes of the fitted drift and its Gamma along a recording."""

    def __init__(self, measured: Measured, fit: MeasuredFit, given: Mapping[int, Program]) -> None:
        self.measured, self.given = measured, given
        stages, rows, pairs = measured.backend, measured.rows, measured.pairs
        drift = Fitted(measured.drift_program, np.array([coefficients(fit.drift[row]) for row in rows]))
        gamma = Fitted(
            measured.diffusion_program, np.array([measured.gamma(fit.diffusion[pair]) for pair in pairs])
        )
        self.drift, self.gamma = compact(stages, drift), compact(stages, gamma)
        self.m = len(rows) + len(given)

    def __call__(self, rows: Array) -> tuple[Array, Array]:
        """Slopes and Gamma, both `(n, m, m)`."""
        slopes, gamma = np.zeros((2, len(rows), self.m, self.m))
        terms = self.drift.program.gradient(rows)[:, :, : self.m]
        for row, theta in zip(self.measured.rows, self.drift.coef):
            slopes[:, row] = np.einsum("k,nkm->nm", theta, terms)
        for row, program in self.given.items():
            slopes[:, row] = program.gradient(rows)[:, 0, : self.m]
        values = self.gamma.program.evaluate(rows)
        for (i, j), theta in zip(self.measured.pairs, self.gamma.coef):
            gamma[:, i, j] = gamma[:, j, i] = values @ theta
        return slopes, gamma
