"""Draws and models of the columns that were tried, put among all terms: those of every model, and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from itoscope.backends.records import Chains
from itoscope.posterior.bounds import CONTRADICTED, log_share, resampled, truncated, weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.common.types import Array, Bools, Integers
    from itoscope.posterior.said import Always
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Draws", "Widened"]

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Draws:
    """Draws `(chain, draw, K)` of all terms, and their probabilities `(K,)`.

    Attributes
    ----------
    samples, included, inclusion : arrays
        As of an `Equation`.
    pip : (K,) array
    chains : Chains
        Those of the tried columns.
    bounded : bool
        Whether they were drawn again within bounds.
    """

    samples: Array
    included: Bools
    inclusion: Array
    pip: Array
    chains: Chains
    bounded: bool = False


@dataclass(frozen=True)
class Widened:
    """How what is said of the columns that were tried becomes what is said of all K terms.

    Attributes
    ----------
    terms : sequence of K str
    keep : list of int
        The columns that were tried.
    always : Always
        Terms of every model.
    limits : (K, 2) array or None
        Bounds of the coefficients.
    reduced : Quadratic
        The regression on the tried columns.
    """

    terms: Sequence[str]
    keep: list[int]
    always: Always
    limits: Array | None
    reduced: Quadratic

    def widen(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Put the kept columns where they belong among all; the others are zero."""
        if len(self.keep) == len(self.terms):
            return values
        wide = np.zeros((*values.shape[:-1], len(self.terms)), dtype=values.dtype)
        wide[..., self.keep] = values
        return wide

    def draws(self, chains: Chains, pip: Array, seed: int) -> Draws:
        """Draws of all terms; those of every model are in each of them."""
        own = self.always.columns
        samples = self.always.lifted(self.widen(chains.samples), chains.noise_var, seed)
        included, inclusion = self.widen(chains.included), self.widen(chains.inclusion)
        wide = self.widen(pip)
        included[..., own], inclusion[..., own], wide[own] = True, 1.0, 1.0
        return Draws(samples, included, inclusion, wide, chains)

    def broken(self, draws: Draws) -> int | None:
        """The most probable term with hardly a draw within its bounds, of those that need not be in; or None."""
        if self.limits is None:
            return None
        inside = (draws.samples >= self.limits[:, 0]) & (draws.samples <= self.limits[:, 1])
        often = draws.included.mean(axis=(0, 1))
        within = (draws.included & inside).mean(axis=(0, 1))
        found = np.flatnonzero(within < CONTRADICTED * often).tolist()
        return max(
            (k for k in found if k not in self.always.columns), key=lambda k: float(often[k]), default=None
        )

    def within(self, draws: Draws, seed: int) -> Draws:
        """Draws within the bounds; as they are where hardly one is: then `against` says so."""
        if self.limits is None or self.against(draws):
            return draws
        flat = resampled(weights(draws.samples, draws.included, self.limits), seed)
        names = [name for name in Chains._fields if name != "work"]
        picked: dict[str, Any] = {name: _picked(getattr(draws.chains, name), flat) for name in names}
        chains = draws.chains._replace(**picked)
        samples, included = _picked(draws.samples, flat), _picked(draws.included, flat)
        pip: Array = included.mean(axis=(0, 1))
        return Draws(samples, included, included.astype(float), pip, chains, bounded=True)

    def against(self, draws: Draws) -> list[str]:
        """A sentence where hardly a draw is within the bounds of the terms that are always in."""
        if self.limits is None or draws.bounded:
            return []
        inside = np.count_nonzero(weights(draws.samples, draws.included, self.limits))
        if inside >= CONTRADICTED * draws.samples[..., 0].size:
            return []
        named = ", ".join(
            self.terms[k] for k in np.flatnonzero(np.isfinite(self.limits).any(axis=1)).tolist()
        )
        return [f"the data contradict the bounds of {named}: what is shown lies at a bound"]

    def coinciding(self) -> list[str]:
        """A sentence for candidates that the terms of every model leave nothing of."""
        if not self.always.coincide:
            return []
        named = ", ".join(self.terms[k] for k in self.always.coincide)
        return [f"not tried, for on these data the terms that are always in leave nothing of them: {named}"]

    def law(self, mean: Array, cov: Array) -> tuple[float, Array, Array]:
        """What bounds do to the log mass of a model of the tried columns, and mean and covariance of all its terms."""
        wide = np.zeros((len(self.terms), len(self.terms)))
        wide[np.ix_(self.keep, self.keep)] = cov
        left = max(self.reduced.yy - float(self.reduced.moment @ mean), 0.0)
        mean, wide = self.always.with_these(self.widen(mean), wide, left / max(self.reduced.n - 2.0, 1.0))
        if self.limits is None:
            return 0.0, mean, wide
        there = (mean != 0.0) | (np.diag(wide) > 0.0)
        limits = np.where(there[:, None], self.limits, np.array([-np.inf, np.inf]))
        return log_share(mean, wide, limits), *truncated(mean, wide, limits)


def _picked(values: NDArray[Scalar], flat: Integers) -> NDArray[Scalar]:
    """Draws `(chain, draw, ...)` at places among all of them."""
    return values.reshape(-1, *values.shape[2:])[flat]
