"""What each check looks at: residuals or innovations by state, time, past and recording, and beside simulations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.checks.again import looks_again
from itoscope.checks.beyond import REACH
from itoscope.checks.filtered import MOST_PATHS
from itoscope.checks.rows import steps_of, still_rows
from itoscope.checks.scores import learned
from itoscope.checks.simulated import compare, simulation_checks
from itoscope.checks.steps import roots_of
from itoscope.drawing.bars import MOST, correlation, distances, shares
from itoscope.drawing.scatter import averages, line, quantiles, ratios
from itoscope.drawing.style import ORANGE, hide, label_panels, name_of, panels, with_unit
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.steps import circles_of_columns, recording_of
from itoscope.result.units import shown_units
from itoscope.result.values import drift_at
from itoscope.stats.blocks import block_ratios
from itoscope.stats.whiteness import autocorrelation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.checks.simulated import Compared
    from itoscope.checks.steps import Steps
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.diagnostics import Check as Look
    from itoscope.result.findings import Findings

__all__ = ["checks"]

COLUMNS = 4
"""Panels side by side."""
BINS = 12
"""Parts of equal count of what is on the horizontal axis."""
LAGS = 20
"""Lags of the autocorrelation."""
MOST_BARS = 40
"""Recordings that have a point of their own; of more, neighbours share one."""
FEWEST = 5
"""Residuals of a point."""
BOUNDS = (
    "time step", "step size", "step bias", "given row", "row residual", "variance floor", "positive covariance",
    "innovation variance", "explosions",
)  # fmt: skip
"""Checks of one number that has a bound."""


class Axis(NamedTuple):
    """What mean and variance are drawn over, the checks that look at each, and what stands on the axis."""

    mean: tuple[str, ...]
    size: tuple[str, ...]
    x: Array
    label: str


class Panel(NamedTuple):
    """The checks that look at it, what stands above it, what draws it, and whose checks, of the row unless said."""

    checks: tuple[str, ...]
    title: str
    draw: Callable[[Any], None]
    about: str = ""


def checks(result: Findings, row: str | None, data: Trajectories | None, simulate: bool, ax: Any) -> Any:
    """Draw them; see `Plots.checks`."""
    held = result.driven(recording_of(result, data, "plot.checks"))
    every = [*steps_of(result, held, MOST_PATHS), *(one.steps for one in still_rows(result, held).values())]
    if not every:
        raise ArgumentError("plot.checks: there is no unknown row to look at")
    names = [steps.name for steps in every]
    if row is not None and row not in names:
        raise argument_error("row", row, f"one of {', '.join(names)}")
    every = [steps for steps in every if row in (None, steps.name)]
    looks = _looks(result, data)
    columns = {}
    if simulate:
        comparison = compare(result, held, int(result.settings.get("seed") or 0))
        columns = comparison.columns
        looks += [look.as_dict() for look in simulation_checks(comparison)]
    fired = {(about, look["name"]) for look in looks if look["fired"] for about in look["about"].split(", ")}
    of_rows = [_panels(result, held, steps, columns.get(steps.name, {}), looks) for steps in every]
    shown_names = [steps.name for steps in every]
    # An angle has nothing beyond the data.
    for state in (state for state in result.drift if state not in result.circles):
        if state in shown_names:
            of_rows[shown_names.index(state)].append(_beyond(result, held, state))
        elif result.observer is not None:  # a row that was not recorded is no channel
            of_rows[-1].append(_beyond(result, held, state))
    lines = [-(-len(shown) // COLUMNS) for shown in of_rows]
    axes = panels(ax, sum(lines), COLUMNS, width=2.6, height=2.1)
    for shown, steps, first in zip(of_rows, every, np.cumsum([0, *lines])):
        places = list(axes[first : first + -(-len(shown) // COLUMNS)].flat)
        for one in places[len(shown) :]:
            hide(one)
        for one, panel in zip(places, shown):
            panel.draw(one)
            about = panel.about or steps.name
            rung = [check for check in panel.checks if {(about, check), ("all", check)} & fired]
            one.set_title(", ".join(rung) or panel.title, fontsize=8.5, color=ORANGE if rung else "black")
            one.tick_params(axis="x", labelsize=7)
            one.xaxis.label.set_size(8)
            one.yaxis.label.set_size(8)
    return label_panels(axes)


def _looks(result: Findings, data: Trajectories | None) -> list[Look]:
    """The checks of the fit, or those of another recording."""
    if data is None:
        return list(result.diagnostics.get("checks", []))
    return [look.as_dict() for look in looks_again(result, result.driven(data))]


def _panels(
    result: Findings,
    data: Trajectories,
    steps: Steps,
    compared: dict[str, list[Compared]],
    looks: Sequence[Look],
) -> list[Panel]:
    """Those of one row or channel."""
    z, piece = steps.z, steps.piece
    known = int(np.count_nonzero(np.isfinite(z)))
    label = f"{'residual' if result.observer is None else 'innovation'} of {name_of(steps.name)}"
    names = list(result.variables) if result.observer is None else list(data.names)

    def law(ax: Any) -> None:
        quantiles(ax, z)
        ax.set_ylabel(label)

    def white(ax: Any) -> None:
        correlation(ax, autocorrelation(z, piece, min(LAGS, max(len(z) // 4, 1))), 1.96 / np.sqrt(known))

    def slow(ax: Any) -> None:
        found = block_ratios(z, piece)
        if not found:
            hide(ax)
            return
        sizes, ratio, dof = (np.array(part, dtype=float) for part in list(zip(*found))[:3])
        ratios(ax, sizes, ratio, 2.0 * np.sqrt(2.0 / np.maximum(dof, 1.0)))
        ax.set(xlabel="steps of a sum", ylabel="variance of sums")

    found = [
        Panel(("jumps",), "law", law),
        Panel(("whiteness",), "neighbours", white),
        Panel(("slow scales",), "slow scales", slow),
    ]
    if compared:
        found.append(
            Panel(("spread", "extremes", "spectrum"), "beside simulations", lambda ax: _beside(ax, compared))
        )
    residual, squares = steps.residual, _squares(steps)
    for mean_checks, size_checks, x, axis in _axes(result, steps, names):
        found.append(Panel(mean_checks, "mean", _mean(x, residual, 0.0, axis, label)))
        if size_checks:
            sized = f"variance of {label.partition(' of ')[2]}"
            found.append(Panel(size_checks, "variance", _mean(x, squares, 1.0, axis, sized)))
    own = [
        look
        for look in looks
        if look["name"] in BOUNDS and {steps.name, "all"} & {*look["about"].split(", ")}
    ]
    if own:
        found.append(Panel(BOUNDS, "numbers and bounds", partial(_bounds, own)))
    return found


def _beyond(result: Findings, data: Trajectories, state: str) -> Panel:
    """The drift of a row over its own state, the others at their mean, to `REACH` times the outermost samples."""
    paths = result.rows(data) if result.observer is None else result.observer.smooth(data)[0]
    x = np.concatenate(paths)[:, : len(result.variables)]
    x = x[np.isfinite(x).all(axis=1)]
    column, mean = list(result.states).index(state), x.mean(axis=0)
    low, high = float(x[:, column].min()), float(x[:, column].max())
    along = np.tile(mean, (201, 1))
    along[:, column] += np.linspace(-1.0, 1.0, 201) * REACH * max(high - mean[column], mean[column] - low)
    drift = drift_at(result, along)[:, column]

    def draw(ax: Any) -> None:
        line(ax, along[:, column], drift, (low, high))
        ax.set(xlabel=name_of(state), ylabel=f"drift of {name_of(state)}")

    return Panel(("outward drift", "stationary law"), "beyond the data", draw, state)


def _bounds(looks: Sequence[Look], ax: Any) -> None:
    """Numbers of checks in units of their bounds."""
    values = [
        abs(look["value"] - 1.0) / look["threshold"] if look["name"] == "innovation variance" else
        look["value"] / look["threshold"] if look["threshold"] > 0 else MOST * look["fired"]
        for look in looks
    ]  # fmt: skip
    shares(
        ax, np.array(values), np.array([look["fired"] for look in looks]), [look["name"] for look in looks]
    )


def _axes(result: Findings, steps: Steps, names: Sequence[str]) -> list[Axis]:
    """What mean and variance of the residuals are drawn over, and the checks that look there."""
    units = dict(zip(names, shown_units(result, names)))
    circles, states = circles_of_columns(result, names), steps.states.copy()
    for column, circle in circles.items():
        states[:, column] = circle.wrapped(states[:, column])
    state = _most_seen(steps, states)
    drift = ("row residual", "residual mean", "innovation mean", "drift terms", "drift shape", "drift form")
    noise = ("noise terms", "noise shape", "same noise")
    label = with_unit(name_of(names[state]), units[names[state]])
    halves = ("trend", "drift of halves", "strength of halves")
    found = [
        Axis((*drift, "same drift"), noise, states[:, state], label),
        Axis(halves, ("noise of halves",), (steps.time + 1.0) / 2.0, "share of the time"),
    ]
    if steps.piece[-1] > 0:
        paths = ("drift of paths", "strength of paths")
        found.append(Axis(paths, ("noise of paths",), steps.places.astype(np.float64), "recording"))
        past = [
            column for column in range(steps.past.shape[1]) if column not in circles
        ]  # turns have no mean
        if past or steps.force is not None:
            found.append(Axis(("memory", "strength before"), (), *_past(steps, names, past)))
    return found


def _past(steps: Steps, names: Sequence[str], own: Sequence[int]) -> tuple[Array, str]:
    """What of the past of a path, of its columns `own`, its residuals depend on most, and what it is called."""
    known = steps.past[:, list(own)]
    columns = [known] if steps.force is None else [known, learned(steps)]
    past = np.hstack(columns)
    most = _most_seen(steps, past)
    if most == len(own):
        return past[:, most], "force that the past asks for"
    return past[:, most], f"mean of {name_of(names[own[most]])} so far"


def _most_seen(steps: Steps, columns: Array) -> int:
    """The column on which mean or variance of the residuals depend most."""
    seen = []
    for column in columns.T:
        parts = [_binned(column, values) for values in (steps.residual, _squares(steps))]
        seen.append(max(float(np.sum(((m - np.mean(m)) / e) ** 2)) if len(m) else 0.0 for _, m, e in parts))
    return int(np.argmax(seen))


def _squares(steps: Steps) -> Array:
    """Mean square of the residuals of each stretch `(s,)`."""
    sums, roots = roots_of(steps.parts**2)
    return np.asarray(sums / roots)


def _mean(x: Array, y: Array, level: float, axis: str, label: str) -> Callable[[Any], None]:
    """What draws means of `y` over parts of `x`."""

    def draw(ax: Any) -> None:
        averages(ax, *_binned(x, y), level)
        ax.set(xlabel=axis, ylabel=label)

    return draw


def _binned(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Centre, mean and standard error of parts of `x` of equal count; of whole numbers, one part each."""
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there], y[there]
    values = np.unique(x[: MOST_BARS * 1000])
    if 1 < len(values) <= MOST_BARS and len(np.unique(x)) == len(values):
        parts = np.searchsorted(values, x)
    else:
        edges = np.unique(np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1])) if len(x) else np.zeros(0)
        parts = np.searchsorted(edges, x)
    count = np.bincount(parts)
    many = np.maximum(count, 1)
    centre, mean, square = (np.bincount(parts, weights) / many for weights in (x, y, y**2))
    error = np.sqrt(np.maximum(square - mean**2, 1e-300) / many)
    kept = count >= FEWEST
    return centre[kept], mean[kept], error[kept]


def _beside(ax: Any, compared: dict[str, list[Compared]]) -> None:
    """Distances of the statistics of a recording from those of simulated ones."""
    words: Sequence[str] = ("variance", "lowest 1 %", "highest 1 %")
    statistics = [one for kind in ("spread", "extremes", "spectrum") for one in compared.get(kind, [])]
    octaves = len(statistics) - len(words)
    named = [*words, *(["slowest", *[""] * (octaves - 2), "fastest"] if octaves > 1 else [""] * octaves)]
    distances(ax, np.array([one.z for one in statistics]), named)
    ax.set_xlabel("sd from the simulations")
