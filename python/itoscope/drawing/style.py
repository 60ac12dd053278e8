"""What all pictures share: colours that colour-blind readers tell apart, panels, names of states, equations, terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.errors import argument_error
from itoscope.expressions.notation import LATEX
from itoscope.expressions.typeset import typeset_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = [
    "BLUE", "GREY", "INK", "ORANGE", "SERIES", "SHADE", "core_of", "covariance_title", "cut", "drift_title", "hide",
    "label_panels", "legend_above", "name_of", "panels", "term_label", "thinned", "thinned_band", "tidy", "with_unit",
]  # fmt: skip

# Okabe and Ito's colours: blue and vermilion differ for every kind of colour vision, and in grey.
BLUE, ORANGE, GREY, INK, SHADE = "#0072b2", "#d55e00", "#9a9a9a", "#222222", "#cccccc"
SERIES = (BLUE, ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


#: Samples of a drawn path; in between, the lowest and the highest sample of each stretch are kept.
MOST_SAMPLES = 2000


def thinned(t: Array, x: Array) -> tuple[Array, Array]:
    """A path with at most about `MOST_SAMPLES` samples that looks the same: extremes of each stretch are kept.

    So are samples that are missing, as long as they are few. Where most samples stand alone, as those of a slow sensor
    in the table of a fast one, missing ones are left out, for a line through nothing but gaps is none.
    """
    known = ~np.isnan(x)
    beside = np.pad(known, 1)
    if 2 * np.count_nonzero(known & ~beside[:-2] & ~beside[2:]) > np.count_nonzero(known) > 1:
        t, x = t[known], x[known]
    if len(x) <= MOST_SAMPLES:
        return t, x
    width = -(-2 * len(x) // MOST_SAMPLES)
    count = len(x) // width
    blocks = x[: count * width].reshape(count, width)
    filled = np.where(np.isnan(blocks), np.inf, blocks)
    low = np.argmin(filled, axis=1)
    high = np.argmax(np.where(np.isnan(blocks), -np.inf, blocks), axis=1)
    index = np.sort(np.stack([low, high], axis=1), axis=1) + width * np.arange(count)[:, None]
    missing = np.flatnonzero(np.isnan(x))
    few = missing if len(missing) <= MOST_SAMPLES // 4 else missing[:0]
    chosen = np.unique(np.concatenate([index.ravel(), few, [len(x) - 1]]))
    return t[chosen], x[chosen]


def cut(t: Array, x: Array, period: float) -> tuple[Array, Array]:
    """A line with a gap wherever it jumps by more than half a period, as an angle does that wraps."""
    at = np.flatnonzero(np.abs(np.diff(x)) > period / 2) + 1
    return np.insert(t, at, t[at]), np.insert(x, at, np.nan)


def thinned_band(t: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """A band with at most `MOST_SAMPLES` edges that looks the same: each stretch has its lowest and highest value.

    A stretch with a gap has none: where an angle comes in at the other end, both ends are in one.
    """
    if len(t) <= MOST_SAMPLES:
        return t, low, high
    starts = np.arange(0, len(t), -(-len(t) // MOST_SAMPLES))
    few = t[starts]
    few[-1] = t[-1]
    return few, np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)


def legend_above(axes: Any, ax: Any, *, columns: int) -> None:
    """One legend of all panels: over them in a figure of ours, inside the first one of somebody else's.

    A second call puts the new one in the place of the old.
    """
    drawn = [pair for one in axes.flat for pair in zip(*one.get_legend_handles_labels())]
    first = {label: handle for handle, label in reversed(drawn)}
    labels = list(dict.fromkeys(label for _, label in drawn))
    handles = ([first[label] for label in labels], labels)
    if ax is None:
        for former in list(axes.flat[0].figure.legends):
            former.remove()
        axes.flat[0].figure.legend(
            *handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=8.5, handlelength=1.5,
            columnspacing=1.2, markerscale=1.5,
        )  # fmt: skip
    else:
        axes.flat[0].legend(*handles, framealpha=0.8, edgecolor="none", fontsize=8)


def panels(
    ax: Any,
    rows: int,
    columns: int = 1,
    *,
    width: float = 3.2,
    height: float = 2.4,
    sharex: Any = False,
    sharey: Any = False,
) -> Any:
    """`(rows, columns)` axes: new ones of so many inches each, or those that were given."""
    plt = require("matplotlib.pyplot", "plot", "A plot")
    if ax is None:
        size = (columns * width, rows * height)
        _, axes = plt.subplots(
            rows, columns, figsize=size, squeeze=False, sharex=sharex, sharey=sharey, layout="constrained"
        )
    else:
        axes = np.atleast_1d(np.asarray(ax, dtype=object))
        if not all(hasattr(one, "spines") for one in axes.flat):
            raise argument_error("ax", ax, f"{rows * columns} Axes")
        if axes.size != rows * columns:
            raise argument_error("ax", f"{axes.size} Axes", f"{rows * columns} Axes, one per panel")
        axes = axes.reshape(rows, columns)
    for one in axes.flat:
        tidy(one)
    return axes


def tidy(ax: Any) -> None:
    """Two spines, small ticks, no clutter."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#666666")
    ax.tick_params(labelsize=8, color="#666666", length=3)
    ax.xaxis.label.set_size(9)
    ax.yaxis.label.set_size(9)
    ax.title.set_size(9.5)


def hide(ax: Any) -> None:
    """Leave a panel empty."""
    ax.set_axis_off()


def label_panels(axes: Any) -> Any:
    """What a plot returns: one Axes if there is one, else the array without empty dimensions."""
    return axes.item() if axes.size == 1 else np.squeeze(axes)


def core_of(draws: Array) -> Array:
    """Draws without the few farthest ones, which belong to other models and would squeeze the picture."""
    low, high = np.quantile(draws, [0.002, 0.998])
    return np.asarray(draws[(draws >= low) & (draws <= high)])


def drift_title(state: str) -> str:
    """A row of the drift for a figure."""
    return f"drift of {name_of(state)}"


def covariance_title(a: str, b: str) -> str:
    """An entry of the diffusion covariance for a figure."""
    return f"${LATEX.indexed(LATEX.gamma, (a, b))}$"


def name_of(state: str) -> str:
    """The name of a state for a figure."""
    return f"${LATEX.name(state)}$"


def with_unit(label: str, unit: str) -> str:
    """A label with its unit, where one is known."""
    return f"{label} [{unit}]" if unit else label


def term_label(term: str, states: Sequence[str]) -> str:
    """A term for a figure: mathematics, or the plain name of a function of Python."""
    shown = typeset_term(term, states, LATEX)
    return term if shown == LATEX.word(term) else f"${shown}$"
