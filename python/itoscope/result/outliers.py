"""Outliers: readings of sensors that lie further from the motion than normal noise would bring any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Outlier", "beyond"]

CHANCE = 0.01
"""Probability that a recording without outliers has one listed, sensor by sensor."""
NORMAL = 1e9
"""Degrees of freedom at which Student's law is the normal one."""


class Outlier(NamedTuple):
    """A reading far from the motion: where it is, what it shows, what the motion would have shown, and how far that is.

    `distance` is in standard deviations of the noise of that sample.
    """

    channel: str
    path: int
    sample: int
    time: float
    value: float
    fitted: float
    distance: float


def beyond(
    channel: str,
    times: Sequence[Array],
    values: Sequence[Array],
    fitted: Sequence[Array],
    sd: Sequence[Array],
) -> list[Outlier]:
    """The outliers of one channel, the furthest first.

    Parameters
    ----------
    channel : str
    times, values, fitted, sd : sequences of (n_i,) arrays
        Of every path: when, what was read, what the smoothed motion shows, and the standard deviation of normal noise.
    """
    count = sum(int(np.isfinite(y).sum()) for y in values)
    most = student_quantile(1.0 - 0.5 * CHANCE / max(count, 1), NORMAL)
    found = []
    for path, (t, y, shown, size) in enumerate(zip(times, values, fitted, sd)):
        far = (y - shown) / size
        for n in np.flatnonzero(np.abs(far) > most).tolist():
            found.append(Outlier(channel, path, n, float(t[n]), float(y[n]), float(shown[n]), float(far[n])))
    return sorted(found, key=lambda one: -abs(one.distance))
