"""The paper's figures drawn again: inclusion probabilities, joint posteriors, the forecast."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require
from itoscope.common.writing import replacing
from itoscope.paper.forecasting import BAND, Motion
from itoscope.paper.outcome import equations_as_in, velocity_names
from itoscope.paper.page import SHOWN
from itoscope.paper.studies import STUDIES, Study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from itoscope.discovery.result import Discovery
    from itoscope.posterior.equation import Equation

__all__ = ["draw"]

FOUND, LEFT, TRUE = "#1f6f8b", "#b8c4c9", "#c1432e"
DOTS_PER_INCH = 75
MOST_PANELS = 12
MOST_DRAWS = 600
COLOURS = {
    "true": "#222222",
    "printed": "#c1432e",
    "promised": "#1f6f8b",
    "law": "#5a8f3c",
    "seen": "#d9a441",
}
CALLED = {
    "true": "true system",
    "printed": "learnt as printed",
    "promised": "learnt as promised",
    "law": "learnt with the hysteresis equation known",
    "seen": "learnt with the hysteresis measured",
}


def draw(
    results: Mapping[tuple[str, str], Discovery], motions: Mapping[str, Motion], folder: Path
) -> list[tuple[str, str]]:
    """Draw everything into `folder`; file names and captions, in the order of the studies.

    Raises
    ------
    MissingExtraError
        Without Matplotlib.
    """
    require("matplotlib", "plot", "Drawing figures")
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[tuple[str, str]] = []
    for study in STUDIES.values():
        mine = {form: results[study.name, form] for form in study.forms if (study.name, form) in results}
        if not mine:
            continue
        drawn.append(_save(folder, study, "inclusion", _inclusion(study, mine)))
        best = next(form for form in ("few", "promised", "pooled", "printed", "law", "seen") if form in mine)
        picture = _pairs(study, mine[best], best)
        if picture is not None and study.judged == "terms":
            drawn.append(_save(folder, study, "posterior", picture))
        if study.judged == "forecast" and "true" in motions:
            drawn.append(_save(folder, study, "forecast", _forecast(motions)))
    return drawn


def _save(folder: Path, study: Study, what: str, picture: tuple[Any, str]) -> tuple[str, str]:
    figure, caption = picture
    name = f"{study.name}--{what}.png"
    with replacing(folder / name) as beside:
        figure.savefig(beside, dpi=DOTS_PER_INCH, metadata={"Software": None})
    return name, caption


def _figure(columns: int, rows: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure of its own, without the global state of pyplot, and its axes `(rows, columns)`."""
    figure = require("matplotlib.figure", "plot", "Drawing figures").Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure, figure.subplots(rows, columns, squeeze=False)


def _renamed(study: Study, result: Discovery) -> dict[str, tuple[Equation, list[str]]]:
    """Equations by label with the names of their terms, velocities called as in the problem."""
    names = velocity_names(result, study.problem().known_drift)
    return {label: (equation, terms) for label, equation, terms in equations_as_in(result, names)}


def _inclusion(study: Study, results: Mapping[str, Discovery]) -> tuple[Any, str]:
    """Stems of the inclusion probability of every candidate; a row per equation, a column per form."""
    tables = {form: _renamed(study, result) for form, result in results.items()}
    labels = list(dict.fromkeys(label for table in tables.values() for label in table))
    true = {key for key, value in study.truth().items() if value != 0}
    figure, axes = _figure(len(tables), len(labels), 4.2 * len(tables), 0.6 + 1.5 * len(labels))
    for column, (form, table) in enumerate(tables.items()):
        for row, label in enumerate(labels):
            axis = axes[row][column]
            if label not in table:
                axis.set_axis_off()
                continue
            equation, terms = table[label]
            at = np.arange(len(terms))
            colours = [FOUND if z else LEFT for z in equation.selected]
            axis.vlines(at, 0, equation.pip, colors=colours, linewidth=2)
            axis.scatter(at, equation.pip, c=colours, s=14, zorder=3)
            axis.axhline(equation.threshold, color=TRUE, linewidth=0.8)
            axis.set(ylim=(-0.03, 1.12), ylabel=label, title=SHOWN[form] if row == 0 else "")
            named = [k for k in at if equation.selected[k] or (label, terms[k]) in true]
            axis.set_xticks(named, [terms[k] for k in named], rotation=60, ha="right", fontsize=7)
            for tick, k in zip(axis.get_xticklabels(), named):
                tick.set_color(TRUE if (label, terms[k]) not in true and study.judged == "terms" else "black")
    caption = f"{study.title}: inclusion probability of each candidate; named are those selected or true, false in red."
    return figure, caption


