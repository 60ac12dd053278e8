"""The move that puts one column or two in or out of the model, and the slab variance with them.

Where columns nearly coincide their coefficients are large together, and neither comes in at the slab variance that the
other one alone calls for. A Metropolis step: the columns are toggled, a slab variance is proposed for the new model
from ``IG(a_v + r/2, b_v + t.t / (2 s))``, with t its least-squares coefficients and s their noise variance, theta and
s2 being integrated out. Which columns are toggled hangs on the Gram matrix alone, so the proposal of a model is
symmetric, and that of the slab is weighed by its density.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.errors import NumericalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.reference.evidence import Regression
    from itoscope.backends.reference.noise import Draws

__all__ = ["Pairs"]


class _Proposal(NamedTuple):
    """An inverse gamma law that the slab variance of a model is proposed from."""

    shape: float
    scale: float

    def log_density(self, u: float) -> float:
        """Log density at ``u = log v``."""
        return _log_inverse_gamma(self.shape, self.scale, u)


class Pairs:
    """Pairs of one regression: which are toggled, and whether that is accepted."""

    def __init__(self, regression: Regression) -> None:
        self.regression = regression
        size = np.diag(regression.gram)
        cosine = regression.gram**2 / np.outer(size, size)
        np.fill_diagonal(cosine, 1.0)
        self.partners = np.cumsum(cosine, axis=1)

    def choose(self, draws: Draws) -> tuple[int, ...]:
        """Return the columns to toggle: one, or two, the likelier the nearer they are to each other."""
        k = self.regression.n_usable
        a = min(int(draws.uniform() * k), k - 1)
        level = draws.uniform() * self.partners[a, -1]
        b = min(int(np.searchsorted(self.partners[a], level, side="right")), k - 1)
        return (a,) if a == b else (a, b)

    def step(
        self, members: Sequence[int], proposed: Sequence[int], v: float, p0: float, draws: Draws
    ) -> float | None:
        """Return the slab variance that goes with `proposed`, if that is accepted in place of `members` at `v`."""
        try:
            here, there = self._proposal(members), self._proposal(proposed)
            drawn, uniform = draws.gamma(there.shape), draws.uniform()
            if not drawn > 0.0 or not math.isfinite(there.scale / drawn):
                return None  # a draw that underflows
            new = there.scale / drawn
            gain = self._log_joint(proposed, new, p0) - self._log_joint(members, v, p0)
        except NumericalError:  # dependent columns
            return None
        log_ratio = gain - there.log_density(math.log(new)) + here.log_density(math.log(v))
        return new if math.log(uniform) < log_ratio else None

    def _proposal(self, members: Sequence[int]) -> _Proposal:
        """Return where the slab variance of a model is proposed."""
        prior, r = self.regression.prior, len(members)
        lower, z, energy = self.regression.factor(members, math.inf)
        theta = np.linalg.solve(lower.T, z)
        noise = energy / (2 * self.regression.power)
        return _Proposal(prior.a_v + 0.5 * r, prior.b_v + 0.5 * float(theta @ theta) / noise)

    def _log_joint(self, members: Sequence[int], v: float, p0: float) -> float:
        """Return the log of model prior, slab prior (of ``log v``) and evidence, up to a constant."""
        prior = self.regression.prior
        evidence = self.regression.log_evidence(members, v)
        slab = _log_inverse_gamma(prior.a_v, prior.b_v, math.log(v))
        return evidence + self.regression.log_weight(len(members), p0) + slab


def _log_inverse_gamma(shape: float, scale: float, u: float) -> float:
    return shape * (math.log(scale) - u) - math.lgamma(shape) - scale * math.exp(-u)
