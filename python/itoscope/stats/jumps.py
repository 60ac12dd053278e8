r"""Laws of the noise of a step that are not normal, from the squared distances of the steps.

A step of `d` rows is normal given its size :math:`v`, a factor of its covariance; its squared distance
:math:`q = e^T \Gamma^{-1} e / dt` says how large that is. The laws are those of `stats.heavy`: Student's, by one over
its degrees of freedom, and a bulk with a share of steps some times as wide.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.heavy import FAR, nodes
from itoscope.stats.tails import chi_square_cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = [
    "Belief",
    "Likeliest",
    "believed",
    "jumping",
    "likeliest",
    "log_density",
    "normal_scores",
    "spread_known",
]

HEAVIEST, LIGHTEST = 2.0, 1e-3
"""One over the degrees of freedom that are tried: from half a degree to a thousand, where the law is normal."""
TRIED = 70
"""Numbers between them."""
SHARES, WIDTHS = (1e-3, 4e-3, 0.016, 0.064, 0.2), (3.0, 6.0, 12.0, 25.0, 50.0)
"""Shares and widths of jumps from which the likelihood is climbed, all with all."""
FEWEST, MOST, WIDEST = 1e-9, 0.3, 10.0
"""Share of jumps at least and at most, and logarithm of their width at most; at least they are `FAR` times as wide."""
FEWEST_FREE = 0.2
"""Degrees of freedom by which a mean size is divided at least: below, it has none."""
BIN = 0.01
"""Width of a bin of the logarithm of the distances: a density that is smooth in it is summed to the square of that."""
LEAST = 1e-4
"""Squared distances over their median below which all are taken for one."""
HOLDS = 1.92
"""Half the quantile of chi-square of one degree at 95 %: how far a profile falls to the ends of an interval."""
TURNS, CLIMBS = 200, 60
"""Fixed-point steps of the scale at most, and Newton steps of the likelihood."""
CLOSE = 1e-9
"""Change of the logarithm of the scale that counts as none."""
DIFFERENCE = 1e-3
"""Step of the differences of the log-likelihood, in logarithms."""


class Belief(NamedTuple):
    """How much a step is believed: the mean of one over its size given its distance, and the slope of that `(n,)`."""

    weight: Array
    slope: Array


class Likeliest(NamedTuple):
    """The likeliest law of some steps.

    Attributes
    ----------
    law : tuple of float
        What shapes it.
    scale : float
        Of the covariance, as a factor.
    intervals : list of (float, float)
        95 % intervals of what shapes it.
    spread : float
        Variance of the logarithm of the scale that not knowing the law brings.
    gain : float
        Log-likelihood over that of a normal law of its own scale.
    """

    law: tuple[float, ...]
    scale: float
    intervals: list[tuple[float, float]]
    spread: float
    gain: float


def believed(law: Sequence[float], q: Array, d: int) -> Belief:
    r"""The mean of one over the size of steps of the squared distances `q` `(n,)`, and its slope in `q`.

    Of Student's law :math:`(\nu + d) / (\nu + q)`; of others :math:`\sum p_k / v_k` with
    :math:`p_k \propto w_k v_k^{-d/2} e^{-q/2 v_k}`, whose slope is less half the variance of :math:`1/v`.

    Examples
    --------
    >>> believed((0.25,), np.array([0.0, 4.0]), 1).weight.tolist()
    [1.25, 0.625]
    """
    if len(law) == 1:
        nu = 1.0 / law[0]
        weight = (nu + d) / (nu + q)
        return Belief(weight, -weight / (nu + q))
    variances, shares = nodes(law)
    log = shares - 0.5 * d * np.log(variances) - 0.5 * q[:, None] / variances
    p = np.exp(log - log.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    first, second = p @ (1.0 / variances), p @ (1.0 / variances**2)
    return Belief(first, -0.5 * (second - first**2))


def spread_known(law: Sequence[float], q: Array, d: int) -> Array:
    r"""The mean size of steps of squared distances `q` `(n,)`: :math:`(\nu + q) / (\nu + d - 2)` of Student's law."""
    if len(law) == 1:
        nu = 1.0 / law[0]
        return np.asarray((nu + q) / max(nu + d - 2.0, FEWEST_FREE))
    variances, shares = nodes(law)
    log = shares - 0.5 * d * np.log(variances) - 0.5 * q[:, None] / variances
    p = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray((p @ variances) / p.sum(axis=1))


def log_density(law: Sequence[float], q: Array, d: int) -> Array:
    """Logarithms of the density of steps of unit covariance at squared distances `q` `(n,)`; of no law a normal one."""
    if not law:
        return np.asarray(-0.5 * d * math.log(2.0 * math.pi) - 0.5 * q)
    if len(law) == 1:
        nu = 1.0 / law[0]
        constant = math.lgamma(0.5 * (nu + d)) - math.lgamma(0.5 * nu) - 0.5 * d * math.log(nu * math.pi)
        return np.asarray(constant - 0.5 * (nu + d) * np.log1p(q / nu))
    variances, shares = nodes(law)
    log = shares - 0.5 * d * np.log(2.0 * math.pi * variances) - 0.5 * q[:, None] / variances
    most = log.max(axis=1)
    return np.asarray(most + np.log(np.exp(log - most[:, None]).sum(axis=1)))


