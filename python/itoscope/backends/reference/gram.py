"""Additive sums of a regression over the steps of all paths, held in one pass over blocks of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Program, Sums, Target, Weights
from itoscope.backends.reference.targets import step_targets, step_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from itoscope.common.types import Array, Progress

__all__ = ["present", "regression_sums", "step_lengths"]

BLOCK = 4096


def _mean_step(times: Sequence[float | Array], paths: Sequence[Array]) -> float:
    steps = sum(len(x) - 1 for x in paths)
    span = sum(
        float(t) * (len(x) - 1) if np.ndim(t) == 0 else float(np.asarray(t)[-1] - np.asarray(t)[0])
        for t, x in zip(times, paths)
    )
    return span / steps


def step_lengths(times: float | Array, start: int, n: int) -> Array:
    """Lengths `(n,)` of the steps from sample `start` on."""
    if np.ndim(times) == 0:
        return np.full(n, float(times))
    return np.diff(np.asarray(times)[start : start + n + 1])


def present(x: Array) -> NDArray[np.bool_]:
    """Which rows of `x` have no missing value."""
    return np.asarray(~np.isnan(x).any(axis=1))


def _blocks(paths: Sequence[Array]) -> Iterator[tuple[int, int, Array]]:
    """Path number, first step and the rows of each block; consecutive blocks share one row."""
    for number, x in enumerate(paths):
        for start in range(0, len(x) - 1, BLOCK):
            yield number, start, x[start : start + BLOCK + 1]


def _rows(
    x: Array,
    place: tuple[int, int],
    times: float | Array,
    dt_mean: float,
    program: Program,
    target: Target,
    scheme: str,
    weights: Weights,
) -> tuple[Array, Array, Array, Array, NDArray[np.intp]]:
    """Instrument, regressor, target, weight of each step of a block at a path and a step; the steps without a gap."""
    number, start = place
    dt = step_lengths(times, start, len(x) - 1)
    u = program.evaluate(x)
    left = u[:-1]
    mid = (u[:-1] + u[1:]) / 2 if scheme == "trapezoid" else left
    fitted = None
    if target.given is not None:
        y = target.given[number][start : start + len(dt)]
    else:
        if target.drift is not None:
            values = target.drift.program.evaluate(x) @ target.drift.coef.T
            fitted = values[:, 0], values[:, 1]
        y = step_targets(x, dt, fitted, target, scheme)
    w = step_weights(x[:-1], dt, dt_mean, number, start, target, weights)
    seen = present(x)
    return left, mid, y, w, np.flatnonzero(seen[:-1] & seen[1:])


def regression_sums(
    paths: Sequence[Array],
    times: Sequence[float | Array],
    program: Program,
    target: Target,
    *,
    scheme: str = "trapezoid",
    weights: Weights = None,
    ensemble: str = "pool",
    progress: Progress = None,
) -> Sums:
    """Sums `Om = w L L^T, A = w L Lt^T, B = w Lt Lt^T, c = w L y, d = w Lt y, s = w y^2` over all steps.

    `L = u(X[n])` is the instrument, known before the noise of the step acts; `Lt` the regressor, the mean of
    `u` over the two ends of the step (`scheme="trapezoid"`), or `L` itself (`"euler"`).
    `ensemble="mean"` first averages target, instrument and regressor over the paths at each time.

    Parameters
    ----------
    paths, times : as in `backends.protocol`
    program : Program
        The K candidate terms.
    target : Target
    scheme : {"euler", "trapezoid"}
    weights : None, sequence of (n_steps,) arrays, or Variance
    ensemble : {"pool", "mean"}
    progress : callable or None
        Receives the number of steps done.

    Returns
    -------
    Sums
    """
    dt_mean = _mean_step(times, paths)
    sums = Sums.zeros(len(program.expressions))
    done = 0
    if ensemble == "mean":
        for start in range(0, max(len(x) for x in paths) - 1, BLOCK):
            sums = sums + _mean_block(paths, times, start, dt_mean, program, target, scheme, weights)
        return sums if target.squares else sums.with_squares(Sums.zeros(len(program.expressions)))
    for number, start, x in _blocks(paths):
        left, mid, y, w, ok = _rows(
            x, (number, start), times[number], dt_mean, program, target, scheme, weights
        )
        sums = sums + _products(left[ok], mid[ok], y[ok], w[ok])
        done += len(x) - 1
        if progress is not None:
            progress(done)
    return sums if target.squares else sums.with_squares(Sums.zeros(len(program.expressions)))


@np.errstate(all="ignore")
def _products(left: Array, mid: Array, y: Array, w: Array) -> Sums:
    """Sums over the rows; that one overflows is found out where they are projected."""
    weighted = left * w[:, None]
    return Sums(
        omega=weighted.T @ left,
        cross=weighted.T @ mid,
        inner=(mid * w[:, None]).T @ mid,
        c=weighted.T @ y,
        d=(mid * w[:, None]).T @ y,
        s=float(w @ y**2),
        total=float(y.sum()),
        n=len(y),
    )


def _mean_block(
    paths: Sequence[Array],
    times: Sequence[float | Array],
    start: int,
    dt_mean: float,
    program: Program,
    target: Target,
    scheme: str,
    weights: Weights,
) -> Sums:
    n = min(BLOCK, max(len(x) for x in paths) - 1 - start)
    k = len(program.expressions)
    left, mid, y, w, count = np.zeros((n, k)), np.zeros((n, k)), np.zeros(n), np.zeros(n), np.zeros(n)
    for number, x in enumerate(paths):
        rows = x[start : start + n + 1]
        if len(rows) < 2:
            continue
        one = _rows(rows, (number, start), times[number], dt_mean, program, target, scheme, weights)
        ok = one[4]
        left[ok] += one[0][ok]
        mid[ok] += one[1][ok]
        y[ok] += one[2][ok]
        w[ok] += one[3][ok]
        count[ok] += 1
    some = np.flatnonzero(count)
    shares = 1 / count[some]
    return _products(
        left[some] * shares[:, None], mid[some] * shares[:, None], y[some] * shares, w[some] * shares
    )
