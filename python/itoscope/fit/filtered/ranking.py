"""Sets of terms ranked by the evidence that one regression gives them: all of them, or the best and those around."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.slab import log_sets, log_slab
from itoscope.posterior.bounds import log_share
from itoscope.posterior.columns import find_aliases
from itoscope.stats.quadratic import RANK_TOLERANCE, Quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools, Integers

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
STACK = 256
"""Sets that are ranked together: enough that the calls cost little beside the sums, few enough to stay in the cache."""
RANK = 1e-10
"""Smallest eigenvalue of the correlations, over the largest, of a set whose columns are told apart."""
WELL = 1e-6
"""The same beyond which no eigenvalue is computed."""


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
        key = np.array(list(columns), dtype=int)
        return float(self._costs(key[None], theta[None], inverse[None])[0])

    def _costs(self, keys: Integers, theta: Array, inverse: Array) -> Array:
        """The costs `(n,)` of sets of r columns each, `(n, r)`."""
        where = np.where(np.isin(keys, list(self.always)), -1, self.equation[keys])
        with np.errstate(all="ignore"):
            sizes = self.sizes[keys]
            unit = theta / sizes
            scaled = inverse / sizes[:, :, None] / sizes[:, None, :]
        total = np.zeros(len(keys))
        for number, candidates in self.candidates.items():
            inside = where == number
            counts = inside.sum(axis=1)
            for count in np.unique(counts).tolist():
                sets = np.flatnonzero(counts == count)
                total[sets] += log_sets(count, len(candidates), self.prior)
                if count == 0:
                    total[sets] -= np.inf if number in self.full else 0.0
                    continue
                own = np.nonzero(inside[sets])[1].reshape(-1, count)
                z = unit[sets[:, None], own]
                block = scaled[sets[:, None, None], own[:, :, None], own[:, None, :]]
                fine = np.isfinite(z).all(axis=1) & np.isfinite(block).all(axis=(1, 2))
                total[sets[~fine]] = -np.inf
                total[sets[fine]] += log_slab(z[fine], _inverse(block[fine]), self.prior)
        if self.limits is not None:
            for n in np.flatnonzero(np.isfinite(total)).tolist():
                total[n] += log_share(theta[n], inverse[n], self.limits[keys[n]])
        return total

    def rank(self, columns: Sequence[int]) -> Ranked:
        """A set with its evidence; minus infinity for one whose columns are not told apart."""
        return self.rank_all([columns])[0]

    def rank_all(self, sets: Sequence[Sequence[int]]) -> list[Ranked]:
        """The same of many sets, those of as many columns together."""
        keys = [self.complete(columns) for columns in sets]
        new: dict[int, list[Set]] = {}
        for key in dict.fromkeys(keys):
            if key not in self.seen:
                new.setdefault(len(key), []).append(key)
        for size, alike in new.items():
            for first in range(0, len(alike), STACK):
                stack = alike[first : first + STACK]
                ranked = self._rank(np.array(stack, dtype=int).reshape(len(stack), size))
                self.seen.update(zip(stack, ranked))
        return [self.seen[key] for key in keys]

    def _rank(self, keys: Integers) -> list[Ranked]:
        sizes, unit, inverse, share = self.sizes[keys], *self._solved(keys)
        with np.errstate(all="ignore"):
            theta = np.where(share[:, None] >= RANK, unit * sizes, 0.0)
            cov = inverse * sizes[:, :, None] * sizes[:, None, :]
        heights = np.full(len(keys), -np.inf)
        told = np.flatnonzero((share >= RANK) & self._positive(keys, theta))
        fitted = 0.5 * np.sum(unit * self.scaled.moment[keys], axis=1)
        heights[told] = fitted[told] + self._costs(keys[told], theta[told], cov[told])
        return [
            Ranked(tuple(key), one, height)
            for key, one, height in zip(keys.tolist(), theta, heights.tolist())
        ]

    def _solved(self, keys: Integers) -> tuple[Array, Array, Array]:
        """Least squares `(n, r)` of sets `(n, r)` in units of sizes, inverses of their Gram matrices, and how well they
        are told apart: the smallest eigenvalue of their correlations over the largest, or less by a factor of r^2.
        """
        gram = self.scaled.gram[keys[:, :, None], keys[:, None, :]]
        if not keys.shape[1]:
            return np.zeros(keys.shape), gram, np.ones(len(keys))
        diagonal = np.diagonal(gram, axis1=1, axis2=2)
        with np.errstate(all="ignore"):
            scale = np.where(diagonal > 0.0, 1.0 / np.sqrt(diagonal), 0.0)
        outer, share = _inverted(gram * scale[:, :, None] * scale[:, None, :])
        inverse = outer * scale[:, :, None] * scale[:, None, :]
        return (inverse @ self.scaled.moment[keys][:, :, None])[:, :, 0], inverse, share

    def _positive(self, keys: Integers, theta: Array) -> Bools:
        """Whether every equation that is full has a positive mean, but for those of one column: it has no other."""
        out = np.ones(len(keys), dtype=bool)
        if self.means is not None:
            of, total = self.equation[keys], theta * self.means[keys]
            for number in (number for number in self.full if len(self.candidates[number]) > 1):
                out &= np.sum(np.where(of == number, total, 0.0), axis=1) > 0.0
        return out

    def explore(self, starts: Sequence[Sequence[int]], *, quick: bool = False) -> list[Ranked]:
        """Sets by falling evidence: all where there are few columns, else those around the starts and the best."""
        if len(self.usable) <= (FEW if quick else ALL):
            numbers = range(2 ** len(self.usable))
            self.rank_all(
                [[k for bit, k in enumerate(self.usable) if number >> bit & 1] for number in numbers]
            )
        else:
            self._best_first(starts, quick)
        found = [ranked for ranked in self.seen.values() if np.isfinite(ranked.log_mass)]
        return sorted(found, key=lambda ranked: -ranked.log_mass)

    def _best_first(self, starts: Sequence[Sequence[int]], quick: bool) -> None:
        heap: list[tuple[float, Set]] = []
        queued: set[Set] = set()

        def push(sets: Sequence[Sequence[int]]) -> None:
            for ranked in self.rank_all(sets):
                if ranked.columns not in queued:
                    queued.add(ranked.columns)
                    heapq.heappush(heap, (-ranked.log_mass, ranked.columns))

        allowed = set(self.usable)
        push([[k for k in start if k in allowed] for start in [*starts, ()]])
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
            push(self._neighbours(columns, quick))

    def _neighbours(self, columns: Set, quick: bool) -> list[Set]:
        """Sets with one column more, one less, or another one for one of them."""
        more = self._promising([columns])[0] if quick else [k for k in self.usable if k not in columns]
        near = [tuple(sorted((*columns, k))) for k in more]
        gone = [k for k in columns if k not in self.required]
        rests = [tuple(k for k in columns if k != out) for out in gone]
        for out, rest, promising in zip(gone, rests, self._promising(rests)):
            near.append(rest)
            others = [k for k in promising if k != out]
            near += [tuple(sorted((*rest, k))) for k in others[: FEW_SWAPS if quick else SWAPS]]
        return near

    def _promising(self, sets: Sequence[Set]) -> list[list[int]]:
        """The columns that explain most of what each set leaves; sets of as many columns."""
        if not sets:
            return []
        gram, moment, keys = self.scaled.gram, self.scaled.moment, np.array(sets, dtype=int)
        theta, inverse, _ = self._solved(keys)
        cross = gram[keys]
        left = moment - (theta[:, None, :] @ cross)[:, 0]
        alone = np.diag(gram) - np.sum((inverse @ cross) * cross, axis=1)
        with np.errstate(all="ignore"):
            gain = np.where(alone > RANK * np.diag(gram), left**2 / alone, -np.inf)
        usable = np.array(self.usable, dtype=int)
        orders = usable[np.argsort(-gain[:, usable], axis=1, kind="stable")].tolist()
        return [[k for k in order if k not in own][:SWAPS] for own, order in zip(sets, orders)]


def _inverted(matrix: Array) -> tuple[Array, Array]:
    """Inverses of correlations `(n, r, r)`, zero along directions of no size, and how well columns are told apart.

    The trace of the inverse bounds the smallest eigenvalue from below: where all is well by that nothing else is
    computed, elsewhere the eigenvalues.
    """
    n, r = matrix.shape[:2]
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        if n > 1:  # one of them is singular: the others are solved as they are without it
            parts = [_inverted(part) for part in (matrix[: n // 2], matrix[n // 2 :])]
            return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        inverse = np.full_like(matrix, np.inf)
    with np.errstate(all="ignore"):
        inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
        trace = np.trace(inverse, axis1=1, axis2=2)
        share = np.where(trace >= r, 1.0 / (r * trace), 0.0)
    near = np.flatnonzero(share < WELL)
    if len(near):
        values, vectors = np.linalg.eigh(matrix[near])
        largest = np.maximum(values[:, -1:], np.finfo(float).tiny)
        keep = values > RANK_TOLERANCE * largest
        half = vectors * np.where(keep, 1.0 / np.sqrt(np.where(keep, values, 1.0)), 0.0)[:, None, :]
        inverse[near] = half @ half.transpose(0, 2, 1)
        share[near] = values[:, 0] / largest[:, 0]
    return inverse, share


def _inverse(matrix: Array) -> Array:
    """Inverses of covariances `(n, r, r)`, scaled first; zero along directions of no finite size."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix, axis1=1, axis2=2), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(matrix / scale[:, :, None] / scale[:, None, :])
    least = RANK * np.maximum(values[:, -1:], RANK)
    half = vectors / scale[:, :, None] / np.sqrt(np.maximum(values, least))[:, None, :]
    out: Array = half @ half.transpose(0, 2, 1)
    return out
