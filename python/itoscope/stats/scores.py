"""Score tests of a regression: what columns outside it would explain, and whether parts of the data agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.quadratic import Quadratic
from itoscope.stats.tails import chi_square_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["Score", "agreement", "of_rows", "rarer", "score"]


class Score(NamedTuple):
    """A sum of squares with `dof` degrees of freedom and its p-value, the column that gives most and its z value."""

    chi_square: float
    dof: int
    p_value: float
    column: int = -1
    z: float = 0.0


def of_rows(columns: Array, residual: Array) -> Quadratic:
    """The regression of residuals `(n,)` of unit variance on `columns` `(n, K)`; rows with NaN are left out."""
    good = np.isfinite(residual + columns.sum(axis=1))
    u, z = (columns, residual) if good.all() else (columns[good], residual[good])
    return Quadratic(u.T @ u, u.T @ z, float(z @ z), float(len(z)))


def _explained(quadratic: Quadratic, columns: Sequence[int]) -> tuple[float, int]:
    """Sum of squares that `columns` explain, and how many of them are independent; none where numbers overflowed."""
    explained, rank = quadratic.explained(columns)
    return (explained, rank) if np.isfinite(explained) else (0.0, 0)


def score(quadratic: Quadratic, held: Sequence[int], tested: Sequence[int], named: bool = True) -> Score:
    r"""What the columns `tested` explain of the residuals beside `held`.

    :math:`b^T G^{-1} b` of both less that of `held`, which is chi-square with as many degrees of freedom as directions
    are added. A single column has :math:`z = (b_k - G_{kh} G_{hh}^{-1} b_h) / (G_{kk} - G_{kh} G_{hh}^{-1}
    G_{hk})^{1/2}`; without `named` nobody asks for these.
    """
    both, rank = _explained(quadratic, [*held, *tested])
    less, known = _explained(quadratic, held)
    dof = rank - known
    if dof <= 0:
        return Score(0.0, 0, 1.0)
    found = max(both - less, 0.0)
    column, z = _furthest(quadratic, held, tested) if named else (-1, 0.0)
    return Score(found, dof, chi_square_tail(found, dof), column, z)


def _furthest(quadratic: Quadratic, held: Sequence[int], tested: Sequence[int]) -> tuple[int, float]:
    """Which of the columns tested has the largest z value, and that."""
    alone = quadratic.subset([*tested, *held]).profile(len(tested))
    own = np.diag(quadratic.gram)[np.asarray(tested, dtype=int)]
    new = np.diag(alone.gram) > 1e-9 * own
    z = np.where(new, alone.moment / np.sqrt(np.where(new, np.diag(alone.gram), 1.0)), 0.0)
    most = int(np.argmax(np.abs(z)))
    return most, float(z[most])


def agreement(parts: Sequence[Quadratic]) -> Score:
    r"""Whether parts of the data have the same coefficients: :math:`\sum_p b_p^T G_p^{-1} b_p - b^T G^{-1} b`.

    Of residuals, so that all coefficients are zero if nothing is wrong; `column` is the part that is furthest off.
    """
    if len(parts) < 2:
        return Score(0.0, 0, 1.0)
    columns = range(len(parts[0].moment))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    each = [_explained(part, columns) for part in parts]
    total, rank = _explained(whole, columns)
    dof = sum(count for _, count in each) - rank
    if dof <= 0:
        return Score(0.0, 0, 1.0)
    found = max(sum(value for value, _ in each) - total, 0.0)
    most = int(np.argmax([value for value, _ in each]))
    return Score(found, dof, chi_square_tail(found, dof), most, float(np.sqrt(max(each[most][0], 0.0))))


def rarer(one: Score, other: Score) -> Score:
    """The rarer of two looks at the same data, its p-value doubled; that which looked, if the other did not."""
    if not one.dof or not other.dof:
        return other if not one.dof else one
    least = min(one, other, key=lambda found: found.p_value)
    return least._replace(p_value=min(1.0, 2.0 * least.p_value))
