"""One regression in the coordinates of the prior, and the log evidence of its models given the slab."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import NumericalError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Regression", "log_evidence"]


class Regression:
    """Moments scaled as the prior wants them, without the columns that are zero.

    With `standardize` column k is divided by ``sqrt(gram_kk / n)`` and the target by ``sqrt(yy / n)``.
    `kept` are the caller's indices of the usable columns; `raw` times a scaled coefficient is the caller's
    coefficient.
    """

    def __init__(self, quadratic: Quadratic, prior: Prior) -> None:
        gram, moment, yy, n = quadratic.gram, quadratic.moment, quadratic.yy, quadratic.n
        self.n_columns = moment.size
        if gram.shape != (self.n_columns, self.n_columns):
            allowed = f"({self.n_columns}, {self.n_columns}), as moment has {self.n_columns} entries"
            raise argument_error("gram.shape", gram.shape, allowed)
        for name, values in (("gram", gram), ("moment", moment)):
            if not np.isfinite(values).all():
                raise argument_error(name, float(values[~np.isfinite(values)][0]), "finite numbers")
        if not (n > 0 and math.isfinite(n)):
            raise argument_error("n", n, "a positive, finite number")
        if not (yy >= 0 and math.isfinite(yy)):
            raise argument_error("yy", yy, "a finite number, zero or positive")
        self.prior = prior
        self.n = n
        self.kept = np.flatnonzero(np.diag(gram) > 0)
        self.n_usable = self.kept.size
        column_scale = np.ones(self.n_usable)
        self.target_scale = 1.0
        if prior.standardize:
            column_scale = np.sqrt(np.diag(gram)[self.kept] / n)
            if yy > 0:
                self.target_scale = math.sqrt(yy / n)
        self.gram = gram[np.ix_(self.kept, self.kept)] / np.outer(column_scale, column_scale)
        self.moment = moment[self.kept] / (column_scale * self.target_scale)
        self.yy = yy / self.target_scale**2
        self.raw = self.target_scale / column_scale
        self.power = prior.a_s + 0.5 * n
        """Shape of the noise variance given the data, ``a_s + n/2``."""
        self.log_constant = (
            -0.5 * n * math.log(2 * math.pi)
            + prior.a_s * math.log(prior.b_s)
            - math.lgamma(prior.a_s)
            + math.lgamma(self.power)
        )

    def log_model(self, r: int) -> float:
        """Return the log prior of one model of r columns: ``log B(a_p+r, b_p+K-r) / B(a_p, b_p)``.

        Where the prior says how probable the empty model is, the others share the rest in these proportions.
        """
        a, b, k, empty = self.prior.a_p, self.prior.b_p, self.n_usable, self.prior.empty

        def free(r: int) -> float:
            return _log_beta(a + r, b + k - r) - _log_beta(a, b)

        if empty is None or k == 0:
            return free(r)
        return (
            math.log(empty) if r == 0 else free(r) + math.log1p(-empty) - math.log(-math.expm1(self.log_none))
        )

    def log_weight(self, r: int, p0: float) -> float:
        """Return the log prior of one model of r columns given the inclusion rate, up to a constant."""
        favour = 0.0
        if self.prior.empty is not None and self.n_usable:
            free = math.log(-math.expm1(self.log_none)) - self.log_none
            favour = math.log(self.prior.empty) - math.log1p(-self.prior.empty) + free
        return r * (math.log(p0) - math.log1p(-p0)) + (favour if r == 0 else 0.0)

    @property
    def log_none(self) -> float:
        """Log probability that no column is in, by the inclusion rate alone."""
        return self.prior.log_none(self.n_usable)

    def usable(self, included: Bools) -> list[int]:
        """Return the usable columns among those that the caller marks."""
        if included.shape != (self.n_columns,):
            allowed = f"one flag for each of {self.n_columns} columns"
            raise argument_error("included.size", included.size, allowed)
        return [int(k) for k in np.flatnonzero(included[self.kept])]

    def factor(self, members: Sequence[int], v: float) -> tuple[Array, Array, float]:
        """Return ``L`` with ``L L^T = G_rr + I/v``, ``z = L^-1 b_r`` and ``2 b_s + yy - z.z``."""
        index = list(members)
        system = self.gram[np.ix_(index, index)] + np.eye(len(index)) / v
        try:
            lower = np.asarray(np.linalg.cholesky(system), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise NumericalError("the Gram matrix of a model is not positive semidefinite") from None
        z = np.asarray(np.linalg.solve(lower, self.moment[index]), dtype=np.float64)
        return lower, z, 2 * self.prior.b_s + max(self.yy - float(z @ z), 0.0)

    def log_evidence(self, members: Sequence[int], v: float) -> float:
        """Return the log evidence of the model with these usable columns, theta and s2 integrated out."""
        lower, _, energy = self.factor(members, v)
        log_det = 2 * np.log(np.diag(lower)).sum()
        return float(
            self.log_constant
            - 0.5 * (len(members) * math.log(v) + log_det)
            - self.power * math.log(0.5 * energy)
        )


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_evidence(
    quadratic: Quadratic,
    prior: Prior,
    included: Bools,
    slab_var: float,
) -> float:
    """Return the log evidence of a model given the slab variance."""
    regression = Regression(quadratic, prior)
    return regression.log_evidence(regression.usable(included), slab_var)
