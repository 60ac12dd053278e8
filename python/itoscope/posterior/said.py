"""What is said of the terms of one equation before any data are seen, and terms that every model has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.posterior.columns import ALIAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Always", "Said"]


@dataclass(frozen=True)
class Said:
    """Names of terms of one equation.

    Attributes
    ----------
    excluded : frozenset of str
        In no model.
    included : frozenset of str
        In every model, with a coefficient that is found.
    held : mapping of str to float
        In every model, with this coefficient.
    bounds : mapping of str to (low, high)
        Between which the coefficient is where the term is in.
    """

    excluded: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    held: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def weighed(self) -> bool:
        """Whether all that is said is which terms are candidates."""
        return not (self.included or self.held or self.bounds)

    def without(self, *terms: str) -> Said:
        """The same with more terms excluded."""
        return replace(self, excluded=self.excluded | set(terms))

    def limits(self, terms: Sequence[str]) -> Array | None:
        """Bounds `(K, 2)` of all terms, infinite of most; None without any."""
        return None if not self.bounds else _table(terms, self.bounds)

    def shown(self, terms: Sequence[str]) -> Array | None:
        """The same, and equal bounds of coefficients that are held."""
        held = {term: (value, value) for term, value in self.held.items()}
        return _table(terms, {**self.bounds, **held}) if self.bounds or held else None


@dataclass(frozen=True)
class Always:
    """Terms of every model, whose coefficients have flat priors or are given.

    Given the others they are normal of mean ``base - slope @ theta`` and covariance ``s2 inverse``.

    Attributes
    ----------
    columns : list of f int
    base : (f,) array
    slope : (f, K) array
    inverse : (f, f) array
    coincide : list of int
        Other columns of which nothing is left beside these.
    """

    columns: list[int]
    base: Array
    slope: Array
    inverse: Array
    coincide: list[int]

    @classmethod
    def of(cls, quadratic: Quadratic, terms: Sequence[str], said: Said) -> tuple[Always, Quadratic]:
        """These terms of a regression, and the regression of what they leave, with zeros for their columns.

        With the free ones F at their best, ``G - G_.F G_FF^-1 G_F.``, ``b - G_.F G_FF^-1 b_F``, a row less for each.
        """
        none = np.zeros(0)
        if not (said.included or said.held):
            return cls([], none, np.zeros((0, len(terms))), np.zeros((0, 0)), []), quadratic
        held = [k for k, term in enumerate(terms) if term in said.held]
        free = [k for k, term in enumerate(terms) if term in said.included and k not in held]
        values = np.array([said.held[terms[k]] for k in held])
        gram, moment = quadratic.gram, quadratic.moment
        yy = quadratic.yy - 2.0 * moment[held] @ values + values @ gram[np.ix_(held, held)] @ values
        moment = moment - gram[:, held] @ values
        solved = _with_sums(quadratic, gram, moment, float(yy), quadratic.n).solve(free)
        cross = gram[:, free] @ solved.inverse
        left = gram - cross @ gram[free]
        own = [*free, *held]
        beside = np.diag(left) <= (1.0 - ALIAS**2) * np.diag(gram)
        coincide = [k for k in np.flatnonzero(beside & (np.diag(gram) > 0)).tolist() if k not in own]
        slope = np.zeros((len(own), len(terms)))
        slope[: len(free)] = cross.T
        slope[:, [*own, *coincide]] = 0.0
        inverse = np.zeros((len(own), len(own)))
        inverse[: len(free), : len(free)] = solved.inverse
        gone = [*own, *coincide]
        left[gone], left[:, gone] = 0.0, 0.0
        rest = moment - cross @ moment[free]
        rest[gone] = 0.0
        yy = max(float(yy - moment[free] @ solved.theta), np.finfo(float).tiny)
        found = cls(own, np.concatenate([solved.theta, values]), slope, inverse, coincide)
        return found, _with_sums(quadratic, 0.5 * (left + left.T), rest, yy, quadratic.n - len(free))

    def lifted(self, theta: Array, variance: Array, seed: int) -> Array:
        """Draws `(..., K)` with these terms, drawn given the others and the noise variances `(...,)`."""
        if not self.columns:
            return theta
        out: Array = theta.copy()
        values, vectors = np.linalg.eigh(self.inverse)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        noise = np.random.default_rng([seed, len(self.columns)]).standard_normal(
            (*theta.shape[:-1], len(self.columns))
        )
        shift = np.sqrt(variance)[..., None] * (noise @ root.T)
        out[..., self.columns] = self.base - theta @ self.slope.T + shift
        return out

    def with_these(self, mean: Array, cov: Array, variance: float) -> tuple[Array, Array]:
        """Mean and covariance of all coefficients, from those of the others and the mean noise variance."""
        if not self.columns:
            return mean, cov
        mean, cov = mean.copy(), cov.copy()
        mean[self.columns] = self.base - self.slope @ mean
        cross = -self.slope @ cov
        cov[self.columns], cov[:, self.columns] = cross, cross.T
        own = variance * self.inverse - cross @ self.slope.T
        cov[np.ix_(self.columns, self.columns)] = 0.5 * (own + own.T)
        return mean, cov


def _table(terms: Sequence[str], bounds: Mapping[str, tuple[float, float]]) -> Array:
    return np.array([bounds.get(term, (-np.inf, np.inf)) for term in terms], dtype=float)


def _with_sums(quadratic: Quadratic, gram: Array, moment: Array, yy: float, n: float) -> Quadratic:
    """A regression of the same kind with other moments, which no longer belong to any sums."""
    changed: dict[str, Any] = {"gram": gram, "moment": moment, "yy": yy, "n": n}
    if hasattr(quadratic, "sums"):
        changed["sums"] = None
    return replace(quadratic, **changed)
