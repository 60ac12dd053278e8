"""Forecasts as bands over time, with a recording over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.types import Array
from itoscope.drawing.style import BLUE, ORANGE, label_panels, legend_above, name_of, panels, thinned
from itoscope.errors import ArgumentError, argument_error
from itoscope.result import ensemble

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings
    from itoscope.result.forecast import Forecast

__all__ = ["draw", "forecast", "last_state", "started"]

SHADES = (0.16, 0.3, 0.4)


def draw(found: Forecast, recorded: Trajectories | None, path: int, ax: Any, first: int = 0) -> Any:
    """Draw bands; see `Forecast.plot`. The recording is shown from its sample `first` on."""
    if recorded is not None and not 0 <= path < recorded.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {recorded.n_paths - 1}")
    axes = panels(ax, len(found.names), 1, width=6.4, height=1.9, sharex=ax is None)
    for column, (one, name) in enumerate(zip(axes.flat, found.names)):
        for level, shade in zip(sorted(found.bands, reverse=True), SHADES):
            low, high = found.bands[level][:, column].T
            one.fill_between(
                found.times, low, high, color=BLUE, alpha=shade, linewidth=0,
                label=f"{100 * level:.3g} % of the ensemble",
            )  # fmt: skip
        one.plot(found.times, found.mean[:, column], color=BLUE, lw=1.1, label="its mean")
        if recorded is not None and name in recorded.names:
            t = recorded.times[path][first:] - recorded.times[path][first]
            x = recorded.paths[path][first:, recorded.names.index(name)]
            inside = t <= found.times[-1] * (1 + 1e-9)
            one.plot(*thinned(t[inside], x[inside]), color=ORANGE, lw=1.0, label="recorded")
        one.set_ylabel(name_of(name))
        one.margins(x=0)
    axes.flat[-1].set_xlabel("time from the start of the forecast")
    legend_above(axes, ax, columns=4)
    return label_panels(axes)


def forecast(
    result: Findings,
    data: Trajectories | None,
    path: int,
    n_paths: int,
    seed: int | None,
    ax: Any,
    settings: Any,
) -> Any:
    """Draw a forecast; see `Plots.forecast`."""
    held = result.data if data is None else data
    settings, first = started(result, held, path, settings)
    found = ensemble.forecast(result, n_paths=n_paths, seed=seed, **settings)
    return draw(found, held, path, ax, first)


def started(
    result: Findings, held: Trajectories | None, path: int, settings: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """What `Discovery.forecast` is to be given so that it runs beside a path, and the sample where that begins.

    The start is the first complete sample of the path; where the model has states that were not recorded, or the
    recording is noisy, the first smoothed state.
    """
    settings = {key: value for key, value in settings.items() if value is not None}
    if held is None:
        if "x0" not in settings:
            raise ArgumentError("x0: give the start, or data to compare with")
        return settings, 0
    if not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    whole = np.flatnonzero(~np.isnan(held.paths[path]).any(axis=1))
    first = int(whole[0]) if len(whole) else 0
    times = held.times[path][first:] - held.times[path][first]
    if "x0" not in settings:
        settings["x0"] = _start(result, held, path, first)
    if "duration" not in settings and "n_steps" not in settings:
        step = settings.get("dt") or result.data_summary.get("dt") or float(np.diff(times).mean())
        settings["dt"] = step
        settings["n_steps"] = max(round(float(times[-1]) / step), 2)
    return settings, first


def _start(result: Findings, held: Trajectories, path: int, sample: int) -> Array:
    """The state at one sample of a path: smoothed where the recording is noisy or partly seen."""
    if result.observer is not None and tuple(held.names) == result.observer.channels:
        return result.smoothed(held[path]).mean[0][sample]
    missing = [name for name in result.states if name not in held.names]
    if missing:
        raise ArgumentError(f"x0: give the start, since {', '.join(missing)} was not measured")
    columns = [held.names.index(name) for name in result.states]
    return held.paths[path][sample, columns]


def last_state(result: Findings, held: Trajectories, path: int) -> Array:
    """The state at the last complete sample of a path."""
    if not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    whole = np.flatnonzero(~np.isnan(held.paths[path]).any(axis=1))
    return _start(result, held, path, int(whole[-1]) if len(whole) else -1)
