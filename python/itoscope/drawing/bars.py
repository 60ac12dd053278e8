"""Bars and stems: inclusion probabilities, histograms of draws, autocorrelations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.style import BLUE, GREY, INK, ORANGE, SHADE, core_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Bools

__all__ = ["correlation", "distances", "histogram", "inclusion", "law", "shares"]

FAR = 8.0
"""Distance, in standard deviations, at which larger ones are drawn."""
MOST = 2.0
"""Times its bound at which a number that is more is drawn."""


def inclusion(ax: Any, pip: Array, selected: Bools, threshold: float) -> None:
    """Draw inclusion probabilities `(K,)`, one below the other; those of selected terms are filled."""
    place = np.arange(len(pip))
    colour = np.where(selected, BLUE, GREY)
    ax.axvline(threshold, color=INK, lw=0.7, ls=(0, (4, 3)), zorder=0)
    ax.hlines(place, 0, pip, color=colour, lw=1.6)
    ax.scatter(pip, place, s=22, zorder=3, facecolor=np.where(selected, BLUE, "white"), edgecolor=colour)
    ax.set(xlim=(-0.03, 1.05), ylim=(len(place) - 0.4, -0.6), xticks=[0, 0.5, 1])
    ax.set_yticks(place)
    ax.grid(axis="y", color="#eeeeee", lw=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)


def histogram(ax: Any, draws: Array, *, bins: int, alpha: float) -> None:
    """Draw the density of draws `(n,)`, the few farthest left out."""
    ax.hist(core_of(draws), bins=bins, density=True, color=BLUE, alpha=alpha, linewidth=0)


def law(ax: Any, mean: float, sd: float, interval: Array) -> None:
    """Draw a normal density, and an interval `(2,)` as a bar under it."""
    x = np.linspace(mean - 4 * sd, mean + 4 * sd, 200)
    ax.plot(x, np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi)), color=BLUE, lw=1.4)
    ax.plot(interval, [0, 0], color=INK, lw=3, solid_capstyle="butt", clip_on=False)


def correlation(ax: Any, rho: Array, band: float) -> None:
    """Draw autocorrelations `(L,)` at lags 1 to L; those beyond twice `band` are coloured."""
    lags = np.arange(1, len(rho) + 1)
    colour = np.where(np.abs(rho) > 2 * band, ORANGE, BLUE)
    ax.axhspan(-band, band, color=SHADE, alpha=0.6, linewidth=0)
    ax.axhline(0, color=INK, lw=0.8)
    ax.vlines(lags, 0, rho, color=colour, lw=1.8)
    ax.scatter(lags, rho, s=12, color=colour, zorder=3)
    ax.set(xlabel="lag in steps", ylabel="autocorrelation")
    largest = max(1.5 * float(np.abs(rho).max()), 3 * band)
    ax.set_ylim(-largest, largest)


def distances(ax: Any, z: Array, labels: Sequence[str]) -> None:
    """Draw distances `(k,)` in standard deviations, one below the other; those beyond three are coloured."""
    place, shown = np.arange(len(z)), np.clip(z, -FAR, FAR)
    colour = np.where(np.abs(z) > 3.0, ORANGE, BLUE)
    ax.axvspan(-2.0, 2.0, color=SHADE, alpha=0.6, linewidth=0)
    ax.axvline(0, color=INK, lw=0.8)
    ax.hlines(place, 0, shown, color=colour, lw=1.6)
    ax.scatter(shown, place, s=12, color=colour, zorder=3)
    ax.set(xlim=(-1.08 * FAR, 1.08 * FAR), ylim=(len(z) - 0.4, -0.6))
    ax.set_yticks(place, labels, fontsize=6)
    ax.tick_params(axis="y", length=0)


def shares(ax: Any, values: Array, beyond: Bools, labels: Sequence[str]) -> None:
    """Draw numbers `(k,)` in units of their bounds, one below the other; those `beyond` are coloured."""
    place, shown = np.arange(len(values)), np.clip(values, 0.0, MOST)
    colour = np.where(beyond, ORANGE, BLUE)
    ax.axvspan(0.0, 1.0, color=SHADE, alpha=0.6, linewidth=0)
    ax.hlines(place, 0, shown, color=colour, lw=1.6)
    ax.scatter(shown, place, s=12, color=colour, zorder=3)
    ax.set(
        xlim=(-0.03 * MOST, 1.03 * MOST),
        ylim=(max(len(values), 4) - 0.4, -0.6),
        xlabel="in units of the bound",
    )
    ax.set_yticks(place, labels, fontsize=6)
    ax.tick_params(axis="y", length=0)
