"""Estimates over one state behind a noisy recording: how far its innovations bend a fitted equation, piece by piece."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.numbers import exact
from itoscope.data.angles import TURN
from itoscope.result.binned import Binned, Estimate, along, line_of, shares_of
from itoscope.result.values import selected_terms_at

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.angles import Circle
    from itoscope.data.trajectories import Trajectories
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings, Key
    from itoscope.result.observer import Observer

__all__ = ["bumps", "of_innovations", "tents"]

#: Samples that the pictures are made from; more change nothing that can be seen.
MOST_SAMPLES = 100_000
#: The knots lie between these quantiles of the smoothed state.
ENDS = (0.02, 0.98)


def tents(state: str, knots: Array) -> list[str]:
    """Piecewise linear functions of a state, one at its knot and zero at the others; they add up to one.

    Parameters
    ----------
    state : str
    knots : (b,) array, increasing

    Returns
    -------
    list of b expressions
        The outer ones stay one outside the knots.
    """
    sizes = [f"|{state} {'+' if knot < 0 else '-'} {exact(abs(float(knot)))}|" for knot in knots]
    slopes = 0.5 / np.diff(knots)
    found = []
    for b in range(len(knots)):
        parts = []
        if b > 0:
            parts.append((slopes[b - 1], sizes[b - 1]))
        parts.append((-(slopes[b - 1] if b > 0 else 0.0) - (slopes[b] if b < len(slopes) else 0.0), sizes[b]))
        if b < len(slopes):
            parts.append((slopes[b], sizes[b + 1]))
        text = "".join(f" {'-' if c < 0 else '+'} {exact(abs(float(c)))}*{size}" for c, size in parts)
        outer = b == 0 or b == len(slopes)
        found.append(("0.5" if outer else "0") + text)
    return found


def bumps(state: str, circle: Circle, count: int) -> tuple[list[str], Array]:
    """Functions of an angle, each with its top at one of `count` places on the circle; they add up to one within 4 %.

    They are powers of `(1 + cos(turn*(x - place)))/2`, near to bells whose width is the distance of the places over
    the root of 2.
    """
    power = round(count**2 / 4)
    places = circle.low + circle.period * (np.arange(count) + 0.5) / count
    turn, scale = TURN / circle.period, 4.0**power / (count * math.comb(2 * power, power))
    shapes = []
    for place in places:
        angle = f"{exact(turn)}*{state} {'+' if place < 0 else '-'} {exact(abs(turn * place))}"
        shapes.append(f"{exact(scale)}*(0.5 + 0.5*cos({angle}))^{power}")
    return shapes, places


def of_innovations(result: Findings, data: Trajectories, pieces: int) -> Estimate:
    """Estimates of a noisy result; see `Plots.fit`."""
    observer = result.observer
    assert observer is not None
    few = data[_some(data)]
    every = np.concatenate(observer.smooth(few)[0])
    states = np.ascontiguousarray(every[:, : len(result.variables)])

    def estimate(key: Key, equation: Equation, state: str) -> Binned:
        column = observer.states.index(state)
        circle = result.circles.get(state)
        if circle is None:
            knots = np.unique(np.quantile(states[:, column], np.linspace(*ENDS, max(pieces, 3))))
            shapes = tents(state, knots)
        else:
            shapes, centre = bumps(state, circle, max(pieces, 3))
        weights = observer.space(shapes).program.evaluate(every)[:, -len(shapes) :]
        total = weights.sum(axis=0)
        features = selected_terms_at(result, equation, states)
        line, sd = line_of(equation, weights.T @ features / total[:, None])
        bend, error = _bend(observer, few, key, shapes)
        if circle is None:
            centre = weights.T @ states[:, column] / total
        if len(result.variables) == 1 and circle is None:
            grid = np.linspace(centre[0], centre[-1], 200)
            return Binned(centre, line + bend, error, grid, *along(result, equation, grid))
        shares = shares_of(equation, weights.T @ features / total[:, None])
        return Binned(centre, line + bend, error, centre, line, sd, shares)

    return estimate


def _bend(observer: Observer, data: Trajectories, key: Key, shapes: list[str]) -> tuple[Array, Array]:
    """How much of each shape the recording asks for beside the model, and the standard errors `(b,)`."""
    i = observer.states.index(key.row)
    if key.column is None:
        found = observer.drift_moments(data, shapes, i).solve()
        return found.theta, found.errors
    j = observer.states.index(key.column)
    pair = observer.pairs.index((i, j) if (i, j) in observer.pairs else (j, i))
    moments, own = observer.gamma_moments(data, shapes, pair)
    gamma, noise = observer.gamma, observer.noise
    held = np.concatenate([[gamma[entry] for entry in own], np.zeros(len(shapes)), noise])
    # What is left of the target when the model is taken out; the noise may give way, the rest of Gamma may not.
    rest = replace(moments, moment=moments.moment - moments.gram @ held)
    free = list(range(len(own), len(own) + len(shapes)))
    free += [len(held) - len(noise) + c for c in range(len(noise)) if noise[c] != 0]
    found = rest.solve(free)
    return found.theta[: len(shapes)], found.errors[: len(shapes)]


def _some(data: Trajectories) -> list[int]:
    """Numbers of paths, spread over the list, that hold about `MOST_SAMPLES` samples."""
    share = min(1.0, MOST_SAMPLES / sum(len(path) for path in data.paths))
    count = max(round(share * data.n_paths), 1)
    return [int(i) for i in np.unique(np.linspace(0, data.n_paths - 1, count).round())]
