"""What an equation means: fixed points, modes about them, potential and stationary density, with bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.common.numbers import Rounding, number
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.estimates import Estimates
from itoscope.result.states import smoothed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from itoscope.common.types import Array
    from itoscope.sde.family import Draws

__all__ = ["Banded", "Curve", "FixedPoint", "Mode", "Motion"]

DRAWS = 200
"""Models of the posterior behind bands."""
STARTS = 60
"""States of the recording from which zeros of the drift are sought."""
STEPS, HALVINGS = 60, 12
"""Newton steps, and times that one is halved until the drift gets smaller."""
CONVERGED = 1e-9
"""Share of the typical drift that counts as none."""
SAME = 1e-4
"""Zeros nearer than this share of the spread are one."""
POINTS = 401
"""Points of a curve."""
WIDER = 0.25
"""Share of the range of the data that a curve goes beyond it."""


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


@dataclass(frozen=True)
class Curve:
    """A function of one state of the mean model, and its 95 % band over the posterior, `(n,)` each."""

    x: Array
    mean: Array
    low: Array
    high: Array


class Motion(Estimates):
    """Findings with what follows from the drift and the noise without simulation."""

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
            Those within the range of the starts and as far again; stable ones first.

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
        at = self._states_seen(starts)
        mean, drawn = _Field(self.mean_model()), _Field(self.draw_models(DRAWS, seed))
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
            Where the drift is nowhere zero.
        """
        centre = self._states_seen(None)
        middle, spread = centre.mean(axis=0), np.where(centre.std(axis=0) > 0, centre.std(axis=0), 1.0)
        points = self.fixed_points(seed=seed)
        if not points:
            raise ArgumentError("modes: the drift is nowhere zero near the data")
        return min(points, key=lambda p: float(np.linalg.norm((p.x - middle) / spread))).modes

    def potential(self, x: ArrayLike | None = None, *, seed: int | None = 0) -> Curve:
        """The potential `U` of one state, `f = -dU/dx`, zero at its lowest point.

        Parameters
        ----------
        x : (n,) array of increasing numbers, optional
            By default 401 points over the range of the recording and a quarter more.
        seed : int or None
            Of the draws behind the band.
        """
        at = self._line(x, "potential")
        rates = [_Field(models).drift(at[:, None])[:, :, 0] for models in self._both(seed)]
        curves = [-_integral(at, rate) for rate in rates]
        return _curve(at, *(u - u.min(axis=1, keepdims=True) for u in curves))

    def stationary_density(self, x: ArrayLike | None = None, *, seed: int | None = 0) -> Curve:
        r"""The density that the noise and the drift of one state settle on.

        :math:`p(x) \propto \Gamma(x)^{-1} \exp \int^x 2 f / \Gamma`, which has no flux, in the sense of Ito.

        Parameters
        ----------
        x, seed
            As of `potential`; the density is normalised on them.

        Raises
        ------
        ArgumentError
            For more than one state, a model that is driven, and one without noise.
        """
        at = self._line(x, "stationary_density")
        if not self.diffusion:
            raise ArgumentError("stationary_density: the model has no noise")
        laws = []
        for models in self._both(seed):
            field = _Field(models)
            rate, gamma = field.drift(at[:, None])[:, :, 0], field.variance(at[:, None])
            floor = float(self.settings.get("weight_floor", 0.01)) * np.maximum(gamma, 0.0).mean(
                axis=1, keepdims=True
            )
            if not (floor[0] > 0.0).all():
                raise ArgumentError("stationary_density: the variance of the model is nowhere positive")
            gamma = np.maximum(gamma, np.maximum(floor, 1e-300))
            log = _integral(at, 2.0 * rate / gamma) - np.log(gamma)
            law = np.exp(log - log.max(axis=1, keepdims=True))
            laws.append(law / _integral(at, law)[:, -1:])
        return _curve(at, *laws)

    # -- what these stand on ----------------------------------------------------------------------------------
    def _both(self, seed: int | None) -> tuple[Draws, Draws]:
        return self.mean_model(), self.draw_models(DRAWS, seed)

    def _states_seen(self, starts: ArrayLike | None) -> Array:
        """States of the recording, smoothed where it is noisy, or those that were given."""
        if self.inputs:
            raise ArgumentError(f"a model that {', '.join(self.inputs)} drives has no fixed points")
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

    def _line(self, x: ArrayLike | None, what: str) -> Array:
        """Points of one state."""
        if len(self.states) != 1:
            raise ArgumentError(f"{what}: of one state; this model has {', '.join(self.states)}")
        if x is None:
            seen = self._states_seen(None)[:, 0]
            room = WIDER * (seen.max() - seen.min())
            return np.linspace(seen.min() - room, seen.max() + room, POINTS)
        self._states_seen([[0.0]])
        at = checks.reals("x", x)
        if at.ndim != 1 or len(at) < 3 or not np.isfinite(at).all() or not (np.diff(at) > 0).all():
            raise argument_error("x", f"an array of shape {at.shape}", "three or more increasing numbers")
        return at


