"""Coefficients that differ by recording, normal about a common mean: how much, and what is left for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.quadratic import RANK_TOLERANCE, Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array
    from itoscope.posterior.path_sums import PathSums

__all__ = ["Differing", "Values"]

LEAST, MOST = -14.0, 18.0
"""Between which the logarithm of a ratio is sought: of what a coefficient is believed to differ by, squared, over what
the data of one recording leave open of it. Beyond either end nothing changes any more."""
STEPS, SWEEPS = 33, 3
"""Values that are looked at between these, and rounds over the terms where several differ."""
GOLDEN, NEAR = 0.6180339887498949, 0.02
"""The golden section, and how near it comes."""
MOST_HELD = 0.9
"""Most that coefficients of their own are believed to take of the squares of residuals."""
DRAWS = 1000
"""Draws from which a spread and its interval are read."""


class Values(NamedTuple):
    """Coefficients that differ, as they were found.

    Attributes
    ----------
    values, errors : (R, q) arrays
        Of each recording, with their standard errors.
    drawn : (R, q) array
        A draw of them given the common coefficients: what it leaves of the recordings is as independent as the noise,
        where the most probable values leave too little.
    spread : (q,) array
        Standard deviation over recordings.
    ends : (q, 2) array
        Its 95 % interval.
    gain : (q,) array
        How much larger the log likelihood is than with one value for all, which hangs together with no start.
    """

    values: Array
    errors: Array
    drawn: Array
    spread: Array
    ends: Array
    gain: Array


@dataclass(frozen=True)
class Differing:
    """One regression with coefficients that differ by recording.

    What a recording has of its own may hang together with where it starts, which is no part of the regression: the mean
    of these coefficients is ``theta + B (x0 - mean x0)``, with B free.

    Attributes
    ----------
    sums : PathSums
        Over the K terms, and after them over the products of the varying ones with `x0`.
    kept : int
        K.
    varying : tuple of q int
    starts : (R, p) array
        ``x0 - mean x0``.
    backend : Backend
    """

    sums: PathSums
    kept: int
    varying: tuple[int, ...]
    starts: Array
    backend: Backend

    @classmethod
    def of(cls, sums: PathSums, varying: Sequence[int], starts: Array, backend: Backend) -> Differing:
        """From sums over the terms and the first sample `(R, m)` of each recording."""
        kept, levels = sums.c.shape[1], _centred(starts)
        return cls(sums.with_levels(varying, levels), kept, tuple(varying), levels, backend)

    @property
    def unit(self) -> Array:
        """What one recording tells of each varying coefficient `(q,)`, over s2."""
        told = np.median(np.diagonal(self.sums.omega, axis1=1, axis2=2)[:, self.varying], axis=0)
        mean = np.mean(np.diagonal(self.sums.omega, axis1=1, axis2=2)[:, self.varying], axis=0)
        return np.asarray(np.maximum(np.where(told > 0.0, told, mean), np.finfo(float).tiny))

    def _columns(self, terms: Sequence[int]) -> list[int]:
        """Those terms, and the products with the starts."""
        return [*terms, *range(self.kept, self.sums.c.shape[1])]

    def regression(self, ratio: Array, terms: Sequence[int]) -> Quadratic:
        """That of some terms and of the products with the starts."""
        return self.backend.project(self.sums.less(self.varying, ratio).subset(self._columns(terms)).added())

    def likelihood(self, ratio: Array, terms: Sequence[int]) -> float:
        """Log of the likelihood of the ratios, all coefficients of `terms` and s2 integrated out with flat priors.

        That of the regression on the start of the steps, a likelihood at any step: with both ends it would need its
        Jacobian. What a recording has of its own scales with the noise from the one to the other, and the ratio stays.
        """
        sums = self.sums.less(self.varying, ratio).subset(self._columns(terms)).added()
        size = np.sqrt(np.diag(self.sums.added().omega)[self._columns(terms)])
        size = np.where(size > 0.0, size, 1.0)
        values = np.linalg.eigvalsh(sums.omega / np.outer(size, size))
        values = np.maximum(values, RANK_TOLERANCE * values.max(initial=np.finfo(float).tiny))
        found = Quadratic(sums.omega, sums.c, sums.s, float(sums.n))
        left = max(found.residual(found.solve().theta), np.finfo(float).tiny)
        return -0.5 * (
            self.sums.log_determinant(self.varying, ratio)
            + float(np.log(values).sum())
            + max(found.n - len(values), 1.0) * float(np.log(left))
        )

    def height(self, terms: Sequence[int]) -> float:
        """The largest log-likelihood of a model of some terms, its ratios its own."""
        return self._at_best(self.best(terms), self._columns(terms))

    def _at_best(self, ratio: Array, columns: Sequence[int]) -> float:
        """The log-likelihood of ratios with the coefficients of all columns, and s2, at their best."""
        sums = self.sums.less(self.varying, ratio).subset(columns).added()
        found = Quadratic(sums.omega, sums.c, sums.s, float(sums.n))
        left = max(found.residual(found.solve().theta), np.finfo(float).tiny)
        return -0.5 * (self.sums.log_determinant(self.varying, ratio) + found.n * float(np.log(left)))

    def best(self, terms: Sequence[int], start: Array | None = None) -> Array:
        """The ratios `(q,)` of largest likelihood; zero where one value for all is as likely."""
        unit = self.unit
        log = np.zeros(len(unit)) if start is None else np.log(np.maximum(start * unit, np.exp(LEAST)))

        def at(q: int, value: float) -> float:
            changed = log.copy()
            changed[q] = value
            return self.likelihood(np.exp(changed) / unit, terms)

        for _ in range(SWEEPS if len(unit) > 1 else 1):
            for q in range(len(unit)):
                grid = np.linspace(LEAST, MOST, STEPS)
                heights = [at(q, value) for value in grid.tolist()]
                top = int(np.argmax(heights))
                log[q] = _climbed(partial(at, q), grid, top)
        return np.where(log > LEAST + NEAR, np.exp(log) / unit, 0.0)

    def typical(self, ratio: Array, terms: Sequence[int]) -> Array:
        """The medians of the ratios, one after the other: nothing is at zero for certain."""
        found: Array = ratio.copy()
        for q in range(len(ratio)):
            grid, shares = self._likely(ratio, terms, q)
            middle = float(np.interp(0.5, np.cumsum(shares) - 0.5 * shares, grid))
            found = self._with(found, q, middle)
        return found

    def moments(self, ratio: Array, terms: Sequence[int]) -> Quadratic:
        """The regression on the K terms: what differs, what goes with the starts and the ratios are taken out.

        The mean of the starts is that of these recordings, and that of all there could be is known to its error: so is
        what hangs together with it. The logarithm of a ratio is taken at its mean less and more its standard deviation,
        by which the normal equations move by ``g = (b - G theta)_+ / 2 - (b - G theta)_- / 2``: that takes
        ``g g' / (s2 + g' G^-1 g)`` of their mean G, at the best coefficients of `terms`.
        """
        ends = []
        for q in range(len(ratio)):
            grid, shares = self._likely(ratio, terms, q)
            mean = float(shares @ grid)
            sd = float(np.sqrt(shares @ (grid - mean) ** 2))
            ends.append([self._moments(self._with(ratio, q, mean + side * sd)) for side in (1.0, -1.0)])
        every = [one for pair in ends for one in pair]
        gram, moment = (
            np.mean([one.gram for one in every], axis=0),
            np.mean([one.moment for one in every], axis=0),
        )
        found = Quadratic(gram, moment, float(np.mean([one.yy for one in every])), every[0].n)
        at = list(terms)
        solved = found.subset(at).solve()
        theta = np.zeros(self.kept)
        theta[at] = solved.theta
        s2 = found.residual(theta) / max(found.n - len(at), 1.0)
        gram, moment, yy = gram.copy(), moment.copy(), found.yy
        for above, below in ends:
            turned = 0.5 * (above.moment - below.moment - (above.gram - below.gram) @ theta)
            free = s2 + float(turned[at] @ solved.inverse @ turned[at])
            gram -= np.outer(turned, turned) / free
            moment -= turned * float(turned @ theta) / free
            yy -= float(turned @ theta) ** 2 / free
        return Quadratic(np.asarray(gram), np.asarray(moment), yy, found.n)

    def _moments(self, ratio: Array) -> Quadratic:
        """The same with the ratios known."""
        free = self.regression(ratio, range(self.kept))
        sums, q, p = self.sums.less(self.varying, ratio).joined(), len(self.varying), self.starts.shape[1]
        if p:
            solved = free.solve()
            s2 = free.residual(solved.theta) / max(free.n, 1.0)
            slopes = solved.theta[self.kept :].reshape(q, p)
            cov = solved.inverse[self.kept :, self.kept :].reshape(q, p, q, p)
            among = self.starts.T @ self.starts / len(self.starts)
            size = np.einsum("qa,ab,qb->q", slopes, among, slopes) - s2 * np.einsum("ab,qaqb->q", among, cov)
            shared = np.maximum(size, 0.0) / (len(self.starts) * max(s2, 1e-300))
            sums = sums.less(self.varying, shared)
        return self.backend.project(sums.added()).profile(self.kept)

    def _likely(self, ratio: Array, terms: Sequence[int], q: int) -> tuple[Array, Array]:
        """Logarithms of one ratio on a grid, in units of what a recording tells, and the share of each.

        The prior is flat in the standard deviation of what differs.
        """
        grid = np.linspace(LEAST, MOST, 2 * STEPS)
        tried = (self._with(ratio, q, value) for value in grid.tolist())
        heights = np.array([self.likelihood(one, terms) for one in tried]) + 0.5 * grid
        shares = np.exp(heights - heights.max())
        return grid, shares / shares.sum()

    def _with(self, ratio: Array, q: int, log: float) -> Array:
        """The ratios, one of them replaced."""
        return np.where(np.arange(len(ratio)) == q, np.exp(log) / self.unit, ratio)

    def values(self, ratio: Array, terms: Sequence[int], seed: int) -> Values:
        """The coefficients of each recording, their spread and what they gain, in the model of some terms."""
        found = self.regression(ratio, terms)
        solved = found.solve()
        s2 = found.residual(solved.theta) / max(found.n - len(solved.theta), 1.0)
        values, own, along = self._own(ratio, terms, solved.theta)
        common = np.einsum("rqk,kl,rql->rq", along, solved.inverse, along)
        errors = np.sqrt(np.maximum(s2 * (np.diagonal(own, axis1=1, axis2=2) + common), 0.0))
        rng = np.random.default_rng([seed, values.size])
        weights, vectors = np.linalg.eigh(own)
        root = vectors * np.sqrt(s2 * np.maximum(weights, 0.0))[:, None, :]
        drawn = values + np.einsum("rpq,rq->rp", root, rng.standard_normal(values.shape))
        spread, ends = self._spread(ratio, terms, seed)
        best, p = self.best(terms, ratio), self.starts.shape[1]
        columns = self._columns(terms)
        gain = []
        for q in range(len(ratio)):
            rest = [k for k in columns if not self.kept + q * p <= k < self.kept + (q + 1) * p]
            alike = np.where(np.arange(len(ratio)) == q, 0.0, best)
            gain.append(self._at_best(best, columns) - self._at_best(alike, rest))
        return Values(values, errors, drawn, spread, ends, np.array(gain))

    def deviations(self, ratio: Array, theta: Array) -> Array:
        """What each recording has `(R, q)` beside common coefficients `(K,)` of the terms."""
        rest = self.backend.project(self.sums.less(self.varying, ratio).added())
        slopes = rest.given(range(self.kept), theta).solve().theta
        whole = np.concatenate([theta, slopes])
        values, _, _ = self._own(ratio, range(self.kept), whole)
        return np.asarray(values - theta[list(self.varying)])

    def held(self, ratio: Array) -> Array:
        """The share of the squares of residuals that goes into coefficients of its own, of each recording `(R,)`."""
        at = list(self.varying)
        square = self.sums.square(self.varying, ratio)
        told = np.einsum("rpq,rqp->r", square, self.sums.omega[:, at][:, :, at])
        return np.asarray(np.minimum(told / np.maximum(self.sums.n, 1.0), MOST_HELD))

    def _own(self, ratio: Array, terms: Sequence[int], theta: Array) -> tuple[Array, Array, Array]:
        """Coefficients `(R, q)` of recordings given common ones, their covariance over s2, their slopes in those."""
        at, columns = list(self.varying), self._columns(terms)
        square = self.sums.square(self.varying, ratio)
        plain = np.zeros((len(self.starts), len(at), len(columns)))
        for q, column in enumerate(at):
            if column in columns:
                plain[:, q, columns.index(column)] = 1.0
            first = len(columns) - len(at) * self.starts.shape[1] + q * self.starts.shape[1]
            plain[:, q, first : first + self.starts.shape[1]] = self.starts
        along = plain - square @ self.sums.cross[:, at][:, :, columns]
        own = np.einsum("rpq,rq->rp", square, self.sums.c[:, at])
        return along @ theta + own, square, along

    def _spread(self, ratio: Array, terms: Sequence[int], seed: int) -> tuple[Array, Array]:
        """The standard deviation over recordings and its interval, from draws of ratios and of all coefficients.

        Ratios have a prior that is flat in the standard deviation; of R values of deviation squares S the variance of
        where they come from is ``S / chi^2_(R - 1)``.
        """
        rng, count = np.random.default_rng([seed, len(ratio)]), len(self.starts)
        found = []
        for q in range(len(ratio)):
            grid, shares = self._likely(ratio, terms, q)
            picked = rng.choice(len(grid), size=DRAWS, p=shares)
            drawn = []
            for k, many in zip(*np.unique(picked, return_counts=True)):
                one = self._with(ratio, q, float(grid[k]))
                drawn.append(self._drawn(one, terms, q, int(many), rng))
            squares = np.concatenate(drawn)
            found.append(np.sqrt(squares / rng.chisquare(count - 1, size=DRAWS)))
        return np.array([np.median(one) for one in found]), np.array(
            [np.quantile(one, (0.025, 0.975)) for one in found]
        )

    def _drawn(
        self, ratio: Array, terms: Sequence[int], q: int, many: int, rng: np.random.Generator
    ) -> Array:
        """Squares of deviations of the values of one coefficient from their mean, of some draws `(many,)`."""
        found = self.regression(ratio, terms)
        solved = found.solve()
        s2 = found.residual(solved.theta) / max(found.n - len(solved.theta), 1.0)
        values, own, along = self._own(ratio, terms, solved.theta)
        weights, vectors = np.linalg.eigh(solved.inverse)
        root = vectors * np.sqrt(np.maximum(weights, 0.0))
        common = rng.standard_normal((many, len(root))) @ (along[:, q] @ root).T
        each = rng.standard_normal((many, len(values))) * np.sqrt(np.maximum(own[:, q, q], 0.0))
        drawn = values[:, q] + np.sqrt(s2) * (common + each)
        return np.asarray(((drawn - drawn.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _centred(starts: Array) -> Array:
    """Starts less their mean, as far as they differ and are few enough to be told from what else differs."""
    count, m = starts.shape
    none = np.zeros((count, 0))
    if count < m + 3:
        return none
    centred = starts - np.nanmean(starts, axis=0)
    size, large = np.nanstd(starts, axis=0), np.nanmax(np.abs(starts), axis=0, initial=0.0)
    apart = size > 1e-9 * large
    if not apart.any():
        return none
    return np.asarray(np.nan_to_num(centred[:, apart] / size[apart]))


def _climbed(height: Callable[[float], float], grid: Array, top: int) -> float:
    """The maximum between the neighbours of the highest of some values, by golden section; an end stays that end."""
    if top in (0, len(grid) - 1):
        return float(grid[top])
    low, high = float(grid[top - 1]), float(grid[top + 1])
    one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    first, second = height(one), height(two)
    while high - low > NEAR:
        if first > second:
            high, two, second = two, one, first
            one = high - GOLDEN * (high - low)
            first = height(one)
        else:
            low, one, first = one, two, second
            two = low + GOLDEN * (high - low)
            second = height(two)
    return 0.5 * (low + high)
