"""What the drift of an equation means: fixed points and modes about them, with bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import Rounding, number
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.estimates import Estimates
from itoscope.result.field import Field
from itoscope.result.states import smoothed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from itoscope.common.types import Array

__all__ = ["DRAWS", "Banded", "FixedPoint", "Mode", "Motion", "banded"]

DRAWS = 200
"""Models of the posterior behind bands."""
STARTS = 60
"""States of the recording from which zeros of the drift are sought."""
SAME = 1e-4
"""Zeros nearer than this share of the spread are one."""
FLAT = 1e-9
"""Singular value of the slopes, as a share of the largest, under which the drift does not change along a direction."""


class Banded(NamedTuple):
    """A number of the mean model, and the ends of its 95 % band over the posterior."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        spread = (self.high - self.low) / 4
        if not np.isfinite(spread) or spread <= 0.0:
            return number(self.value)
        if self.value == 0.0:
            return f"0 ({number(self.low, 2)} .. {number(self.high, 2)})"
        write = Rounding.of(self.value, spread).write
        return f"{write(self.value)} ({write(self.low)} .. {write(self.high)})"


@dataclass(frozen=True)
class Mode:
    """How a small deviation from a fixed point goes.

    Attributes
    ----------
    eigenvalue : complex
        Of the slope of the mean drift, with the imaginary part of at least 0.
    relaxation_time : Banded
        `-1 / Re`: time in which it falls to a third; negative where it grows.
    frequency, damping_ratio : Banded or None
        Of the undamped oscillation, `|eigenvalue| / (2 pi)` in cycles, and `-Re / |eigenvalue|`; None where it does not
        oscillate.
    """

    eigenvalue: complex
    relaxation_time: Banded
    frequency: Banded | None = None
    damping_ratio: Banded | None = None

    def __str__(self) -> str:
        if self.frequency is None:
            time = self.relaxation_time
            if time.value < 0.0:
                return f"grows by e in {Banded(-time.value, -time.high, -time.low)}"
            return f"relaxation time {time}"
        return f"frequency {self.frequency}, damping ratio {self.damping_ratio}"


@dataclass(frozen=True)
class FixedPoint:
    """A state at which the drift is zero.

    Attributes
    ----------
    states : tuple of m str
    x : (m,) array
        Of the mean model.
    interval : (m, 2) array
        95 % band over the posterior.
    stable : bool
        Whether all small deviations fall.
    probability : float
        Share of the models of the posterior that have a fixed point there, of the same stability.
    modes : tuple of Mode
        One for each eigenvalue, a pair of complex ones together, the slowest first.
    """

    states: tuple[str, ...]
    x: Array
    interval: Array
    stable: bool
    probability: float
    modes: tuple[Mode, ...]

    def __str__(self) -> str:
        place = ", ".join(
            f"{name} = {Banded(float(x), *map(float, ends))}"
            for name, x, ends in zip(self.states, self.x, self.interval)
        )
        kind = "stable" if self.stable else "unstable"
        return f"{place}: {kind}, probability {self.probability:.2f}; {'; '.join(map(str, self.modes))}"

    __repr__ = __str__


