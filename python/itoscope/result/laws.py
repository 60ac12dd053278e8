"""Where a motion settles and when it gets somewhere: potential, stationary density, first passage, with bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.ensemble import Asked
from itoscope.result.field import Field
from itoscope.result.motion import DRAWS, Motion, banded
from itoscope.result.passage import LONG, TIMES, Arrivals, Curve, FirstPassage, by_equation, last_held
from itoscope.result.plane import settled
from itoscope.result.walk import Walk, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from itoscope.common.types import Array
    from itoscope.sde.family import Draws

__all__ = ["Laws", "Surface", "around"]

POINTS = 401
"""Points of a curve."""
WIDER = 0.25
"""Share of the range of the data that a curve goes beyond it."""
NODES, PLANE_DRAWS = 81, 50
"""Points of a surface each way, and models behind its band."""
PASSAGE_NODES = 161
"""Points between start, level and wall."""
NEAREST = 1e-6
"""Share of the way to a wall at which the density along it is first looked at."""
WALKERS = 40
"""Simulated paths of each model."""


@dataclass(frozen=True)
class Surface:
    """A function of two states of the mean model, and its 95 % band over the posterior.

    Attributes
    ----------
    x, y : (n,) and (k,) arrays
        Of the first and the second state.
    mean, low, high : (n, k) arrays
    error : float
        Of `mean`: the integral of its distance from the solution with half as many points.
    """

    x: Array
    y: Array
    mean: Array
    low: Array
    high: Array
    error: float


class Laws(Motion):
    """Findings with what follows from the drift and the noise together."""

    def potential(self, x: ArrayLike | None = None, *, seed: int | None = 0) -> Curve:
        """The potential `U` of one state, `f = -dU/dx`, zero at its lowest point.

        Parameters
        ----------
        x : (n,) array of increasing numbers, optional
            By default 401 points over the range of the recording and a quarter more.
        seed : int or None
            Of the draws behind the band.

        Raises
        ------
        ArgumentError
            For more than one state, and a model that is driven.
        """
        at = self._line(x, "potential")
        rates = [Field(models).drift(at[:, None])[:, :, 0] for models in self.both(seed=seed)]
        curves = [-_integral(at, rate) for rate in rates]
        return _curve(at, *(u - u.min(axis=1, keepdims=True) for u in curves))

    def stationary_density(
        self, x: ArrayLike | None = None, y: ArrayLike | None = None, *, seed: int | None = 0
    ) -> Curve | Surface:
        r"""The density that noise and drift settle on, of one or two states, in the sense of Ito.

        Of one state :math:`p(x) \propto \Gamma(x)^{-1} \exp \int^x 2 f / \Gamma`, which has no flux. Of two the
        stationary Fokker-Planck equation is solved by finite differences (extra `density`). Walls at the edges hold the
        motion: nearly all of the density has to be well inside.

        Parameters
        ----------
        x, y : (n,) and (k,) arrays of increasing numbers, optional
            Of each state, `y` of the second one, in even steps where there are two. By default 401 points, and 81 by
            81, over the range of the recording and a quarter more.
        seed : int or None
            Of the draws behind the band; of two states these are 50.

        Returns
        -------
        Curve or Surface

        Raises
        ------
        ArgumentError
            For more than two states, a model that is driven, and one without noise.

        Examples
        --------
        >>> import itoscope as ito, numpy as np
        >>> data = ito.SDE(["-x"], [["1"]], ["x"]).simulate([0.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
        >>> density = ito.discover(data, ito.Library.polynomials(1), seed=1).stationary_density([-1.0, 0.0, 1.0])
        >>> bool(density.low[0] / density.high[1] < np.exp(-1) < density.high[0] / density.low[1])  # of exp(-x^2)
        True
        """
        if not self.diffusion:
            raise ArgumentError("stationary_density: the model has no noise")
        self._check_normal("stationary_density")
        if len(self.states) == 2:
            return self._surface(x, y, seed)
        if y is not None:
            raise argument_error(
                "y", y, f"none: points of a second state, and this model has {', '.join(self.states)}"
            )
        at = self._line(x, "stationary_density")
        laws = []
        for models in self.both(seed=seed):
            rate, gamma = self._rates(models, at)
            log = _integral(at, 2.0 * rate / gamma) - np.log(gamma)
            law = np.exp(log - log.max(axis=1, keepdims=True))
            laws.append(law / _integral(at, law)[:, -1:])
        return _curve(at, *laws)

    def first_passage(
        self,
        level: float | Sequence[float],
        start: ArrayLike,
        *,
        state: str | None = None,
        wall: float | None = None,
        duration: float | None = None,
        dt: float | None = None,
        seed: int | None = 0,
    ) -> FirstPassage:
        r"""When a state first reaches a level, or leaves what is between two.

        Of one state by the backward equation, without simulation. Of more states by simulation of 40 paths
        of each of 50 models, with the chance :math:`\exp(-2 d_0 d_1 / \Gamma \Delta t)` of a crossing between samples;
        its bands hold the chance of so few paths too.

        Parameters
        ----------
        level : float or two of them
        start : float or (m,) array
        state : str, optional
            Whose level it is; by default the first one.
        wall : float, optional
            What holds a motion of one state on the other side of the start; by default a quarter beyond the range of
            the recording, which a saved result does not hold.
        duration : float, optional
            How long is simulated at most, and to where `arrived` goes; by default five mean times of one state, and of
            more until all but 1 % have arrived or 2e7 steps are done.
        dt : float, optional
            Step of the simulation; that of the data by default.
        seed : int or None
            Of the draws behind the bands, and of the simulation.

        Returns
        -------
        FirstPassage
            `mean`, `sd` and the share that has `arrived` over the time.

        Raises
        ------
        ArgumentError
            For a start that is not on one side of the level, or not between the two; a wall where it has
            nothing to hold; a model that is driven, or has no noise; and where `dt` is missing.

        Examples
        --------
        >>> import itoscope as ito
        >>> data = ito.SDE(["x - x^3"], [["0.6"]], ["x"]).simulate([1.0], dt=0.05, n_steps=20000, substeps=5, seed=1)
        >>> result = ito.discover(data, ito.Library.polynomials(3), seed=1)
        >>> over = result.first_passage(0.0, 1.0)  # from the bottom of a well to its rim: of the truth 9.4
        >>> over.mean.low < 9.4 < over.mean.high
        True
        """
        if not self.diffusion:
            raise ArgumentError("first_passage: the model has no noise")
        begin = self.states_seen(start)[0]
        name = checks.choice("state", self.states[0] if state is None else state, self.states)
        place = self.states.index(name)
        levels = _levels(level, begin[place])
        longest = None if duration is None else checks.positive("duration", duration)
        if len(self.states) == 1:
            self._check_normal("first_passage")
            times, (mean, drawn) = self._solved(levels, float(begin[0]), wall, longest, seed)
        else:
            times, (mean, drawn) = self._walked(levels, begin, place, longest, dt, seed)
        return FirstPassage(
            state=name,
            start=float(begin[place]),
            level=levels,
            mean=banded(mean.mean[0], drawn.mean),
            sd=banded(mean.sd[0], drawn.sd),
            arrived=_curve(times, mean.share, drawn.share),
            method="equation" if len(self.states) == 1 else "simulation",
        )

    # -- what these stand on ----------------------------------------------------------------------------------
    def both(self, draws: int = DRAWS, seed: int | None = 0) -> tuple[Draws, Draws]:
        """The mean model, and so many of the posterior."""
        return self.mean_model(), self.draw_models(draws, seed)

    def _line(self, x: ArrayLike | None, what: str) -> Array:
        """Points of one state."""
        if len(self.states) != 1:
            states = "one or two states" if what == "stationary_density" else "one state"
            raise ArgumentError(f"{what}: of {states}; this model has {', '.join(self.states)}")
        if x is None:
            return around(self.states_seen(None)[:, 0], POINTS)
        self.states_seen([[0.0]])
        return _points("x", x)

    def _check_normal(self, what: str) -> None:
        """Refuse noise of steps that is not normal."""
        if self.diagnostics.get("diffusion_law"):
            raise ArgumentError(
                f"{what}: follows from an equation of steps whose noise is normal; simulate draws them by their law"
            )

    def _rates(self, models: Draws, at: Array) -> tuple[Array, Array]:
        """Drift and variance of one state, `(n_models, n)` each; no variance is less than a share of their mean."""
        field = Field(models)
        return field.drift(at[:, None])[:, :, 0], self._floored(field.variance(at[:, None]))

    def _floored(self, gamma: Array) -> Array:
        """Variances `(n_models, n)` that are positive."""
        floor = float(self.settings.get("weight_floor", 0.01)) * np.maximum(gamma, 0.0).mean(
            axis=1, keepdims=True
        )
        if not (floor[0] > 0.0).all():
            raise ArgumentError("the variance of the model is nowhere positive: it settles on no density")
        lifted: Array = np.maximum(gamma, np.maximum(floor, 1e-300))
        return lifted

    def _surface(self, x: ArrayLike | None, y: ArrayLike | None, seed: int | None) -> Surface:
        """The density of two states."""
        sides = []
        for k, (name, given) in enumerate((("x", x), ("y", y))):
            side = around(self.states_seen(None)[:, k], NODES) if given is None else _points(name, given)
            if len(side) < 5 or np.ptp(np.diff(side)) > 1e-6 * (side[1] - side[0]):
                raise argument_error(
                    name, f"an array of shape {side.shape}", "five or more numbers in even steps"
                )
            sides.append(side)
        self.states_seen([[0.0, 0.0]])
        at = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
        fields = [self._plane(models, at) for models in self.both(PLANE_DRAWS, seed)]
        first, second = sides
        (mean,), drawn = ([settled(first, second, f, g) for f, g in zip(*field)] for field in fields)
        drift, gamma = (part[0][::2, ::2] for part in fields[0])
        away = np.abs(mean[::2, ::2] - settled(first[::2], second[::2], drift, gamma)).sum()
        area = 4.0 * (first[1] - first[0]) * (second[1] - second[0])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        return Surface(first, second, mean, low, high, float(away * area))

    def _plane(self, models: Draws, at: Array) -> tuple[Array, Array]:
        """Drift `(n_models, n, k, 2)` and covariance `(n_models, n, k, 2, 2)` on a grid, the latter one everywhere."""
        field, rows = Field(models), at.reshape(-1, 2)
        gamma = np.zeros((len(field), len(rows), 2, 2))
        noisy = [i for i in (0, 1) if (self.states[i], self.states[i]) in models.gamma]
        for i in noisy:
            gamma[..., i, i] = self._floored(field.variance(rows, i))
        most = np.sqrt(gamma[..., 0, 0] * gamma[..., 1, 1])
        gamma[..., 0, 1] = gamma[..., 1, 0] = np.clip(field.covariance(rows, 0, 1), -most, most)
        return field.drift(rows).reshape(-1, *at.shape), gamma.reshape(-1, *at.shape, 2)

    def _solved(
        self,
        levels: tuple[float, ...],
        start: float,
        wall: float | None,
        longest: float | None,
        seed: int | None,
    ) -> tuple[Array, tuple[Arrivals, Arrivals]]:
        """Times to the levels of one state, of the mean model and of draws."""
        both = len(levels) == 2
        ends = levels if both else (_wall(self, levels[0], start, wall), levels[0])
        if wall is not None and not both:
            self._check_held(start, ends[0])
        sign = 1.0 if ends[0] < ends[1] else -1.0
        share = (start - ends[0]) / (ends[1] - ends[0])
        place = min(max(round(share * (PASSAGE_NODES - 1)), 1), PASSAGE_NODES - 2)
        at = np.concatenate(
            [np.linspace(ends[0], start, place + 1), np.linspace(start, ends[1], PASSAGE_NODES - place)[1:]]
        )
        times = None if longest is None else np.linspace(0.0, longest, TIMES)
        found = []
        for models in self.both(seed=seed):
            rate, gamma = self._rates(models, at)
            times, arrivals = by_equation(sign * at, place, sign * rate, gamma, both, times)
            found.append(arrivals)
        assert times is not None
        return times, (found[0], found[1])

    def _check_held(self, start: float, wall: float) -> None:
        """Refuse a wall twice as far from the start as the stationary density of the mean model reaches."""
        at = start + (wall - start) * np.concatenate([[0.0], np.geomspace(NEAREST, 1.0, POINTS)])
        with np.errstate(all="ignore"):
            rate, gamma = self._rates(self.mean_model(), at)
            last = last_held(at, rate[0], gamma[0])
        if last is not None and abs(wall - start) > 2.0 * abs(last - start):
            raise argument_error(
                "wall", wall, f"a state between {start:.4g} and {2.0 * last - start:.4g}: beyond {last:.4g} there is "
                "less than 1e-12 of the peak of the stationary density, and a wall holds nothing",
            )  # fmt: skip

    def _walked(
        self,
        levels: tuple[float, ...],
        start: Array,
        place: int,
        longest: float | None,
        dt: float | None,
        seed: int | None,
    ) -> tuple[Array, tuple[Arrivals, Arrivals]]:
        """Times to the levels of more states, by simulation."""
        found = []
        times: Array | None = None
        for models, paths in zip(self.both(PLANE_DRAWS, seed), (WALKERS * PLANE_DRAWS, WALKERS)):
            walk = Walk(self, models, place, levels, longest, Asked(dt=dt, n_steps=1, seed=seed))
            arrival = walk.arrivals(start, paths)
            if times is None:
                known = arrival[np.isfinite(arrival)]
                far = longest or LONG * float(known.mean() if len(known) else walk.step)
                times = np.linspace(0.0, far, TIMES)
            found.append(summed(arrival, times))
        assert times is not None
        return times, (found[0], found[1])


def _wall(result: Laws, level: float, start: float, wall: float | None) -> float:
    """On the side of the start that is not the level's: beyond the recording, or where it was put."""
    if wall is not None:
        wall = checks.finite("wall", wall)
        if (wall - start) * (level - start) >= 0.0:
            raise argument_error("wall", wall, f"a state with the start, {start:g}, between it and the level")
        return wall
    if result.data is None:
        raise ArgumentError("wall: give one, since a saved result does not hold its recording")
    seen = result.states_seen()[:, 0]
    low, high = min(float(seen.min()), start), max(float(seen.max()), start)
    room = WIDER * max(high - low, abs(level - start))
    return low - room if level > start else high + room


def _levels(level: float | Sequence[float], start: float) -> tuple[float, ...]:
    """One level that the start is not on, or two that it is between."""
    given = np.atleast_1d(checks.reals("level", level))
    if given.ndim != 1 or len(given) not in (1, 2) or not np.isfinite(given).all():
        raise argument_error("level", level, "a finite number or two")
    levels = tuple(sorted(given.tolist()))
    if start in levels or (len(levels) == 2 and not levels[0] < start < levels[1]):
        raise argument_error(
            "start", start, f"a state that is not there yet; level: {', '.join(map(str, levels))}"
        )
    return levels


def _points(name: str, x: ArrayLike) -> Array:
    at = checks.reals(name, x)
    if at.ndim != 1 or len(at) < 3 or not np.isfinite(at).all() or not (np.diff(at) > 0).all():
        raise argument_error(name, f"an array of shape {at.shape}", "three or more increasing numbers")
    return at


def around(seen: Array, points: int) -> Array:
    """The range of a recording and a quarter more."""
    room = WIDER * (seen.max() - seen.min())
    return np.linspace(seen.min() - room, seen.max() + room, points)


def _integral(x: Array, values: Array) -> Array:
    """The integral from the first point by the trapezoidal rule, `(n_models, n)`."""
    pieces = 0.5 * (values[:, 1:] + values[:, :-1]) * np.diff(x)
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(pieces, axis=1)], axis=1)


def _curve(x: Array, mean: Array, drawn: Array) -> Curve:
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return Curve(x, mean[0], low, high)
