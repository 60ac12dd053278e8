"""What the length of the step does to a regression on measured states: what it leaves over of a row without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Array
    from itoscope.fit.measured.rounds import Measured

__all__ = ["left_over"]

MOST = 50_000
"""Samples along which the drift is looked at: the first ones of every path."""
FEWEST = 50
"""Samples of each path at least."""


def left_over(measured: Measured, row: int, drift: Array, gamma: Array) -> tuple[float, float]:
    """Mean variance of a row along the data, and what the trapezoid leaves of a row without noise.

    ``h mean((f[n+2] - 2 f[n+1] + f[n])^2) / 24``. Where noise of other rows moves the drift `f` of the row as a
    Brownian motion, its integral over a step misses the trapezoid by a variance of ``h^3 / 12`` times that of the
    motion; a smooth drift misses it by a twelfth of the second difference, which is less.

    Parameters
    ----------
    measured : Measured
    row : int
    drift, gamma : (K,) and (L,) array
        Coefficients of the row's drift and variance.
    """
    sizes, left = [], []
    for x, h in _stretches(measured):
        f = measured.drift_program.evaluate(x) @ drift
        left.append(np.diff(f, n=2) ** 2 * 0.5 * (h[1:] + h[:-1]) / 24.0)
        sizes.append(measured.diffusion_program.evaluate(x) @ gamma)
    there = np.concatenate(left)
    there = there[np.isfinite(there)]
    return float(np.nanmean(np.concatenate(sizes))), float(there.mean()) if len(there) else 0.0


def _stretches(measured: Measured) -> Iterator[tuple[Array, Array]]:
    """The beginning of each path, and its steps."""
    most = max(MOST // len(measured.paths), FEWEST)
    for x, t in zip(measured.paths, measured.times):
        rows = np.ascontiguousarray(x[:most])
        yield rows, np.full(len(rows) - 1, float(t)) if np.ndim(t) == 0 else np.diff(np.asarray(t)[:most])