class _Field:
    """Drift and variance of models over the same terms."""

    def __init__(self, models: Draws) -> None:
        states = list(models.states)
        sums = {i: models.drift[state] for i, state in enumerate(states) if state not in models.given}
        rows = {i: models.given[state] for i, state in enumerate(states) if state in models.given}
        terms = list(dict.fromkeys(term for found in sums.values() for term in found.terms))
        self._program = get_backend(None).compile([*terms, *rows.values()], states)
        self.table = np.zeros((len(models), len(states), len(terms) + len(rows)))
        for i, found in sums.items():
            self.table[:, i, [terms.index(term) for term in found.terms]] = found.values
        for place, i in enumerate(rows, len(terms)):
            self.table[:, i, place] = 1.0
        self._gamma = models.gamma.get((states[0], states[0]))
        self._states = states

    def drift(self, x: Array) -> Array:
        """`(n_models, n, m)` at states `(n, m)`."""
        rates: Array = np.einsum("pk,nik->npi", self._program.evaluate(np.ascontiguousarray(x)), self.table)
        return rates

    def variance(self, x: Array) -> Array:
        """That of the first state `(n_models, n)`."""
        assert self._gamma is not None
        values = (
            get_backend(None).compile(list(self._gamma.terms), self._states).evaluate(np.ascontiguousarray(x))
        )
        found: Array = self._gamma.values @ values.T
        return found

    def slope(self, model: int, x: Array) -> Array:
        """The derivatives of the drift of one model at a state `(m, m)`."""
        slope: Array = self.table[model] @ self._program.gradient(np.ascontiguousarray(x[None]))[0]
        return slope

    def of(self, model: int, x: Array) -> Array:
        """The drift of one model at a state `(m,)`."""
        rate: Array = self.table[model] @ self._program.evaluate(np.ascontiguousarray(x[None]))[0]
        return rate

    def zero(self, model: int, x: Array, scale: Array) -> Array | None:
        """A zero of the drift of one model near a state; None where Newton's steps do not come to one."""
        f = self.of(model, x)
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                slope = self.slope(model, x)
                if not (np.isfinite(f).all() and np.isfinite(slope).all()):
                    return None
                typical = np.abs(slope) @ scale
                if (np.abs(f) <= CONVERGED * typical).all():
                    return np.where(np.abs(x) < CONVERGED * scale, 0.0, x)
                step = -np.linalg.lstsq(slope * scale, f, rcond=None)[0] * scale
                size, weight = np.inf, np.where(typical > 0.0, typical, 1.0)
                for _ in range(HALVINGS):
                    size = float(np.linalg.norm(self.of(model, x + step) / weight))
                    if size < np.linalg.norm(f / weight):
                        break
                    step = step / 2.0
                x = x + step
                f = self.of(model, x)
        return None


def _point(states: tuple[str, ...], mean: _Field, drawn: _Field, x: Array, scale: Array) -> FixedPoint:
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
    time = _banded(-1.0 / value.real if value.real else np.inf, -1.0 / drawn.real)
    if value.imag <= 0.0:
        return Mode(complex(value), time)
    size = np.abs(drawn)
    frequency = _banded(abs(value) / (2 * np.pi), size / (2 * np.pi))
    return Mode(complex(value), time, frequency, _banded(-value.real / abs(value), -drawn.real / size))


def _banded(value: float, drawn: Array) -> Banded:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Banded(float(value), float(low), float(high))


def _integral(x: Array, values: Array) -> Array:
    """The integral from the first point by the trapezoidal rule, `(n_models, n)`."""
    pieces = 0.5 * (values[:, 1:] + values[:, :-1]) * np.diff(x)
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(pieces, axis=1)], axis=1)


def _curve(x: Array, mean: Array, drawn: Array) -> Curve:
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return Curve(x, mean[0], low, high)
