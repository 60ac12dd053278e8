"""Fitted drift and diffusion against the data: binned Kramers-Moyal estimates, standardised residuals."""

from __future__ import annotations

import re
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.types import Array
from itoscope.drawing.style import (
    BLUE,
    INK,
    ORANGE,
    equation_title,
    hide,
    label_panels,
    legend_above,
    name_of,
    panels,
)  # fmt: skip
from itoscope.errors import ArgumentError, argument_error
from itoscope.result.binned import Binned, Estimate, line_of
from itoscope.result.values import drift_at, equation_at, selected_terms_at
from itoscope.show.noisy_pictures import of_innovations

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["Steps", "binned", "fit", "residuals", "standardised", "steps_of"]

#: Steps that the pictures are made from; more change nothing that can be seen.
MOST_STEPS = 400_000
MOST_QUANTILES = 300


class Steps:
    """The steps of a recording without gaps: state before `x`, after `y` `(n, m)`, length `dt` `(n,)`, and the path."""

    def __init__(self, data: Trajectories) -> None:
        before, after, length, path = [], [], [], []
        for number, (x, t) in enumerate(zip(data.paths, data.times)):
            whole = ~(np.isnan(x[:-1]) | np.isnan(x[1:])).any(axis=1)
            before.append(x[:-1][whole])
            after.append(x[1:][whole])
            length.append(np.diff(t)[whole])
            path.append(np.full(int(whole.sum()), number))
        self.x, self.y = np.concatenate(before), np.concatenate(after)
        self.dt, self.path = np.concatenate(length), np.concatenate(path)

    def some(self, most: int = MOST_STEPS) -> Steps:
        """About `most` of them, spread over the recording."""
        stride = -(-len(self.x) // most)
        few = Steps.__new__(Steps)
        few.x, few.y, few.dt, few.path = (v[::stride] for v in (self.x, self.y, self.dt, self.path))
        return few


def steps_of(result: Findings, data: Trajectories | None, what: str) -> Steps:
    """The steps to compare a result with."""
    data = result.data if data is None else data
    if data is None:
        raise ArgumentError(f"data: {what} needs the recording, which a saved result does not hold")
    if tuple(data.names) != tuple(result.states):
        raise ArgumentError(
            f"data have the states {', '.join(data.names)}: {what} needs all states of the model, "
            f"{', '.join(result.states)}"
        )
    return Steps(data)


def recording_of(result: Findings, data: Trajectories | None, what: str) -> Trajectories:
    """The recording to compare a noisy result with."""
    data = result.data if data is None else data
    if data is None:
        raise ArgumentError(f"data: {what} needs the recording, which a saved result does not hold")
    return data


def binned(x: Array, values: Array, bins: int) -> tuple[Array, Array, Array, list[Any]]:
    """Means in bins of equal count: centre, mean, standard error `(b,)`, and the members of each bin."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part) > 1]
    centre = np.array([x[part].mean() for part in parts])
    mean = np.array([values[part].mean() for part in parts])
    error = np.array([values[part].std(ddof=1) / np.sqrt(len(part)) for part in parts])
    return centre, mean, error, parts


def fit(result: Findings, data: Trajectories | None, bins: int, ax: Any) -> Any:
    """Draw fits; see `Plots.fit`."""
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 4:
        raise argument_error("bins", bins, "a whole number of at least 4")
    estimate: Estimate
    if result.observer is None:
        estimate = of_steps(result, steps_of(result, data, "plot.fit").some(), bins)
    else:
        estimate = of_innovations(result, recording_of(result, data, "plot.fit"), bins // 2)
    named = result.labelled()
    inside = [_states_in(result, equation) for _, equation in named]
    columns = max(map(len, inside))
    axes = panels(ax, len(named), columns, width={1: 4.4, 2: 3.1, 3: 2.8}.get(columns, 2.4), height=2.2)
    for row, ((label, equation), states) in enumerate(zip(named, inside)):
        for column, one in enumerate(axes[row]):
            if column >= len(states):
                hide(one)
                continue
            _panel(one, estimate(label, equation, states[column]), states[column])
            if column == 0:
                one.set_ylabel(equation_title(result, label))
    legend_above(axes, ax, columns=2)
    return label_panels(axes)


def _states_in(result: Findings, equation: Equation) -> list[str]:
    """States that the selected terms contain, four at most; the first state for a constant."""
    words = {
        word for term, z in zip(equation.terms, equation.selected) if z for word in re.findall(r"\w+", term)
    }
    return [state for state in result.states if state in words][:4] or [result.states[0]]


def of_steps(result: Findings, steps: Steps, bins: int) -> Estimate:
    """Estimates from steps in bins: increments over the time, and products of the residual ones."""
    rate = (steps.y - steps.x) / steps.dt[:, None]
    drift = (drift_at(result, steps.x) + drift_at(result, steps.y)) / 2
    noise = (rate - drift) * np.sqrt(steps.dt)[:, None]

    def estimate(label: str, equation: Equation, state: str) -> Binned:
        is_diffusion = label.startswith("Gamma")
        if is_diffusion:
            i, j = (result.states.index(name) for name in label[6:-1].split(", "))
            values = noise[:, i] * noise[:, j]
        else:
            values = rate[:, result.states.index(label[1:])]
        x = steps.x[:, result.states.index(state)]
        centre, mean, error, parts = binned(x, values, min(bins, max(len(x) // 20, 2)))
        if len(result.states) == 1:
            grid = np.linspace(centre[0], centre[-1], 200)
            return Binned(centre, mean, error, grid, *equation_at(result, equation, grid[:, None]))
        features = selected_terms_at(result, equation, steps.x)
        if not is_diffusion:  # a whole step belongs to the drift at both of its ends
            features = (features + selected_terms_at(result, equation, steps.y)) / 2
        average = np.array([features[part].mean(axis=0) for part in parts])
        return Binned(centre, mean, error, centre, *line_of(equation, average))

    return estimate


def _panel(ax: Any, found: Binned, state: str) -> None:
    """Estimates over one state, and the model averaged over the same samples."""
    ax.errorbar(
        found.centre, found.mean, found.error, fmt="o", ms=3.2, color=INK, elinewidth=0.9, zorder=3,
        label="data, ± 1 standard error",
    )  # fmt: skip
    ax.plot(found.grid, found.line, color=BLUE, lw=1.6, label="model, ± 2 sd")
    band = (found.line - 2 * found.sd, found.line + 2 * found.sd)
    ax.fill_between(found.grid, *band, color=BLUE, alpha=0.22, linewidth=0)
    ax.set_xlabel(name_of(state))
    ax.locator_params(axis="both", nbins=5)
    ax.ticklabel_format(axis="both", style="sci", scilimits=(-3, 4), useMathText=True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(7.5)
    if (found.mean - found.error >= 0).all() and (found.line > 0).all():
        ax.set_ylim(bottom=0)


def standardised(result: Findings, steps: Steps, state: str) -> Array:
    """Residuals of one row over the root of their predicted variance, where that is positive; NaN elsewhere."""
    i = result.states.index(state)
    drift = (drift_at(result, steps.x)[:, i] + drift_at(result, steps.y)[:, i]) / 2
    variance = equation_at(result, result.diffusion[state, state], steps.x)[0] * steps.dt
    positive = variance > 1e-2 * variance.mean()
    variance = np.where(positive, variance, np.nan)
    return (steps.y[:, i] - steps.x[:, i] - drift * steps.dt) / np.sqrt(variance)


def residuals(result: Findings, data: Trajectories | None, lags: int, ax: Any) -> Any:
    """Draw residuals; see `Plots.residuals`."""
    if isinstance(lags, bool) or not isinstance(lags, int) or lags < 1:
        raise argument_error("lags", lags, "a whole number of at least 1")
    found: list[tuple[str, Array, Any]]
    if result.observer is not None:
        seen = result.observer.innovations(recording_of(result, data, "plot.residuals"))
        found = [(f"innovation of {name_of(name)}", z, seen.piece) for name, z in zip(seen.names, seen.z.T)]
    else:
        steps = steps_of(result, data, "plot.residuals")
        rows = [a for a, b in result.diffusion if a == b and result.diffusion[a, a].selected.any()]
        if not rows:
            raise ArgumentError("plot.residuals: no row has noise, so there is nothing to standardise by")
        found = [
            (f"residual of {name_of(row)}", standardised(result, steps, row), steps.path) for row in rows
        ]
    axes = panels(ax, len(found), 2, width=3.1, height=2.6)
    for (left, right), (label, z, piece) in zip(axes, found):
        _quantiles(left, z, label)
        _correlation(right, z, piece, min(lags, max(len(z) // 4, 1)))
    return label_panels(axes)


def _quantiles(ax: Any, z: Array, label: str) -> None:
    """Quantiles against normal ones, with the region of two standard errors."""
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
    ax.fill_between(normal, normal - 2 * error, normal + 2 * error, color="#cccccc", alpha=0.6, linewidth=0)
    ax.plot(normal, normal, color=INK, lw=0.8)
    ax.plot(normal, found, ".", ms=4, color=BLUE)
    ax.set(xlabel="normal quantile", ylabel=label)
    reach = 1.15 * max(abs(normal[0]), abs(found[0]), abs(found[-1]))
    ax.set_ylim(-reach, reach)


def _correlation(ax: Any, z: Array, piece: Any, lags: int) -> None:
    """Autocorrelation, with the band that holds 95 % of those of independent residuals."""
    rho = autocorrelation(z, piece, lags)
    band = 1.96 / np.sqrt(np.count_nonzero(~np.isnan(z)))
    ax.axhspan(-band, band, color="#cccccc", alpha=0.6, linewidth=0)
    ax.axhline(0, color=INK, lw=0.8)
    colour = np.where(np.abs(rho) > 2 * band, ORANGE, BLUE)
    ax.vlines(np.arange(1, lags + 1), 0, rho, color=colour, lw=1.8)
    ax.scatter(np.arange(1, lags + 1), rho, s=12, color=colour, zorder=3)
    ax.set(xlabel="lag in steps", ylabel="autocorrelation")
    largest = max(1.5 * float(np.abs(rho).max()), 3 * band)
    ax.set_ylim(-largest, largest)


def autocorrelation(z: Array, path: Array, lags: int) -> Array:
    """Autocorrelation of residuals at lags 1 to `lags` within paths `(lags,)`."""
    known = np.where(np.isnan(z), 0.0, z - np.nanmean(z))
    there = ~np.isnan(z)
    variance = np.nanvar(z)
    rho = []
    for lag in range(1, lags + 1):
        both = (path[lag:] == path[:-lag]) & there[lag:] & there[:-lag]
        rho.append(float((known[lag:] * known[:-lag])[both].mean() / variance) if both.any() else 0.0)
    return np.array(rho)
