"""Angles: the sensor that shows one, which of the columns show them, and harmonics as their candidate terms."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact, number
from itoscope.data.angles import TURN, angle_of, circles_of, counted_otherwise, unwrapped, wrong_turns
from itoscope.errors import argument_error
from itoscope.library.library import Library
from itoscope.stats.marks import wrap_period

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.data.angles import Circle
    from itoscope.data.trajectories import Trajectories

__all__ = [
    "Angle", "angles_of", "as_they_are", "harmonics", "pieces_of", "said_of_followed", "said_of_turns",
    "without_turns",
]  # fmt: skip

DOUBTFUL = 0.5
"""Turns that are expected to be counted wrongly, from which it is said."""
BENDS = 0.1
"""Share of a turn within which the filter takes a drift over the circle for straight."""

FITS = 1e-3
"""By how much the period of the jumps of readings may miss a multiple of the one that was told."""
SIMPLE, ROUNDING = 100, 1e-12
"""A period is one of radians where a turn over it is a fraction with such a denominator at most, but for rounding."""


@dataclass(frozen=True)
class Angle:
    """A sensor that shows an angle, which jumps by a period where it wraps.

    `y_n = of(x(t_n)) + e_n` up to whole periods. They are added before anything else is done: of all places that a
    reading may stand for, the one nearest to where the reading before leads at the mean rate of the recording. Behind
    the filter the model leads instead, see Notes. The state is an angle without jumps. Unless a library is given, the
    candidate terms are harmonics, sin and cos of the angle and of two and three times that, and their products with the
    other states up to the third degree.

    Parameters
    ----------
    of : str
        A linear expression of the states.
    period : float
        2 pi unless told: 360 of degrees, 1 of turns.

    Raises
    ------
    ArgumentError
        For an expression that is no text, or a period that is not positive.

    Notes
    -----
    Where the angle strays from its mean rate by about a quarter of the period in a step, turns are counted wrongly; the
    number that is to be expected is said as a warning. The filter takes of all places the one nearest to its
    prediction, `-p/2 < r <= p/2`, where that has a standard deviation below `p/2`; else the counted one, if that is
    within three of them. Motion by more than half a turn from sample to sample is not told from slower one by even
    readings of an angle alone; readings of its rate tell it.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.Angle("x1", period=360).text
    'angle(x1, 360)'
    """

    of: str
    period: float = TURN

    def __post_init__(self) -> None:
        if not isinstance(self.of, str) or not self.of.strip():
            raise argument_error("Angle", self.of, "an expression of the states, such as 'x1'")
        checks.positive("period", self.period)

    @property
    def text(self) -> str:
        """As a settings file and the command line have it."""
        return f"angle({self.of})" if self.period == TURN else f"angle({self.of}, {exact(self.period)})"


def angles_of(observed: list[str] | str | None) -> tuple[list[str] | str | None, dict[int, float]]:
    """The expressions of all columns, angles among them as they are without jumps, and the periods of these by number.

    Raises
    ------
    ArgumentError
        For a period that is no positive number.
    """
    if observed is None or not checks.is_list(observed):
        return observed, {}
    texts, periods = [], {}
    for c, what in enumerate(observed):
        try:
            angle = angle_of(what) if isinstance(what, str) else None
        except ValueError:
            raise argument_error("observed", what, "a positive period, as angle(x1, 360)") from None
        texts.append(what if angle is None else angle[0])
        if angle is not None:
            periods[c] = angle[1]
    return texts, periods


def without_turns(
    data: Trajectories, observed: list[str] | str | None
) -> tuple[Trajectories, list[str] | str | None, dict[str, Circle]]:
    """A recording whose angles do not jump, what its columns show, the circles of angles.

    Columns that are the states themselves but for the turns show nothing else: None.
    """
    texts, periods = angles_of(observed)
    turns = {data.names[c]: period for c, period in periods.items() if c < len(data.names)}
    _check_periods(data, turns)
    circles = circles_of(data, dict(zip(data.names, texts or data.names)), turns)
    data = unwrapped(data, turns)
    plain = None if as_they_are(data.names, observed) else texts
    return data, plain, circles


def _check_periods(data: Trajectories, turns: Mapping[str, float]) -> None:
    """Raise `ArgumentError` where readings wrap by what is no multiple of the period that was told."""
    for name, period in turns.items():
        column = data.names.index(name)
        seen = wrap_period([path[:, column] for path in data.paths])[0]
        if seen and abs(seen / period - max(round(seen / period), 1)) > FITS:
            told = Angle(name, period).text
            wanted = Angle(name, seen).text
            raise argument_error(
                f"observed[{name!r}]",
                told,
                f"the period by which the readings jump, {number(seen)}: {wanted}",
            )


def as_they_are(names: Sequence[str], observed: Sequence[str] | None) -> bool:
    """Whether the columns are the states themselves, but for angles among them that wrap."""
    if observed is None:
        return True
    texts, periods = angles_of(list(observed))
    return bool(periods) and texts == list(names)


def harmonics(states: Sequence[str], angles: Mapping[str, Circle], degree: int) -> Library:
    """Products of powers of states, and of sines and cosines of those that are angles, up to a degree.

    A harmonic counts as the power of its number.

    Parameters
    ----------
    states : sequence of str
    angles : mapping of str to Circle
        The states that are angles.
    degree : int
    """
    choices = []
    for state in states:
        own = [(0, "")]
        for k in range(1, degree + 1):
            if state not in angles:
                own.append((k, state if k == 1 else f"{state}^{k}"))
                continue
            inside = _turns(state, k, angles[state].period)
            own += [(k, f"{wave}({inside})") for wave in ("sin", "cos")]
        choices.append(own)
    found = [
        (sum(k for k, _ in chosen), " ".join(text for _, text in chosen if text) or "1")
        for chosen in itertools.product(*choices)
    ]
    found.sort(key=lambda one: one[0])
    return Library.expressions(*(text for total, text in found if total <= degree))


def _turns(state: str, k: int, period: float) -> str:
    """`k` times an angle in radians: `2 theta`, of half turns `theta/2`, of degrees `pi theta/90`."""
    rate = Fraction(k * TURN / period).limit_denominator(SIMPLE)
    above = "" if rate.numerator == 1 else f"{rate.numerator} "
    if abs(rate * period - k * TURN) > ROUNDING * k * TURN:
        rate = Fraction(2 * k) / Fraction(exact(period))
        above = "pi " if rate.numerator == 1 else f"{rate.numerator} pi "
    return f"{above}{state}" if rate.denominator == 1 else f"{above}{state}/{rate.denominator}"


def pieces_of(
    data: Trajectories, observation: Array, periods: Mapping[str, float], rates: Mapping[int, int]
) -> int:
    """In how many pieces the filter predicts a step of usual length, so that no angle goes far over its circle in one.

    How far it goes is read from the column that shows its rate, or from the mean rate of the count.

    Parameters
    ----------
    data : Trajectories
        Without turns.
    observation : (q, m) array
    periods : mapping of str to float
        By column.
    rates : mapping of int to int
        Of states the number of the state that is their rate, where one is.
    """
    usual = float(np.median(np.concatenate([np.diff(stamps) for stamps in data.times])))
    most = 1
    for name, period in periods.items():
        shown = observation[data.names.index(name)]
        rate = np.zeros_like(shown)
        for state in np.flatnonzero(shown).tolist():
            rate[rates.get(state, state)] += shown[state] if state in rates else np.nan
        own = [c for c, row in enumerate(observation) if np.array_equal(row, rate)]
        if own:
            size = float(np.nanmedian(np.abs(np.concatenate([path[:, own[0]] for path in data.paths]))))
        else:
            size = abs(_mean_rate(data, name))
        most = max(most, math.ceil(size * usual / (BENDS * period)))
    return most


def _mean_rate(data: Trajectories, name: str) -> float:
    """How fast a column goes from the first reading of each path to the last one, on the average."""
    moved = lasted = 0.0
    for path, stamps in zip(data.paths, data.times):
        there = np.flatnonzero(np.isfinite(path[:, data.names.index(name)]))
        if len(there) > 1:
            ends = there[[0, -1]]
            moved += float(np.diff(path[ends, data.names.index(name)])[0])
            lasted += float(np.diff(np.asarray(stamps)[ends])[0])
    return moved / lasted if lasted > 0.0 else 0.0


def said_of_followed(data: Trajectories, periods: Mapping[str, float], fitted: Sequence[Array]) -> list[str]:
    """A sentence for each angle whose turns the filter counted otherwise than its readings alone would have it.

    Parameters
    ----------
    data : Trajectories
        Without turns.
    periods : mapping of str to float
        By column.
    fitted : sequence of (n_i, q) arrays
        What the smoothed states show.
    """
    found = []
    for name, period in periods.items():
        c = data.names.index(name)
        parts = [counted_otherwise(path[:, c], one[:, c], period) for path, one in zip(data.paths, fitted)]
        otherwise, close = (sum(part[k] for part in parts) for k in (0, 1))
        share = max(part[2] for part in parts)
        if not otherwise:
            continue
        fast = f"; it goes by {share:.2g} of {period:.4g} from sample to sample" if share > 0.5 else ""
        found.append(
            f"{name}: between {otherwise} pairs of readings the model leads through another number of turns than was "
            f"counted, and is followed ({close} of them next to each other){fast}"
        )
    return found


def said_of_turns(data: Trajectories, periods: Mapping[str, float]) -> list[str]:
    """A sentence for each angle whose turns may be counted wrongly."""
    return [
        f"{name} strays from its mean rate by {sd:.3g} from sample to sample, and wraps by {periods[name]:.4g}: some "
        f"{wrong:.2g} turns are counted wrongly; samples closer in time tell them"
        for name, (sd, wrong) in wrong_turns(data, periods).items()
        if wrong > DOUBTFUL
    ]
