"""Checks of a result on any recording: whether it is still the model that was found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check, alpha_of
from itoscope.checks.filtered import innovation_checks
from itoscope.checks.measured import check_residuals
from itoscope.checks.rows import fitted_row, noisy_rows, still_rows
from itoscope.checks.scores import BOUND, VARIES
from itoscope.checks.simulated import compare, simulation_checks
from itoscope.checks.still import still_checks
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.sizes import law_of
from itoscope.stats.scores import of_rows
from itoscope.stats.tails import chi_square_tail, normal_tails

if TYPE_CHECKING:
    from itoscope.checks.steps import Steps
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["check_again", "looks_again"]


def check_again(result: Findings, data: Trajectories | None = None) -> list[Check]:
    """All looks at a recording, by its residuals or innovations and by simulation.

    See `Discovery.check`. The seed is that of the fit, so that the same question has the same answer.
    """
    data = result.data if data is None else data
    if data is None:
        raise ArgumentError("data: a saved result holds no recording; give one")
    data = result.driven(data)
    looks = looks_again(result, data)
    return looks + simulation_checks(compare(result, data, int(result.settings.get("seed") or 0)))


def looks_again(result: Findings, data: Trajectories) -> list[Check]:
    """The looks at residuals or innovations of a recording, and of measured states at its coefficients."""
    if result.observer is not None:
        return innovation_checks(result, data, result.observer.smooth(data)[0])[1]
    if tuple(data.names) != tuple(result.states):
        allowed = f"a recording of the states of the model, {', '.join(result.states)}"
        raise argument_error("data", ", ".join(data.names), allowed)
    rows = noisy_rows(result)
    checks = [check for state in rows for check in _row(result, data, state, len(rows))]
    for state, found in (quiet := still_rows(result, data)).items():
        same = _same_drift(found.steps, result.drift[state], alpha_of(len(quiet)))
        checks += [replace(same, fired=same.fired and found.real), *still_checks(found, len(quiet))]
    return checks


def _row(result: Findings, data: Trajectories, state: str, rows: int) -> list[Check]:
    """Those of one row of measured states."""
    drift, gamma = result.drift[state], result.diffusion[state]
    fit = fitted_row(result, data, state)
    _, steps, checks = check_residuals(
        fit.stages, fit.paths, data.steps(), (fit.row, state), fit.drift, fit.variance, rows, law_of(result, state)
    )  # fmt: skip
    # A mean that errors of the coefficients leave is no finding: it is among the directions of `same drift`.
    checks = [check for check in checks if check.name != "residual mean"]
    return [_same_drift(steps, drift, alpha_of(rows)), _same_noise(steps, gamma, alpha_of(rows)), *checks]


def _same_drift(steps: Steps, equation: Equation, alpha: float) -> Check:
    r"""Whether the recording has the coefficients that were found, with their errors C:
    :math:`b^T (G + G C G)^{-1} b`.
    """
    chosen = np.flatnonzero(equation.selected)
    regression = of_rows(steps.held * steps.scale[:, None], steps.residual)
    scale = np.sqrt(np.maximum(np.diag(regression.gram), 1e-300))
    gram, moment = regression.gram / np.outer(scale, scale), regression.moment / scale
    cov = equation.cov[np.ix_(chosen, chosen)] * np.outer(scale, scale)
    value = float(moment @ np.linalg.pinv(gram + gram @ cov @ gram, hermitian=True) @ moment)
    p_value = chi_square_tail(value, len(chosen))
    return Check(
        "same drift", steps.name, p_value, alpha, p_value < alpha,
        f"the drift of {steps.name} has other coefficients in this recording than in the fit, by "
        f"{math.sqrt(max(value, 0.0)):.1f} standard errors",
        f"{BOUND}; chi-square with {len(chosen)} degrees of freedom",
    )  # fmt: skip


def _same_noise(steps: Steps, equation: Equation, alpha: float) -> Check:
    """Whether the recording has the variance that was found, with its error."""
    squares = steps.still**2
    there = np.isfinite(squares)
    chosen = np.flatnonzero(equation.selected)
    u = np.nanmean(steps.noise_held[there.any(axis=0)], axis=0)
    known = float(u @ equation.cov[np.ix_(chosen, chosen)] @ u)
    ratio = float(np.mean(squares[there]))
    error = math.sqrt(known + float(np.var(squares[there])) / max(int(there.sum()), 1))
    p_value = normal_tails((ratio - 1.0) / max(error, 1e-300))
    return Check(
        "same noise", steps.name, p_value, alpha, p_value < alpha and abs(ratio - 1.0) > VARIES,
        f"the noise variance of {steps.name} is {ratio:.2f} times that of the fit in this recording",
        f"{BOUND}, and a difference of {100 * VARIES:.0f} %",
    )  # fmt: skip
