"""Looks at rows of measured states without noise: what their drift leaves beside the error of the step, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check, alpha_of
from itoscope.checks.measured import QUIET
from itoscope.checks.scores import drift_looks
from itoscope.checks.steps import CHUNK, Steps, past_of, roots_of, stretches, sums_of, time_of
from itoscope.stats.whiteness import autocorrelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.records import Fitted
    from itoscope.common.types import Array, Integers, Times
    from itoscope.posterior.equation import Equation

__all__ = ["Still", "check_bias", "still_checks", "still_steps"]

LEFT = 0.0025
"""Share of the squared rates that a row without noise may leave over: a twentieth of what moves it."""
LEAST = 1e-6
"""Share of them under which nothing of what is left is looked at: a thousandth of what moves the row."""
BIAS = 1.5
"""Standard errors by which the error of the step may move a coefficient: intervals of 95 % then hold 68 %."""
SMOOTH = 0.5
"""Autocorrelation of what is left from which it is a motion, and no noise."""


@dataclass(frozen=True, eq=False)
class Still:
    """What the drift of a row leaves, as `Steps` of unit size, and mean squares of rates.

    `left` is that of what the fourth-order rule leaves of the rate of change, `moved` that of the rate, `by_step` what
    the trapezoid leaves of a row without noise at most, whether other rows move it smoothly or as noise does.
    """

    steps: Steps
    left: float
    moved: float
    by_step: float

    @property
    def share(self) -> float:
        """Of the squared rates that is left."""
        return self.left / self.moved if self.moved > 0 else 0.0

    @property
    def real(self) -> bool:
        """Whether what is left is more than the error of the step, and than next to nothing."""
        return self.share > LEAST and self.left > self.by_step


def still_steps(
    paths: Sequence[Array], times: Sequence[Times], row: int, name: str, drift: Fitted, *,
    driven: Sequence[int] = (), own: bool = True,
) -> Still:  # fmt: skip
    r"""What the drift of a row leaves of its rate of change.

    :math:`r_n = \Delta x_n / h - (f_n + f_{n+1})/2 + h^2 (f''_n + f''_{n+1}) / 24` with second differences for
    :math:`f''`, which leaves an error of the fourth order of a smooth motion.

    Parameters
    ----------
    paths, times : sequences
        The recording, as a backend takes it.
    row : int
    name : str
    drift : Fitted
        The fitted drift.
    driven : sequence of int
        Columns that jump or bend at samples, and are straight in between.
    own : bool
        Whether the drift was fitted to these paths: the error of the step has moved its coefficients then, and what the
        selected terms explain of the residuals is taken off.
    """
    left, rates, bends, before, pieces = [], [], [], [], []
    for number, (x, t) in enumerate(zip(paths, times)):
        dt = np.diff(t) if np.ndim(t) else np.full(len(x) - 1, float(t))
        f = sums_of(drift.program, drift.coef[0], x)
        curved = _curvature(x, dt, drift, driven)
        rate = np.diff(x[:, row]) / dt
        left.append(rate - (f[:-1] + f[1:]) / 2 + dt**2 * (curved[:-1] + curved[1:]) / 24)
        rates.append(rate)
        bends.append(dt**2 * curved[:-1])
        before.append(x[:-1])
        pieces.append(np.full(len(dt), number))
    states, piece, q = np.concatenate(before), np.concatenate(pieces), np.concatenate(left)
    lengths = np.bincount(piece, minlength=len(paths))
    some, inside, beyond = stretches(lengths)
    u = drift.program.evaluate(np.ascontiguousarray(states[some]))
    chosen = drift.coef[0] != 0.0
    if own and chosen.any():
        there = np.isfinite(q[some]) & np.isfinite(u[:, chosen]).all(axis=1)
        shift = np.zeros(len(chosen))
        shift[chosen] = np.linalg.lstsq(u[there][:, chosen], q[some][there], rcond=None)[0]
        q = q - sums_of(drift.program, shift, states)
    square, moved, bend = (_mean(part**2) for part in (q, np.concatenate(rates), np.concatenate(bends)))
    sd = math.sqrt(square) or 1.0
    none, parts = np.zeros((len(some), 0)), np.where(beyond, np.nan, q[inside] / sd)
    scale = roots_of(parts)[1] / sd
    steps = Steps(
        name=name, z=q / sd, piece=piece, some=some, parts=parts, time=time_of(some, lengths), states=states[some],
        past=past_of(states[some], piece[some]), scale=scale, held=u[:, chosen], outside=u[:, ~chosen],
        outside_names=tuple(np.array(drift.program.expressions)[~chosen]), force=u @ drift.coef[0] * scale,
        noise_held=none, noise_outside=none, noise_names=(), steady=np.ones(parts.shape, dtype=bool),
        turning=np.zeros(len(some)), spread=None,
    )  # fmt: skip
    return Still(steps, square, moved, bend / 24.0)


def still_checks(found: Still, rows: int = 1) -> list[Check]:
    """What is left of a row without noise, of so many `rows` that are looked at, and on what it depends.

    A right drift leaves a function of the states as small as the error of the step, beyond any doubt of statistics: so
    the looks fire only where more is left than that.
    """
    steps, alpha = found.steps, alpha_of(rows)
    looks = drift_looks("residual", steps, alpha)
    return [_left_over(found), *(look if found.real else replace(look, fired=False) for look in looks)]


def _left_over(found: Still) -> Check:
    """Whether the drift explains the increments of its state."""
    steps, share = found.steps, found.share
    first = float(autocorrelation(steps.z, steps.piece, 1)[0]) if len(steps.z) > 2 else 0.0
    cause = (
        "a term, a force or a state is missing" if first > SMOOTH else "noise of the sensor, or a rounded recording"
        if first < -SMOOTH / 2 else "the row has noise: leave it its diffusion"
    )  # fmt: skip
    return Check(
        "row residual", steps.name, share, LEFT, share > LEFT and found.left > QUIET * found.by_step,
        f"the drift of {steps.name}, a row without noise, leaves {100 * math.sqrt(share):.0f} % of its rate of change "
        f"over (autocorrelation {first:.2f} at one step): {cause}",
        "a row without noise is followed up to the error of the step",
    )  # fmt: skip


def check_bias(
    paths: Sequence[Array],
    times: Sequence[Times],
    name: str,
    drift: Fitted,
    equation: Equation,
    scheme: str,
    driven: Sequence[int] = (),
) -> Check:
    """Whether the error of the step moves a coefficient by more than its standard error says.

    Parameters
    ----------
    paths, times : sequences
    name : str
    drift : Fitted
    equation : Equation
        Of the drift, whose `sd` it is held against.
    scheme : str
        "euler" takes the drift at the start of a step for that of all of it, "trapezoid" the mean of both ends.
    driven : sequence of int
        See `still_steps`.
    """
    columns, errors = [], []
    chosen = np.flatnonzero(equation.selected)
    for x, t in zip(paths, times):
        dt = np.diff(t) if np.ndim(t) else np.full(len(x) - 1, float(t))
        u, f = _chosen(drift, chosen, x)
        if scheme == "euler":
            errors.append(np.diff(f) / 2)
            columns.append(u[:-1])
        else:
            curved = _curvature(x, dt, drift, driven)
            errors.append(-(dt**2) * (curved[:-1] + curved[1:]) / 24)
            columns.append((u[:-1] + u[1:]) / 2)
    table, error = np.concatenate(columns), np.concatenate(errors)
    there = np.isfinite(table).all(axis=1) & np.isfinite(error)
    value, term = 0.0, ""
    if len(chosen):
        moved = np.linalg.lstsq(table[there], error[there], rcond=None)[0]
        ratios = np.abs(moved) / np.maximum(equation.sd[chosen], 1e-300)
        value, term = float(ratios.max()), equation.terms[chosen[int(ratios.argmax())]]
    remedy = 'scheme="trapezoid", or a shorter step' if scheme == "euler" else "take a shorter step"
    return Check(
        "step bias", name, value, BIAS, value > BIAS,
        f"the error of the step moves the coefficient of {term} in the drift of {name} by {value:.2g} of its standard "
        f"errors: {remedy}",
        "at one and a half standard errors intervals of 95 % hold 68 %",
    )  # fmt: skip


def _chosen(drift: Fitted, chosen: Integers, x: Array) -> tuple[Array, Array]:
    """Some terms `(n, k)` and the fitted sum `(n,)` at every row, a chunk at a time."""
    u, f = np.empty((len(x), len(chosen))), np.empty(len(x))
    for start in range(0, len(x), CHUNK):
        values = drift.program.evaluate(np.ascontiguousarray(x[start : start + CHUNK]))
        u[start : start + CHUNK] = values[:, chosen]
        f[start : start + CHUNK] = values @ drift.coef[0]
    return u, f


def _curvature(x: Array, dt: Array, drift: Fitted, driven: Sequence[int]) -> Array:
    """The second derivative of the drift in time at every sample `(n,)`, at the ends that of their neighbours.

    By divided differences over three samples, with what drives it as it is at the middle one.
    """
    if len(x) < 3:
        return np.zeros(len(x))
    parts = [x[:-2], x[1:-1], x[2:]]
    if driven:
        columns = list(driven)
        parts = [part.copy() for part in parts]
        parts[0][:, columns] = parts[2][:, columns] = parts[1][:, columns]
    f0, f1, f2 = (sums_of(drift.program, drift.coef[0], part) for part in parts)
    inner = 2.0 * ((f2 - f1) / dt[1:] - (f1 - f0) / dt[:-1]) / (dt[1:] + dt[:-1])
    return np.concatenate([inner[:1], inner, inner[-1:]])


def _mean(values: Array) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else 0.0
