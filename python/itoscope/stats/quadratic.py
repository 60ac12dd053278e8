"""`Quadratic`: all that a linear regression leaves of its rows, and the least squares of any of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers

__all__ = ["RANK_TOLERANCE", "Quadratic", "Solution"]

#: Directions of a Gram matrix of unit diagonal whose eigenvalue is a smaller share of the largest are not solved for.
#: Rounding leaves some 1e-14 in the entries; well above it a direction is information, see
#: `benches/accuracy/rank_tolerance.py`. The core has the same number in `regression/project.rs`.
RANK_TOLERANCE = 1e-13


class Solution(NamedTuple):
    """Least-squares coefficients `theta` `(r,)` and the inverse of their Gram matrix `(r, r)`.

    Both are zero along directions that the data do not determine.
    """

    theta: Array
    inverse: Array

    @property
    def errors(self) -> Array:
        """Square roots of the inverse's diagonal `(r,)`: standard errors where the rows have unit variance."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.inverse), 0.0)))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The residual sum of squares of a regression: `yy - 2 moment.theta + theta.gram.theta`.

    Those of disjoint data add.

    Parameters
    ----------
    gram : (K, K) array
        `sum w u u^T`.
    moment : (K,) array
        `sum w u y`.
    yy : float
        `sum w y^2`.
    n : float
        Number of rows.
    """

    gram: Array
    moment: Array
    yy: float
    n: float

    def __add__(self, other: Quadratic) -> Quadratic:
        """That of both sets of data."""
        if not isinstance(other, Quadratic):
            return NotImplemented
        return Quadratic(
            self.gram + other.gram, self.moment + other.moment, self.yy + other.yy, self.n + other.n
        )

    def residual(self, theta: Array) -> float:
        """The residual sum of squares of coefficients `(K,)`."""
        return float(self.yy - 2.0 * self.moment @ theta + theta @ self.gram @ theta)

    def correlation(self) -> Array:
        """Cosines of the angles between columns `(K, K)`; zero for columns that are zero."""
        size = np.sqrt(np.diag(self.gram))
        size = np.where(size > 0, size, np.inf)
        return np.asarray(self.gram / np.outer(size, size))

    def subset(self, columns: Sequence[int]) -> Quadratic:
        """That of the regression on these columns only, in this order."""
        index = self._places(columns)
        return Quadratic(self.gram[np.ix_(index, index)], self.moment[index], self.yy, self.n)

    def _places(self, columns: Sequence[int]) -> Integers:
        """Numbers of columns as an array; `ArgumentError` for others."""
        try:
            index = np.asarray(columns)
        except (ValueError, OverflowError):
            index = np.zeros((0, 0))
        k = len(self.moment)
        if index.ndim != 1 or (
            index.size and (index.dtype.kind not in "iu" or not 0 <= index.min() <= index.max() < k)
        ):
            raise argument_error("columns", columns, f"numbers of columns, 0 to {k - 1}")
        return index.astype(int)

    def given(self, held: Sequence[int], values: Array) -> Quadratic:
        """That of the other columns where the coefficients of the columns `held` are `values`."""
        fixed = np.asarray(held, dtype=int)
        free = np.setdiff1d(np.arange(len(self.moment)), fixed)
        gram, moment = self.gram, self.moment
        yy = self.yy - 2.0 * moment[fixed] @ values + values @ gram[np.ix_(fixed, fixed)] @ values
        rest = moment[free] - gram[np.ix_(free, fixed)] @ values
        return Quadratic(gram[np.ix_(free, free)], rest, float(yy), self.n)

    def solve(self, columns: Sequence[int] | None = None) -> Solution:
        """Least squares of `columns`, all unless given, scaled to unit diagonal first.

        Directions that the data do not determine are left out (`RANK_TOLERANCE`), and so are columns that are not
        finite: those have the coefficient 0.
        """
        index, good, half = self._directions(columns)
        theta, inverse = np.zeros(len(index)), np.zeros((len(index), len(index)))
        inverse[np.ix_(good, good)] = half @ half.T
        theta[good] = half @ (
            half.T @ self.moment[index[good]]
        )  # by directions: the inverse would spread their errors
        return Solution(theta, inverse)

    def explained(self, columns: Sequence[int] | None = None) -> tuple[float, int]:
        """What the least squares of `columns` take off the sum of squares, and how many directions they have."""
        index, good, half = self._directions(columns)
        along = half.T @ self.moment[index[good]]
        return float(along @ along), half.shape[1]

    def _directions(self, columns: Sequence[int] | None) -> tuple[Integers, Integers, Array]:
        """Numbers of columns, which of them are finite and not zero `(r,)`, and H `(r, d)` with `H H^T` the inverse of
        their Gram matrix along the directions that the data determine.
        """
        index = np.arange(len(self.moment)) if columns is None else self._places(columns)
        gram, moment = self.gram[index[:, None], index], self.moment[index]
        size = np.diag(gram)
        good = np.flatnonzero(np.isfinite(size) & np.isfinite(moment) & (size > 0.0))
        gram = gram[good[:, None], good]
        scale = 1.0 / np.sqrt(np.maximum(size[good], np.finfo(float).tiny))
        scaled = gram * scale[:, None] * scale
        if len(good) == 0 or not np.all(np.isfinite(scaled)):
            return index, good[:0], np.zeros((0, 0))
        values, vectors = np.linalg.eigh(scaled)
        keep = values > RANK_TOLERANCE * values[-1]
        return index, good, (scale[:, None] * vectors[:, keep]) / np.sqrt(values[keep])

    def profile(self, kept: int) -> Quadratic:
        """That of the first `kept` columns with the others at their best: those have flat priors and are always in.

        `G_aa - G_ab G_bb^-1 G_ba`, `b_a - G_ab G_bb^-1 b_b`, `yy - b_b.G_bb^-1 b_b`, and a row less for each of them.
        """
        _, inverse = self.solve(range(kept, len(self.moment)))
        cross = self.gram[:kept, kept:] @ inverse
        gram = self.gram[:kept, :kept] - cross @ self.gram[kept:, :kept]
        rest = self.moment[kept:]
        yy = self.yy - float(rest @ inverse @ rest)
        return Quadratic(gram, self.moment[:kept] - cross @ rest, yy, self.n - len(rest))

    def finite(self) -> tuple[Quadratic, list[int]]:
        """The same with zeros for columns that are not finite, and which these are."""
        gram, moment = self.gram.copy(), self.moment.copy()
        with np.errstate(all="ignore"):
            size = np.sqrt(np.diag(gram))
            bad = ~(np.isfinite(size) & np.isfinite(moment))
            rest = np.flatnonzero(~bad)
            bad[rest] = ~np.all(np.isfinite(gram[np.ix_(rest, rest)]), axis=1)
        gram[bad], gram[:, bad], moment[bad] = 0.0, 0.0, 0.0
        return Quadratic(gram, moment, self.yy, self.n), np.flatnonzero(bad).tolist()
