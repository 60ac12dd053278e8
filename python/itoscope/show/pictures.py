"""Pictures of which terms are in an equation, and with what coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.types import Array
from itoscope.drawing.style import (
    BLUE,
    GREY,
    INK,
    SERIES,
    by_key,
    equation_title,
    hide,
    label_panels,
    panels,
    term_label,
)  # fmt: skip
from itoscope.errors import argument_error
from itoscope.posterior.words import probability

if TYPE_CHECKING:
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["pairs", "pip", "posterior", "trace"]

#: More pairs than this make panels too small to read.
MOST_PAIRS = 6
#: Points of a line or a cloud; more make files large and pictures no clearer.
MOST_POINTS = 1500


def pip(result: Findings, ax: Any) -> Any:
    """Draw inclusion probabilities; see `Plots.pip`."""
    named = result.labelled()
    same = all(equation.terms == named[0][1].terms for _, equation in named)
    longest = max(len(equation.terms) for _, equation in named)
    size = 8.0 if longest <= 40 else 7.5
    height = 0.9 + (0.2 if longest <= 40 else 0.165) * longest
    width = 3.2 if not same else 2.6 if len(named) <= 3 else max(1.3, 8.0 / len(named))
    axes = panels(ax, 1, len(named), width=width, height=height, sharex=True, sharey=same and ax is None)
    for column, (one, (label, equation)) in enumerate(zip(axes.flat, named)):
        place = np.arange(len(equation.terms))
        colour = np.where(equation.selected, BLUE, GREY)
        one.axvline(equation.threshold, color=INK, lw=0.7, ls=(0, (4, 3)), zorder=0)
        one.hlines(place, 0, equation.pip, color=colour, lw=1.6)
        one.scatter(
            equation.pip,
            place,
            s=22,
            zorder=3,
            facecolor=np.where(equation.selected, BLUE, "white"),
            edgecolor=colour,
        )
        one.set(xlim=(-0.03, 1.05), ylim=(len(place) - 0.4, -0.6), xticks=[0, 0.5, 1])
        one.set_title(equation_title(result, label), fontsize=9.5)
        one.set_yticks(place)
        one.grid(axis="y", color="#eeeeee", lw=0.6)
        one.set_axisbelow(True)
        if column == 0 or not same or ax is not None:
            one.set_yticklabels([term_label(term, result.states) for term in equation.terms], fontsize=size)
            for text, inside in zip(one.get_yticklabels(), equation.selected):
                text.set_color(INK if inside else "#777777")
        one.tick_params(axis="y", length=0)
    axes[0, len(named) // 2].set_xlabel("inclusion probability")
    return label_panels(axes)


def posterior(result: Findings, key: Any, ax: Any) -> Any:
    """Draw posteriors of coefficients; see `Plots.posterior`."""
    label, equation = by_key(result, key)
    chosen = _chosen(equation, None)
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    axes = panels(ax, rows, columns, width=2.7, height=2.1) if ax is None else panels(ax, 1, len(chosen))
    for one in axes.flat[len(chosen) :]:
        hide(one)
    for one, k in zip(axes.flat, chosen):
        draws = equation.samples[..., k][equation.included[..., k]]
        if draws.size > 1 and np.ptp(draws) > 0:
            one.hist(_core_of(draws), bins=40, density=True, color=BLUE, alpha=0.3, linewidth=0)
        if equation.selected[k] and equation.sd[k] > 0:
            mean, sd = equation.mean[k], equation.sd[k]
            x = np.linspace(mean - 4 * sd, mean + 4 * sd, 200)
            one.plot(x, np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi)), color=BLUE, lw=1.4)
            low, high = equation.interval(0.95)[k]
            one.plot([low, high], [0, 0], color=INK, lw=3, solid_capstyle="butt", clip_on=False)
        one.set_title(
            f"{term_label(equation.terms[k], result.states)}   PIP {probability(equation.pip[k])}", fontsize=9
        )
        one.set(yticks=[], ylim=(0, None))
        one.spines["left"].set_visible(False)
        one.locator_params(axis="x", nbins=4)
    if ax is None:
        axes[0, 0].figure.suptitle(f"Coefficients of the {_what(result, label)}", fontsize=10.5)
    return label_panels(axes)


def pairs(result: Findings, key: Any, terms: list[str] | None, ax: Any) -> Any:
    """Draw joint posteriors; see `Plots.pairs`."""
    label, equation = by_key(result, key)
    chosen = _chosen(equation, terms)
    n = len(chosen)
    if terms is None:
        chosen = chosen[:MOST_PAIRS]
        n = len(chosen)
    axes = panels(ax, n, n, width=1.9 if n > 2 else 2.6, height=1.7 if n > 2 else 2.3)
    draws = equation.samples.reshape(-1, len(equation.terms))[:, chosen]
    draws = draws[(draws != 0).all(axis=1)] if len(draws) else draws
    for i in range(n):
        for j in range(n):
            one = axes[i, j]
            if j > i or not len(draws):
                hide(one)
                continue
            x = _core_of(draws[:, j])
            if i == j:
                one.hist(x, bins=30, density=True, color=BLUE, alpha=0.35, linewidth=0)
                one.set_yticks([])
                one.spines["left"].set_visible(False)
            else:
                _cloud(one, draws[:, j], draws[:, i])
            one.locator_params(axis="x", nbins=4, prune="both")
            one.tick_params(labelsize=7)
            if i == n - 1:
                one.set_xlabel(term_label(equation.terms[chosen[j]], result.states))
            else:
                one.tick_params(labelbottom=False)
            if j == 0 and i > 0:
                one.set_ylabel(term_label(equation.terms[chosen[i]], result.states))
                one.locator_params(axis="y", nbins=4)
            elif i != j:
                one.tick_params(labelleft=False)
    for i in range(n):
        if len(draws):
            for j in range(i + 1):
                axes[i, j].set_xlim(axes[j, j].get_xlim())
                if i != j:
                    axes[i, j].set_ylim(axes[i, i].get_xlim())
    if ax is None:
        axes[0, 0].figure.suptitle(f"Joint posterior, {_what(result, label)}", fontsize=10.5)
    return label_panels(axes)


def _cloud(ax: Any, x: Array, y: Array) -> None:
    """Points, and the two ellipses that hold 50 and 95 % of a normal law of their moments."""
    step = max(1, len(x) // MOST_POINTS)
    ax.scatter(x[::step], y[::step], s=3, color=BLUE, alpha=0.25, linewidth=0, rasterized=True)
    cov = np.cov(x, y)
    if not np.isfinite(cov).all() or np.linalg.det(cov) <= 0:
        return
    root = np.linalg.cholesky(cov)
    turn = np.linspace(0, 2 * np.pi, 120)
    for share in (0.5, 0.95):
        ring = np.sqrt(-2 * np.log(1 - share)) * root @ np.array([np.cos(turn), np.sin(turn)])
        ax.plot(x.mean() + ring[0], y.mean() + ring[1], color=INK, lw=0.9)


def trace(result: Findings, key: Any, ax: Any) -> Any:
    """Draw chains; see `Plots.trace`."""
    label, equation = by_key(result, key)
    chosen = _chosen(equation, None)
    axes = panels(ax, len(chosen) + 1, 1, width=6.4, height=1.25, sharex=ax is None)
    n_chains, n_draws = equation.samples.shape[:2]
    step = max(1, n_draws // MOST_POINTS)
    at = np.arange(0, n_draws, step)
    for one, k in zip(axes.flat, chosen):
        for chain in range(n_chains):
            inside = equation.included[chain, ::step, k]
            y = np.where(inside, equation.samples[chain, ::step, k], np.nan)
            one.plot(at, y, color=SERIES[chain % len(SERIES)], lw=0.5, alpha=0.75, rasterized=True)
        values = equation.samples[..., k][equation.included[..., k]]
        if values.size > 20:
            low, high = np.quantile(values, [0.002, 0.998])
            if high > low:
                one.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
        one.set_ylabel(
            term_label(equation.terms[k], result.states),
            rotation=0,
            ha="right",
            va="center",
            fontsize=10,
            labelpad=8,
        )
        one.locator_params(axis="y", nbins=3)
    size = equation.included.sum(axis=-1)
    last = axes.flat[-1]
    for chain in range(n_chains):
        last.plot(
            at, size[chain, ::step], color=SERIES[chain % len(SERIES)], lw=0.5, alpha=0.75, rasterized=True,
            label=f"chain {chain + 1}" if n_chains <= 6 else None,
        )  # fmt: skip
    last.set_ylabel("number\nof terms", rotation=0, ha="right", va="center", fontsize=8.5, labelpad=8)
    last.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    last.set_xlabel("draw")
    for one in axes.flat:
        one.set_xlim(0, max(n_draws - 1, 1))
    if ax is None:
        worst = np.nanmax(np.append(equation.rhat[chosen], 1.0))
        axes[0, 0].figure.suptitle(
            f"Chains of the {_what(result, label)} (largest R-hat {worst:.3f})", fontsize=10.5
        )
    return label_panels(axes)


def _chosen(equation: Equation, terms: list[str] | None) -> list[int]:
    """Columns to draw: those named, else the selected ones, else the most probable one."""
    if terms is not None:
        for term in terms:
            if term not in equation.terms:
                raise argument_error("terms", term, f"terms of this equation: {', '.join(equation.terms)}")
        return [equation.terms.index(term) for term in terms]
    inside = [int(k) for k in np.flatnonzero(equation.selected)]
    return inside or [int(np.argmax(equation.pip))]


def _core_of(draws: Array) -> Array:
    """Draws without the few farthest ones, which belong to other models and would squeeze the picture."""
    low, high = np.quantile(draws, [0.002, 0.998])
    return draws[(draws >= low) & (draws <= high)]


def _what(result: Findings, label: str) -> str:
    title = equation_title(result, label)
    return title if title.startswith("drift") else f"diffusion {title}"
