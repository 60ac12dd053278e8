"""Pictures over time: recordings, forecasts against them, smoothed states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.protocol import Array
from itoscope.errors import ArgumentError, argument_error
from itoscope.plot.style import BLUE, ORANGE, SERIES, label_panels, name_of, panels

if TYPE_CHECKING:
    from itoscope.discovery import Discovery
    from itoscope.trajectories import Trajectories

__all__ = ["forecast", "states", "trajectories"]

#: Samples of a drawn path; in between, the lowest and the highest sample of each stretch are kept.
MOST_SAMPLES = 3000


def thinned(t: Array, x: Array) -> tuple[Array, Array]:
    """A path with at most about `MOST_SAMPLES` samples that looks the same: extremes of each stretch are kept."""
    if len(x) <= MOST_SAMPLES:
        return t, x
    width = -(-2 * len(x) // MOST_SAMPLES)
    count = len(x) // width
    blocks = x[: count * width].reshape(count, width)
    filled = np.where(np.isnan(blocks), np.inf, blocks)
    low = np.argmin(filled, axis=1)
    high = np.argmax(np.where(np.isnan(blocks), -np.inf, blocks), axis=1)
    index = np.sort(np.stack([low, high], axis=1), axis=1) + width * np.arange(count)[:, None]
    chosen = np.unique(np.append(index.ravel(), len(x) - 1))
    return t[chosen], x[chosen]


def trajectories(data: Trajectories, names: str | Sequence[str] | None, n_paths: int, ax: Any) -> Any:
    """Draw recordings; see `Trajectories.plot`."""
    chosen = data if names is None else data.select(names)
    axes = panels(ax, chosen.n_states, 1, width=6.4, height=1.7, sharex=ax is None)
    few = min(n_paths, chosen.n_paths)
    picked = np.unique(np.linspace(0, chosen.n_paths - 1, few).round().astype(int))
    for column, (one, name) in enumerate(zip(axes.flat, chosen.names)):
        for order, i in enumerate(picked):
            t, x = thinned(chosen.times[i], chosen.paths[i][:, column])
            alone = len(picked) <= len(SERIES)
            colour = SERIES[order] if alone else BLUE
            one.plot(t, x, color=colour, lw=0.9, alpha=0.9 if alone else max(0.25, 3 / len(picked)))
        one.set_ylabel(name_of(name))
        one.margins(x=0)
    axes.flat[-1].set_xlabel("time")
    if ax is None and few < chosen.n_paths:
        axes[0, 0].set_title(f"{len(picked)} of {chosen.n_paths} paths", fontsize=9, loc="left")
    return label_panels(axes)


def forecast(
    result: Discovery,
    data: Trajectories | None,
    path: int,
    n_paths: int,
    seed: int | None,
    ax: Any,
    settings: Any,
) -> Any:
    """Draw a forecast; see `Plots.forecast`."""
    held = result.data if data is None else data
    if held is not None and not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    settings = dict(settings)
    first = 0
    if held is not None:
        whole = np.flatnonzero(~np.isnan(held.paths[path]).any(axis=1))
        first = int(whole[0]) if len(whole) else 0
        times = held.times[path][first:] - held.times[path][first]
        if "x0" not in settings:
            if tuple(held.names) != tuple(result.states):
                missing = [name for name in result.states if name not in held.names]
                raise ArgumentError(f"x0: give the start, since {', '.join(missing)} was not measured")
            settings["x0"] = held.paths[path][first]
        if "duration" not in settings and "n_steps" not in settings:
            step = settings.get("dt") or result.data_summary.get("dt") or float(np.diff(times).mean())
            settings["dt"] = step
            settings["n_steps"] = max(round(float(times[-1]) / step), 1)
    elif "x0" not in settings:
        raise ArgumentError("x0: give the start, or data to compare with")
    found = result.forecast(n_paths=n_paths, seed=seed, **settings)
    axes = panels(ax, len(result.states), 1, width=6.4, height=1.9, sharex=ax is None)
    for column, (one, name) in enumerate(zip(axes.flat, result.states)):
        for level, shade in zip(sorted(found.bands, reverse=True), (0.16, 0.3, 0.4)):
            low, high = found.bands[level][:, column].T
            one.fill_between(
                found.times,
                low,
                high,
                color=BLUE,
                alpha=shade,
                linewidth=0,
                label=f"{100 * level:.0f} % of the ensemble",
            )
        one.plot(found.times, found.mean[:, column], color=BLUE, lw=1.1, label="its mean")
        if held is not None and name in held.names:
            x = held.paths[path][first:, held.names.index(name)]
            one.plot(
                *thinned(times, x),
                color=ORANGE,
                lw=1.0,
                label="recorded",
            )
        one.set_ylabel(name_of(name))
        one.margins(x=0)
    axes.flat[-1].set_xlabel("time from the start of the forecast")
    handles = axes[0, 0].get_legend_handles_labels()
    if ax is None:
        place = {"loc": "outside upper left", "ncols": 4, "handlelength": 1.5, "columnspacing": 1.2}
        axes[0, 0].figure.legend(*handles, frameon=False, fontsize=8, **place)
    else:
        axes[0, 0].legend(*handles, frameon=False, fontsize=7.5)
    return label_panels(axes)


def states(result: Discovery, path: int, ax: Any) -> Any:
    """Draw smoothed states; see `Plots.states`."""
    smoothed = result.states()  # type: ignore[operator]
    data = result.data
    if not 0 <= path < len(smoothed.mean):
        raise argument_error("path", path, f"the number of a path, 0 to {len(smoothed.mean) - 1}")
    axes = panels(ax, len(smoothed.names), 1, width=6.4, height=1.9, sharex=ax is None)
    t, bands = smoothed.times[path], smoothed.band(0.95)[path]
    for column, (one, name) in enumerate(zip(axes.flat, smoothed.names)):
        if data is not None and name in data.names:
            x = data.paths[path][:, data.names.index(name)]
            one.plot(*thinned(t, x), ".", ms=2.5, color=ORANGE, alpha=0.7, label="measured", rasterized=True)
        low, high = bands[:, column].T
        one.fill_between(t, low, high, color=BLUE, alpha=0.25, linewidth=0, label="95 % band")
        one.plot(*thinned(t, smoothed.mean[path][:, column]), color=BLUE, lw=1.1, label="smoothed")
        one.set_ylabel(name_of(name))
        one.margins(x=0)
    axes.flat[-1].set_xlabel("time")
    handles = axes.flat[0].get_legend_handles_labels()
    if ax is None:
        axes.flat[0].figure.legend(*handles, loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    else:
        axes.flat[0].legend(*handles, frameon=False, fontsize=7.5)
    return label_panels(axes)
