"""One chain of the sampler: sweeps over the model, its coefficients and its hyperparameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.reference.pairs import Pairs

if TYPE_CHECKING:
    from itoscope.backends.reference.evidence import Regression
    from itoscope.backends.reference.noise import Draws
    from itoscope.common.types import Array

__all__ = ["Gibbs", "inclusion_probability", "search", "variance"]

#: Where variances and inclusion rates are kept. A draw of a small shape may round to 0, or one of two to 1, and what is
#: computed from such a draw is no number; no posterior with mass on numbers comes near these ends.
RANGE = (1e-250, 1e250)
RATES = (1e-300, 1 - 2.0**-53)


def inclusion_probability(regression: Regression, members: list[int], k: int, v: float, p0: float) -> float:
    """Return ``p(Z_k = 1 | the other Z, v, p0)``, theta and s2 integrated out."""
    return 1 / (1 + math.exp(min(-_log_odds(regression, members, k, v, p0), 700.0)))


def _log_odds(regression: Regression, members: list[int], k: int, v: float, p0: float) -> float:
    """The logarithm of the odds of that probability, which may round to one."""
    without = [j for j in members if j != k]
    log_out = regression.log_evidence(without, v)
    log_in = regression.log_evidence([*without, k], v)
    r = len(without)
    return log_in - log_out + regression.log_weight(r + 1, p0) - regression.log_weight(r, p0)


def search(regression: Regression) -> list[int]:
    """Return the model of a greedy search at the prior's starting values.

    Insert the column of the highest inclusion probability while that exceeds one half, then remove the least
    probable member while that is below one half. The columns come in their own order.
    """
    v, p0 = regression.prior.slab_start, regression.prior.p0_start

    def odds(k: int) -> float:
        return _log_odds(regression, members, k, v, p0)

    members: list[int] = []
    while outside := [k for k in range(regression.n_usable) if k not in members]:
        best = max(outside, key=odds)
        if odds(best) <= 0.0:
            break
        members.append(best)
    while members:
        worst = min(members, key=odds)
        if odds(worst) >= 0.0:
            break
        members.remove(worst)
    return sorted(members)


class Gibbs:
    """A chain: the sampled model (`members`, in the order they came in) and the draws of everything else.

    A sweep updates Z_1..Z_K with theta and s2 integrated out, then exchanges members and
    toggles pairs (which draw v as well), then s2, theta, v, p0, each given all that came before.
    """

    def __init__(self, regression: Regression, start: list[int], exchanges: int) -> None:
        self.regression = regression
        self.pairs = Pairs(regression)
        self.members = list(start)
        self.exchanges = exchanges
        self.v = regression.prior.slab_start
        self.p0 = regression.prior.p0_start
        self.s2 = math.nan
        self.theta = np.zeros(0)
        self.inclusion = np.zeros(regression.n_usable)
        self.work = {"sweeps": 0, "flips": 0, "exchanges_tried": 0, "exchanges": 0, "pairs": 0, "rows": 0}

    def sweep(self, draws: Draws) -> None:
        """Do one sweep."""
        for k in range(self.regression.n_usable):
            self._flip(k, draws)
        for _ in range(self.exchanges):
            self._exchange(draws)
            self._pair(draws)
        self._draw_parameters(draws)
        self.work["sweeps"] += 1

    def _flip(self, k: int, draws: Draws) -> None:
        """Draw Z_k given all other Z; its probability is what the Rao-Blackwell PIP averages."""
        self.inclusion[k] = inclusion_probability(self.regression, self.members, k, self.v, self.p0)
        wanted = draws.uniform() < self.inclusion[k]
        if wanted != (k in self.members):
            if wanted:
                self.members.append(k)
            else:
                self.members.remove(k)
            self.work["flips"] += 1

    def _exchange(self, draws: Draws) -> None:
        """Take a random member out and draw what stands in its place.

        A Gibbs step: the place is drawn from its conditional given the others, with all columns outside the
        model and the member itself as candidates, so nothing is ever rejected.
        """
        r, k = len(self.members), self.regression.n_usable
        if r in (0, k):
            return
        member = self.members[min(int(draws.uniform() * r), r - 1)]
        others = [j for j in self.members if j != member]
        candidates = [member, *(j for j in range(k) if j not in self.members)]
        log_weight = np.array([self.regression.log_evidence([*others, j], self.v) for j in candidates])
        cumulative = np.cumsum(np.exp(log_weight - log_weight.max()))
        level = draws.uniform() * cumulative[-1]
        chosen = candidates[min(int(np.searchsorted(cumulative, level, side="right")), len(candidates) - 1)]
        self.work["exchanges_tried"] += 1
        if chosen != member:
            self.members = [*others, chosen]
            self.work["exchanges"] += 1

    def _pair(self, draws: Draws) -> None:
        """Put one column or two in or out together with the slab variance."""
        if not self.regression.n_usable:
            return
        toggled = self.pairs.choose(draws)
        proposed = [j for j in self.members if j not in toggled]
        proposed += [j for j in toggled if j not in self.members]
        v = self.pairs.step(self.members, proposed, self.v, self.p0, draws)
        if v is not None:
            self.members, self.v = proposed, v
            self.work["pairs"] += 1

    def _draw_parameters(self, draws: Draws) -> None:
        """Draw s2, theta, v and p0 given the model, in this order."""
        prior, r = self.regression.prior, len(self.members)
        lower, z, energy = self.regression.factor(self.members, self.v)
        self.s2 = variance(0.5 * energy, draws.gamma(self.regression.power))
        noise: Array = math.sqrt(self.s2) * draws.normals(r)
        self.theta = np.linalg.solve(lower.T, z + noise)
        square = float(self.theta @ self.theta)
        self.v = variance(prior.b_v + 0.5 * square / self.s2, draws.gamma(prior.a_v + 0.5 * r))
        rate = draws.beta(prior.a_p + r, prior.b_p + (self.regression.n_usable - r))
        self.p0 = min(max(rate, RATES[0]), RATES[1])


def variance(numerator: float, gamma: float) -> float:
    """The variance `numerator / gamma`, in the range of variances; a gamma draw of a small shape may underflow to 0."""
    found = numerator / gamma if gamma > 0 else math.inf
    return min(max(found, RANGE[0]), RANGE[1])