class _Steps:
    """Squared distances, those that are alike put together."""

    def __init__(self, q: Array, d: int) -> None:
        q = q[np.isfinite(q)]
        middle = float(np.median(q)) if len(q) else 1.0
        self.unit, self.d, self.n = (middle if middle > 0.0 else 1.0), d, len(q)
        own = np.maximum(q / self.unit, LEAST)
        place = np.floor((np.log(own) - math.log(LEAST)) / BIN).astype(np.int64)
        counts = np.bincount(place)
        there = counts > 0
        self.counts = counts[there].astype(float)
        self.q = np.bincount(place, weights=own)[there] / self.counts

    def height(self, law: Sequence[float], log_scale: float) -> float:
        """Log-likelihood but for what no law changes."""
        total = self.counts @ log_density(law, self.q * math.exp(-log_scale), self.d)
        return float(total) - 0.5 * self.n * self.d * log_scale

    def scaled(self, law: Sequence[float], start: float) -> float:
        """The logarithm of the likeliest scale of a law."""
        at = start
        for _ in range(TURNS):
            own = self.q * math.exp(-at)
            weight, slope = believed(law, own, self.d)
            mean = float(self.counts @ (weight * own)) / (self.n * self.d)
            # Of the mean, by the logarithm of the scale; the fixed point alone is slow where tails are heavy.
            falls = float(self.counts @ (weight * own + slope * own**2)) / (self.n * self.d)
            move = (mean - 1.0) / falls if falls > 0.1 * mean else math.log(mean)
            at += min(max(move, -2.0), 2.0)
            if abs(move) < CLOSE:
                break
        return at

    def normal(self) -> float:
        """Log-likelihood of the likeliest normal law."""
        variance = float(self.counts @ self.q) / (self.n * self.d)
        return -0.5 * self.n * self.d * (math.log(2.0 * math.pi * variance) + 1.0)


def likeliest(kind: str, q: Array, d: int) -> Likeliest:
    """The law of one kind under which steps of the squared distances `q` `(n,)` are the likeliest, with its scale.

    Parameters
    ----------
    kind : {"student", "jumps"}
    q : (n,) array
        NaN where there is no step.
    d : int
        Rows of each.
    """
    steps = _Steps(q, d)
    found = _student(steps) if kind == "student" else _jumps(steps)
    return found._replace(scale=found.scale * steps.unit)


def _student(steps: _Steps) -> Likeliest:
    """By the profile of the likelihood along one over the degrees of freedom."""
    tried = np.geomspace(LIGHTEST, HEAVIEST, TRIED)
    log_scale, heights, scales = math.log(float(steps.counts @ steps.q) / (steps.n * steps.d)), [], []
    for heaviness in tried:
        log_scale = steps.scaled((heaviness,), log_scale)
        scales.append(log_scale)
        heights.append(steps.height((heaviness,), log_scale))
    height, scale, x = np.array(heights), np.array(scales), np.log(tried)
    top = int(np.argmax(height))
    at = x[top]
    if 0 < top < TRIED - 1:  # a parabola through three of them
        low, middle, high = height[top - 1 : top + 2]
        at += 0.5 * (x[1] - x[0]) * (low - high) / min(low - 2.0 * middle + high, -1e-300)
    law = (float(np.exp(at)),)
    log_scale = steps.scaled(law, float(scale[top]))
    best = max(steps.height(law, log_scale), float(height[top]))
    # The law of one over the degrees, flat beforehand from zero up: the normal law is the left end.
    mass = np.exp(height - best) * tried
    spread = float(mass @ (scale - log_scale) ** 2 / mass.sum())
    inside = np.flatnonzero(height > best - HOLDS)
    first, last = int(inside[0]), int(inside[-1])
    low = 0.0 if first == 0 else _crossing(x, height, first - 1, first, best - HOLDS)
    high = HEAVIEST if last == TRIED - 1 else _crossing(x, height, last + 1, last, best - HOLDS)
    return Likeliest(law, math.exp(log_scale), [(low, high)], spread, best - steps.normal())


def _crossing(x: Array, height: Array, out: int, within: int, level: float) -> float:
    """Where a profile between two of its numbers crosses a level."""
    share = (height[within] - level) / (height[within] - height[out])
    return math.exp(float(x[within] + share * (x[out] - x[within])))


