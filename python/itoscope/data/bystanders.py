"""Columns beside a motion that are no states of it: constants, values without memory, lines in time, copies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = ["Bystander", "bystanders", "said_of"]

FEWEST = 200
"""Samples of a column from which it is told whether they have a memory."""
ERRORS = 4.0
"""Standard errors of an autocorrelation, or of a sum of them, from which there is one."""
NEAR, FAR = 3, 20
"""Lags that are looked at one by one, and those whose sum is."""
STRAIGHT = 0.999
"""Share of its variance that a straight line in time tells of a column that runs along with it."""
LONG = 50
"""Samples of a path on which a line is one."""
ALIKE = 0.1
"""Share of the variance of a column in that of its difference from a copy."""


class Bystander(NamedTuple):
    """A column, and why it is no state beside the others."""

    name: str
    reason: str


def bystanders(data: Trajectories) -> list[Bystander]:
    """Columns that are no states of the motion that others show; none where no column would be left.

    Parameters
    ----------
    data : Trajectories

    Returns
    -------
    list of Bystander
        A column that does not change on any path; one whose samples are as good as independent of each other, as a
        quality is; one that runs along a straight line with time, as a depth does; and one that shows what a column
        before it shows, but for an error of each sample, as a second sensor or an adjusted price does.
    """
    found: dict[str, str] = {}
    columns = {name: [path[:, k] for path in data.paths] for k, name in enumerate(data.names)}
    for name, series in columns.items():
        if _is_constant(series):
            found[name] = "never changes"
        elif _is_white(series):
            found[name] = "has no memory from one sample to the next"
        elif all(_runs_along(x, np.asarray(stamps)) for x, stamps in zip(series, data.times)):
            found[name] = "runs along with time by a straight line"
    names = [name for name in columns if name not in found]
    for n, name in enumerate(names):
        for other in names[:n]:
            if other not in found and _is_copy(columns[other], columns[name]):
                found[name] = (
                    f"shows what {other} shows, but for an error of each sample (if both are sensors of one state, "
                    "observed takes them)"
                )
                break
    if len(found) == len(columns):
        return []
    return [Bystander(name, found[name]) for name in data.names if name in found]


def said_of(found: Sequence[Bystander]) -> Iterator[str]:
    """A sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in found:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"{', '.join(names)} {reason}" if len(names) == 1 else f"each of {', '.join(names)} {reason}"


def _is_constant(series: Sequence[Array]) -> bool:
    return all(np.ptp(x[np.isfinite(x)]) == 0.0 for x in series if np.isfinite(x).any())


def _is_white(series: Sequence[Array]) -> bool:
    """Whether no autocorrelation at a few lags, nor the sum of many, differs from zero."""
    middle = [x - np.nanmean(x) for x in series if np.isfinite(x).any()]
    total = sum(int(np.isfinite(x).sum()) for x in middle)
    if total < FEWEST:
        return False
    variance = sum(float(np.nansum(x**2)) for x in middle) / total
    correlations = []
    for lag in range(1, FAR + 1):
        products = np.concatenate([x[lag:] * x[:-lag] for x in middle if len(x) > lag] or [np.empty(0)])
        there = products[np.isfinite(products)]
        correlations.append(float(there.mean()) / variance if len(there) else 0.0)
    error = 1.0 / math.sqrt(total)
    one_by_one = all(abs(correlation) < ERRORS * error for correlation in correlations[:NEAR])
    return one_by_one and abs(sum(correlations)) < ERRORS * math.sqrt(FAR) * error


def _runs_along(x: Array, stamps: Array) -> bool:
    """Whether a path goes one way at every sample, by a straight line."""
    there = np.isfinite(x)
    x, stamps = x[there], stamps[there]
    steps = np.diff(x)
    if len(x) < LONG or not ((steps > 0).all() or (steps < 0).all()):
        return False
    return float(np.corrcoef(x, stamps)[0, 1]) ** 2 > STRAIGHT


def _is_copy(one: Sequence[Array], other: Sequence[Array]) -> bool:
    """Whether two columns differ by values without memory alone, small beside either; a gain and a zero may differ."""
    a, b = (np.concatenate(series) for series in (one, other))
    there = np.isfinite(a) & np.isfinite(b)
    if there.sum() < FEWEST:
        return False
    gain = float(np.std(b[there]) / np.std(a[there]))
    for slope in (1.0, gain, -gain):
        apart = [y - slope * x for x, y in zip(one, other)]
        left = np.concatenate(apart)
        share = float(np.nanvar(left) / np.nanvar(b[there]))
        if share < ALIKE and (_is_constant(apart) or share < np.finfo(float).eps or _is_white(apart)):
            return True
    return False
