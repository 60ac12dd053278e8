"""Points: joint draws, quantiles against normal ones, estimates with a model through them."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.drawing.bars import histogram
from itoscope.drawing.style import BLUE, INK, ORANGE, SHADE, hide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["averages", "cloud", "corner", "estimates", "line", "quantiles", "ratios"]

#: Points of a cloud; more make files large and pictures no clearer.
MOST_POINTS = 1500
MOST_QUANTILES = 300


def corner(axes: Any, draws: Array, labels: Sequence[str]) -> None:
    """Draw draws `(n, k)` in pairs below the diagonal of `(k, k)` axes, and each by itself on it."""
    last = len(labels) - 1
    for (i, j), one in np.ndenumerate(axes):
        if j > i or not len(draws):
            hide(one)
            continue
        if i == j:
            histogram(one, draws[:, j], bins=30, alpha=0.35)
            one.set_yticks([])
            one.spines["left"].set_visible(False)
        else:
            cloud(one, draws[:, j], draws[:, i])
        one.locator_params(axis="x", nbins=4 if last < 2 else 3, prune="both")
        one.tick_params(labelsize=7)
        if i == last:
            one.set_xlabel(labels[j])
        else:
            one.tick_params(labelbottom=False)
        if j == 0 and i > 0:
            one.set_ylabel(labels[i])
            one.locator_params(axis="y", nbins=4)
        elif i != j:
            one.tick_params(labelleft=False)
    for (i, j), one in np.ndenumerate(axes):
        if len(draws) and j <= i:
            one.set_xlim(axes[j, j].get_xlim())
            if i != j:
                one.set_ylim(axes[i, i].get_xlim())


def cloud(ax: Any, x: Array, y: Array) -> None:
    """Draw points, and the two ellipses that hold 50 and 95 % of a normal law of their moments."""
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


def quantiles(ax: Any, z: Array) -> None:
    """Draw quantiles of `z` `(n,)`, NaN left out, against normal ones, with the region of two standard errors."""
    known = np.sort(z[~np.isnan(z)])
    n = len(known)
    # Order statistics: all of the tails, fewer of the middle.
    tail = np.unique(np.geomspace(1, n, MOST_QUANTILES // 2).astype(int)) - 1
    middle = np.linspace(0.02 * n, 0.98 * n, MOST_QUANTILES // 2).astype(int)
    index = np.unique(np.concatenate([tail, middle, n - 1 - tail]))
    shares, found = (index + 0.5) / n, known[index]
    normal = np.array([NormalDist().inv_cdf(p) for p in shares])
    # Standard error of a quantile: sqrt(p (1 - p) / n) over the density there.
    error = np.sqrt(shares * (1 - shares) / n) * np.sqrt(2 * np.pi) * np.exp(normal**2 / 2)
    ax.fill_between(normal, normal - 2 * error, normal + 2 * error, color=SHADE, alpha=0.6, linewidth=0)
    ax.plot(normal, normal, color=INK, lw=0.8)
    ax.plot(normal, found, ".", ms=4, color=BLUE)
    ax.set_xlabel("normal quantile")
    reach = 1.15 * max(abs(normal[0]), abs(found[0]), abs(found[-1]))
    ax.set_ylim(-reach, reach)


def estimates(ax: Any, points: tuple[Array, Array, Array], model: tuple[Array, Array, Array]) -> None:
    """Draw estimates, and a line with its band through them.

    Parameters
    ----------
    ax : Axes
    points : three (b,) arrays
        Place, estimate, standard error.
    model : three (g,) arrays
        Place, value, standard deviation.
    """
    (centre, mean, error), (grid, line, sd) = points, model
    ax.errorbar(
        centre,
        mean,
        error,
        fmt="o",
        ms=3.2,
        color=INK,
        elinewidth=0.9,
        zorder=3,
        label="data, ± 1 standard error",
    )
    ax.plot(grid, line, color=BLUE, lw=1.6, label="model, ± 2 sd")
    ax.fill_between(grid, line - 2 * sd, line + 2 * sd, color=BLUE, alpha=0.22, linewidth=0)
    ax.locator_params(axis="both", nbins=5)
    ax.ticklabel_format(axis="both", style="sci", scilimits=(-3, 4), useMathText=True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(7.5)
    if (mean - error >= 0).all() and (line > 0).all():
        ax.set_ylim(bottom=0)


def averages(ax: Any, place: Array, mean: Array, error: Array, level: float) -> None:
    """Draw means `(b,)` with bars of two standard errors about the `level` they should have; those three off in colour.

    A few that are far off are not let squeeze the others: the axis ends at the last bar.
    """
    far = np.abs(mean - level) > 3.0 * error
    ax.axhline(level, color=INK, lw=0.8)
    for which, colour in ((~far, BLUE), (far, ORANGE)):
        if which.any():
            ax.errorbar(
                place[which], mean[which], 2.0 * error[which], fmt="o", ms=3.2, color=colour, elinewidth=0.9, zorder=3
            )  # fmt: skip
    if len(mean):
        reach = 1.15 * float(np.max(np.abs(mean - level) + 2.0 * error))
        ax.set_ylim(level - reach, level + reach)


def ratios(ax: Any, size: Array, ratio: Array, error: Array) -> None:
    """Draw ratios `(b,)` over sizes, about one and its region of so much `error`; those outside are coloured."""
    ax.fill_between(size, 1.0 - error, 1.0 + error, color=SHADE, alpha=0.6, linewidth=0)
    ax.axhline(1.0, color=INK, lw=0.8)
    ax.plot(size, ratio, color=BLUE, lw=1.0)
    ax.scatter(size, ratio, s=12, color=np.where(np.abs(ratio - 1.0) > 1.5 * error, ORANGE, BLUE), zorder=3)
    ax.set_xscale("log", base=2)


def line(ax: Any, x: Array, y: Array, within: tuple[float, float]) -> None:
    """Draw a curve through the level zero, the part `within` solid on a shade."""
    inside = (x >= within[0]) & (x <= within[1])
    ax.axvspan(*within, color=SHADE, alpha=0.6, linewidth=0)
    ax.axhline(0, color=INK, lw=0.8)
    ax.plot(x, y, color=BLUE, lw=1.2, ls=(0, (3, 2)))
    ax.plot(x[inside], y[inside], color=BLUE, lw=1.8)
