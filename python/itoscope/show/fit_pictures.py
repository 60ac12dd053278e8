"""Fitted drift and diffusion against the data: binned Kramers-Moyal estimates, standardised residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import number
from itoscope.data.angles import angle_of
from itoscope.drawing import over_time
from itoscope.drawing.bars import correlation
from itoscope.drawing.scatter import estimates, quantiles
from itoscope.drawing.style import hide, label_panels, legend_above, name_of, panels, with_unit
from itoscope.errors import ArgumentError, ExpressionError, argument_error
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.result.binned import of_steps
from itoscope.result.innovations import of_innovations
from itoscope.result.steps import recording_of, standardised, steps_of
from itoscope.result.units import equation_unit, shown_units
from itoscope.show.pictures import title_of
from itoscope.stats.student import student_quantile
from itoscope.stats.whiteness import autocorrelation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.binned import Estimate
    from itoscope.result.findings import Findings

__all__ = ["estimator", "fit", "residuals", "sensors", "states_in"]

#: Steps that the pictures are made from; more change nothing that can be seen.
MOST_STEPS = 400_000
#: Degrees of freedom at which Student's law is the normal one.
NORMAL = 1e9
#: Panels of an equation, one per state.
MOST_STATES = 4


def estimator(result: Findings, data: Trajectories | None, bins: int) -> Estimate:
    """Estimates without a library from steps, of a noisy recording from innovations."""
    if result.observer is None:
        return of_steps(result, steps_of(result, data, "plot.fit").some(MOST_STEPS), bins)
    return of_innovations(result, recording_of(result, data, "plot.fit"), bins // 2)


def fit(result: Findings, data: Trajectories | None, bins: int, ax: Any) -> Any:
    """Draw fits; see `Plots.fit`."""
    checks.count("bins", bins, 4)
    estimate = estimator(result, data, bins)
    rows = [(key, equation, states_in(result, equation)) for key, equation in result.keyed()]
    columns = max(len(states) for _, _, states in rows)
    width = {1: 4.4, 2: 3.1, 3: 2.8}.get(columns, 2.4)
    axes = panels(ax, len(rows), columns, width=width, height=2.2)
    for row, (key, equation, states) in zip(axes, rows):
        row[0].set_ylabel(with_unit(title_of(key), equation_unit(result, key)))
        for one, state in zip(row, states):
            found = estimate(key, equation, state)
            estimates(one, (found.centre, found.mean, found.error), (found.grid, found.line, found.sd))
            one.set_xlabel(with_unit(name_of(state), shown_units(result, [state])[0]))
        for one in row[len(states) :]:
            hide(one)
    legend_above(axes, ax, columns=2)
    return label_panels(axes)


def states_in(result: Findings, equation: Equation) -> list[str]:
    """States that the selected terms contain, four at most; the first state for a constant.

    A function of Python may contain them all.
    """
    graph = Graph(list(result.variables))
    try:
        roots = [parse(equation.terms[k], graph) for k in np.flatnonzero(equation.selected)]
    except ExpressionError:
        return list(result.states[:MOST_STATES])
    nodes = [graph.nodes[node] for node in graph.below(roots)]
    inside = {int(node.value) for node in nodes if node.operation == "input"}
    return [result.variables[i] for i in sorted(inside)][:MOST_STATES] or [result.states[0]]


def residuals(result: Findings, data: Trajectories | None, lags: int, ax: Any) -> Any:
    """Draw residuals; see `Plots.residuals`."""
    checks.count("lags", lags)
    found = _rows(result, data) if result.observer is None else _channels(result, data)
    axes = panels(ax, len(found), 2, width=3.1, height=2.6)
    for (left, right), (label, z, piece) in zip(axes, found):
        quantiles(left, z)
        left.set_ylabel(label)
        rho = autocorrelation(z, piece, min(lags, max(len(z) // 4, 1)))
        # The band holds 95 % of the autocorrelations of independent residuals.
        correlation(right, rho, 1.96 / float(np.sqrt(np.count_nonzero(~np.isnan(z)))))
    return label_panels(axes)


def _rows(result: Findings, data: Trajectories | None) -> list[tuple[str, Array, NDArray[np.intp]]]:
    """Label, standardised residuals and path of each step, of each noisy row."""
    steps = steps_of(result, data, "plot.residuals")
    rows = [a for a, b in result.diffusion if a == b and result.diffusion[a, a].selected.any()]
    if not rows:
        raise ArgumentError("plot.residuals: no row has noise, so there is nothing to standardise by")
    return [(f"residual of {name_of(row)}", standardised(result, steps, row), steps.path) for row in rows]


def _channels(result: Findings, data: Trajectories | None) -> list[tuple[str, Array, NDArray[np.intp]]]:
    """Label, standardised innovations and stretch of each sample, of each channel."""
    assert result.observer is not None
    seen = result.observer.innovations(recording_of(result, data, "plot.residuals"))
    return [(f"innovation of {name_of(name)}", z, seen.piece) for name, z in zip(seen.names, seen.z.T)]


def sensors(result: Findings, data: Trajectories | None, path: int, ax: Any) -> Any:
    """Draw readings beside fitted ones; see `Plots.sensors`."""
    held = recording_of(result, data, "plot.sensors")
    found = result.smoothed(held)
    if not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    fitted, spread = found.readings[path].copy(), student_quantile(0.975, NORMAL) * found.readings_sd[path]
    bands = np.stack([fitted - spread, fitted + spread], axis=-1)
    measured = {name: held.paths[path][:, c].copy() for c, name in enumerate(found.channels)}
    for c, (name, text) in enumerate(zip(found.channels, result.settings.get("observed") or ())):
        angle = angle_of(text)
        circle = result.circles.get(angle[0]) if angle else None
        if circle is not None:
            shown = circle.broken(fitted[:, c])
            bands[:, c] += (shown - fitted[:, c])[:, None]
            fitted[:, c], measured[name] = shown, circle.wrapped(measured[name])
    units = dict(zip(held.names, held.units))
    axes = over_time.smoothed(
        found.times[path], fitted, bands, found.channels, measured, ax=ax,
        units=[units.get(name, "") for name in found.channels], time_unit=held.time_unit,
    )  # fmt: skip
    shown = np.atleast_1d(np.asarray(axes, dtype=object))
    out = result.outliers if data is None else []
    for name, one in zip(found.channels, shown.flat):
        at = [far.sample for far in out if far.path == path and far.channel == name]
        if at:
            over_time.rings(one, found.times[path][at], measured[name][at])
            legend_above(shown, ax, columns=4)
        for pair in result.diagnostics.get("noise_correlation", ()):
            if name in pair["between"]:
                other = next(channel for channel in pair["between"] if channel != name)
                said = f"noise correlated with {other}: {number(pair['correlation'], 2)}"
                one.text(0.99, 0.02, said, transform=one.transAxes, ha="right", va="bottom", fontsize="small")
    return axes
