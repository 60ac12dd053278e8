"""Pictures of a discovery: `result.plot.pip()` and its like; each returns its axes and takes `ax=`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.drawing import over_time
from itoscope.errors import argument_error
from itoscope.result import ensemble
from itoscope.result.start import started
from itoscope.result.units import shown_units
from itoscope.show import check_pictures, fit_pictures, law_pictures, pictures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from itoscope.data.trajectories import Trajectories
    from itoscope.result.laws import Laws

__all__ = ["Plots"]

Key = str | tuple[str, str] | None


class Plots:
    """The pictures of one result. All need the extra `plot` (Matplotlib).

    An equation is named by its state (`"x2"`), by a pair (`("x1", "x2")`, an entry of the diffusion covariance), or by
    the label that is printed (`"dx2"`, `"Gamma[x1, x2]"`); without a name it is the first one. `ax` is one `Axes`,
    or as many as there are panels; new figures are made without it.
    """

    def __init__(self, result: Laws) -> None:
        self._result = result

    def __repr__(self) -> str:
        return (
            "plots: pip, posterior, pairs, trace, fit, residuals, checks, forecast, states, sensors, potential, "
            "density, fixed_points, first_passage"
        )

    def pip(self, *, ax: Any = None) -> Any:
        """Inclusion probabilities of all candidate terms, one panel per equation; selected ones are filled."""
        return pictures.pip(self._result, ax)

    def posterior(self, equation: Key = None, *, ax: Any = None) -> Any:
        """Posterior of each selected coefficient: draws as a histogram, the law given the selected model as a line."""
        return pictures.posterior(self._result, equation, ax)

    def pairs(self, equation: Key = None, *, terms: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Joint posterior of the selected coefficients in pairs, at most six unless `terms` names them."""
        return pictures.pairs(self._result, equation, terms, ax)

    def trace(self, equation: Key = None, *, ax: Any = None) -> Any:
        """Draws of each selected coefficient, one colour per chain, and the number of terms in the model."""
        return pictures.trace(self._result, equation, ax)

    def fit(self, *, data: Trajectories | None = None, bins: int = 16, ax: Any = None) -> Any:
        """Fitted equations against binned Kramers-Moyal estimates with error bars of one standard error.

        Steps are sorted into `bins` bins of equal count by the state on the horizontal axis; the model is averaged
        over the same samples. Panels are those of the states that the terms of an equation contain.

        Behind a noisy or partly seen recording there are no steps to average: there, half as many straight pieces over
        the same axis are let into the equation, and the innovations of the filter say how far each bends it. Over an
        angle the axis is its circle, and the pieces are bumps at even distances on it.
        """
        return fit_pictures.fit(self._result, data, bins, ax)

    def residuals(self, *, data: Trajectories | None = None, lags: int = 20, ax: Any = None) -> Any:
        """Standardised residuals of each noisy row: quantiles against normal ones, and autocorrelation.

        For a noisy or partly seen recording, the standardised innovations of each channel.
        """
        return fit_pictures.residuals(self._result, data, lags, ax)

    def checks(
        self,
        row: str | None = None,
        *,
        data: Trajectories | None = None,
        simulate: bool = True,
        ax: Any = None,
    ) -> Any:
        """What each check looks at, for each noisy row or each channel; a check that fired is named in vermilion.

        Law, neighbours and sums over growing numbers of standardised residuals or innovations; spread, extremes and
        spectrum beside simulations; mean and variance by state (the one on which they depend most), over the time, by
        recording, and the mean by that of the path so far. Bars are two standard errors, grey regions hold 95 %.

        Parameters
        ----------
        row : str, optional
            A state or a channel; by default all.
        data : Trajectories, optional
            By default the recording of the fit.
        simulate : bool
            False leaves out what needs up to 50 simulated recordings.
        ax : sequence of Axes, optional
        """
        return check_pictures.checks(self._result, row, data, simulate, ax)

    def forecast(
        self,
        data: Trajectories | None = None,
        *,
        path: int = 0,
        n_paths: int = 200,
        seed: int | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> Any:
        """Bands of simulated paths against a recording that starts where they start, one panel per state.

        Parameters
        ----------
        data : Trajectories, optional
            What to compare with, best held out from the fit; by default the data of the fit. A noisy or partly seen
            recording gives its first smoothed state as the start.
        path : int
            Number of the path.
        n_paths, seed, **settings
            See `Discovery.forecast`.
        ax : Axes or sequence of Axes, optional
        """
        held = self._result.data if data is None else data
        settings, first = started(self._result, held, path, settings)
        x0, levels = settings.pop("x0"), settings.pop("levels", ensemble.LEVELS)
        asked = ensemble.Asked(n_paths=n_paths, seed=seed, **settings)
        found = ensemble.forecast(self._result, x0, asked, levels)
        return found.plot(held, path=path, first=first, ax=ax)

    def states(self, *, data: Trajectories | None = None, path: int = 0, ax: Any = None) -> Any:
        """Smoothed states with bands of two standard deviations against what was measured, one panel per state."""
        smoothed = self._result.smoothed(data)
        held = self._result.data if data is None else data
        if not 0 <= path < len(smoothed.mean):
            raise argument_error("path", path, f"the number of a path, 0 to {len(smoothed.mean) - 1}")
        measured = {} if held is None else dict(zip(held.names, held.paths[path].T))
        mean, band = smoothed.mean[path].copy(), smoothed.band(0.95)[path]
        for name, circle in self._result.circles.items():
            column = smoothed.names.index(name)
            shown = circle.broken(mean[:, column])
            band[:, column] += (shown - mean[:, column])[:, None]
            mean[:, column] = shown
            if name in measured:
                measured[name] = circle.wrapped(measured[name])
        return over_time.smoothed(
            smoothed.times[path],
            mean,
            band,
            smoothed.names,
            measured,
            ax=ax,
            units=shown_units(self._result, smoothed.names),
            time_unit=self._result.data_summary.get("time_unit", ""),
        )

    def sensors(self, *, data: Trajectories | None = None, path: int = 0, ax: Any = None) -> Any:
        """What each sensor showed, and what it would have shown without noise, with a band; outliers are ringed.

        The band holds 95 % for the smoothed states, and for the offset of the sensor where that is not known; readings
        scatter about it by the noise of the sensor.

        Parameters
        ----------
        data : Trajectories, optional
            By default the recording of the fit.
        path : int
            Number of the path.
        ax : Axes or sequence of Axes, optional
            One for each sensor.
        """
        return fit_pictures.sensors(self._result, data, path, ax)

    def potential(self, x: ArrayLike | None = None, *, seed: int | None = 0, ax: Any = None) -> Any:
        """The potential of one state with its 95 % band, and the points at which the drift is zero, filled if stable.

        Parameters
        ----------
        x, seed
            See `Discovery.potential`.
        ax : Axes, optional
        """
        return law_pictures.potential(self._result, x, seed, ax)

    def density(
        self, x: ArrayLike | None = None, y: ArrayLike | None = None, *, seed: int | None = 0, ax: Any = None
    ) -> Any:
        """The stationary density of one state over a histogram of the recording, or of two states in the plane.

        Parameters
        ----------
        x, y, seed
            See `Discovery.stationary_density`.
        ax : Axes, optional
        """
        return law_pictures.density(self._result, x, y, seed, ax)

    def fixed_points(self, starts: ArrayLike | None = None, *, seed: int | None = 0, ax: Any = None) -> Any:
        """The drift of one state, or the flow of two, and where it is zero: filled points are stable.

        Beside each stands how a small deviation goes: relaxation or growth time, or frequency and damping ratio.

        Parameters
        ----------
        starts, seed
            See `Discovery.fixed_points`.
        ax : Axes, optional
        """
        return law_pictures.fixed_points(self._result, starts, seed, ax)

    def first_passage(
        self, level: float | Sequence[float], start: ArrayLike, *, ax: Any = None, **settings: Any
    ) -> Any:
        """The share that has reached a level over the time, with its 95 % band, and the mean time.

        Parameters
        ----------
        level, start, **settings
            See `Discovery.first_passage`.
        ax : Axes, optional
        """
        return law_pictures.passage(self._result, level, start, ax, settings)
