"""What a panel of `plot.fit` shows: estimates over one state without a library, and the model beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.common.types import Array

if TYPE_CHECKING:
    from itoscope.posterior.equation import Equation

__all__ = ["Binned", "Estimate", "line_of"]


class Binned(NamedTuple):
    """Estimates `mean` with standard `error` at `centre` `(b,)`; the model's `line` and its `sd` on `grid` `(g,)`."""

    centre: Array
    mean: Array
    error: Array
    grid: Array
    line: Array
    sd: Array


Estimate = Callable[[str, "Equation", str], Binned]
"""From the label of an equation, the equation and the state on the axis to what is drawn."""


def line_of(equation: Equation, average: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of a model whose selected terms have the averages `(b, r)`."""
    chosen = np.flatnonzero(equation.selected)
    cov = equation.cov[np.ix_(chosen, chosen)]
    variance = np.einsum("ni,ij,nj->n", average, cov, average)
    return average @ equation.mean[chosen], np.sqrt(np.maximum(variance, 0.0))
