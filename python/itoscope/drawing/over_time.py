"""Lines over time, one panel each: recorded paths, smoothed states with their bands, draws of chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.style import (
    BLUE,
    INK,
    ORANGE,
    SERIES,
    cut,
    label_panels,
    legend_above,
    name_of,
    panels,
    thinned,
    thinned_band,
    with_unit,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array, Bools

__all__ = ["chains", "paths", "rings", "smoothed"]


def paths(
    times: Sequence[Array],
    values: Sequence[Array],
    names: Sequence[str],
    *,
    n_paths: int,
    ax: Any,
    units: Sequence[str] = (),
    time_unit: str = "",
    periods: Sequence[float] = (),
) -> Any:
    """Draw the states of `n_paths` paths at most, spread over the list.

    Parameters
    ----------
    times, values : sequences of (n_i,) and (n_i, m) arrays
    names : m str
    n_paths : int
    ax : Axes or m of them, or None for a new figure
    units : m str, optional
    time_unit : str
    periods : m float, optional
        By what a column wraps, 0 for one that does not: no line is drawn from one end to the other.
    """
    axes = panels(ax, len(names), 1, width=6.4, height=1.7, sharex=ax is None)
    few = min(n_paths, len(values))
    picked = np.unique(np.linspace(0, len(values) - 1, few).round().astype(int))
    alone = len(picked) <= len(SERIES)
    for column, (one, name) in enumerate(zip(axes.flat, names)):
        for order, i in enumerate(picked):
            colour = SERIES[order] if alone else BLUE
            alpha = 0.9 if alone else max(0.25, 3 / len(picked))
            line = times[i], values[i][:, column]
            line = cut(*line, periods[column]) if periods and periods[column] else line
            one.plot(*thinned(*line), color=colour, lw=0.9, alpha=alpha)
        one.set_ylabel(with_unit(name_of(name), units[column] if units else ""))
        one.margins(x=0)
    axes.flat[-1].set_xlabel(with_unit("time", time_unit))
    if ax is None and few < len(values):
        axes[0, 0].set_title(f"{len(picked)} of {len(values)} paths", fontsize=9, loc="left")
    return label_panels(axes)


def smoothed(
    t: Array,
    mean: Array,
    bands: Array,
    names: Sequence[str],
    measured: Mapping[str, Array],
    *,
    ax: Any,
    units: Sequence[str] = (),
    time_unit: str = "",
) -> Any:
    """Draw smoothed states, or what sensors would show of them, against what was measured.

    Parameters
    ----------
    t : (n,) array
    mean : (n, m) array
    bands : (n, m, 2) array
        That hold 95 %.
    names : m str
    measured : mapping of str to (n,) array
        Samples of the states that were recorded.
    ax : Axes or m of them, or None for a new figure
    units : m str, optional
    time_unit : str
    """
    axes = panels(ax, len(names), 1, width=6.4, height=1.9, sharex=ax is None)
    for column, (one, name) in enumerate(zip(axes.flat, names)):
        if name in measured:
            points = thinned(t, measured[name])
            one.plot(*points, ".", ms=2.5, color=ORANGE, alpha=0.7, label="measured", rasterized=True)
        low, high = bands[:, column].T
        known = ~np.isnan(mean[:, column])
        few = (
            known if 2 * known.sum() < len(t) else np.ones_like(known)
        )  # of a slow sensor those that it took
        one.fill_between(
            *thinned_band(t[few], low[few], high[few]), color=BLUE, alpha=0.25, linewidth=0, label="95 % band"
        )
        one.plot(*thinned(t[few], mean[few, column]), color=BLUE, lw=1.1, label="smoothed")
        one.set_ylabel(with_unit(name_of(name), units[column] if units else ""))
        one.margins(x=0)
    axes.flat[-1].set_xlabel(with_unit("time", time_unit))
    legend_above(axes, ax, columns=4)
    return label_panels(axes)


def rings(ax: Any, t: Array, x: Array) -> None:
    """Draw rings about samples `(n,)` that are outliers."""
    ax.plot(t, x, "o", ms=6.0, mfc="none", mec=INK, mew=1.2, label="outliers")


#: Draws of a chain that are drawn; more make files large and pictures no clearer.
MOST_DRAWS = 1500


def chains(ax: Any, draws: Array, shown: Bools | None = None, *, labelled: bool = False) -> None:
    """Draw one quantity over the draws, one colour per chain.

    Parameters
    ----------
    ax : Axes
    draws : (chain, draw) array
    shown : (chain, draw) array of bool, optional
        Where there is a line.
    labelled : bool
        Name the chains for a legend, unless there are more than six.
    """
    n_chains, n_draws = draws.shape
    step = max(1, n_draws // MOST_DRAWS)
    y = draws if shown is None else np.where(shown, draws, np.nan)
    for chain in range(n_chains):
        ax.plot(
            np.arange(0, n_draws, step), y[chain, ::step], color=SERIES[chain % len(SERIES)], lw=0.5, alpha=0.75,
            rasterized=True, label=f"chain {chain + 1}" if labelled and n_chains <= 6 else None,
        )  # fmt: skip
    ax.set_xlim(0, max(n_draws - 1, 1))
