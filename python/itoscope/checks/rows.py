"""The fitted drift and variance of a row as a backend takes them, and the steps of a recording beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Variance
from itoscope.checks.steps import of_innovations, of_measured, sums_of
from itoscope.checks.still import still_steps
from itoscope.data.driving import pieces
from itoscope.library.bound import TIME
from itoscope.result.findings import check_simulable
from itoscope.result.sizes import law_of

if TYPE_CHECKING:
    from itoscope.backends.protocol import Backend
    from itoscope.checks.steps import Steps
    from itoscope.checks.still import Still
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["FittedRow", "fitted_row", "noisy_rows", "steps_of", "still_rows"]


class FittedRow(NamedTuple):
    """Row number `row` of the paths, with its drift and its variance over a floor."""

    stages: Backend
    paths: list[Array]
    row: int
    drift: Fitted
    variance: Variance


def noisy_rows(result: Findings) -> list[str]:
    """The rows of measured states whose noise was found."""
    rows = [state for state in result.drift if (state, state) in result.diffusion]
    return [state for state in rows if result.diffusion[state].selected.any()]


def still_rows(result: Findings, data: Trajectories) -> dict[str, Still]:
    """What the drift of each row of measured states without noise leaves of a recording.

    None where inputs are held between samples: every jump would need a sample of its own.
    """
    rows = [state for state in result.drift if (state, state) not in result.diffusion]
    if result.observer is not None or not rows:
        return {}
    paths, stages = result.rows(data), get_backend(_backend(result))
    if len(pieces(data, paths)[0]) > len(paths):
        return {}
    driven = [k for k, name in enumerate(result.variables) if name in result.inputs and name != TIME]
    found = {}
    for state in rows:
        equation = result.drift[state]
        _check_known(result, state, equation)
        program = stages.compile(list(equation.terms), list(result.variables))
        drift = Fitted(program, np.where(equation.selected, equation.mean, 0.0)[None])
        row = result.states.index(state)
        found[state] = still_steps(paths, data.steps(), row, state, drift, driven=driven, own=False)
    return found


def _backend(result: Findings) -> str | None:
    backend = result.settings.get("backend", "default")
    return None if backend == "default" else backend


def _check_known(result: Findings, row: str, *equations: Equation) -> None:
    """Refuse a term that is a function of Python."""
    for equation in equations:
        for term in equation.terms:
            check_simulable(term, row, result.variables, result.settings.get("custom_terms", ()))


def fitted_row(result: Findings, data: Trajectories, state: str) -> FittedRow:
    """Compile the terms of a row; one that is a function of Python is refused."""
    drift, gamma = result.drift[state], result.diffusion[state]
    _check_known(result, state, drift, gamma)
    stages, states = get_backend(_backend(result)), list(result.variables)
    paths = result.rows(data)
    f = Fitted(stages.compile(list(drift.terms), states), np.where(drift.selected, drift.mean, 0.0)[None])
    program, coef = stages.compile(list(gamma.terms), states), np.where(gamma.selected, gamma.mean, 0.0)
    mean = float(np.nanmean(np.concatenate([sums_of(program, coef, path) for path in paths])))
    floor = np.array([float(result.settings.get("weight_floor") or 0.0) * max(mean, 0.0)])
    return FittedRow(stages, paths, result.states.index(state), f, Variance(program, coef[None], floor))


def steps_of(result: Findings, data: Trajectories, most_paths: int) -> list[Steps]:
    """The steps of each noisy row of measured states, or of each channel of a filter."""
    if result.observer is not None:
        seen = result.observer.innovations(data, max(len(path) for path in data.paths), most_paths)
        return [of_innovations(seen, channel, data) for channel in range(len(seen.names))]
    found = []
    for state in noisy_rows(result):
        fit = fitted_row(result, data, state)
        found.append(
            of_measured(
                fit.stages, fit.paths, data.steps(), fit.row, state, fit.drift, fit.variance, law_of(result, state)
            )[0]
        )  # fmt: skip
    return found
