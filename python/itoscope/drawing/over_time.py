"""Pictures over time: recordings, and the smoothed states behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.style import BLUE, ORANGE, SERIES, label_panels, legend_above, name_of, panels, thinned
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["states", "trajectories"]


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


def states(result: Findings, data: Trajectories | None, path: int, ax: Any) -> Any:
    """Draw smoothed states; see `Plots.states`."""
    smoothed = result.smoothed(data)
    data = result.data if data is None else data
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
    legend_above(axes, ax, columns=3)
    return label_panels(axes)
