"""`classify_order`: is a recording the state of a first-order equation, or the position of a second-order one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data.trajectories import Trajectories, as_trajectories
from itoscope.errors import DataError
from itoscope.stats.ringing import LONGEST, increments, motion_of

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["OrderAnswer", "classify_order"]

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

    Parameters
    ----------
    trajectories : Trajectories or array
        With even steps.
    dt : float, optional
        Step between samples, only for arrays.

    Returns
    -------
    OrderAnswer

    Raises
    ------
    DataError
        For uneven steps.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=5, seed=1)
    >>> ito.classify_order(data.positions(noise=0.05, seed=2)).order
    2
    """
    data = as_trajectories(trajectories, dt=dt)
    if data.dt is None:
        raise DataError("classify_order: the steps are uneven; resample to an even step first")
    answers = [_of_column([path[:, i] for path in data.paths]) for i in range(data.n_states)]
    noise = tuple(answer[2] for answer in answers)
    orders = {answer[0] for answer in answers}
    if len(orders) == 1:
        return OrderAnswer(answers[0][0], "; ".join(dict.fromkeys(answer[1] for answer in answers)), noise)
    each = "; ".join(f"{name}: {answer[1]}" for name, answer in zip(data.names, answers))
    return OrderAnswer(None, f"the columns differ: {each}", noise)


def _of_column(columns: list[Array]) -> tuple[int | None, str, float]:
    values = np.concatenate(columns)
    values = values[~np.isnan(values)]
    if not values.size:
        return None, "the recording has no sample", 0.0
    limit = 2 * _variance(columns)
    if not limit > 0:
        return None, "the recording is constant", 0.0
    lags, squares = _displacement(columns, limit)
    if len(lags) < MIN_LAGS:
        return _of_fast(columns)
    basis = np.stack([np.ones(len(lags)), lags, lags**2], axis=1)
    constant, line, parabola = np.linalg.lstsq(basis / squares[:, None], np.ones(len(lags)), rcond=None)[0]
    middle = float(lags[-1]) / 2
    diffusive, ballistic = max(line * middle, 0.0), max(parabola * middle**2, 0.0)
    noise = float(np.sqrt(max(constant, 0.0) / 2))
    moved = diffusive + ballistic
    if moved < HIDDEN * max(constant, 0.0):
        return None, "measurement noise hides the motion at all lags that could tell", noise
    if ballistic > FACTOR * diffusive:
        return (
            2,
            f"ballistic: over {middle:.0f} samples the squared displacement grows like the lag squared",
            noise,
        )
    if diffusive > FACTOR * ballistic:
        return 1, f"diffusive: over {middle:.0f} samples the squared displacement grows like the lag", noise
    return _of_fast(columns)


def _of_fast(columns: list[Array]) -> tuple[int | None, str, float]:
    """The same of motion that is through most of its range within a few samples."""
    longest = min(LONGEST, max(len(column) for column in columns) // 2)
    found = motion_of(increments(columns, longest), 1.0) if longest > 1 else None
    if found is None:
        return None, "the recording moves through most of its range within a few samples: sample faster", 0.0
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
    return (
        None,
        "the squared displacement grows between the lag and its square: both orders are possible; sample faster",
        found.noise,
    )


def _variance(columns: list[Array]) -> float:
    """Of each column about its own mean: recordings may have centres of their own."""
    squares = [np.nansum((c - np.nanmean(c)) ** 2) for c in columns if np.isfinite(c).any()]
    counts = [np.count_nonzero(np.isfinite(c)) for c in columns]
    return float(sum(squares)) / max(sum(counts), 1)


def _displacement(columns: list[Array], limit: float) -> tuple[Array, Array]:
    """Lags in samples and mean squared displacements, up to the lag where they pass `SHARE` of the limit."""
    lags: list[int] = []
    squares: list[float] = []
    lag, pairs = 1, 0
    while lag <= MAX_LAG:
        moved = [c[lag:] - c[:-lag] for c in columns if len(c) > lag]
        if not moved:
            break
        known = np.concatenate(moved)
        known = known[~np.isnan(known)]
        pairs = pairs or known.size
        mean = float(np.mean(known**2)) if known.size else 0.0
        if mean > SHARE * limit and len(lags) >= MIN_LAGS:
            break
        if mean > 2 * SHARE * limit or not np.isfinite(mean) or mean == 0 or known.size < PAIRS * pairs:
            break
        lags.append(lag)
        squares.append(mean)
        lag = max(lag + 1, round(lag * 1.15))
    return np.array(lags, dtype=np.float64), np.array(squares)
