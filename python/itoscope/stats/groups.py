"""Whether recordings differ in their means, spreads and times by more than stretches of one recording do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.student import variance_ratio_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers

__all__ = ["Difference", "differences"]

MEMORIES, LEAST = 10.0, 32
"""Memories of the motion, and samples, that a stretch holds at least, so that the next one is nearly independent."""
STRETCHES = 24
"""Stretches of a recording at most: longer ones have averages that are nearer to normal."""
LAG = 8.0
"""The step whose size over the spread tells the time of a motion is a relaxation time, or a period, over this."""
RARE = 1e-3
"""How rare the largest ratio of variances is by chance, over all looks at all columns together."""
APART = 4.0
"""Standard errors from the median of all from which one recording is named."""


class Difference(NamedTuple):
    """What differs (`"mean"`, `"spread"` or `"time"`), how rare by chance, and the recordings that stand apart."""

    what: str
    p_value: float
    apart: tuple[int, ...]


def differences(
    series: Sequence[Array], memory: float, samples: float, looks: int = 1
) -> list[Difference] | None:
    r"""What differs between columns `(n_i,)` of several recordings; None where they are too short for the question.

    Recordings are cut into stretches of one length. Of each the mean, the logarithm of the spread about it, and that of
    the size of a step of an eighth of its time over the spread are averages of many memories; with
    :math:`a_{ij}` of stretch j of recording i, :math:`\sum_i n_i (\bar a_i - \bar a)^2 / (P - 1)` over
    :math:`\sum_{ij} (a_{ij} - \bar a_i)^2 / \sum_i (n_i - 1)` has Fisher's law if all are of one system.

    Parameters
    ----------
    series : sequence of (n_i,) arrays
        NaN where a sample is missing.
    memory, samples : float
        Of their pace.
    looks : int
        Looks of this kind that are taken beside each other, three a column.
    """
    longest = max(map(len, series))
    size = max(math.ceil(MEMORIES * memory), LEAST, -(-longest // STRETCHES))
    lag = max(round(samples / LAG), 1)
    found = [(k, features) for k, x in enumerate(series) if len(features := _features(x, size, lag)) > 1]
    if len(found) < 2:
        return None
    whole = np.concatenate([features for _, features in found])
    groups = np.repeat(np.arange(len(found)), [len(features) for _, features in found])
    some = []
    for column, what in enumerate(("mean", "spread", "time")):
        p_value, apart = _of_one(whole[:, column], groups)
        if p_value * looks < RARE:
            some.append(Difference(what, p_value, tuple(found[k][0] for k in apart)))
    return some


def _features(x: Array, size: int, lag: int) -> Array:
    """Of each stretch `(b, 3)`; those with half of their samples missing are left out."""
    many = len(x) // size
    rows = x[: many * size].reshape(many, size)
    with np.errstate(all="ignore"):
        rows = rows[np.count_nonzero(np.isfinite(rows), axis=1) > size // 2]
        spread, steps = np.nanstd(rows, axis=1), rows[:, lag:] - rows[:, :-lag]
        size_of_steps = np.sqrt(np.nanmean(steps**2, axis=1))
        found = np.stack([np.nanmean(rows, axis=1), np.log(spread), np.log(size_of_steps / spread)], axis=1)
    return np.asarray(found[np.isfinite(found).all(axis=1)])


def _of_one(values: Array, groups: Integers) -> tuple[float, list[int]]:
    """The tail of the ratio of variances, and which groups stand apart."""
    many = np.bincount(groups)
    means = np.bincount(groups, weights=values) / many
    left = len(values) - len(many)
    within = float(((values - means[groups]) ** 2).sum()) / left
    between = float((many * (means - values.mean()) ** 2).sum()) / (len(many) - 1)
    if not within > 0:
        return (0.0, list(range(len(many)))) if between > 0 else (1.0, [])
    errors = np.abs(means - np.median(means)) / np.sqrt(within / many)
    return variance_ratio_tail(between / within, len(many) - 1, left), np.flatnonzero(errors > APART).tolist()
