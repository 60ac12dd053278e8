"""Pictures of what an equation means: potential, stationary density, fixed points, first passage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.numbers import number
from itoscope.drawing import landscape
from itoscope.drawing.style import legend_above, name_of, panels, with_unit
from itoscope.errors import ArgumentError
from itoscope.result.field import Field
from itoscope.result.laws import POINTS, around
from itoscope.result.passage import Curve
from itoscope.result.units import shown_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from itoscope.result.laws import Laws
    from itoscope.result.motion import FixedPoint

__all__ = ["density", "fixed_points", "passage", "potential"]

GRID = 61
"""Places each way at which a flow is taken."""
UNSEEN = 0.01
"""Of its largest value, a density that is left out of a picture."""


def potential(result: Laws, x: ArrayLike | None, seed: int | None, ax: Any) -> Any:
    """Draw a potential; see `Plots.potential`."""
    curve = result.potential(x, seed=seed)
    one = panels(ax, 1, width=4.6, height=3.0)[0, 0]
    landscape.banded_curve(one, _parts(curve))
    found = [point for point in _points(result, x, seed) if curve.x[0] <= point.x[0] <= curve.x[-1]]
    places = [(float(p.x[0]), float(np.interp(p.x[0], curve.x, curve.mean))) for p in found]
    landscape.points(one, places, [p.stable for p in found], [_note(p) for p in found], (0.0, -8.0))
    # The walls beyond the recording would hide what is between.
    inner = curve.mean[len(curve.x) // 8 : -(len(curve.x) // 8)]
    top = max([y for _, y in places] + [float(np.median(inner))])
    one.set_ylim(-0.35 * top, 2.2 * top if top > 0 else None)
    one.set_ylabel("potential")
    one.set_xlabel(_axis(result, 0))
    return one


def density(result: Laws, x: ArrayLike | None, y: ArrayLike | None, seed: int | None, ax: Any) -> Any:
    """Draw a stationary density; see `Plots.density`."""
    found = result.stationary_density(x, y, seed=seed)
    axes = panels(ax, 1, width=4.6, height=3.0 if isinstance(found, Curve) else 3.6)
    one = axes[0, 0]
    one.set_xlabel(_axis(result, 0))
    if isinstance(found, Curve):
        if result.data is not None:
            landscape.seen(one, result.states_seen()[:, 0])
        landscape.banded_curve(one, _parts(found), "stationary density")
        # Room for the legend in a panel of somebody else.
        one.set_ylim(0.0, one.get_ylim()[1] * (1.0 if ax is None else 1.3))
        legend_above(axes, ax, columns=2)
        return one
    landscape.surface(one, found.x, found.y, found.mean)
    for limits, place, axis, asked in ((one.set_xlim, found.x, 1, x), (one.set_ylim, found.y, 0, y)):
        if asked is None:  # the grid reaches farther than there is something to see
            some = place[found.mean.max(axis=axis) > UNSEEN * found.mean.max()]
            limits(
                *np.clip(
                    [1.3 * some[0] - 0.3 * some[-1], 1.3 * some[-1] - 0.3 * some[0]], place[0], place[-1]
                )
            )
    one.set_ylabel(_axis(result, 1))
    return one


def fixed_points(result: Laws, starts: ArrayLike | None, seed: int | None, ax: Any) -> Any:
    """Draw the drift and where it is zero; see `Plots.fixed_points`."""
    if len(result.states) > 2:
        raise ArgumentError(
            f"plot.fixed_points: of one or two states; this model has {', '.join(result.states)}"
        )
    at, found = result.states_seen(starts), result.fixed_points(starts, seed=seed)
    notes, stable = [_note(p) for p in found], [p.stable for p in found]
    one = panels(ax, 1, width=4.6, height=3.0 if at.shape[1] == 1 else 3.6)[0, 0]
    one.set_xlabel(_axis(result, 0))
    if at.shape[1] == 1:
        x = np.linspace(at.min(), at.max(), POINTS)
        mean, drawn = (Field(models).drift(x[:, None])[:, :, 0] for models in result.both(seed=seed))
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        one.axhline(0.0, color="#999999", lw=0.7)
        landscape.banded_curve(one, (x, mean[0], low, high))
        landscape.points(one, [(float(p.x[0]), 0.0) for p in found], stable, notes, (7.0, 5.0))
        one.set_ylabel(f"drift of {name_of(result.states[0])}")
        return one
    x, y = (around(column, GRID) for column in at.T)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    drift = Field(result.mean_model()).drift(grid.reshape(-1, 2))[0].reshape(grid.shape)
    landscape.flow(one, x, y, drift)
    inside = [x[0] <= p.x[0] <= x[-1] and y[0] <= p.x[1] <= y[-1] for p in found]
    kept = [i for i, shown in enumerate(inside) if shown]
    places = [(float(found[i].x[0]), float(found[i].x[1])) for i in kept]
    landscape.points(one, places, [stable[i] for i in kept], [notes[i] for i in kept])
    one.set_ylabel(_axis(result, 1))
    return one


def passage(result: Laws, level: float | Sequence[float], start: ArrayLike, ax: Any, settings: Any) -> Any:
    """Draw the share that has arrived; see `Plots.first_passage`."""
    found = result.first_passage(level, start, **settings)
    one = panels(ax, 1, width=4.6, height=2.8)[0, 0]
    landscape.banded_curve(one, _parts(found.arrived))
    if np.isfinite(found.mean.value):
        one.axvline(found.mean.value, color="#666666", lw=0.8, ls=(0, (4, 3)))
        one.annotate(
            f"mean {found.mean}",
            (found.mean.value, 0.03),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=8,
        )
    one.set(ylim=(0, 1.02), xlim=(0, found.arrived.x[-1]))
    goal = " or ".join(number(end) for end in found.level)
    one.set_ylabel(f"{name_of(found.state)} has reached {goal}")
    one.set_xlabel(with_unit("time", result.data_summary.get("time_unit", "")))
    return one


def _points(result: Laws, x: ArrayLike | None, seed: int | None) -> list[FixedPoint]:
    """Fixed points, sought from the recording or from the points of a curve."""
    return result.fixed_points(None if x is None else np.asarray(x, dtype=float)[:, None], seed=seed)


def _note(point: FixedPoint) -> str:
    """How deviations go, the slowest mode."""
    mode = point.modes[0]
    if mode.frequency is not None and mode.damping_ratio is not None:
        return f"{number(mode.frequency.value, 2)} cycles,\ndamping {number(mode.damping_ratio.value, 2)}"
    time = mode.relaxation_time.value
    return f"relaxes in {number(time, 2)}" if time > 0 else f"grows in {number(-time, 2)}"


def _axis(result: Laws, k: int) -> str:
    name = result.states[k]
    return with_unit(name_of(name), shown_units(result, [name])[0])


def _parts(curve: Curve) -> tuple[Any, Any, Any, Any]:
    return curve.x, curve.mean, curve.low, curve.high
