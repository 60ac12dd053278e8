"""The part of a report to explore: recording, terms and fit with zoom, values under the pointer, switches of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.drawing.style import BLUE, GREY, INK, ORANGE, thinned, with_unit
from itoscope.errors import ArgumentError
from itoscope.result.units import equation_unit, shown_units
from itoscope.show.fit_pictures import estimator, states_in

if TYPE_CHECKING:
    from itoscope.posterior.equation import Equation
    from itoscope.result.binned import Binned
    from itoscope.result.findings import Findings

__all__ = ["explorer"]

WIDE, HIGH = 860, 240
"""Pixels of a figure at most."""
MOST_PATHS = 8
"""Recorded paths to choose from."""
MOST_TERMS = 16
"""The most probable terms of an equation."""
BINS = 16
"""Bins of the estimates beside a curve."""
TOOLS = "pan,box_zoom,wheel_zoom,reset,save"

SWITCH = """
const shares = source.data;
const total = new Array(shares.x.length).fill(0);
for (const k of cb_obj.active) for (let i = 0; i < total.length; i++) total[i] += shares["t" + k][i];
shares.y = total;
source.change.emit();
"""
CHOOSE = "for (const [k, line] of lines.entries()) line.visible = k === Number(cb_obj.value);"


def explorer(result: Findings) -> str:
    """The section, with the script that it needs: nothing comes from elsewhere.

    Raises
    ------
    MissingExtraError
        Without Bokeh, the extra `interactive`.
    """
    embed = require("bokeh.embed", "interactive", "An interactive report")
    resources = require("bokeh.resources", "interactive", "An interactive report")
    layouts = require("bokeh.layouts", "interactive", "An interactive report")
    parts = [*_recording(result), *(_terms(label, equation) for label, equation in result.labelled())]
    parts += _fits(result)
    script, div = embed.components(layouts.column(parts, sizing_mode="stretch_width"))
    inline = resources.Resources(mode="inline", components=["bokeh", "bokeh-widgets"])
    page = f'<div class="explorer">{div}</div>{inline.render_js()}{script}'
    return (
        f"{page}<p class='note'>Drag to zoom, point for values; a switch takes its term out of the curve.</p>"
    )


def _figure(title: str, hover: list[tuple[str, str]], height: int = HIGH, **settings: Any) -> Any:
    """An empty figure of one style."""
    plotting = require("bokeh.plotting", "interactive", "An interactive report")
    figure = plotting.figure(
        title=title, height=height, sizing_mode="stretch_width", max_width=WIDE, tools=TOOLS,
        active_drag="box_zoom", toolbar_location="right", tooltips=hover, output_backend="canvas",
        styles={"break-inside": "avoid"}, **settings,
    )  # fmt: skip
    figure.toolbar.logo = None
    figure.grid.grid_line_alpha = 0.4
    figure.title.text_font_style = "normal"
    return figure


def _recording(result: Findings) -> list[Any]:
    """The recorded columns of one path, which a list chooses, over the time that all panels share."""
    data = result.data
    if data is None:
        return []
    models = require("bokeh.models", "interactive", "An interactive report")
    found: list[Any] = []
    several = []
    for k, name in enumerate(data.names):
        shared = {"x_range": found[0].x_range} if found else {}
        figure = _figure(
            with_unit(name, data.units[k]), [("time", "$x{0.[0000]}"), (name, "$y")], 180, **shared
        )
        lines = []
        for i in range(min(data.n_paths, MOST_PATHS)):
            t, x = thinned(np.asarray(data.times[i]), data.paths[i][:, k])
            lines.append(figure.line(t.tolist(), _known(x), color=BLUE, line_width=1, visible=i == 0))
        figure.xaxis.axis_label = with_unit("time", data.time_unit)
        found.append(figure)
        several.append(lines)
    if data.n_paths > 1:
        names = [(str(i), f"path {i + 1}") for i in range(min(data.n_paths, MOST_PATHS))]
        chosen = models.Select(title="recording", value="0", options=names, width=160)
        for lines in several:
            chosen.js_on_change("value", models.CustomJS(args={"lines": lines}, code=CHOOSE))
        found.insert(0, chosen)
    return found


def _terms(label: str, equation: Equation) -> Any:
    """Probabilities of the terms of an equation; coefficients under the pointer."""
    ends = equation.interval(0.95)
    order = np.argsort(-equation.pip, kind="stable")[:MOST_TERMS]
    source = {
        "term": [equation.terms[k] for k in order],
        "pip": equation.pip[order].tolist(),
        "mean": equation.mean[order].tolist(),
        "sd": equation.sd[order].tolist(),
        "low": ends[order, 0].tolist(),
        "high": ends[order, 1].tolist(),
        "colour": [BLUE if equation.selected[k] else GREY for k in order],
    }
    hover = [
        ("term", "@term"),
        ("probability", "@pip{0.000}"),
        ("coefficient", "@mean ± @sd"),
        ("95 %", "@low .. @high"),
    ]
    figure = _figure(
        f"{label}: probability of each term", hover, 220, x_range=source["term"], y_range=(0.0, 1.05)
    )
    figure.vbar(x="term", top="pip", width=0.6, color="colour", source=_source(source))
    figure.xaxis.major_label_orientation = 0.8
    return figure


def _fits(result: Findings) -> list[Any]:
    """For each equation and state the estimates without a library, and the curve with a switch for every term."""
    layouts = require("bokeh.layouts", "interactive", "An interactive report")
    try:
        estimate = estimator(result, None, BINS)
        found: list[Any] = []
        for key, equation in result.keyed():
            terms = [equation.terms[k] for k in np.flatnonzero(equation.selected)]
            for state in states_in(result, equation) if terms else ():
                binned = estimate(key, equation, state)
                title = (
                    f"{dict(_labels(result))[key]} over {with_unit(state, shown_units(result, [state])[0])}"
                )
                found.append(
                    layouts.column(
                        *_fit(title, equation_unit(result, key), terms, binned), sizing_mode="stretch_width"
                    )
                )
    except ArgumentError:  # a saved result, or one without steps
        return []
    return found


def _labels(result: Findings) -> list[Any]:
    return [(key, label) for (key, _), (label, _) in zip(result.keyed(), result.labelled())]


def _fit(title: str, unit: str, terms: list[str], binned: Binned) -> list[Any]:
    models = require("bokeh.models", "interactive", "An interactive report")
    hover = [("value", "@y"), ("± error", "@error"), ("at", "@x")]
    figure = _figure(with_unit(title, unit), hover, 280)
    points = {"x": binned.centre.tolist(), "y": binned.mean.tolist(), "error": binned.error.tolist()}
    points |= {"low": (binned.mean - binned.error).tolist(), "high": (binned.mean + binned.error).tolist()}
    data = _source(points)
    figure.segment("x", "low", "x", "high", color=INK, source=data)
    figure.scatter("x", "y", size=6, color=INK, source=data)
    shares = {f"t{k}": binned.shares[:, k].tolist() for k in range(len(terms))}
    curve = _source({"x": binned.grid.tolist(), "y": binned.shares.sum(axis=1).tolist(), **shares})
    figure.line(binned.grid.tolist(), binned.line.tolist(), color=BLUE, line_width=1, line_dash="dashed")
    figure.line("x", "y", color=ORANGE, line_width=2, source=curve)
    switch = models.CheckboxGroup(labels=terms, active=list(range(len(terms))), inline=True)
    switch.js_on_change("active", models.CustomJS(args={"source": curve}, code=SWITCH))
    return [figure, switch]


def _source(columns: dict[str, Any]) -> Any:
    return require("bokeh.models", "interactive", "An interactive report").ColumnDataSource(columns)


def _known(x: Any) -> list[float]:
    """Samples, NaN where one is missing, with digits that a screen can tell apart."""
    return [float(f"{value:.7g}") for value in x.tolist()]
