"""How far the length of the step leads a regression on measured states off, beside its standard errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted
from itoscope.checks.steps import compact, only
from itoscope.fit.measured.stepping import mean_there, second_difference, stretches

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.backends.records import Program
    from itoscope.common.types import Array
    from itoscope.fit.measured.regressions import Measured
    from itoscope.posterior.equation import Equation

    Local = Callable[[Array], tuple[Array, Array]]

__all__ = ["drift_bias", "given_left_over", "variance_bias"]


def given_left_over(measured: Measured, row: int, given: Program) -> tuple[float, float]:
    """Mean over the steps of what the trapezoid of a given row leaves, squared over the step; and what a step leaves.

    The second is that of `left_over`: a recording whose states were taken apart, or have noise, leaves more.
    """
    seen, left = [], []
    for x, h in stretches(measured):
        f = given.evaluate(x)[:, 0]
        seen.append((np.diff(x[:, row]) - 0.5 * h * (f[1:] + f[:-1])) ** 2 / h)
        bend = second_difference(x, measured.driven, lambda rows: given.evaluate(rows)[:, 0])
        left.append(bend**2 * 0.5 * (h[1:] + h[:-1]) / 24.0)
    return mean_there(np.concatenate(seen)), mean_there(np.concatenate(left))


def drift_bias(measured: Measured, row: int, equation: Equation, gamma: Array) -> float:
    """How far the trapezoid leads the coefficients of a row off, the largest in their standard errors.

    With its drift f the trapezoid misses ``-h L^2 f h^2 / 12`` of what a state moves, L the generator; of its
    integral ``h^2 L^2 f`` is foreseen what the second difference of f is on average:

    ``G b = sum w h L_n (-(f[n+2] - 2 f[n+1] + f[n]) / 12)``, ``G = sum w h L_n (L_n + L_{n+1}) / 2``,

    a regression on the terms L of the row with the instruments and weights of its own. It takes from noise about
    a tenth of the drift's rate times h of a standard error.

    Parameters
    ----------
    measured : Measured
    row : int
    equation : Equation
        Of the row, from sums of the trapezoid.
    gamma : (L,) array
        Coefficients of the row's variance.
    """
    inside = np.flatnonzero(equation.selected)
    if not len(inside):
        return 0.0
    theta = equation.mean[inside]
    drift = only(measured.backend, measured.drift_program, inside)
    variance = compact(measured.backend, Fitted(measured.diffusion_program, gamma[None]))
    block, moment = np.zeros((len(inside), len(inside))), np.zeros(len(inside))
    for x, h in stretches(measured):
        terms = drift.evaluate(x)
        bend = second_difference(x, measured.driven, lambda rows: drift.evaluate(rows) @ theta)
        size = np.maximum(variance.program.evaluate(x)[:-2] @ variance.coef[0], 0.0)
        weight = h[:-1] / np.maximum(size, measured.floor * mean_there(size)) if gamma.any() else h[:-1]
        rows = np.hstack(
            [terms[:-2], 0.5 * (terms[:-2] + terms[1:-1]), -bend[:, None] / 12.0, weight[:, None]]
        )
        instrument, regressor, missed, weight = np.split(
            rows[np.isfinite(rows).all(axis=1)], _ends(len(inside)), 1
        )
        block += (weight * instrument).T @ regressor
        moment += (weight * instrument).T @ missed[:, 0]
    bias = np.linalg.lstsq(block, moment, rcond=None)[0]
    sd = np.sqrt(np.maximum(np.diag(equation.cov)[inside], 0.0))
    return float(np.max(np.abs(bias[sd > 0.0]) / sd[sd > 0.0], initial=0.0))


def _ends(k: int) -> list[int]:
    """Where instruments, regressors and target end."""
    return [k, 2 * k, 2 * k + 1]


def variance_bias(measured: Measured, row: int, equation: Equation, local: Local) -> float:
    """How far off the mean variance of a row is, in its standard errors, as the drift turns noise within a step.

    Of a residual of the trapezoid the variance over h is ``Gamma + h^2 (A Gamma A^T - A^2 Gamma - Gamma A^2T) / 12``
    to second order, with A the slopes of the drift.

    Parameters
    ----------
    measured : Measured
    row : int
    equation : Equation
        Of the row's variance.
    local : callable
        The slopes A and Gamma, both `(n, m, m)`, at `(n, ...)` rows of the recording.
    """
    inside, added, shown = np.flatnonzero(equation.selected), [], []
    places = np.array([measured.diffusion_terms.index(equation.terms[k]) for k in inside])
    terms = only(measured.backend, measured.diffusion_program, places)
    for x, h in stretches(measured):
        here = np.ascontiguousarray(x[:-1])
        a, g = local(here)
        one, two = a[:, row], np.einsum("nj,njk->nk", a[:, row], a)
        turned = np.einsum("nj,njk,nk->n", one, g, one) - 2.0 * np.einsum("nk,nk->n", two, g[:, :, row])
        added.append(h**2 * turned / 12.0)
        shown.append(terms.evaluate(here))
    mean = np.array([mean_there(column) for column in np.concatenate(shown).T])
    spread = float(mean @ equation.cov[np.ix_(inside, inside)] @ mean)
    return abs(mean_there(np.concatenate(added))) / math.sqrt(spread) if spread > 0.0 else 0.0
