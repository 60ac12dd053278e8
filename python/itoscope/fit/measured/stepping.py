"""What the length of the step does to a regression on measured states: to the variance and the terms of quiet rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.backends.records import Fitted
from itoscope.checks.steps import compact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from itoscope.common.types import Array
    from itoscope.fit.measured.regressions import Measured
    from itoscope.posterior.equation import Equation

__all__ = [
    "LeftOver",
    "is_smooth",
    "left_over",
    "mean_there",
    "second_difference",
    "slight_terms",
    "stretches",
    "with_step_error",
]

MOST = 50_000
"""Samples along which the drift is looked at: the first ones of every path."""
FEWEST = 50
"""Samples of each path at least."""
SLIGHT = 15.0
"""A term that moves a row without noise by less than so many errors of the step is no more than these bring in."""
SMOOTH = 2.0
"""Mean square of what a step leaves over that of a smooth row, below which the row is smooth: 1 at most, 6 if rough."""
RARE = 0.01
"""Inclusion probability below which a term is not looked at."""


class LeftOver(NamedTuple):
    """Means along a path: variance of a row by Gamma, what a step leaves of one without noise, squares of the steps."""

    gamma: float
    by_step: float
    moved: float


def left_over(measured: Measured, row: int, drift: Array, gamma: Array) -> LeftOver:
    """Mean variance of a row along the data, what the trapezoid leaves of a row without noise, and all that it moves.

    ``h mean((f[n+2] - 2 f[n+1] + f[n])^2) / 24``. Where noise of other rows moves the drift `f` of the row as a
    Brownian motion, its integral over a step misses the trapezoid by a variance of ``h^3 / 12`` times that of the
    motion; a smooth drift misses it by a twelfth of the second difference, which is less. Inputs are those of the
    middle sample: between samples they go straight or are held, and a trapezoid misses nothing of that.

    Parameters
    ----------
    measured : Measured
    row : int
    drift, gamma : (K,) and (L,) array
        Coefficients of the row's drift and variance.
    """
    sizes, left, moved = [], [], []
    f = compact(measured.backend, Fitted(measured.drift_program, drift[None]))
    size = compact(measured.backend, Fitted(measured.diffusion_program, gamma[None]))
    for x, h in stretches(measured):
        bend = second_difference(x, measured.driven, lambda rows: f.program.evaluate(rows) @ f.coef[0])
        left.append(bend**2 * 0.5 * (h[1:] + h[:-1]) / 24.0)
        sizes.append(size.program.evaluate(x) @ size.coef[0])
        moved.append(np.diff(x[:, row]) ** 2 / h)
    return LeftOver(*(mean_there(np.concatenate(parts)) for parts in (sizes, left, moved)))


def slight_terms(measured: Measured, row: int, equation: Equation) -> tuple[str, ...]:
    """Terms of a row without noise that are as small as what the error of the step brings in.

    The trapezoid misses a smooth drift `f` by a twelfth of its second difference. That error is itself a function of
    the states, a polynomial where `f` is one, so that a library holds terms which follow it, small and beyond doubt.

    Parameters
    ----------
    measured : Measured
    row : int
    equation : Equation
        Of its drift.

    Returns
    -------
    tuple of str
        Probable terms whose root mean square over the data is below `SLIGHT` times that of the error; none where more
        is left over than the error of the step, and where all are.
    """
    along = _smooth(measured, row, equation)
    if along is None:
        return ()
    values, error = along
    held = equation.included.sum(axis=(0, 1))
    typical = equation.samples.sum(axis=(0, 1)) / np.maximum(held, 1)
    typical = np.where(equation.selected, equation.mean, typical)
    moves = np.abs(typical) * np.sqrt(np.mean(values**2, axis=0))
    small = (moves < SLIGHT * np.sqrt(np.mean(error**2))) & (equation.pip > RARE)
    if not (equation.selected & ~small).any():
        return ()
    return tuple(term for term, no in zip(equation.terms, small) if no)


def with_step_error(measured: Measured, row: int, equation: Equation) -> Equation:
    """The equation of a row without noise, whose covariance counts what the error of the step does to its coefficients.

    That is no noise that more samples would average out: with the regression `b` of the error on the selected terms,
    ``b b^T`` is added.
    """
    inside = np.flatnonzero(equation.selected)
    table, _, error = _along(measured, row, equation)
    if not len(inside) or not len(error):
        return equation
    moved = np.zeros(len(equation.terms))
    moved[inside] = np.linalg.lstsq(table[:, inside], error, rcond=None)[0]
    return replace(equation, cov=equation.cov + np.outer(moved, moved))


def is_smooth(measured: Measured, row: int, equation: Equation) -> bool:
    """Whether no more is left over of a row than the trapezoid misses of a smooth one."""
    return _smooth(measured, row, equation) is not None


def _smooth(measured: Measured, row: int, equation: Equation) -> tuple[Array, Array] | None:
    """Terms `(n, K)` and the error of the step `(n,)` along the data; None where the row is not smooth."""
    table, residual, error = _along(measured, row, equation)
    if not len(error) or np.mean(residual**2) > SMOOTH * np.mean(error**2):
        return None
    return table, error


def _along(measured: Measured, row: int, equation: Equation) -> tuple[Array, Array, Array]:
    """Terms `(n, K)`, what the trapezoid leaves and the error of the step `(n,)` along the data."""
    drift = np.where(equation.selected, equation.mean, 0.0)
    values, left, errors = [], [], []
    for x, h in stretches(measured):
        terms = measured.drift_program.evaluate(x)
        f = terms @ drift
        bend = second_difference(
            x, measured.driven, lambda rows: measured.drift_program.evaluate(rows) @ drift
        )
        values.append(terms[1:-1])
        left.append((np.diff(x[:, row]) / h - 0.5 * (f[1:] + f[:-1]))[1:])
        errors.append(bend / 12.0)
    table, residual, error = np.concatenate(values), np.concatenate(left), np.concatenate(errors)
    there = np.isfinite(table).all(axis=1) & np.isfinite(residual) & np.isfinite(error)
    return table[there], residual[there], error[there]


def mean_there(values: Array) -> float:
    """Mean of the finite values, zero if there is none."""
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else 0.0


def second_difference(x: Array, driven: Sequence[int], f: Callable[[Array], Array]) -> Array:
    """``f[n+2] - 2 f[n+1] + f[n]`` `(n - 2,)` along a path, the inputs those of the middle sample."""
    if not driven:
        return np.diff(f(x), n=2)
    now, columns = np.ascontiguousarray(x[1:-1]), list(driven)
    before, after = x[:-2].copy(), x[2:].copy()
    before[:, columns] = after[:, columns] = now[:, columns]
    return f(after) - 2.0 * f(now) + f(before)


def stretches(measured: Measured) -> Iterator[tuple[Array, Array]]:
    """The beginning of each path, and its steps."""
    most = max(MOST // len(measured.paths), FEWEST)
    for x, t in zip(measured.paths, measured.times):
        rows = np.ascontiguousarray(x[:most])
        yield rows, np.full(len(rows) - 1, float(t)) if np.ndim(t) == 0 else np.diff(np.asarray(t)[:most])
