"""Readings of angles, which wrap: by which period, brought to one course without jumps, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = [
    "TURN",
    "Circle",
    "angle_of",
    "circles_of",
    "counted_otherwise",
    "nearest",
    "periods_of",
    "unwrapped",
    "wrong_turns",
]

TURN = 2.0 * math.pi
"""The period of an angle unless another is told."""
ALIKE = 0.25
"""Share by which a step may differ from the usual one to tell how far the angle goes in it."""


class Circle(NamedTuple):
    """The values that an angle is shown with, `low <= x < low + period`."""

    period: float
    low: float

    def wrapped(self, x: Array) -> Array:
        """Values within the circle."""
        found: Array = self.low + np.mod(x - self.low, self.period)
        return found

    def near(self, x: Array, centre: Array) -> Array:
        """Values within half a period of a centre."""
        found: Array = centre + nearest(x - centre, self.period)
        return found

    def broken(self, x: Array) -> Array:
        """A course within the circle, NaN where it comes in at the other end, so that no line is drawn across."""
        found = self.wrapped(x)
        found[1:][np.abs(np.diff(found)) > self.period / 2] = np.nan
        return found


def angle_of(text: str) -> tuple[str, float] | None:
    """The expression of `angle(x1)` or `angle(x1, 360)` and its period; None of another text.

    Raises
    ------
    ValueError
        For a period that is no positive number.
    """
    text = text.strip()
    if not (text.startswith("angle(") and text.endswith(")")):
        return None
    of, comma, word = text[len("angle(") : -1].rpartition(",")
    if not comma:
        return word.strip(), TURN
    period = float(word.rpartition("=")[2])
    if not (math.isfinite(period) and period > 0.0 and word.rpartition("=")[0].strip() in ("", "period")):
        raise ValueError(text)
    return of.strip(), period


def periods_of(names: Sequence[str], observed: Sequence[str] | None) -> dict[str, float]:
    """The columns that show angles, and their periods."""
    angles = {name: angle_of(what) for name, what in zip(names, observed or ())}
    return {name: angle[1] for name, angle in angles.items() if angle is not None}


def circles_of(
    data: Trajectories, names: Mapping[str, str], periods: Mapping[str, float]
) -> dict[str, Circle]:
    """The circles of states, by the readings of the columns that show them: from zero where none is below it.

    Parameters
    ----------
    data : Trajectories
    names : mapping of str to str
        The state of each column.
    periods : mapping of str to float
        By column.
    """
    found = {}
    for name, period in periods.items():
        if names.get(name, "").isidentifier():
            column = data.names.index(name)
            lowest = min(float(np.nanmin(path[:, column], initial=0.0)) for path in data.paths)
            found[names[name]] = Circle(period, 0.0 if lowest >= 0.0 else -period / 2)
    return found


def nearest(x: Array, period: float) -> Array:
    """Differences less the turns in them, at most half a period."""
    found: Array = x - period * np.round(x / period)
    return found


def unwrapped(data: Trajectories, periods: Mapping[str, float]) -> Trajectories:
    """The recording with whole turns added to its angles, so that they do not jump; done twice it is done once."""
    if not periods:
        return data
    paths = [np.array(path) for path in data.paths]
    for name, period in periods.items():
        column = data.names.index(name)
        for path, stamps in zip(paths, data.times):
            there = np.flatnonzero(np.isfinite(path[:, column]))
            if len(there) > 1:
                step, left = _steps(path[there, column], np.asarray(stamps)[there], period)
                path[there[1:], column] = path[there[0], column] + np.cumsum(step + left)
    if all(np.array_equal(new, old, equal_nan=True) for new, old in zip(paths, data.paths)):
        return data
    found = data.select(data.names)
    found.paths = paths
    return found


def wrong_turns(data: Trajectories, periods: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """How much each angle strays in a step about its mean step, and how many turns are counted wrongly, expected."""
    found = {}
    for name, period in periods.items():
        column, cosines, many = data.names.index(name), 0.0, 0
        for path, stamps in zip(data.paths, data.times):
            there = np.isfinite(path[:, column])
            if there.sum() > 1:
                left = _steps(path[there, column], np.asarray(stamps)[there], period)[1]
                cosines += float(np.cos(TURN * left / period).sum())
                many += len(left)
        share = min(max(cosines / max(many, 1), 1e-300), 1.0)
        sd = period / TURN * math.sqrt(-2.0 * math.log(share))
        wrong = many * math.erfc(period / (2.0 * math.sqrt(2.0) * sd)) if sd > 0.0 else 0.0
        found[name] = sd, wrong
    return found


def counted_otherwise(counted: Array, fitted: Array, period: float) -> tuple[int, int, float]:
    """How a fit goes from reading to reading of an angle, beside the count of turns.

    Parameters
    ----------
    counted, fitted : (n,) arrays
        The readings without their turns, NaN where there is none, and what the fit shows in their places.
    period : float

    Returns
    -------
    otherwise, steps : int
        How often another number of turns lies between two readings than was counted, and how many of these pairs are
        next to each other.
    share : float
        How far the fit goes between readings next to each other, as a share of the period: the median; 0 of none.
    """
    there = np.flatnonzero(np.isfinite(counted))
    added = np.diff(np.round((fitted - counted)[there] / period)) != 0.0
    close = np.diff(there) == 1
    moved = np.abs(np.diff(fitted[there])[close]) / period
    return int(added.sum()), int(added[close].sum()), float(np.median(moved)) if len(moved) else 0.0


def _steps(angle: Array, stamps: Array, period: float) -> tuple[Array, Array]:
    """How far an angle was to go from sample to sample at its mean rate, and by how much it went farther."""
    moved, gaps = np.diff(angle), np.diff(stamps)
    usual = float(np.median(gaps))
    alike = np.abs(gaps - usual) <= ALIKE * usual
    mean = np.mean(np.exp(2j * np.pi * moved[alike] / period))
    rate = float(np.angle(mean)) * period / TURN / usual
    ahead = rate * gaps
    return ahead, nearest(moved - ahead, period)