class Motion(Estimates):
    """Findings with the points at which the drift is zero."""

    def fixed_points(self, starts: ArrayLike | None = None, *, seed: int | None = 0) -> list[FixedPoint]:
        """The states at which the drift is zero, and how deviations from them go.

        Zeros of the mean drift are sought by Newton's method from states of the recording, and followed into 200 models
        of the posterior, terms that are in doubt included.

        Parameters
        ----------
        starts : (n, m) array, optional
            States to begin at in the place of those of the recording, which a saved result does not hold.
        seed : int or None
            Of the draws.

        Returns
        -------
        list of FixedPoint
            Those within the range of the starts and as far again; stable ones first. Where the drift is zero along
            a line, or everywhere, there are none.

        Raises
        ------
        ArgumentError
            For a model that is driven, which has none; without a recording or starts.

        Examples
        --------
        >>> import itoscope as ito
        >>> wells = ito.SDE(["x - x^3"], [["0.6"]], ["x"])
        >>> data = wells.simulate([1.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
        >>> result = ito.discover(data, ito.Library.polynomials(3), seed=1)
        >>> [(round(point.x[0]), point.stable) for point in result.fixed_points()]
        [(-1, True), (1, True), (0, False)]
        """
        at = self.states_seen(starts)
        mean, drawn = Field(self.mean_model()), Field(self.draw_models(DRAWS, seed))
        scale = np.where(at.std(axis=0) > 0.0, at.std(axis=0), 1.0)
        low, high = at.min(axis=0), at.max(axis=0)
        room = np.maximum(high - low, scale)
        few = at[np.unique(np.linspace(0, len(at) - 1, STARTS).round().astype(int))]
        begin = np.vstack([few, at.mean(axis=0), np.zeros(at.shape[1])])
        found: list[Array] = []
        for start in begin:
            x = mean.zero(0, start, scale)
            if x is None or not ((low - room <= x) & (x <= high + room)).all():
                continue
            if not any(np.max(np.abs(x - other) / scale) < SAME for other in found):
                found.append(x)
        flat = [x for x in found if _is_flat(mean.slope(0, x), scale)]
        if len(flat) > 1:  # these fill a line
            found = [x for x in found if not any(x is one for one in flat)]
        points = [_point(self.states, mean, drawn, x, scale) for x in found]
        return sorted(points, key=lambda point: (not point.stable, *point.x.tolist()))

    def modes(self, *, seed: int | None = 0) -> tuple[Mode, ...]:
        """Frequencies, damping ratios and relaxation times about the fixed point nearest to the mean of the recording.

        Parameters
        ----------
        seed : int or None
            Of the draws behind the bands.

        Raises
        ------
        ArgumentError
            Where the drift is nowhere zero, or along a line, so that no point is one of rest by itself.
        """
        centre = self.states_seen()
        middle, spread = centre.mean(axis=0), np.where(centre.std(axis=0) > 0, centre.std(axis=0), 1.0)
        points = self.fixed_points(seed=seed)
        if not points:
            raise ArgumentError("modes: the drift is zero at no point near the data, or along a line")
        return min(points, key=lambda p: float(np.linalg.norm((p.x - middle) / spread))).modes

    # -- what these stand on ----------------------------------------------------------------------------------
    def states_seen(self, starts: ArrayLike | None = None) -> Array:
        """States of the recording, smoothed where it is noisy, or those that were given."""
        if self.inputs:
            raise ArgumentError(
                f"a model that {', '.join(self.inputs)} drives has no fixed points and settles on nothing"
            )
        m = len(self.states)
        if starts is not None:
            given = np.atleast_2d(checks.reals("starts", starts))
            if given.ndim != 2 or given.shape[1] != m or not len(given) or not np.isfinite(given).all():
                raise argument_error("starts", f"an array of shape {given.shape}", f"finite numbers (n, {m})")
            return given
        if self.data is None:
            raise ArgumentError(
                "starts: give states to begin at, since a saved result does not hold its recording"
            )
        paths = self.data.paths if self.observer is None else smoothed(self.observer, self.data).mean
        rows = np.concatenate(paths)
        return np.ascontiguousarray(rows[np.isfinite(rows).all(axis=1)])


def _is_flat(slope: Array, scale: Array) -> bool:
    """Whether the drift does not change along some direction."""
    sizes = np.linalg.svd(slope * scale / scale[:, None], compute_uv=False)
    return bool(sizes[-1] <= FLAT * sizes[0])


def _point(states: tuple[str, ...], mean: Field, drawn: Field, x: Array, scale: Array) -> FixedPoint:
    """A zero of the mean drift with what the posterior says of it."""
    values = _half(np.linalg.eigvals(mean.slope(0, x)))
    stable = bool((values.real < 0.0).all())
    places, spectra = [], []
    for model in range(len(drawn.table)):
        y = drawn.zero(model, x, scale)
        if y is None or not (np.abs(y - x) <= 2.0 * scale).all():
            continue
        every = np.linalg.eigvals(drawn.slope(model, y))
        if bool((every.real < 0.0).all()) == stable:
            places.append(y)
            spectra.append([every[np.argmin(np.abs(every - value))] for value in values])
    share = len(places) / len(drawn.table)
    around = np.array(places) if places else np.full((1, len(x)), np.nan)
    table = np.array(spectra) if spectra else np.full((1, len(values)), np.nan + 0j)
    interval = np.quantile(around, [0.025, 0.975], axis=0).T
    modes = tuple(_mode(value, table[:, k]) for k, value in enumerate(values))
    return FixedPoint(states, x, interval, stable, share, modes)


def _half(values: Any) -> Any:
    """Eigenvalues with an imaginary part of at least 0, the slowest first."""
    kept = values[values.imag >= 0.0]
    return kept[np.argsort(np.abs(kept.real), kind="stable")]


def _mode(value: complex, drawn: Any) -> Mode:
    time = banded(-1.0 / value.real if value.real else np.inf, -1.0 / drawn.real)
    if value.imag <= 0.0:
        return Mode(complex(value), time)
    size = np.abs(drawn)
    frequency = banded(abs(value) / (2 * np.pi), size / (2 * np.pi))
    return Mode(complex(value), time, frequency, banded(-value.real / abs(value), -drawn.real / size))


def banded(value: float, drawn: Array) -> Banded:
    """A number and the 95 % band of its draws."""
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Banded(float(value), float(low), float(high))
