"""The sums of one regression recording by recording, and without what each recording has of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["PathSums"]


@dataclass(frozen=True)
class PathSums:
    """The `Sums` of one regression over the same K columns, of R recordings one after the other.

    Attributes
    ----------
    omega, cross, inner : (R, K, K) arrays
    c, d : (R, K) arrays
    s, total, n : (R,) arrays
    """

    omega: Array
    cross: Array
    inner: Array
    c: Array
    d: Array
    s: Array
    total: Array
    n: Array

    @classmethod
    def of(cls, parts: Sequence[Sums]) -> PathSums:
        """Those of each recording."""
        names = ("omega", "cross", "inner", "c", "d", "s", "total", "n")
        return cls(*(np.array([getattr(part, name) for part in parts], dtype=float) for name in names))

    def weighed(self, w: float) -> PathSums:
        """Those with weights that are larger by the factor `w`."""
        return replace(
            self, **{name: w * getattr(self, name) for name in ("omega", "cross", "inner", "c", "d", "s")}
        )

    def scaled(self, factors: Array) -> PathSums:
        """Those of targets that are larger by a factor `(R,)` of each recording."""
        c, d = factors[:, None] * self.c, factors[:, None] * self.d
        return replace(self, c=c, d=d, s=factors**2 * self.s, total=factors * self.total)

    def with_levels(self, columns: Sequence[int], levels: Array) -> PathSums:
        """With further columns: each of `columns` times each of the numbers `(R, p)` that a recording has."""
        count, size = levels.shape[1], self.c.shape[1]
        extra = np.zeros((len(levels), len(columns) * count, size))
        for q, column in enumerate(columns):
            extra[:, q * count : (q + 1) * count, column] = levels
        lift = np.concatenate([np.tile(np.eye(size), (len(levels), 1, 1)), extra], axis=1)
        turned = np.swapaxes(lift, 1, 2)
        squares = [lift @ square @ turned for square in (self.omega, self.cross, self.inner)]
        lines = [np.einsum("rkl,rl->rk", lift, line) for line in (self.c, self.d)]
        return PathSums(squares[0], squares[1], squares[2], lines[0], lines[1], self.s, self.total, self.n)

    def subset(self, columns: Sequence[int]) -> PathSums:
        """Those of these columns."""
        at = np.asarray(columns, dtype=int)
        squares = [square[:, at][:, :, at] for square in (self.omega, self.cross, self.inner)]
        omega, cross, inner = squares
        return PathSums(omega, cross, inner, self.c[:, at], self.d[:, at], self.s, self.total, self.n)

    def given(self, columns: Sequence[int], values: Array) -> PathSums:
        """Those of what is left of the targets where the coefficients of some columns are `values`, which get zeros."""
        if not len(columns):
            return self
        at = np.asarray(columns, dtype=int)
        squares = [square.copy() for square in (self.omega, self.cross, self.inner)]
        c, d = self.c - self.cross[:, :, at] @ values, self.d - self.inner[:, :, at] @ values
        s = (
            self.s
            - 2.0 * self.d[:, at] @ values
            + np.einsum("p,rpq,q->r", values, self.inner[:, at][:, :, at], values)
        )
        for square in squares:
            square[:, at], square[:, :, at] = 0.0, 0.0
        c[:, at], d[:, at] = 0.0, 0.0
        omega, cross, inner = squares
        return PathSums(omega, cross, inner, c, d, s, self.total, self.n)

    def joined(self) -> PathSums:
        """Those of all recordings together, as if of one."""
        names = ("omega", "cross", "inner", "c", "d", "s", "total", "n")
        return PathSums(*(getattr(self, name).sum(axis=0, keepdims=True) for name in names))

    def added(self) -> Sums:
        """Those of all recordings together."""
        one = self.joined()
        squares, lines = (one.omega[0], one.cross[0], one.inner[0]), (one.c[0], one.d[0])
        return Sums(*squares, *lines, float(one.s[0]), float(one.total[0]), round(float(one.n[0])))

    def less(self, columns: Sequence[int], ratio: Array) -> PathSums:
        """Each without what a normal coefficient of its own, of variance ``s2 ratio``, takes on some columns V.

        The weights W of the steps become ``W - W Z (1 / ratio + Z' W Z)^-1 Z' W`` with Z the columns at the start of
        the steps: the inverse of the covariance of what is left, over s2.
        """
        at = np.asarray(columns, dtype=int)
        square = self.square(columns, ratio)
        start, mid, c = self.omega[:, :, at] @ square, self.cross[:, at], self.c[:, at]
        taken = np.swapaxes(mid, 1, 2) @ square
        return replace(
            self,
            omega=self.omega - start @ self.omega[:, at],
            cross=self.cross - start @ mid,
            inner=self.inner - taken @ mid,
            c=self.c - np.einsum("rkq,rq->rk", start, c),
            d=self.d - np.einsum("rkq,rq->rk", taken, c),
            s=self.s - np.einsum("rp,rpq,rq->r", c, square, c),
        )

    def square(self, columns: Sequence[int], ratio: Array) -> Array:
        """``(1 / ratio + Z' W Z)^-1`` `(R, q, q)`, over s2 the inverse covariance of coefficients of one recording."""
        root, middle = self._middle(columns, ratio)
        return np.asarray(root[:, None] * np.linalg.inv(middle) * root)

    def log_determinant(self, columns: Sequence[int], ratio: Array) -> float:
        """Log of the determinants of ``1 + ratio Z' W Z``, of all recordings."""
        return float(np.linalg.slogdet(self._middle(columns, ratio)[1])[1].sum())

    def _middle(self, columns: Sequence[int], ratio: Array) -> tuple[Array, Array]:
        at, root = np.asarray(columns, dtype=int), np.sqrt(ratio)
        return root, np.eye(len(at)) + root[:, None] * self.omega[:, at][:, :, at] * root
