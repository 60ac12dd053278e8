"""Sets of terms ranked by the evidence that one regression gives them: all of them, or the best and those around."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.slab import log_sets, log_slab
from itoscope.posterior.bounds import log_share
from itoscope.posterior.columns import find_aliases
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array

__all__ = ["Ranked", "Ranking", "Set"]

Set = tuple[int, ...]
"""A model of one regression: the numbers of its columns, in order."""
ALL, FEW = 10, 5
"""Columns up to which every set is looked at: at the end, and in a round that only chooses terms."""
SWAPS, FEW_SWAPS = 6, 2
"""Columns that are tried in the place of another one, those that then explain most; in a round, fewer."""
EXPANDED, QUICK = 40, 6
"""Sets whose neighbours are looked at: at the end, and in a round that only chooses terms."""
NEAR = 6.0
"""Difference of log evidence from the best one within which a set's neighbours are looked at."""
RANK = 1e-10
"""Smallest eigenvalue of the correlations, over the largest, of a set whose columns are told apart."""


@dataclass(frozen=True)
class Ranked:
    """A set of columns: least-squares coefficients, and their log evidence up to a constant of the regression."""

    columns: Set
    theta: Array
    log_mass: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """A regression in units of information whose sets of columns have an evidence.

    ``b.theta / 2 + sum over equations (log_slab + log_sets)``; the slab of an equation sees the information of its
    coefficients with those of the other equations profiled out.

    Parameters
    ----------
    sums : Quadratic
        K columns.
    sizes : (K,) array
        Of the coefficients, see `slab.Sizes`; columns where it is not finite are in no set.
    equation : (K,) array of int
        To which equation each belongs; all equations have as many candidates.
    full : frozenset of int
        Equations that have at least one column in every set.
    means : (K,) array or None
        Of the columns along the path: where given, those of a `full` equation that has a choice have a positive sum.
    prior : Prior
    names : sequence of K str
    always : frozenset of int
        Columns that are in every set, and whose coefficients have flat priors.
    limits : (K, 2) array or None
        Bounds of the coefficients.
    """

    sums: Quadratic
    sizes: Array
    equation: Array
    full: frozenset[int]
    prior: Prior
    names: Sequence[str]
    means: Array | None = None
    always: frozenset[int] = frozenset()
    limits: Array | None = None
    seen: dict[Set, Ranked] = field(default_factory=dict, repr=False)

    @cached_property
    def scaled(self) -> Quadratic:
        """The regression on coefficients in units of their sizes; columns that are in no set are zero."""
        with np.errstate(all="ignore"):
            sizes = np.where(np.isfinite(self.sizes) & (self.sizes > 0.0), self.sizes, 0.0)
            gram = self.sums.gram * sizes[:, None] * sizes
            moment = self.sums.moment * sizes
        scaled, _ = Quadratic(gram, moment, self.sums.yy, self.sums.n).finite()
        return scaled

    @cached_property
    def usable(self) -> list[int]:
        """Weighed columns that are not zero and of which none coincides with an earlier one of its equation."""
        quadratic = self.scaled
        keep: list[int] = []
        for number, candidates in self.candidates.items():
            there = [k for k in sorted(self.required) if self.equation[k] == number]
            own = [*there, *(k for k in candidates if quadratic.gram[k, k] > 0.0)]
            if own:
                kept, _ = find_aliases(quadratic.subset(own), [str(k) for k in own])
                keep += [own[k] for k in kept if own[k] not in self.required]
        return sorted(keep)

    @cached_property
    def required(self) -> frozenset[int]:
        """The columns of every set, those that are zero left out."""
        return frozenset(k for k in self.always if self.scaled.gram[k, k] > 0.0)

    def complete(self, columns: Sequence[int]) -> Set:
        """A set with the columns that every set has."""
        return tuple(sorted({*columns, *self.required}))

    @cached_property
    def candidates(self) -> dict[int, list[int]]:
        """The columns that each equation may have or not."""
        return {
            number: [k for k in np.flatnonzero(self.equation == number).tolist() if k not in self.always]
            for number in np.unique(self.equation).tolist()
        }

    def cost(self, columns: Sequence[int], theta: Array, inverse: Array) -> float:
        """Log slab and log prior of a set, its coefficients having the covariance `inverse` by the likelihood alone."""
        total = 0.0
        index = np.array(list(columns), dtype=int)
        where = np.where(np.isin(index, list(self.always)), -1, self.equation[index])
        with np.errstate(all="ignore"):
            sizes = self.sizes[list(columns)]
            unit = theta / sizes
            scaled = inverse / sizes[:, None] / sizes
        for number, candidates in self.candidates.items():
            own = np.flatnonzero(where == number)
            if not len(own) and number in self.full:
                return -np.inf
            total += log_sets(len(own), len(candidates), self.prior)
            if len(own):
                block = scaled[np.ix_(own, own)]
                if not (np.all(np.isfinite(block)) and np.all(np.isfinite(unit[own]))):
                    return -np.inf
                total += log_slab(unit[own], _inverse(block), self.prior)
        return total if self.limits is None else total + log_share(theta, inverse, self.limits[index])

    def rank(self, columns: Sequence[int]) -> Ranked:
        """A set with its evidence; minus infinity for one whose columns are not told apart."""
        key = self.complete(columns)
        if key not in self.seen:
            self.seen[key] = self._rank(key)
        return self.seen[key]

    def _rank(self, key: Set) -> Ranked:
        index, sizes = list(key), self.sizes[list(key)]
        gram, moment = self.scaled.gram[np.ix_(index, index)], self.scaled.moment[index]
        diagonal = np.diag(gram)
        theta = np.zeros(len(key))
        if len(key) and not diagonal.min() > 0.0:
            return Ranked(key, theta, -np.inf)
        scale = 1.0 / np.sqrt(diagonal)
        values, vectors = np.linalg.eigh(gram * scale[:, None] * scale)
        if len(key) and values[0] < RANK * values[-1]:
            return Ranked(key, theta, -np.inf)
        half = (scale[:, None] * vectors) / np.sqrt(values)
        inverse = half @ half.T
        unit = inverse @ moment
        theta = unit * sizes
        if not self._positive(index, theta):
            return Ranked(key, theta, -np.inf)
        cost = self.cost(key, theta, inverse * sizes[:, None] * sizes)
        return Ranked(key, theta, 0.5 * float(unit @ moment) + cost)

    def _positive(self, index: list[int], theta: Array) -> bool:
        """Whether every equation that is full has a positive mean, but for those of one column: it has no other."""
        if self.means is None:
            return True
        of, total = self.equation[index], theta * self.means[index]
        chosen = [number for number in self.full if len(self.candidates[number]) > 1]
        return all(float(np.sum(total[of == number])) > 0.0 for number in chosen)

    def explore(self, starts: Sequence[Sequence[int]], *, quick: bool = False) -> list[Ranked]:
        """Sets by falling evidence: all where there are few columns, else those around the starts and the best."""
        if len(self.usable) <= (FEW if quick else ALL):
            for number in range(2 ** len(self.usable)):
                self.rank([k for bit, k in enumerate(self.usable) if number >> bit & 1])
        else:
            self._best_first(starts, quick)
        found = [ranked for ranked in self.seen.values() if np.isfinite(ranked.log_mass)]
        return sorted(found, key=lambda ranked: -ranked.log_mass)

    def _best_first(self, starts: Sequence[Sequence[int]], quick: bool) -> None:
        heap: list[tuple[float, Set]] = []
        queued: set[Set] = set()

        def push(columns: Sequence[int]) -> None:
            ranked = self.rank(columns)
            if ranked.columns not in queued:
                queued.add(ranked.columns)
                heapq.heappush(heap, (-ranked.log_mass, ranked.columns))

        allowed = set(self.usable)
        for start in [*starts, ()]:
            push([k for k in start if k in allowed])
        best = np.inf
        for _ in range(QUICK if quick else EXPANDED):
            if not heap:
                break
            height, columns = heapq.heappop(heap)
            best = min(best, height)
            if height > best + NEAR or (
                np.isinf(height) and len(columns) > len(self.full) + len(self.required)
            ):
                break
            for near in self._neighbours(columns, quick):
                push(near)

    def _neighbours(self, columns: Set, quick: bool) -> list[Set]:
        """Sets with one column more, one less, or another one for one of them."""
        more = self._promising(columns) if quick else [k for k in self.usable if k not in columns]
        near = [tuple(sorted((*columns, k))) for k in more]
        for out in (k for k in columns if k not in self.required):
            rest = tuple(k for k in columns if k != out)
            near.append(rest)
            others = [k for k in self._promising(rest) if k != out]
            near += [tuple(sorted((*rest, k))) for k in others[: FEW_SWAPS if quick else SWAPS]]
        return near

    def _promising(self, columns: Set) -> list[int]:
        """The columns that explain most of what a set leaves."""
        gram, moment, index = self.scaled.gram, self.scaled.moment, list(columns)
        theta, inverse = self.scaled.solve(index)
        cross = gram[:, index]
        left = moment - cross @ theta
        alone = np.diag(gram) - np.sum((cross @ inverse) * cross, axis=1)
        with np.errstate(all="ignore"):
            gain = np.where(alone > RANK * np.diag(gram), left**2 / alone, -np.inf)
        outside = [k for k in self.usable if k not in columns]
        return sorted(outside, key=lambda k: -gain[k])[:SWAPS]


def _inverse(matrix: Array) -> Array:
    """Inverse of a covariance, scaled first; zero along directions of no finite size."""
    scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    correlations = matrix / scale[:, None] / scale
    try:
        lower = np.linalg.cholesky(correlations)
    except np.linalg.LinAlgError:
        lower = None
    if lower is not None and lower.diagonal().min() > math.sqrt(RANK):
        outer: Array = np.linalg.inv(correlations) / scale[:, None] / scale
        return outer
    values, vectors = np.linalg.eigh(correlations)
    half = (vectors / scale[:, None]) / np.sqrt(np.maximum(values, RANK * max(values[-1], RANK)))
    out: Array = half @ half.T
    return out
