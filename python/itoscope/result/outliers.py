"""Outliers: readings of sensors that are rather of the wide part of the law of their noise than of its bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.heavy import outlying

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Outlier", "outliers_of"]

RATHER = 0.5
"""Probability from which a reading is listed."""


class Outlier(NamedTuple):
    """A reading far from the motion: where it is, what it shows, what the motion would have shown, and how far that is.

    `distance` is in standard deviations of the noise of that sample, `probability` that of being an outlier.
    """

    channel: str
    path: int
    sample: int
    time: float
    value: float
    fitted: float
    distance: float
    probability: float


def outliers_of(
    channel: str,
    law: Sequence[float],
    times: Sequence[Array],
    values: Sequence[Array],
    fitted: Sequence[tuple[Array, Array]],
    scales: Sequence[Array],
) -> list[Outlier]:
    """The outliers of one channel, in the order of time.

    Parameters
    ----------
    channel : str
    law : sequence of float
        What shapes the law of the noise.
    times, values : sequences of (n_i,) arrays
        Of every path: when, and what was read.
    fitted : sequence of pairs of (n_i,) arrays
        What the smoothed motion shows, and the variance of that.
    scales : sequence of (n_i,) arrays
        Scale of the law at each reading.
    """
    found = []
    for path, (t, y, (shown, doubt), scale) in enumerate(zip(times, values, fitted, scales)):
        far = (y - shown) / scale
        known = outlying(law, far, doubt / scale**2)
        for n in np.flatnonzero(known > RATHER).tolist():
            at = (float(one[n]) for one in (t, y, shown, far, known))
            found.append(Outlier(channel, path, n, *at))
    return found
