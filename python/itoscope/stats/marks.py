"""Marks that instruments leave on a column: a grid of values, an angle that wraps, outliers, jumps, held samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers

__all__ = ["Bursts", "bursts", "derivative_of", "grid_step", "smoothness", "wrap_period"]

PERIODS = (2.0 * math.pi, 360.0)
"""What an angle may wrap by."""
BLOCK = 64
"""Samples over which the scale of a column is taken to be one."""
FAR = 8.0
"""Of that scale, a second difference that is no noise."""
LONGEST = 4
"""Samples of an outlier or a jump."""
RARER = 5
"""A few of the one among so many times more of the other are taken for those."""
WINDOW, ROWS = 25, 1500
"""Samples to each side of which a smoothed derivative may be made, and rows that are looked at."""
NEAR, ALONG = 3, 0.5
"""Samples to each side over which a derivative goes with the change of its column, and their least correlation."""


def grid_step(series: Sequence[Array]) -> float:
    """The step between the values of a column that lies on a grid, 0 for one that does not.

    Values are on a grid if there are far fewer than samples and all lie at multiples of the least distance.
    """
    values = np.concatenate(series)
    values = values[np.isfinite(values)]
    span = float(np.ptp(values)) if len(values) else 0.0
    if not span > 0:
        return 0.0
    distances = np.diff(np.unique(values))
    distances = distances[distances > 1e-9 * max(span, float(np.abs(values).max()))]
    if not len(distances) or 4 * len(distances) > len(values):
        return 0.0
    step = float(np.median(distances[distances < 1.5 * distances.min()]))
    multiples = distances / step
    return step if np.all(np.abs(multiples - np.round(multiples)) < 0.01) else 0.0


def wrap_period(series: Sequence[Array]) -> tuple[float, int]:
    """By what a column wraps, and how often; `(0, 0)` where it does not.

    A column wraps if it stays within one period, and the steps of over half a period are short without it.
    """
    values = np.concatenate(series)
    span = float(np.nanmax(values) - np.nanmin(values))
    moved = np.concatenate([np.diff(x) for x in series])
    moved = moved[np.isfinite(moved)]
    for period in PERIODS:
        wide = np.abs(moved) > period / 2
        if not wide.any() or span > 1.001 * period:
            continue
        left = moved - period * np.round(moved / period)
        if wide.mean() < 0.1 and np.abs(left).max() < period / 4:
            return period, int(wide.sum())
    return 0.0, 0


class Bursts(NamedTuple):
    """Paths and samples of `outliers`, which come back, and of `jumps`, which stay, `(k, 2)` each."""

    outliers: Integers
    jumps: Integers


def bursts(series: Sequence[Array]) -> Bursts:
    """Second differences that are far beyond the scale of those around, sorted by whether the column comes back."""
    found: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for number, x in enumerate(series):
        if len(x) < 2 * BLOCK:
            continue
        bend = x[1:-1] - (x[2:] + x[:-2]) / 2
        far = np.flatnonzero(np.abs(bend) > FAR * _scale(bend)) + 1
        for cluster in np.split(far, np.flatnonzero(np.diff(far) > 1) + 1):
            if not 0 < len(cluster) <= LONGEST:
                continue
            stretch = x[max(cluster[0] - 1, 0) : cluster[-1] + 2]
            size = float(np.max(np.abs(stretch - stretch[0])))
            stays = abs(float(stretch[-1] - stretch[0])) > size / 2
            found[stays].append((number, int(cluster[len(cluster) // 2])))
    outliers, jumps = (
        found[side] if RARER * len(found[side]) >= len(found[1 - side]) else [] for side in (0, 1)
    )
    return Bursts(*(np.array(one, dtype=np.int64).reshape(-1, 2) for one in (outliers, jumps)))


def _goes_with(position: Sequence[Array], rate: Sequence[Array]) -> float:
    """Correlation of a column with the change of another over `2 NEAR` samples around it."""
    pairs = [
        (x[2 * NEAR :] - x[: -2 * NEAR], v[NEAR:-NEAR]) for x, v in zip(position, rate) if len(x) > 2 * NEAR
    ]
    if not pairs:
        return 0.0
    moved, told = (np.concatenate(side) for side in zip(*pairs))
    good = np.isfinite(moved) & np.isfinite(told)
    if np.count_nonzero(good) < 50 or not (np.std(moved[good]) > 0 and np.std(told[good]) > 0):
        return 0.0
    return float(np.corrcoef(moved[good], told[good])[0, 1])


def _scale(bend: Array) -> Array:
    """Standard deviation of normal numbers of the same median size, the largest of the block and its neighbours."""
    count = max(len(bend) // BLOCK, 1)
    short, longer = divmod(len(bend), count)
    split = longer * (short + 1)
    size = np.abs(bend)
    blocks = np.concatenate(
        [_medians(size[:split].reshape(-1, short + 1)), _medians(size[split:].reshape(-1, short))]
    )
    wide = np.maximum(blocks, np.maximum(np.append(blocks[1:], 0.0), np.append(0.0, blocks[:-1])))
    return np.asarray(np.repeat(wide / 0.6745, np.repeat([short + 1, short], [longer, count - longer])))


def _medians(rows: Array) -> Array:
    """Median of each row without what is missing; infinite where none of it is finite."""
    found = np.full(len(rows), np.inf)
    whole = ~np.isnan(rows).any(axis=1)
    if whole.any():
        found[whole] = np.median(rows[whole], axis=1)
    for k in np.flatnonzero(~whole & np.isfinite(rows).any(axis=1)):
        found[k] = np.nanmedian(rows[k])
    return found


def smoothness(series: Sequence[Array]) -> float:
    """How much of the steps of a column is left when each sample is told by the three to either side."""
    windows = np.concatenate(
        [np.lib.stride_tricks.sliding_window_view(x, 7) for x in series if len(x) > 6] or [np.zeros((0, 7))]
    )
    windows = windows[:: max(1, len(windows) // ROWS)]
    windows = windows[np.isfinite(windows).all(axis=1)]
    if len(windows) < 50:
        return 1.0
    local = windows - windows[:, 2:3]
    target, known = local[:, 3], local[:, [0, 1, 4, 5, 6]]
    left = target - known @ np.linalg.lstsq(known, target, rcond=1e-12)[0]
    return float(np.mean(left**2) / max(float(np.mean(target**2)), 1e-300))


def derivative_of(position: Sequence[Array], rate: Sequence[Array]) -> float:
    r"""How much of the noise of `rate` is left when it is told by a window of `position` and its own last value.

    Mean squared, over half the mean square of its second differences, in which a smooth motion however fast has no
    part: a step of a fast oscillation is hardly noise. The velocity of a diffusion keeps 0.13 whatever the motion, for
    it moves between the samples; a derivative that somebody made of the positions keeps nothing. A column that does
    not go with the change of `position` over a few samples keeps all.
    """
    if _goes_with(position, rate) < ALONG:
        return 1.0
    rows: list[Array] = []
    told: list[Array] = []
    every = max(1, sum(map(len, position)) // ROWS)
    for x, v in zip(position, rate):
        if len(x) <= 2 * WINDOW + 2:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(x, 2 * WINDOW + 1)
        chosen = np.arange(WINDOW, len(x) - WINDOW, every)
        local = windows[chosen - WINDOW] - x[chosen][:, None]
        rows.append(
            np.column_stack(
                [np.delete(local, WINDOW, axis=1), v[chosen - 1], v[chosen], np.ones(len(chosen))]
            )
        )
        told.append(v[chosen + 1] - 2.0 * v[chosen] + v[chosen - 1])
    if not rows:
        return 1.0
    table, moved = np.concatenate(rows), np.concatenate(told)
    good = np.isfinite(table).all(axis=1) & np.isfinite(moved)
    table, moved = table[good], moved[good]
    if len(moved) < 4 * table.shape[1]:
        return 1.0
    target, known = table[:, -2], np.delete(table, -2, axis=1)
    scale = np.maximum(np.abs(known).max(axis=0), 1e-300)
    # the corner of the triangle is the distance of the last column from the others
    triangle = np.asarray(np.linalg.qr(np.column_stack([known / scale, target]), mode="r"))
    left = float(triangle[-1, -1])
    return left**2 / len(target) / max(0.5 * float(np.mean(moved**2)), 1e-300)
