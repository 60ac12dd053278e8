"""Whether columns tell their own rates of change, as all states of a motion that hardly any noise drives do."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["is_closed"]

SHARE = 0.3
"""Share of its limit that the squared displacement of the fastest column reaches over a window."""
LEFT = 0.2
"""Share of the squared changes over a window that may be left untold: noise of 5 % of the spread leaves a twentieth at
most, of 10 % a sixth, positions that white noise drives leave nearly all."""
DEGREE, SPARE = 3, 10
"""Degree of the monomials at most, and windows for each of them at least."""
MOST = 100_000
"""Samples that are looked at."""


def is_closed(paths: Sequence[Array], times: Sequence[Array]) -> bool:
    r"""Regress changes on integrals of monomials of the same columns, and see whether they tell nearly all.

    Over windows from :math:`a` to :math:`b` of a fraction of the motion, :math:`x(b) - x(a)` is regressed on
    :math:`\int_a^b x^k dt`. Noise of a sensor is small beside such a change, and a position driven by white noise
    has a velocity that no position tells.

    Parameters
    ----------
    paths, times : sequence of (n_i, m) and (n_i,) arrays
        NaN where a sample is missing; such windows are left out.
    """
    paths = _few(paths)
    times = [np.asarray(stamps)[: len(path)] for path, stamps in zip(paths, times)]
    values = np.concatenate(paths)
    centre, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    if not (spread > 0).all():
        return False
    paths = [(path - centre) / spread for path in paths]
    length = _window(paths)
    if length is None:
        return False
    windows = sum(len(range(0, len(path) - length, length)) for path in paths)
    for degree in range(DEGREE, 0, -1):
        powers = list(_monomials(values.shape[1], degree))
        if windows >= SPARE * len(powers):
            return _left_over(paths, times, powers, length) < LEFT
    return False


def _few(paths: Sequence[Array]) -> list[Array]:
    total, found = 0, []
    for path in paths:
        if total < MOST:
            found.append(np.asarray(path[: MOST - total], dtype=float))
            total += len(found[-1])
    return found


def _window(paths: Sequence[Array]) -> int | None:
    """Samples over which the fastest column has moved by `SHARE`; None where none does within a fifth of a path."""
    longest = max(map(len, paths)) // 5
    length = 2
    while length <= longest:
        moved = np.concatenate([path[length:] - path[:-length] for path in paths if len(path) > length])
        if np.nanmax(np.nanmean(moved**2, axis=0)) > SHARE * 2.0:
            return length
        length = math.ceil(1.2 * length)
    return None


def _monomials(m: int, degree: int) -> list[tuple[int, ...]]:
    """The columns that are multiplied, the constant first."""
    return [
        chosen
        for many in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(m), many)
    ]


def _left_over(
    paths: Sequence[Array], times: Sequence[Array], powers: Sequence[tuple[int, ...]], length: int
) -> float:
    """The share that is left of the worst column."""
    changes, integrals = [], []
    for path, stamps in zip(paths, times):
        if len(path) <= length:
            continue
        terms = np.column_stack([np.prod(path[:, list(chosen)], axis=1) for chosen in powers])
        steps = np.diff(stamps)[:, None] * (terms[1:] + terms[:-1]) / 2
        summed = np.vstack([np.zeros(len(powers)), np.cumsum(steps, axis=0)])
        starts = np.arange(0, len(path) - length, max(length // 4, 1))
        changes.append(path[starts + length] - path[starts])
        integrals.append(summed[starts + length] - summed[starts])
    y, x = np.concatenate(changes), np.concatenate(integrals)
    there = np.isfinite(y).all(axis=1) & np.isfinite(x).all(axis=1)
    y, x = y[there], x[there]
    if len(y) <= x.shape[1]:
        return 1.0
    scale = np.linalg.norm(x, axis=0)
    scale[scale == 0] = 1.0
    left = y - (x / scale) @ np.linalg.lstsq(x / scale, y, rcond=None)[0]
    return float((np.sum(left**2, axis=0) / np.sum(y**2, axis=0)).max())
