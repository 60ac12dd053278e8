"""Bands over time: an ensemble summed up, with a recording over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.drawing.style import (
    BLUE,
    ORANGE,
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

    from itoscope.common.types import Array

__all__ = ["bands"]

SHADES = (0.16, 0.3, 0.4)


def bands(
    times: Array,
    names: Sequence[str],
    mean: Array,
    central: Mapping[float, Array],
    recorded: tuple[Array, Mapping[str, Array]] | None,
    *,
    ax: Any,
    units: Sequence[str] = (),
    time_unit: str = "",
) -> Any:
    """Draw the bands of an ensemble, one panel per state.

    Parameters
    ----------
    times : (n,) array
    names : m str
    mean : (n, m) array
    central : mapping of float to (n, m, 2) array
        Central intervals by probability.
    recorded : (k,) array and mapping of str to (k,) array, or None
        Times from the start of the forecast, and the states that were recorded then.
    ax : Axes or m of them, or None for a new figure
    units : m str, optional
    time_unit : str
    """
    axes = panels(ax, len(names), 1, width=6.4, height=1.9, sharex=ax is None)
    for column, (one, name) in enumerate(zip(axes.flat, names)):
        for level, shade in zip(sorted(central, reverse=True), SHADES):
            low, high = central[level][:, column].T
            label = f"{100 * level:.3g} % of the ensemble"
            one.fill_between(
                *thinned_band(times, low, high), color=BLUE, alpha=shade, linewidth=0, label=label
            )
        one.plot(*thinned(times, mean[:, column]), color=BLUE, lw=1.1, label="its mean")
        if recorded is not None and name in recorded[1]:
            t, x = recorded[0], recorded[1][name]
            inside = t <= times[-1] * (1 + 1e-9)
            one.plot(*thinned(t[inside], x[inside]), color=ORANGE, lw=1.0, label="recorded")
        one.set_ylabel(with_unit(name_of(name), units[column] if units else ""))
        one.margins(x=0)
    axes.flat[-1].set_xlabel(with_unit("time from the start of the forecast", time_unit))
    legend_above(axes, ax, columns=4)
    return label_panels(axes)
