"""What the length of the step does to a regression on measured states: what it leaves over of a row without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from itoscope.common.types import Array
    from itoscope.fit.measured.rounds import Measured

__all__ = ["LeftOver", "left_over"]

MOST = 50_000
"""Samples along which the drift is looked at: the first ones of every path."""
FEWEST = 50
"""Samples of each path at least."""


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
    for x, h in _stretches(measured):
        bend = _second_difference(
            x, measured.driven, lambda rows: measured.drift_program.evaluate(rows) @ drift
        )
        left.append(bend**2 * 0.5 * (h[1:] + h[:-1]) / 24.0)
        sizes.append(measured.diffusion_program.evaluate(x) @ gamma)
        moved.append(np.diff(x[:, row]) ** 2 / h)
    return LeftOver(*(_mean(np.concatenate(parts)) for parts in (sizes, left, moved)))


def _mean(values: Array) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else 0.0


def _second_difference(x: Array, driven: Sequence[int], f: Callable[[Array], Array]) -> Array:
    """``f[n+2] - 2 f[n+1] + f[n]`` `(n - 2,)` along a path, the inputs those of the middle sample."""
    if not driven:
        return np.diff(f(x), n=2)
    now, columns = np.ascontiguousarray(x[1:-1]), list(driven)
    before, after = x[:-2].copy(), x[2:].copy()
    before[:, columns] = after[:, columns] = now[:, columns]
    return f(after) - 2.0 * f(now) + f(before)


def _stretches(measured: Measured) -> Iterator[tuple[Array, Array]]:
    """The beginning of each path, and its steps."""
    most = max(MOST // len(measured.paths), FEWEST)
    for x, t in zip(measured.paths, measured.times):
        rows = np.ascontiguousarray(x[:most])
        yield rows, np.full(len(rows) - 1, float(t)) if np.ndim(t) == 0 else np.diff(np.asarray(t)[:most])
