"""What a panel of `plot.fit` shows: estimates over one state without a library, and the model beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.result.values import drift_at, equation_at, selected_terms_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from itoscope.common.types import Array
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings, Key
    from itoscope.result.steps import Steps

__all__ = ["Binned", "Estimate", "along", "line_of", "of_steps", "shares_of"]


class Binned(NamedTuple):
    """Estimates `mean` with standard `error` at `centre` `(b,)`; the model's `line` and its `sd` on `grid` `(g,)`."""

    centre: Array
    mean: Array
    error: Array
    grid: Array
    line: Array
    sd: Array
    shares: Array
    """What each selected term has of the line `(g, r)`."""


Estimate = Callable[["Key", "Equation", str], Binned]
"""From the key of an equation, the equation and the state on the axis to what is drawn."""


def line_of(equation: Equation, average: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of a model whose selected terms have the averages `(b, r)`."""
    chosen = np.flatnonzero(equation.selected)
    cov = equation.cov[np.ix_(chosen, chosen)]
    variance = np.einsum("ni,ij,nj->n", average, cov, average)
    return average @ equation.mean[chosen], np.sqrt(np.maximum(variance, 0.0))


def shares_of(equation: Equation, average: Array) -> Array:
    """What each selected term has of a line, `(b, r)`."""
    return average * equation.mean[equation.selected]


def along(result: Findings, equation: Equation, grid: Array) -> tuple[Array, Array, Array]:
    """Line, deviation and shares of a model of one variable."""
    at = grid[:, None]
    shares = shares_of(equation, selected_terms_at(result, equation, at))
    return (*equation_at(result, equation, at), shares)


def bins_of(x: Array, bins: int) -> list[NDArray[np.intp]]:
    """Members of `bins` bins of equal count along `x` `(n,)`, those with one member at most left out."""
    return [part for part in np.array_split(np.argsort(x, kind="stable"), bins) if len(part) > 1]


def of_steps(result: Findings, steps: Steps, bins: int) -> Estimate:
    """Estimates from steps in bins: increments over the time, and products of the residual ones."""
    rate = (steps.y - steps.x)[:, : len(result.states)] / steps.dt[:, None]
    drift = (drift_at(result, steps.x) + drift_at(result, steps.y)) / 2
    noise = (rate - drift) * np.sqrt(steps.dt)[:, None]

    def estimate(key: Key, equation: Equation, state: str) -> Binned:
        i = result.states.index(key.row)
        values = rate[:, i] if key.column is None else noise[:, i] * noise[:, result.states.index(key.column)]
        x, circle = steps.x[:, result.variables.index(state)], result.circles.get(state)
        x = x if circle is None else circle.wrapped(x)
        parts = bins_of(x, min(bins, max(len(x) // 20, 2)))
        centre = np.array([x[part].mean() for part in parts])
        mean = np.array([values[part].mean() for part in parts])
        error = np.array([values[part].std(ddof=1) / np.sqrt(len(part)) for part in parts])
        if len(result.variables) == 1 and circle is None:
            grid = np.linspace(centre[0], centre[-1], 200)
            return Binned(centre, mean, error, grid, *along(result, equation, grid))
        features = selected_terms_at(result, equation, steps.x)
        if key.column is None:  # a whole step belongs to the drift at both of its ends
            features = (features + selected_terms_at(result, equation, steps.y)) / 2
        average = np.array([features[part].mean(axis=0) for part in parts])
        return Binned(centre, mean, error, centre, *line_of(equation, average), shares_of(equation, average))

    return estimate