def _jumps(steps: _Steps) -> Likeliest:
    """By Newton steps from the best of some laws, in the logarithms of scale, odds of the share, and width."""
    trials = [(share, width) for share in SHARES for width in WIDTHS]
    heights, starts = [], []
    for trial in trials:
        at = steps.scaled(trial, 0.0)
        heights.append(steps.height(trial, at))
        starts.append(at)
    top = int(np.argmax(heights))
    share, width = trials[top]
    point = np.array([starts[top], math.log(share / (1.0 - share)), math.log(width)])

    def law_at(p: Array) -> tuple[float, float]:
        share = 1.0 / (1.0 + math.exp(-p[1]))
        return min(max(share, FEWEST), MOST), math.exp(min(max(p[2], math.log(FAR)), WIDEST))

    def height(p: Array) -> float:
        return steps.height(law_at(p), float(p[0]))

    best = height(point)
    curve = -np.eye(3)
    for _ in range(CLIMBS):
        slope, curve = _differences(height, point)
        values, turn = np.linalg.eigh(curve)
        move = turn @ ((turn.T @ slope) / np.maximum(np.abs(values), 1e-3))
        move *= min(1.0, 1.0 / max(float(np.abs(move).max()), 1e-300))
        reached = best
        while np.abs(move).max() > CLOSE:
            reached = height(point + move)
            if reached > best:
                break
            move = move / 2.0
        if not reached > best:
            break
        point, best = point + move, reached
    values, turn = np.linalg.eigh(-curve)
    cov = (turn / np.maximum(values, 1e-3)) @ turn.T
    spread = max(float(cov[0, 0]) - 1.0 / max(float(-curve[0, 0]), 1e-3), 0.0)
    law, sd = law_at(point), np.sqrt(np.diag(cov))
    odds = [1.0 / (1.0 + math.exp(-(point[1] + side * 1.96 * sd[1]))) for side in (-1.0, 1.0)]
    wide = [math.exp(point[2] + side * 1.96 * sd[2]) for side in (-1.0, 1.0)]
    intervals = [(odds[0], odds[1]), (wide[0], wide[1])]
    return Likeliest(law, math.exp(float(point[0])), intervals, spread, best - steps.normal())


def _differences(height: object, p: Array) -> tuple[Array, Array]:
    """Gradient and curvature by central differences."""
    assert callable(height)
    k, here = len(p), height(p)
    moves = DIFFERENCE * np.eye(k)
    up, down = np.array([[height(p + sign * move) for move in moves] for sign in (1.0, -1.0)])
    slope = (up - down) / (2.0 * DIFFERENCE)
    curve = np.zeros((k, k))
    for a in range(k):
        curve[a, a] = (up[a] - 2.0 * here + down[a]) / DIFFERENCE**2
        for b in range(a):
            both = height(p + moves[a] + moves[b]) - up[a] - up[b] + here
            curve[a, b] = curve[b, a] = both / DIFFERENCE**2
    return slope, curve


def jumping(law: Sequence[float], q: Array, d: int) -> Array:
    r"""Probabilities that steps are jumps: of the wide part of the law, or of Student's with a size of `FAR` scales.

    Given its distance the precision :math:`\lambda` of a step of Student's law is
    :math:`\lambda (\nu + q) \sim \chi^2_{\nu + d}`.

    Parameters
    ----------
    law : sequence of float
    q : (n,) array
        Squared distances; NaN where there is no step.
    d : int
    """
    out = np.full(len(q), np.nan)
    there = np.isfinite(q)
    if len(law) == 2:
        variances, shares = nodes(law)
        wide, near = shares[:, None] - 0.5 * d * np.log(variances[:, None]) - 0.5 * q / variances[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(there, 1.0 / (1.0 + np.exp(near - wide)), np.nan)
    nu = 1.0 / law[0]
    out[there] = 0.0
    # Where the mean of the precision is beyond that of a jump by far, no step is one.
    for n in np.flatnonzero(there & (nu + q > 0.25 * FAR**2 * (nu + d))).tolist():
        out[n] = chi_square_cdf((nu + float(q[n])) / FAR**2, nu + d)
    return out


SCORES, HIGHEST = np.linspace(0.0, 37.0, 3701), 1e6
"""Normal scores of the table by which others are found, and the largest distance in it."""


def normal_scores(law: Sequence[float], z: Array) -> Array:
    """What a normal law has where a law has `z` `(n,)` in its scales: residuals of the right law become normal."""
    if not law:
        return z
    variances, shares = nodes(law)
    distances = np.concatenate([np.linspace(0.0, 10.0, 1001), np.geomspace(10.0, HIGHEST, 1001)[1:]])
    within = distances[:, None] / np.sqrt(2.0 * variances)
    tails = np.array([[math.erfc(one) for one in row] for row in within.tolist()]) @ np.exp(shares)
    normal = np.array([math.erfc(one / math.sqrt(2.0)) for one in SCORES.tolist()])
    with np.errstate(divide="ignore"):
        beyond = np.log(np.maximum(tails, 1e-297))
    scores = np.interp(-beyond, -np.log(normal), SCORES)
    return np.asarray(np.sign(z) * np.interp(np.abs(z), distances, scores))