def _pairs(study: Study, result: Discovery, form: str) -> tuple[Any, str] | None:
    """Joint posterior draws of the selected coefficients, two at a time; a histogram for one alone."""
    panels: list[tuple[str, Equation, list[str], tuple[int, ...]]] = []
    for label, (equation, terms) in _renamed(study, result).items():
        chosen = [int(k) for k in np.flatnonzero(equation.selected)]
        groups = [tuple(chosen)] if len(chosen) == 1 else list(combinations(chosen, 2))
        panels += [(label, equation, terms, group) for group in groups]
    panels = panels[:MOST_PANELS]
    if not panels:
        return None
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = _figure(columns, rows, 2.7 * columns, 2.4 * rows)
    truth = study.truth()
    for axis, (label, equation, terms, group) in zip(axes.flat, panels):
        named = [terms[k] for k in group]
        _panel(axis, equation, group, named, [truth.get((label, term)) for term in named])
        axis.set_title(label, fontsize=8)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    return (
        figure,
        f"{study.title}, {SHOWN[form]}: joint posterior of the selected coefficients; crosses and lines: true.",
    )


def _panel(
    axis: Any,
    equation: Equation,
    chosen: tuple[int, ...],
    names: Sequence[str],
    truth: Sequence[float | None],
) -> None:
    draws = equation.samples.reshape(-1, len(equation.terms))[:, list(chosen)]
    draws = draws[(draws != 0).all(axis=1)]
    draws = draws[:: max(1, len(draws) // MOST_DRAWS)]
    axis.tick_params(labelsize=6)
    axis.set_xlabel(names[0], fontsize=7)
    if len(chosen) == 1:
        axis.hist(draws[:, 0], bins=40, color=FOUND, alpha=0.8)
        if truth[0] is not None:
            axis.axvline(truth[0], color=TRUE)
        return
    axis.scatter(draws[:, 0], draws[:, 1], s=2, color=FOUND, alpha=0.25, linewidths=0)
    axis.set_ylabel(names[1], fontsize=7)
    if truth[0] is not None and truth[1] is not None:
        axis.scatter([truth[0]], [truth[1]], marker="+", s=90, color=TRUE, zorder=3)


def _forecast(motions: Mapping[str, Motion]) -> tuple[Any, str]:
    """Displacement and velocity in time, and spectra, of the true system and of what was learnt."""
    figure, axes = _figure(3, 1, 12.0, 3.2)
    time_axis, velocity_axis, spectrum_axis = axes[0]
    for name, colour in COLOURS.items():
        if name not in motions or motions[name].diverged > len(motions[name].velocity):
            continue
        seen = motions[name]
        settled = seen.times > 0.5
        style = {"color": colour, "linewidth": 0.6, "alpha": 0.8}
        time_axis.plot(seen.times[settled], seen.first[settled, 0], label=CALLED[name], **style)
        velocity_axis.plot(seen.times[settled], seen.first[settled, 1], **style)
        spectrum_axis.loglog(
            seen.frequency[1:], seen.spectra.mean(axis=0)[1:], **(style | {"linewidth": 1.2})
        )
    time_axis.set(xlabel="time (s)", ylabel="displacement")
    time_axis.legend(fontsize=7)
    velocity_axis.set(xlabel="time (s)", ylabel="velocity")
    spectrum_axis.set(xlabel="frequency (Hz)", ylabel="spectrum of displacement", xlim=(0.2, 100.0))
    spectrum_axis.axvspan(*BAND, color="#000000", alpha=0.05)
    return figure, "Bouc-Wen oscillator: forecast at s = 6 from an equation learnt from 1 s at s = 2."
