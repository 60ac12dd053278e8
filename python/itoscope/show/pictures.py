"""Pictures of which terms are in an equation, and with what coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.bars import histogram, inclusion, law
from itoscope.drawing.over_time import chains
from itoscope.drawing.scatter import corner
from itoscope.drawing.style import INK, covariance_title, drift_title, hide, label_panels, panels, term_label
from itoscope.errors import argument_error
from itoscope.posterior.words import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings, Key

__all__ = ["pairs", "pip", "posterior", "title_of", "trace"]

#: More pairs than this make panels too small to read.
MOST_PAIRS = 6


def title_of(key: Key) -> str:
    """An equation for a figure."""
    return drift_title(key.row) if key.column is None else covariance_title(key.row, key.column)


def pip(result: Findings, ax: Any) -> Any:
    """Draw inclusion probabilities; see `Plots.pip`."""
    keyed = result.keyed()
    same = all(equation.terms == keyed[0][1].terms for _, equation in keyed)
    longest = max(len(equation.terms) for _, equation in keyed)
    small = longest > 40
    width = 3.2 if not same else 2.6 if len(keyed) <= 3 else max(1.3, 8.0 / len(keyed))
    height = 0.9 + (0.165 if small else 0.2) * longest
    axes = panels(ax, 1, len(keyed), width=width, height=height, sharex=True, sharey=same and ax is None)
    for column, (one, (key, equation)) in enumerate(zip(axes.flat, keyed)):
        inclusion(one, equation.pip, equation.selected, equation.threshold)
        one.set_title(title_of(key), fontsize=9.5)
        if column == 0 or not same or ax is not None:
            labels = [term_label(term, result.states) for term in equation.terms]
            one.set_yticklabels(labels, fontsize=7.5 if small else 8.0)
            for text, inside in zip(one.get_yticklabels(), equation.selected):
                text.set_color(INK if inside else "#777777")
    for one in (
        axes.flat if width >= 2.6 and len(keyed) < 3 else axes[0, len(keyed) // 2 : len(keyed) // 2 + 1]
    ):
        one.set_xlabel("inclusion probability")
    return label_panels(axes)


def posterior(result: Findings, name: Any, ax: Any) -> Any:
    """Draw posteriors of coefficients; see `Plots.posterior`."""
    key, equation = result.find(name)
    chosen = _chosen(equation)
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    axes = panels(ax, rows, columns, width=2.7, height=2.1) if ax is None else panels(ax, 1, len(chosen))
    for one in axes.flat[len(chosen) :]:
        hide(one)
    for one, k in zip(axes.flat, chosen):
        draws = equation.samples[..., k][equation.included[..., k]]
        if draws.size > 1 and np.ptp(draws) > 0:
            histogram(one, draws, bins=40, alpha=0.3)
        if equation.selected[k] and equation.sd[k] > 0:
            law(one, float(equation.mean[k]), float(equation.sd[k]), equation.interval(0.95)[k])
        shown = term_label(equation.terms[k], result.states)
        one.set_title(f"{shown}   PIP {probability(equation.pip[k])}", fontsize=9)
        one.set(yticks=[], ylim=(0, None))
        one.spines["left"].set_visible(False)
        one.locator_params(axis="x", nbins=4)
    if ax is None:
        axes[0, 0].figure.suptitle(f"Coefficients of the {_what(key)}", fontsize=10.5)
    return label_panels(axes)


def pairs(result: Findings, name: Any, terms: Sequence[str] | None, ax: Any) -> Any:
    """Draw joint posteriors; see `Plots.pairs`."""
    key, equation = result.find(name)
    chosen = _chosen(equation)[:MOST_PAIRS] if terms is None else _places(equation, terms)
    n = len(chosen)
    axes = panels(ax, n, n, width=1.9 if n > 2 else 2.6, height=1.7 if n > 2 else 2.3)
    draws = equation.samples.reshape(-1, len(equation.terms))[:, chosen]
    draws = draws[(draws != 0).all(axis=1)]
    corner(axes, draws, [term_label(equation.terms[k], result.states) for k in chosen])
    if ax is None:
        axes[0, 0].figure.suptitle(f"Joint posterior, {_what(key)}", fontsize=10.5)
    return label_panels(axes)


def trace(result: Findings, name: Any, ax: Any) -> Any:
    """Draw chains; see `Plots.trace`."""
    key, equation = result.find(name)
    chosen = _chosen(equation)
    axes = panels(ax, len(chosen) + 1, 1, width=6.4, height=1.25, sharex=ax is None)
    aside = {"rotation": 0, "ha": "right", "va": "center", "labelpad": 8}
    for one, k in zip(axes.flat, chosen):
        draws, inside = equation.samples[..., k], equation.included[..., k]
        chains(one, draws, inside)
        if np.count_nonzero(inside) > 20:
            low, high = np.quantile(draws[inside], [0.002, 0.998])
            if high > low:
                one.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
        one.set_ylabel(term_label(equation.terms[k], result.states), fontsize=10, **aside)
        one.locator_params(axis="y", nbins=3)
    last = axes.flat[-1]
    chains(last, equation.included.sum(axis=-1), labelled=True)
    last.set_ylabel("number\nof terms", fontsize=8.5, **aside)
    last.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    last.set_xlabel("draw")
    if ax is None:
        worst = np.nanmax(np.append(equation.rhat[chosen], 1.0))
        title = f"Chains of the {_what(key)} (largest R-hat {worst:.3f})"
        axes[0, 0].figure.suptitle(title, fontsize=10.5)
    return label_panels(axes)


def _chosen(equation: Equation) -> list[int]:
    """Columns to draw: the selected ones, else the most probable one."""
    inside = [int(k) for k in np.flatnonzero(equation.selected)]
    return inside or [int(np.argmax(equation.pip))]


def _places(equation: Equation, terms: Sequence[str]) -> list[int]:
    """Columns of the terms that were named."""
    for term in terms:
        if term not in equation.terms:
            raise argument_error("terms", term, f"terms of this equation: {', '.join(equation.terms)}")
    return [equation.terms.index(term) for term in terms]


def _what(key: Key) -> str:
    return title_of(key) if key.column is None else f"diffusion {title_of(key)}"
