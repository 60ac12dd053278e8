"""Where a motion goes: curves with bands, densities in the plane, flows, the points at which nothing moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.style import BLUE, GREY, INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["banded_curve", "flow", "points", "seen", "surface"]

#: Bins of a recording, and levels of a density.
BINS, LEVELS = 60, 9


def banded_curve(ax: Any, curve: tuple[Array, Array, Array, Array], label: str | None = None) -> None:
    """Draw a curve `x, mean, low, high`, `(n,)` each, with its band."""
    x, mean, low, high = curve
    ax.fill_between(x, low, high, color=BLUE, alpha=0.22, linewidth=0)
    ax.plot(x, mean, color=BLUE, lw=1.6, label=label)
    ax.set_xlim(x[0], x[-1])
    ax.locator_params(axis="both", nbins=5)


def seen(ax: Any, values: Array) -> None:
    """Draw how often values `(n,)` were recorded, as a density."""
    ax.hist(values, bins=BINS, density=True, color=GREY, alpha=0.35, linewidth=0, label="recorded")


def surface(ax: Any, x: Array, y: Array, density: Array) -> None:
    """Draw a density `(n, k)` in the plane, darker where it is larger."""
    levels = np.linspace(0.0, float(density.max()), LEVELS + 1)[1:]
    ax.contourf(x, y, density.T, levels=np.append(0.02 * levels[-1], levels), cmap="Blues")
    ax.contour(x, y, density.T, levels=levels[:-1], colors="white", linewidths=0.4)


def flow(ax: Any, x: Array, y: Array, drift: Array) -> None:
    """Draw the lines along which a drift `(n, k, 2)` leads."""
    ax.streamplot(
        x, y, drift[..., 0].T, drift[..., 1].T, color="#8a8a8a", linewidth=0.7, density=1.0, arrowsize=0.7
    )
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))


def points(
    ax: Any,
    places: Sequence[tuple[float, float]],
    stable: Sequence[bool],
    notes: Sequence[str],
    aside: tuple[float, float] = (0.0, 8.0),
) -> None:
    """Draw points, filled where they are stable, and notes: so far `aside` of those, of others to the other height."""
    for (x, y), holds, note in zip(places, stable, notes):
        ax.plot(
            [x], [y], "o", ms=6, color=INK, markerfacecolor=INK if holds else "white", zorder=5, clip_on=False
        )
        away, up = aside[0], aside[1] if holds else -aside[1]
        side = {"ha": "left" if away > 0 else "center", "va": "bottom" if up > 0 else "top"}
        box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1.0}
        text = {"textcoords": "offset points", "fontsize": 7, "color": INK}
        ax.annotate(note, (x, y), xytext=(away, up), bbox=box, **side, **text)
