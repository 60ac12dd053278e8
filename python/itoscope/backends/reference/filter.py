"""The extended Kalman filter: a batch of paths advances one sample together, each step shown to a visitor.

State `dx = f(x) dt + g(x) dB` with `f = drift @ u(x)`, `g g^T = Gamma(x) = sum_k gamma[pair, k] u_k(x)`; observation
`y = H x + e`, `e ~ N(0, R)`, independent but for `shared` channels. All paths advance one sample together. A missing
value is NaN. A sample may scale the noise of its channels, and the state may be reset after it, `x <- J x`; and it may
hold the law of the state about which the step that leaves it is linearised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.backends.reference.tails import believed
from itoscope.backends.reference.transition import Node, Transition, euler, transition
from itoscope.common.types import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from itoscope.backends.records import Kink, StateSpace

__all__ = [
    "Step",
    "Times",
    "Update",
    "blocks",
    "factor_semidefinite",
    "filter_batch",
    "nothing",
    "predict",
    "run",
    "update",
]

LOG_2PI = math.log(2.0 * math.pi)
LOST = 0.5
"""Doubt about a predicted angle, as a standard deviation over its period, from which the nearest place of a reading is
no better than the one that is counted on from the last reading."""
CREDIBLE = 3.0
"""Standard deviations of that doubt within which the counted place must be."""
_erf = np.vectorize(math.erf, otypes=[float])
Times = Sequence[float | Array]


class Step(NamedTuple):
    """One prediction over `h`: what the sensitivities need of it. Arrays lead with the path axis.

    At a node of the step term `k` is `terms + slopes (lead field) + s^2 bends`.
    """

    h: Array  # (p, 1, 1)
    terms: Array  # (p, K) expected term values
    slopes: Array  # (p, K, m) their gradients
    bends: Array  # (p, K) what the way of the drift adds beyond the gradients, over s^2
    field: Array  # (p, m) drift
    move: Transition
    spread: Array  # (p, m, m) covariance that the step added
    size: Array  # (p, 1, 1) factor of the covariance of its noise

    @property
    def phi(self) -> Array:
        """Transition `(p, m, m)`."""
        return self.move.phi

    def change(self, node: Node, which: NDArray[np.intp]) -> Array:
        """How much terms `which` have changed by a node `(p, n)`."""
        way = np.einsum("pij,pj->pi", node.lead, self.field)
        change: Array = np.einsum("pkj,pj->pk", self.slopes[:, which], way) + node.s**2 * self.bends[:, which]
        return change


class Update(NamedTuple):
    """One observation: what the moments need of it. Missing channels have zero rows of `h` and `r`, unit `s`."""

    n: int
    observation: Array  # (p, q, m)
    seen: NDArray[np.bool_]  # (p, q)
    scale: Array  # (p, q) factors of the noise variances
    r: Array  # (p, q) innovation
    s: Array  # (p, q, q) its covariance
    factor: Array  # (p, q, q) Cholesky factor of s
    gain: Array  # (p, m, q), where the state is reset after the sample `reset @ gain`
    closed: Array  # (p, m, m) I - gain @ observation, or `reset @ (I - gain @ observation)`
    reset: Array  # (p, m, m) what becomes of the state after the sample
    mean: Array  # (p, m) before that
    cov: Array  # (p, m, m) of it
    gained: Array  # (p,) log-likelihood of the sample
    turned: Array  # (p, q) whole periods that were added to the readings


def factor_semidefinite(a: Array) -> Array:
    """Lower Cholesky factors of semidefinite matrices `(p, m, m)`; a vanishing pivot gives a zero column."""
    m = a.shape[-1]
    rest, low = a.copy(), np.zeros_like(a)
    scale = np.einsum("pii->pi", a).copy()
    for j in range(m):
        pivot = rest[:, j, j]
        good = pivot > 1e-14 * scale[:, j]
        root = np.sqrt(np.where(good, pivot, 1.0))
        column = np.where(good[:, None], rest[:, :, j] / root[:, None], 0.0)
        column[:, :j] = 0.0
        low[:, :, j] = column
        rest -= column[:, :, None] * column[:, None, :]
    return low


def _kinked(kink: Kink, x: Array, cov: Array) -> tuple[Array, Array]:
    """Expectation `(p,)` and its gradient `(p, m)` of `sgn(x_j)`, `|x_j|` or `x_i |x_j|`.

    With z = M_j / sd_j: E sgn = erf(z / sqrt 2), E|x_j| = M_j E sgn + 2 sd phi(z),
    E x_i|x_j| = M_i E|x_j| + P_ij E sgn.
    """
    mean, var = x[:, kink.j], np.maximum(cov[:, kink.j, kink.j], 0.0)
    sd = np.sqrt(var)
    safe = np.where(sd > 0.0, sd, 1.0)
    z = np.where(sd > 0.0, mean / safe, np.sign(mean) * np.inf)
    z = np.where((sd == 0.0) & (mean == 0.0), 0.0, z)
    sign = np.where(np.isinf(z), np.sign(mean), _erf(np.clip(z, -40.0, 40.0) / math.sqrt(2.0)))
    density = np.where(
        np.isinf(z), 0.0, np.exp(-0.5 * np.clip(z, -40.0, 40.0) ** 2) / math.sqrt(2.0 * math.pi)
    )
    density = np.where(sd > 0.0, density, 0.0)
    slope_of_sign = 2.0 * density / safe
    size = mean * sign + 2.0 * sd * density
    slope = np.zeros_like(x)
    if kink.kind == "sgn":
        slope[:, kink.j] = slope_of_sign
        return sign, slope
    if kink.kind == "abs":
        slope[:, kink.j] = sign
        return size, slope
    cross = cov[:, kink.i, kink.j]
    slope[:, kink.i] += size
    slope[:, kink.j] += x[:, kink.i] * sign + cross * slope_of_sign
    return x[:, kink.i] * size + cross * sign, slope


def _expected_terms(model: StateSpace, x: Array, cov: Array, at_mean: Array) -> Array:
    """`E u_k` over `N(x, cov)`: three-point Gauss-Hermite along each column of the factor of `cov`."""
    p, m = x.shape
    low = math.sqrt(3.0) * np.swapaxes(factor_semidefinite(cov), 1, 2)  # (p, column, m)
    points = np.concatenate([x[:, None, :] + low, x[:, None, :] - low], axis=1)
    around = model.program.evaluate(np.ascontiguousarray(points.reshape(p * 2 * m, m))).reshape(p, 2 * m, -1)
    expected: Array = at_mean + (around.sum(axis=1) - 2.0 * m * at_mean) / 6.0
    return expected


def _gamma(model: StateSpace, terms: Array) -> Array:
    """Diffusion covariance `(p, m, m)` of term values, kept positive: diagonals floored, correlations below 0.999."""
    m = model.drift.shape[0]
    out = np.zeros((terms.shape[0], m, m))
    for (i, j), coefficients in zip(model.pairs, model.gamma):
        out[:, i, j] = out[:, j, i] = terms @ coefficients
    for i, j in model.pairs:
        if i == j:
            out[:, i, i] = np.maximum(out[:, i, i], model.floor[i])
    for i, j in model.pairs:
        if i != j:
            limit = 0.999 * np.sqrt(out[:, i, i] * out[:, j, j])
            out[:, i, j] = out[:, j, i] = np.clip(out[:, i, j], -limit, limit)
    return out


def predict(
    model: StateSpace,
    mean: Array,
    cov: Array,
    h: Array,
    size: Array,
    about: tuple[Array, Array] | None = None,
) -> tuple[Step, Array, Array]:
    """Mean and covariance one step of length `h` later, the noise of a `size`, by local linearisation.

    The drift is linearised at the mean, `f + A (x - M)`, and integrated exactly. Its terms are averaged where noise
    and doubt may take the state, with the covariance of half way; what the way of the drift adds to a term beyond its
    gradient is counted as `c s^2`, with `c` from the term where the linear drift leads. A term with a kink has no `c`;
    its average counts the way along the drift as spread. Gamma moves along the step with its terms: the integral for
    its value at the start is exact, the rest is a sum over three nodes. Where a law `about` is told, all this is done
    about its mean and covariance, and the terms go from there to the mean along their gradients.
    """
    at, doubt = about or (mean, cov)
    at_mean = model.program.evaluate(at)
    slopes = model.program.gradient(at)
    terms = at_mean
    for kink in model.kinks:
        terms[:, kink.term], slopes[:, kink.term, :] = _kinked(kink, at, doubt)
    a = np.einsum("ik,pkj->pij", model.drift, slopes)
    f = terms @ model.drift.T
    bends = np.zeros_like(terms)
    if model.second_order:
        move = transition(a, h)
        way = np.einsum("pij,pj->pi", move.lead, f)
        safe = np.where(h[:, 0] > 0.0, h[:, 0], 1.0)
        bends = model.program.evaluate(np.ascontiguousarray(at + way)) - terms
        bends = (bends - np.einsum("pkj,pj->pk", slopes, way)) / safe**2
        half = move.nodes[1].phi
        gamma = _gamma(model, terms)
        ahead = half @ (doubt + h / 4 * gamma) @ np.swapaxes(half, 1, 2) + h / 4 * gamma
        terms = _expected_terms(model, at, ahead, terms)
        for kink in model.kinks:
            bends[:, kink.term] = 0.0
            way = h**2 / 3 * f[:, :, None] * f[:, None, :]
            terms[:, kink.term] = _kinked(kink, at, ahead + way)[0]
    else:
        move = euler(a, h)
    if about:
        terms = terms + np.einsum("pkj,pj->pk", slopes, mean - at)
    f = terms @ model.drift.T
    moved = mean + np.einsum("pij,pj->pi", move.lead, f) + move.curve(bends @ model.drift.T)
    step = Step(h, terms, slopes, bends, f, move, np.empty(0), size)
    start = _gamma(model, terms)
    spread = move.spread(start)
    every = np.arange(terms.shape[1])
    for node in move.nodes:
        change = _gamma(model, terms + step.change(node, every)) - start
        spread = spread + node.weight * (node.phi @ change @ np.swapaxes(node.phi, 1, 2))
    spread = size * spread
    step = step._replace(spread=spread)
    after = move.phi @ cov @ np.swapaxes(move.phi, 1, 2) + spread
    return step, moved, 0.5 * (after + np.swapaxes(after, 1, 2))


def update(
    model: StateSpace, n: int, y: Array, mean: Array, cov: Array, turned: Array | float = 0.0
) -> tuple[Update, Array, Array, Array]:
    """Mean and covariance (Joseph form) given the sample `y` `(p, q + ...)`, and its log-likelihood `(p,)`."""
    q, m = model.observation.shape
    scale, reset = _beside(model, y)
    y = y[:, :q] + turned
    seen = ~np.isnan(y)
    ob = model.observation[None] * seen[:, :, None]
    r = np.where(seen, y, 0.0) - np.einsum("pqi,pi->pq", ob, mean)
    lost, beside = np.zeros_like(r), np.zeros(len(y))
    if model.tails:
        scale, lost, beside = believed(model, y, seen, scale, mean, cov)
    noise, shared = np.where(seen, model.noise[:q] * scale, 1.0), _shared(model, seen, scale)
    ph = cov @ np.swapaxes(ob, 1, 2)
    s = ob @ ph + noise[:, :, None] * np.eye(q) + shared
    with np.errstate(invalid="ignore"):
        try:
            factor = np.linalg.cholesky(s)
        except np.linalg.LinAlgError:
            factor = np.full_like(s, np.nan)
            for p in range(len(s)):
                try:
                    factor[p] = np.linalg.cholesky(s[p])
                except np.linalg.LinAlgError:
                    factor[p] = np.nan
    inverse: Array = np.linalg.inv(factor)
    gain: Array = ph @ np.swapaxes(inverse, 1, 2) @ inverse
    closed = np.eye(m) - gain @ ob
    white = np.einsum("pab,pb->pa", inverse, r)
    log_det = 2.0 * np.log(np.einsum("pii->pi", factor)).sum(axis=1)
    loglik = -0.5 * (white**2).sum(axis=1) - 0.5 * log_det - 0.5 * LOG_2PI * seen.sum(axis=1)
    held = np.where(seen, model.noise[:q] * scale, 0.0)
    after = closed @ cov @ np.swapaxes(closed, 1, 2) + (gain * held[:, None, :]) @ np.swapaxes(gain, 1, 2)
    after += (gain * lost[:, None, :]) @ np.swapaxes(gain, 1, 2)
    if model.shared:
        after += gain @ shared @ np.swapaxes(gain, 1, 2)
    loglik += beside
    after, moved = 0.5 * (after + np.swapaxes(after, 1, 2)), mean + np.einsum("pij,pj->pi", gain, r)
    low = np.asarray(factor, dtype=float)
    turned = np.broadcast_to(turned, r.shape)
    seen_so = Update(
        n, ob, seen, scale, r, s, low, reset @ gain, reset @ closed, reset, moved, after, loglik, turned
    )
    moved, after = np.einsum("pij,pj->pi", reset, moved), reset @ after @ np.swapaxes(reset, 1, 2)
    return seen_so, moved, after, loglik


def _shared(model: StateSpace, seen: NDArray[np.bool_], scale: Array) -> Array:
    """What the covariance `R` of the noises of a sample has beside its diagonal `(p, q, q)`."""
    p, q = seen.shape
    out = np.zeros((p, q, q))
    for (a, b), covariance in zip(model.shared, model.noise[q:]):
        size = np.where(seen[:, a] & seen[:, b], covariance * np.sqrt(scale[:, a] * scale[:, b]), 0.0)
        out[:, a, b] = out[:, b, a] = size
    return out


def _beside(model: StateSpace, y: Array) -> tuple[Array, Array]:
    """Factors of the noise variances `(p, q)` at a sample, and what becomes of the state after it `(p, m, m)`."""
    q, m = model.observation.shape
    first = q + len(model.given)
    scale = np.ones((len(y), q))
    scale[:, list(model.scaled)] = y[:, first : first + len(model.scaled)]
    reset = np.tile(np.eye(m), (len(y), 1, 1))
    for column, matrix in enumerate(model.resets, first + len(model.scaled)):
        there = y[:, column] != 0.0
        reset[there] = matrix @ reset[there]
    return scale, reset


def _turned(
    model: StateSpace, y: Array, before: Array, begun: NDArray[np.bool_], mean: Array, cov: Array
) -> Array:
    """Whole periods that are added to the readings of a sample `(p, q)`, given those of the sample before.

    None where a channel begins; and as before where the prediction does not tell the nearest place of a reading from
    others, and does not speak against the counted one either.
    """
    periods, h = np.array(model.periods), model.observation
    doubt, r = np.einsum("qi,pij,qj->pq", h, cov, h), y - mean @ h.T + before
    told = (doubt < (LOST * periods) ** 2) | (r**2 > CREDIBLE**2 * doubt)
    told &= ~np.isnan(y) & begun & (periods > 0.0)
    safe = np.where(periods > 0.0, periods, 1.0)
    found: Array = before - np.where(told, periods * np.ceil(np.where(told, r, 0.0) / safe - 0.5), 0.0)
    return found


def _course(model: StateSpace, y: Array) -> tuple[Array, Array]:
    """Mean `(p, m)` and covariance `(p, m, m)` that a sample holds of the law of the state."""
    m = len(model.drift)
    own = y[:, y.shape[1] - model.course :]
    rows, columns = np.tril_indices(m)
    cov = np.zeros((len(y), m, m))
    cov[:, rows, columns] = cov[:, columns, rows] = own[:, m:]
    return own[:, :m], cov


def blocks(paths: Sequence[Array], times: Times) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
    """Groups of paths of equal length: indices, samples `(p, T, q)` and steps `(p, T - 1)`."""
    lengths = np.array([len(y) for y in paths])
    for length in np.unique(lengths):
        who = np.flatnonzero(lengths == length)
        y = np.stack([paths[i] for i in who.tolist()])
        steps = [
            np.full(length - 1, times[i]) if np.ndim(times[i]) == 0 else np.diff(times[i])
            for i in who.tolist()
        ]
        yield who, y, np.stack(steps)


def run(
    model: StateSpace,
    y: Array,
    steps: Array,
    on_predict: Callable[[int, Step, Array, Array], None],
    on_update: Callable[[Update, Array, Array], None],
    sizes: Array | None = None,
    led: Sequence[Update] | None = None,
) -> Array:
    """Filters a block of paths of equal length, steps of some `sizes` `(p, T)`; returns the log-likelihood per path.

    Turns of angles are those of the updates of another filter, `led`, where these are given.
    """
    p, length, _ = y.shape
    q, given = len(model.observation), list(model.given)
    mean = np.tile(model.mean0, (p, 1))
    cov = np.tile(model.cov0, (p, 1, 1))
    total = np.zeros(p)
    turned, begun = np.zeros((p, q)), np.zeros((p, q), dtype=bool)
    for n in range(length):
        if n > 0:
            gap = steps[:, n - 1]
            pieces = np.maximum(1, np.ceil(gap / model.max_step - 1e-9))
            for piece in range(int(pieces.max())):
                h = np.where(piece < pieces, gap / pieces, 0.0)[:, None, None]  # 0 leaves a path where it is
                size = np.ones_like(h) if sizes is None else sizes[:, n, None, None]
                about = _course(model, y[:, n - 1]) if model.along and piece == 0 else None
                step, mean, cov = predict(model, mean, cov, h, size, about)
                on_predict(n, step, mean, cov)
        if given:
            mean, cov = mean.copy(), cov.copy()
            mean[:, given] = y[:, n, q : q + len(given)]
            cov[:, given] = cov[:, :, given] = 0.0
        if led is not None:
            turned = led[n].turned
        elif model.periods:
            turned = _turned(model, y[:, n, :q], turned, begun, mean, cov)
            begun = begun | ~np.isnan(y[:, n, :q])
        seen, mean, cov, loglik = update(model, n, y[:, n], mean, cov, turned)
        on_update(seen, mean, cov)
        total += loglik
    return np.where(np.isfinite(total), total, -np.inf)


def nothing(*_: object) -> None:
    """A visitor that ignores what it sees."""


def filter_batch(n_paths: int) -> int:
    """Paths that are summed together: all of them."""
    return n_paths
