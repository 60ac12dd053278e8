"""`classify_order`: is a recording the state of a first-order equation, or the position of a second-order one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data.closure import is_closed
from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.stats.ringing import LONGEST, increments, motion_of
from itoscope.stats.variogram import steps_are_white

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["OrderAnswer", "classify_order", "order_of_column"]

#: Lags are used up to where the squared displacement reaches this share of its limit, twice the variance.
SHARE = 0.3
MAX_LAG = 400
#: Fewer lags than this below `SHARE` cannot tell a line from a parabola: up to twice that share then.
MIN_LAGS = 4
#: Pairs of samples at a lag, over those at one sample, below which it is that of the longest tracks alone.
PAIRS = 0.25
#: One kind of motion must exceed the other by this factor at the middle lag.
FACTOR = 3.0
#: Share of the motion in that of the noise below which it is hidden.
HIDDEN = 0.3
#: Share of a step by which steps may differ from whole numbers of it.
JITTER = 0.05
#: Times as far apart as usual, from which a pair of samples has a gap in between.
APART = 2.0
FAST = "the recording moves through most of its range within a few samples: sample faster"
BETWEEN = (
    "the squared displacement grows between the lag and its square: both orders are possible; sample faster"
)
DRIVEN = "it drifts like a position, yet its steps carry noise of their own: a state beside one that was not measured"
CLOSED = "the columns tell their own rates of change: all states of a motion that hardly any noise drives"
#: Standard errors by which fast motion must exceed the other kind.
ERRORS = 2.0


@dataclass(frozen=True)
class OrderAnswer:
    """`order` is 1 (diffusive), 2 (ballistic) or None (the data cannot tell), `reason` says why in a sentence.

    `noise` is the standard deviation of the measurement noise that the fit sees, per column.
    """

    order: int | None
    reason: str
    noise: tuple[float, ...]


def classify_order(trajectories: Trajectories | Any, *, dt: float | None = None) -> OrderAnswer:
    r"""Say whether motion is diffusive or ballistic at the sampling rate.

    The mean squared displacement over a lag :math:`\tau` of a state driven by white noise grows like :math:`\tau`,
    that of
    a position whose velocity is driven so like :math:`\tau^2`; measurement noise of variance :math:`s^2` adds the
    constant
    :math:`2 s^2`. The three are fitted to lags up to where the displacement reaches 0.3 of its limit.
    Where that is so within a few lags, or cannot tell, a damped oscillation of any period is fitted in the place of
    line and parabola, and its growth from lag zero is held against its curvature there. Gaps are left out, and tracks
    may have any length and centre.

    Columns that all move like positions, and of which polynomials of them tell how they change, are the states of a
    motion that hardly any noise drives: of first order.

    Steps that are multiples of one step are gaps too. Of other uneven steps the true lags of the pairs stand in line
    and parabola, pairs that a gap sets apart are left out, and motion that is fast beside the steps is not told.

    Parameters
    ----------
    trajectories : Trajectories or array
    dt : float, optional
        Step between samples, only for arrays.

    Returns
    -------
    OrderAnswer

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=5, seed=1)
    >>> ito.classify_order(data.positions(noise=0.05, seed=2)).order
    2
    """
    data = as_trajectories(trajectories, dt=dt)
    seen = [
        order_of_column(data.dt, [path[:, i] for path in data.paths], data.times)
        for i in range(data.n_states)
    ]
    noise = tuple(answer.noise[0] for answer in seen)
    if all(answer.order == 2 for answer in seen) and is_closed(data.paths, data.times):
        return OrderAnswer(1, CLOSED, noise)
    if len({answer.order for answer in seen}) == 1:
        return OrderAnswer(seen[0].order, "; ".join(dict.fromkeys(answer.reason for answer in seen)), noise)
    each = "; ".join(f"{name}: {answer.reason}" for name, answer in zip(data.names, seen))
    return OrderAnswer(None, f"the columns differ: {each}", noise)


def order_of_column(dt: float | None, columns: Sequence[Array], times: Sequence[Array]) -> OrderAnswer:
    """The same of one column, whose step is `dt` if it is even."""
    stamps = None
    if dt is None:
        unit = float(np.median(np.concatenate([np.diff(t) for t in times])))
        stamps = [t / unit for t in times]
        if all(_on_grid(t) for t in stamps):
            columns, stamps = [_with_gaps(x, t) for x, t in zip(columns, stamps)], None
    order, reason, noise = _answer(list(columns), stamps)
    return OrderAnswer(order, reason, (noise,))


def _on_grid(stamps: Array) -> bool:
    """Whether all steps are whole numbers."""
    steps = np.diff(stamps)
    return bool((np.abs(steps - np.maximum(np.round(steps), 1.0)) < JITTER).all())


def _with_gaps(x: Array, stamps: Array) -> Array:
    """Samples at whole numbers, NaN where none was taken; a gap that no lag bridges is as long as any other."""
    steps = np.minimum(np.round(np.diff(stamps)), MAX_LAG + 1)
    place = np.concatenate([[0], np.cumsum(steps)]).astype(int)
    found = np.full(place[-1] + 1, np.nan)
    found[place] = x
    return found


def _answer(columns: list[Array], stamps: list[Array] | None) -> tuple[int | None, str, float]:
    """Order, reason and noise of a column; `stamps` in units of a step where those are uneven."""
    values = np.concatenate(columns)
    values = values[~np.isnan(values)]
    if not values.size:
        return None, "the recording has no sample", 0.0
    limit = 2 * _variance(columns)
    if not limit > 0:
        return None, "the recording is constant", 0.0
    basis, squares = _displacement(columns, stamps, limit)
    if len(basis) < MIN_LAGS:
        return _of_fast(columns) if stamps is None else (None, FAST, 0.0)
    constant, line, parabola = np.linalg.lstsq(basis / squares[:, None], np.ones(len(basis)), rcond=None)[0]
    middle = float(basis[-1, 1]) / 2
    diffusive, ballistic = max(line * middle, 0.0), max(parabola * middle**2, 0.0)
    noise = float(np.sqrt(max(constant, 0.0) / 2))
    moved = diffusive + ballistic
    if moved < HIDDEN * max(constant, 0.0):
        return None, "measurement noise hides the motion at all lags that could tell", noise
    if ballistic > FACTOR * diffusive and stamps is None and steps_are_white(columns):
        return None, DRIVEN, 0.0
    if ballistic > FACTOR * diffusive:
        return (
            2,
            f"ballistic: over {middle:.0f} samples the squared displacement grows like the lag squared",
            noise,
        )
    if diffusive > FACTOR * ballistic:
        return 1, f"diffusive: over {middle:.0f} samples the squared displacement grows like the lag", noise
    return _of_fast(columns) if stamps is None else (None, BETWEEN, noise)


def _of_fast(columns: list[Array]) -> tuple[int | None, str, float]:
    """The same of motion that is through most of its range within a few samples."""
    longest = min(LONGEST, max(len(column) for column in columns) // 2)
    found = motion_of(increments(columns, longest), 1.0) if longest > 1 else None
    if found is None:
        return None, FAST, 0.0
    if found.diffusive + found.ballistic < HIDDEN * 2 * found.noise**2:
        return None, "measurement noise hides the motion at all lags that could tell", found.noise
    if found.share + ERRORS * found.error < 1.0 / (1.0 + FACTOR):
        return (
            2,
            "ballistic: the squared displacement of a few samples starts like the lag squared",
            found.noise,
        )
    if found.share - ERRORS * found.error > FACTOR / (1.0 + FACTOR):
        return 1, "diffusive: the squared displacement of a few samples starts like the lag", found.noise
    return None, BETWEEN, found.noise


def _variance(columns: list[Array]) -> float:
    """Of each column about its own mean: recordings may have centres of their own."""
    squares = [np.nansum((c - np.nanmean(c)) ** 2) for c in columns if np.isfinite(c).any()]
    counts = [np.count_nonzero(np.isfinite(c)) for c in columns]
    return float(sum(squares)) / max(sum(counts), 1)


def _displacement(columns: list[Array], stamps: list[Array] | None, limit: float) -> tuple[Array, Array]:
    """Mean of one, lag and squared lag `(L, 3)`, and of squared displacements, up to where these pass `SHARE` of the
    limit.
    """
    rows: list[tuple[float, float, float]] = []
    squares: list[float] = []
    lag, pairs = 1, 0
    while lag <= MAX_LAG:
        moved = [c[lag:] - c[:-lag] for c in columns if len(c) > lag]
        if not moved:
            break
        known = np.concatenate(moved)
        there = ~np.isnan(known)
        apart = np.array([float(lag)])
        if stamps is not None:
            apart = np.concatenate([t[lag:] - t[:-lag] for t in stamps if len(t) > lag])
            there &= apart < APART * lag
            apart = apart[there]
        known = known[there]
        pairs = pairs or known.size
        mean = float(np.mean(known**2)) if known.size else 0.0
        if mean > SHARE * limit and len(rows) >= MIN_LAGS:
            break
        if mean > 2 * SHARE * limit or not np.isfinite(mean) or mean == 0 or known.size < PAIRS * pairs:
            break
        rows.append((1.0, float(apart.mean()), float(np.mean(apart**2))))
        squares.append(mean)
        lag = max(lag + 1, round(lag * 1.15))
    return np.array(rows).reshape(-1, 3), np.array(squares)
