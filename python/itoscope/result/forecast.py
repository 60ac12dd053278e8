"""`Forecast`: an ensemble summed up in mean, spread and bands; as a table, a file, a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.extras import require
from itoscope.common.writing import replacing
from itoscope.drawing.bands import bands
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from itoscope.common.types import Array, Integers
    from itoscope.data.angles import Circle
    from itoscope.data.trajectories import Trajectories

__all__ = ["WRITTEN", "Forecast", "summed_up"]

WRITTEN = (".csv", ".csv.gz", ".npz", ".parquet", ".nc")


@dataclass(frozen=True)
class Forecast:
    """Bands of an ensemble at each time, over the paths that have not left the finite range before.

    Attributes
    ----------
    times : (n_times,) array
    names : tuple of str
    mean, sd : (n_times, n_states) arrays
    bands : dict of float to (n_times, n_states, 2) array
        Central intervals by probability.
    paths : Trajectories
        The ensemble itself.
    circles : dict of str to Circle
        States that are angles. Their mean is that of the directions, within the circle; spread and bands are of the
        paths within half a period of it. The ensemble itself has no jumps.
    """

    times: Array
    names: tuple[str, ...]
    mean: Array
    sd: Array
    bands: dict[float, Array]
    paths: Trajectories
    circles: dict[str, Circle] = field(default_factory=dict)

    def __repr__(self) -> str:
        levels = ", ".join(f"{100 * level:g} %" for level in self.bands)
        lost = len(self.paths.diverged or ())
        left = f" ({lost} of them left the finite range on the way)" if lost else ""
        return (
            f"Forecast: {self.paths.n_paths} paths{left}, {len(self.times)} times from {self.times[0]:g} to "
            f"{self.times[-1]:g}, states {', '.join(self.names)}, bands of {levels}"
        )

    @property
    def alive(self) -> Integers:
        """Number of paths that are summed up at each time `(n_times,)`."""
        ends = np.sort([len(path) for path in self.paths.paths])
        return np.asarray(len(ends) - np.searchsorted(ends, np.arange(len(self.times)), side="right"))

    def columns(self) -> dict[str, Array]:
        """Named columns `(n_times,)`: `t`, then `x1_mean`, `x1_sd`, and `x1_q5`, `x1_q95` for a band of 90 %."""
        found = {"t": self.times}
        for i, name in enumerate(self.names):
            found |= {f"{name}_mean": self.mean[:, i], f"{name}_sd": self.sd[:, i]}
            quantiles = {}
            for level, band in self.bands.items():
                for end, share in enumerate(((1 - level) / 2, (1 + level) / 2)):
                    quantiles[share] = band[:, i, end]
            found |= {f"{name}_q{100 * share:.6g}": quantiles[share] for share in sorted(quantiles)}
        return found

    def to_dataframe(self) -> Any:
        """The columns as a pandas DataFrame. Needs the extra ``data``."""
        return require("pandas", "data", "A DataFrame").DataFrame(self.columns())

    def to_xarray(self) -> Any:
        """An xarray Dataset: `mean` and `sd` `(time, state)`, `band` `(level, time, state, end)`. Extra ``data``."""
        xarray = require("xarray", "data", "A Dataset")
        levels = list(self.bands)
        variables = {
            "mean": (("time", "state"), self.mean),
            "sd": (("time", "state"), self.sd),
            "band": (("level", "time", "state", "end"), np.stack([self.bands[level] for level in levels])),
        }
        coords = {"time": self.times, "state": list(self.names), "level": levels, "end": ["low", "high"]}
        return xarray.Dataset(variables, coords=coords, attrs={"n_paths": self.paths.n_paths})

    def save(self, path: str | PathLike[str], *, digits: int = 17) -> None:
        """Write mean, spread and bands; the suffix says how.

        Parameters
        ----------
        path : path-like
            `.csv`, `.csv.gz` and `.parquet` hold `columns()`; `.npz` the arrays `t`, `names`, `mean`, `sd`, `levels`
            and `bands` `(level, time, state, 2)`; `.nc` what `to_xarray` returns.
        digits : int
            Significant digits in text.

        Raises
        ------
        ArgumentError
            For another suffix.
        """
        name = str(path).lower()
        if name.endswith((".csv", ".csv.gz")):
            with replacing(path) as beside:
                np.savetxt(beside, np.column_stack(list(self.columns().values())), **self._text(digits))
        elif name.endswith(".npz"):
            with replacing(path) as beside, open(beside, "wb") as handle:
                np.savez_compressed(
                    handle, t=self.times, names=np.array(self.names), mean=self.mean, sd=self.sd,
                    levels=np.array(list(self.bands)), bands=np.stack(list(self.bands.values())),
                )  # fmt: skip
        elif name.endswith(".parquet"):
            require("pyarrow", "data", "Writing Parquet")
            with replacing(path) as beside:
                self.to_dataframe().to_parquet(beside, index=False)
        elif name.endswith(".nc"):
            require("netCDF4", "data", "Writing NetCDF")
            with replacing(path) as beside:
                self.to_xarray().to_netcdf(beside, engine="netcdf4")
        else:
            raise argument_error("path", str(path), f"a name that ends in {', '.join(WRITTEN)}")

    def write(self, stream: Any, *, digits: int = 17) -> None:
        """Write `columns()` as CSV to an open text stream."""
        np.savetxt(stream, np.column_stack(list(self.columns().values())), **self._text(digits))

    def _text(self, digits: int) -> dict[str, Any]:
        checks.count("digits", digits, most=17)
        form = ["%.15g", *[f"%.{digits}g"] * (len(self.columns()) - 1)]
        return {"fmt": form, "delimiter": ",", "header": ",".join(self.columns()), "comments": ""}

    def plot(
        self, recorded: Trajectories | None = None, *, path: int = 0, first: int = 0, ax: Any = None
    ) -> Any:
        """Draw the bands, one panel per state, and a recorded path over them. Needs the extra ``plot``.

        Parameters
        ----------
        recorded : Trajectories, optional
            All or some of the states; its times are counted from its sample `first`.
        path : int
            Number of its path.
        first : int
            The sample of that path that the forecast starts beside.
        ax : Axes or sequence of Axes, optional
        """
        over = None
        if recorded is not None:
            if not 0 <= path < recorded.n_paths:
                raise argument_error("path", path, f"the number of a path, 0 to {recorded.n_paths - 1}")
            stamps, samples = recorded.times[path][first:], recorded.paths[path][first:]
            over = stamps - stamps[0], dict(zip(recorded.names, samples.T))
        units, time_unit = self.paths.units, self.paths.time_unit
        shown = self.times, self.names, *self._broken(), over
        if over is not None:
            over[1].update(
                {
                    name: circle.broken(over[1][name])
                    for name, circle in self.circles.items()
                    if name in over[1]
                }
            )
        return bands(*shown, ax=ax, units=units, time_unit=time_unit)

    def _broken(self) -> tuple[Array, dict[float, Array]]:
        """Means and bands, of angles without a line from one end of the circle to the other."""
        mean, bands = self.mean.copy(), {level: band.copy() for level, band in self.bands.items()}
        for name, circle in self.circles.items():
            column = self.names.index(name)
            mean[:, column] = circle.broken(mean[:, column])
            for band in bands.values():
                band[np.isnan(mean[:, column]), column] = np.nan
        return mean, bands


def _on_circle(samples: Array, circle: Circle) -> Array:
    """Angles `(n_paths, n)` within half a period of their mean direction, which is on the circle."""
    turn = 2.0 * np.pi / circle.period
    centre = np.angle(np.exp(1j * turn * samples).mean(axis=0)) / turn
    return circle.near(samples, circle.wrapped(centre))


def summed_up(
    paths: Trajectories, levels: Sequence[float], circles: Mapping[str, Circle] | None = None
) -> Forecast:
    """Sum up an ensemble, at each time those of its paths that got there; see `Discovery.forecast`."""
    lengths = np.array([len(path) for path in paths.paths])
    longest, m = int(lengths.max()), len(paths.names)
    mean, sd = np.empty((longest, m)), np.empty((longest, m))
    bands = {float(level): np.empty((longest, m, 2)) for level in levels}
    start = 0
    for end in np.unique(lengths):
        alive = np.flatnonzero(lengths >= end)
        samples = np.stack([paths.paths[number][start:end] for number in alive])
        for name, circle in (circles or {}).items():
            column = paths.names.index(name)
            samples[:, :, column] = _on_circle(samples[:, :, column], circle)
        with np.errstate(
            over="ignore"
        ):  # on its way out of the finite range a path has a square that is none
            mean[start:end], sd[start:end] = samples.mean(axis=0), samples.std(axis=0)
        for level, band in bands.items():
            ends = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
            band[start:end] = np.moveaxis(ends, 0, -1)
        start = int(end)
    return Forecast(
        times=np.asarray(paths.times[int(np.argmax(lengths))]),
        names=tuple(paths.names),
        mean=mean,
        sd=sd,
        bands=bands,
        paths=paths,
        circles=dict(circles or {}),
    )
