"""`BoundLibrary`: a library over named states, as the list of expressions that moments are computed with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.errors import ArgumentError, ExpressionError
from itoscope.expressions.grammar import read
from itoscope.stats.running import mean_and_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from itoscope.backends.records import Program
    from itoscope.common.types import Array
    from itoscope.library.parts import Custom

__all__ = ["TIME", "BoundLibrary", "names_in", "readable_means"]

TIME = "t"
"""The name of the time since the start of a recording."""


@dataclass(frozen=True)
class BoundLibrary:
    """A library over named states: what the moments are computed with."""

    states: list[str]
    """Names of the m states."""
    driven: list[str]
    """Names of the inputs that drive them, the time among them where a term contains it."""
    names: list[str]
    """How the K terms are shown."""
    expressions: list[str]
    """The K terms as expressions over `inputs`."""
    inputs: list[str]
    """The states, the inputs that drive them, then `custom1`, ... for the columns that Python computes."""
    customs: list[Custom]
    """The functions behind those columns, in the same order; a library bound with others shares theirs."""

    @property
    def custom_names(self) -> list[str]:
        """How the terms that are functions of Python are shown."""
        return [
            name
            for name, text in zip(self.names, self.expressions)
            if text in self.inputs[len(self.states) + len(self.driven) :]
        ]

    def program(self, backend: str | None = None) -> Program:
        """The terms compiled by a backend."""
        return get_backend(backend).compile(self.expressions, self.inputs)

    def augment(self, x: Array) -> Array:
        """`x` `(n, m + g)` with the columns of the custom functions after it, `(n, m + g + n_custom)`.

        Rows with a missing state (NaN) are not shown to the functions; their custom columns are NaN.

        Raises
        ------
        ArgumentError
            If a function returns another shape than `(n,)`, no real numbers, or a value that is not finite.
        """
        x = np.ascontiguousarray(x, dtype=np.float64)
        if not self.customs:
            return x
        present = ~np.isnan(x).any(axis=1)
        augmented = np.full((len(x), len(self.inputs)), np.nan)
        augmented[:, : x.shape[1]] = x
        for i, custom in enumerate(self.customs):
            augmented[present, x.shape[1] + i] = _checked_column(
                custom.function(x[present][:, : len(self.states)]), custom.name, int(present.sum())
            )
        return augmented


def names_in(text: str) -> set[str]:
    """The names in an expression; of one that does not parse none, for the mistake is said where it is compiled."""
    try:
        return set(read(text).inputs)
    except ExpressionError:
        return set()


def readable_means(paths: Sequence[Array]) -> list[float]:
    """Means of the columns of all paths `(n_i, m)` together, as an origin that people can read.

    Each is rounded to a hundredth of the spread of its column: where exactly the origin lies does not
    matter, and `(x1 - 100.3)^3` reads better than `(x1 - 100.31824718274)^3`. NaN samples are left out.
    """
    means = []
    for column in range(paths[0].shape[1]):
        with np.errstate(over="ignore"):
            mean, variance = mean_and_variance([path[:, column] for path in paths])
        mean, spread = (0.0, 0.0) if math.isnan(mean) else (mean, math.sqrt(variance))
        means.append(round(mean, 2 - math.floor(math.log10(spread))) if 0 < spread < math.inf else mean)
    return means


def _checked_column(values: ArrayLike, name: str, n: int) -> Array:
    column = np.asarray(values)
    if column.dtype.kind not in "fiub":
        raise ArgumentError(f"custom term {name!r} returned values of type {column.dtype}: real numbers")
    if column.dtype.kind != "b":  # a masked value is missing
        column = checks.reals(f"custom term {name!r}", values, missing=True)
    if column.shape != (n,):
        raise ArgumentError(f"custom term {name!r} returned shape {column.shape}: ({n},), one value per row")
    column = column.astype(np.float64)
    finite = np.isfinite(column)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ArgumentError(f"custom term {name!r} returned {column[row]} at row {row}: finite values")
    return column
