"""Regression moments of the filter by sensitivities of mean and covariance; gradient and information by differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.reference.filter import Step, Times, Update, blocks, nothing, run
from itoscope.backends.reference.kicks import sizes_believed, weighed
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.backends.records import Parameter, StateSpace
    from itoscope.common.types import Array

__all__ = [
    "filter_densities",
    "filter_drift_moments",
    "filter_information",
    "filter_innovations",
    "filter_kicks",
    "filter_loglik",
    "filter_noise_moments",
]


def filter_loglik(model: StateSpace, paths: Sequence[Array], times: Times) -> Array:
    """Log-likelihood of each path `(P,)` under the model; minus infinity where the filter leaves the finite range."""
    out = np.empty(len(paths))
    with np.errstate(all="ignore"):
        for who, y, steps in blocks(paths, times):
            out[who] = (
                weighed(model, y, steps).total if model.kicks else run(model, y, steps, nothing, nothing)
            )
    return out


def filter_kicks(model: StateSpace, paths: Sequence[Array], times: Times) -> list[Array]:
    """Of the step to each sample its mean size, and the probability of a jump `(n_i, 2)`."""
    out: list[Array] = [np.empty(0)] * len(paths)
    with np.errstate(all="ignore"):
        for who, y, steps in blocks(paths, times):
            for path, believed in zip(who.tolist(), weighed(model, y, steps).believed):
                out[path] = believed
    return out


def filter_drift_moments(
    model: StateSpace,
    paths: Sequence[Array],
    times: Times,
    columns: Sequence[tuple[int, int]],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """The joint regression of the drift coefficients `columns` (row, term), and the log-likelihoods.

    Target `r + H D- theta` on regressors `H D-`, weight `S^-1`, with the sensitivity `D = dM/dtheta` carried through
    the closed loop: `D- = Phi D + Psi e_i u_k + sum_n w_n Phi_n e_i du_k(s_n)`, `D = (I - Kg H) D-`; `Psi` is the
    integral of the exponential, `s_n, w_n` are nodes and weights, `du_k` is the change of a term by then.
    """
    rows = np.array([row for row, _ in columns])
    terms = np.array([term for _, term in columns])
    theta = model.drift[rows, terms]
    c, out = len(columns), np.empty(len(paths))
    gram, moment, yy, count = np.zeros((c, c)), np.zeros(c), 0.0, 0
    for who, y, steps in blocks(paths, times):
        d = np.zeros((len(who), model.drift.shape[0], c))

        def on_predict(n: int, step: Step, mean: Array, cov: Array) -> None:
            nonlocal d
            d = step.phi @ d
            d += step.move.lead[:, :, rows] * step.terms[:, None, terms]
            for node in step.move.nodes:
                d += node.weight * node.phi[:, :, rows] * step.change(node, terms)[:, None, :]

        def on_update(update: Update, mean: Array, cov: Array) -> None:
            nonlocal d, gram, moment, yy, count
            if update.n > 0:
                inverse = np.linalg.inv(update.factor)
                x = inverse @ update.observation @ d
                t = np.einsum("pab,pb->pa", inverse, update.r) + x @ theta
                x, t = x.reshape(-1, c), t.reshape(-1)
                gram += x.T @ x
                moment += x.T @ t
                yy += float(t @ t)
                count += int(update.seen.sum())
            d = update.closed @ d

        with np.errstate(all="ignore"):
            sizes, total = sizes_believed(model, y, steps)
            found = run(model, y, steps, on_predict, on_update, sizes)
            out[who] = found if total is None else total
    return Quadratic(gram, moment, yy, float(count)), out


def filter_noise_moments(
    model: StateSpace,
    paths: Sequence[Array],
    times: Times,
    columns: Sequence[tuple[int, int]],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """The regression of the Gamma coefficients `columns` (pair, term) and of the noises, `E = dR/dc`.

    A coefficient `c` moves the covariance, `C = dP/dc`: `C- = Phi C Phi^T + Q(u)`, `C = (I - Kg H) C- (I - Kg H)^T`
    (plus `Kg E Kg^T` for a noise), and through the gain the mean, `D = dM/dc`: `D- = Phi D`,
    `D = (I - Kg H) D- + ((I - Kg H) C- H^T - Kg E) S^-1 r` (E = 1 on its own channel for a noise variance, on both
    places of its pair for a covariance, else 0).
    Two regressions share `c`: `r r^T - S + (H C- H^T + E) c` on `H C- H^T + E` with weight `S^-1 (x) S^-1 / 2`, and
    `r + H D- c` on `H D-` with weight `S^-1`. Their sum has the Fisher information as its Gram matrix; the second
    one, which sees that the innovations are not white, carries most of it when the noise is large.
    What stands for `sum c_k gamma_k` in the targets is computed from the Gamma that was used, floors and all.
    """
    out = np.empty(len(paths))
    carried = _NoiseSensitivities(model, columns)
    for who, y, steps in blocks(paths, times):
        carried.begin(len(who))
        with np.errstate(all="ignore"):
            sizes, total = sizes_believed(model, y, steps)
            found = run(model, y, steps, carried.predict, carried.update, sizes)
            out[who] = found if total is None else total
    return Quadratic(carried.gram, carried.moment, carried.yy, float(carried.count)), out


class _NoiseSensitivities:
    """`C` `(p, c + 1, m, m)` and `D` `(p, m, c + 1)` along a block of paths, and the sums over all blocks.

    The last column carries the Gamma in use.
    """

    def __init__(self, model: StateSpace, columns: Sequence[tuple[int, int]]) -> None:
        self.pair_of = np.array([pair for pair, _ in columns], dtype=int)
        self.term_of = np.array([term for _, term in columns], dtype=int)
        self.q, self.m = model.observation.shape
        self.c = len(columns) + len(model.noise)
        self.noises = slice(len(columns), self.c)
        self.entries = [*((a, a) for a in range(self.q)), *model.shared]
        self.now = np.concatenate([np.zeros(len(columns)), model.noise, [1.0]])
        self.unit = np.zeros((len(model.pairs), self.m, self.m))
        for index, (i, j) in enumerate(model.pairs):
            self.unit[index, i, j] = self.unit[index, j, i] = 1.0
        self.upper = np.triu_indices(self.q)
        self.scale = np.where(self.upper[0] == self.upper[1], math.sqrt(0.5), 1.0)
        self.gram, self.moment = np.zeros((self.c, self.c)), np.zeros(self.c)
        self.yy, self.count = 0.0, 0

    def begin(self, n_paths: int) -> None:
        """A new block of paths, whose first state moves with nothing."""
        self.w = np.zeros((n_paths, self.c + 1, self.m, self.m))
        self.d = np.zeros((n_paths, self.m, self.c + 1))

    def predict(self, n: int, step: Step, mean: Array, cov: Array) -> None:
        """`C-` and `D-`."""
        phi = step.phi[:, None]
        self.w = phi @ self.w @ np.swapaxes(phi, 2, 3)
        self.d = step.phi @ self.d
        for pair, e in enumerate(self.unit):
            of = np.flatnonzero(self.pair_of == pair)
            whole = step.move.spread(np.broadcast_to(e, step.phi.shape))
            self.w[:, of] += (step.size * whole)[:, None] * step.terms[:, self.term_of[of], None, None]
            for node in step.move.nodes:
                moved = step.size * node.weight * (node.phi @ e @ np.swapaxes(node.phi, 1, 2))
                self.w[:, of] += moved[:, None] * step.change(node, self.term_of[of])[:, :, None, None]
        self.w[:, self.c] += step.spread

    def update(self, update: Update, mean: Array, cov: Array) -> None:
        """`C` and `D`, after the rows of both regressions; the first sample is not foreseen and gives none."""
        inverse = np.linalg.inv(update.factor).astype(float, copy=False)
        white = np.einsum("pab,pb->pa", inverse, update.r)
        if update.n > 0:
            self._add_mean_rows(update, inverse, white)
            self._add_square_rows(update, inverse, white)
        solved = np.einsum("pab,pa->pb", inverse, white)  # S^-1 r
        turn = np.einsum("pij,pcjk,pqk,pq->pic", update.closed, self.w, update.observation, solved)
        own = self._noise_changes(update)
        turn[:, :, self.noises] -= np.einsum(
            "piq,pcq->pic", update.gain, np.einsum("pcqr,pr->pcq", own, solved)
        )
        self.d = update.closed @ self.d + turn
        closed = update.closed[:, None]
        self.w = closed @ self.w @ np.swapaxes(closed, 2, 3)
        self.w[:, self.noises] += np.einsum("piq,pjr,pcqr->pcij", update.gain, update.gain, own)

    def _noise_changes(self, update: Update) -> Array:
        """How the covariance of the noises of a sample changes with each of them `(p, q + shared, q, q)`."""
        out = np.zeros((len(self.w), len(self.entries), self.q, self.q))
        for place, (a, b) in enumerate(self.entries):
            size = update.seen[:, a] * update.seen[:, b] * np.sqrt(update.scale[:, a] * update.scale[:, b])
            out[:, place, a, b] = out[:, place, b, a] = size
        return out

    def _add_mean_rows(self, update: Update, inverse: Array, white: Array) -> None:
        x = inverse @ update.observation @ self.d
        self._add(x, white + x @ self.now)
        self.count += int(update.seen.sum())

    def _add_square_rows(self, update: Update, inverse: Array, white: Array) -> None:
        q, (rows, columns), ob = self.q, self.upper, update.observation
        both = update.seen[:, :, None] & update.seen[:, None, :]
        moved = ob[:, None] @ self.w @ np.swapaxes(ob, 1, 2)[:, None]
        moved[:, self.noises] += self._noise_changes(update)
        x = (inverse[:, None] @ moved @ np.swapaxes(inverse, 1, 2)[:, None])[:, :, rows, columns]
        x = np.swapaxes(x * self.scale, 1, 2)
        excess = white[:, :, None] * white[:, None, :] - np.eye(q)
        excess = np.where(both, excess, 0.0)[:, rows, columns] * self.scale
        self._add(x, excess + x @ self.now)
        self.count += int(both[:, rows, columns].sum())

    def _add(self, x: Array, t: Array) -> None:
        x, t = x.reshape(-1, self.c + 1)[:, : self.c], t.reshape(-1)
        self.gram += x.T @ x
        self.moment += x.T @ t
        self.yy += float(t @ t)


def filter_innovations(model: StateSpace, paths: Sequence[Array], times: Times) -> list[Array]:
    """Whitened innovations `(n_i, q)` of every path; NaN where missing and at the first sample."""
    out = [np.full((len(y), len(model.observation)), np.nan) for y in paths]
    for who, y, steps in blocks(paths, times):
        kept: list[Update] = []
        with np.errstate(all="ignore"):
            if model.kicks:
                for path, white in zip(who.tolist(), weighed(model, y, steps).scores):
                    out[path] = white
                continue
            run(model, y, steps, nothing, _keep(kept))
        for update in kept[1:]:
            white = np.einsum("pab,pb->pa", np.linalg.inv(update.factor), update.r)
            for place, path in enumerate(who.tolist()):
                out[path][update.n] = np.where(update.seen[place], white[place], np.nan)
    return out


def filter_densities(model: StateSpace, paths: Sequence[Array], times: Times) -> list[Array]:
    """Log density of samples given those before; NaN where all is missing and at the first one."""
    out = [np.full(len(y), np.nan) for y in paths]
    for who, y, steps in blocks(paths, times):
        kept: list[Update] = []
        with np.errstate(all="ignore"):
            if model.kicks:
                seen = np.asarray((~np.isnan(y[:, :, : len(model.observation)])).any(axis=2))
                seen[:, 0] = False
                for path, one, gained in zip(who.tolist(), seen, weighed(model, y, steps).gained):
                    out[path] = np.where(one, gained, np.nan)
                continue
            run(model, y, steps, nothing, _keep(kept))
        for update in kept[1:]:
            for place, path in enumerate(who.tolist()):
                out[path][update.n] = update.gained[place] if update.seen[place].any() else np.nan
    return out


def _keep(kept: list[Update]) -> Callable[[Update, Array, Array], None]:
    return lambda update, mean, cov: kept.append(update)


def filter_information(
    model: StateSpace,
    paths: Sequence[Array],
    times: Times,
    parameters: Sequence[Parameter],
    steps: Sequence[float],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """Fisher information (`gram`) and gradient (`moment`) of the log-likelihood, and the log-likelihoods.

    `dl = -r^T S^-1 dr + tr(S^-1 (r r^T - S) S^-1 dS) / 2`; information `dr^T S^-1 dr + tr(S^-1 dS S^-1 dS) / 2`, summed
    over the samples; where noise or steps have tails the products and the sum of the scores of the samples. `dr`, `dS`
    are central differences over the parameters with the given steps.
    """
    models = [model]
    for parameter, step in zip(parameters, steps):
        models += [model.moved(parameter, step), model.moved(parameter, -step)]
    if model.kicks:
        return _kicked_information(models, paths, times, steps)
    c, q = len(parameters), len(model.observation)
    upper = np.triu_indices(q)
    scale = np.where(upper[0] == upper[1], math.sqrt(0.5), 1.0)
    out = np.empty(len(paths))
    z, count = np.zeros((c + 1, c + 1)), 0
    for who, y, steps_in_time in blocks(paths, times):
        seen: list[list[Update]] = []
        for index, changed in enumerate(models):
            kept: list[Update] = []
            with np.errstate(all="ignore"):
                values = run(
                    changed,
                    y,
                    steps_in_time,
                    nothing,
                    _keep(kept),
                    led=seen[0] if seen else None,
                )
            if index == 0:
                out[who] = values
            seen.append(kept)
        if model.tails:
            gained = np.stack([[update.gained for update in kept[1:]] for kept in seen])
            rows = _score_rows(gained, steps)
            z += rows.T @ rows
            count += len(rows)
            continue
        for n in range(1, y.shape[1]):
            now = seen[0][n]
            inverse = np.linalg.inv(now.factor)
            white = np.einsum("pab,pb->pa", inverse, now.r)
            rows = np.zeros((len(who), q + len(scale), c + 1))
            for k, step in enumerate(steps):
                up, down = seen[1 + 2 * k][n], seen[2 + 2 * k][n]
                rows[:, :q, k] = np.einsum("pab,pb->pa", inverse, (up.r - down.r) / (2 * step))
                ds = inverse @ ((up.s - down.s) / (2 * step)) @ np.swapaxes(inverse, 1, 2)
                rows[:, q:, k] = ds[:, upper[0], upper[1]] * scale
            both = now.seen[:, :, None] & now.seen[:, None, :]
            excess = np.where(both, white[:, :, None] * white[:, None, :] - np.eye(q), 0.0)
            rows[:, :q, c] = -white
            rows[:, q:, c] = excess[:, upper[0], upper[1]] * scale
            flat = rows.reshape(-1, c + 1)
            z += flat.T @ flat
            count += int(now.seen.sum() + both[:, upper[0], upper[1]].sum())
    return Quadratic(z[:c, :c], z[:c, c], float(z[c, c]), float(count)), out


def _score_rows(gained: Array, steps: Sequence[float]) -> Array:
    """The scores of the samples, then a one, from log densities of the model and of those above and below."""
    scores = [(gained[1 + 2 * k] - gained[2 + 2 * k]) / (2 * step) for k, step in enumerate(steps)]
    rows: Array = np.stack([*scores, np.ones_like(gained[0])], axis=-1).reshape(-1, len(steps) + 1)
    return rows


def _kicked_information(
    models: Sequence[StateSpace], paths: Sequence[Array], times: Times, steps: Sequence[float]
) -> tuple[Quadratic, Array]:
    """The products and the sum of the scores of the samples where steps are of unknown size."""
    c, out = len(steps), np.empty(len(paths))
    z, count = np.zeros((c + 1, c + 1)), 0
    for who, y, steps_in_time in blocks(paths, times):
        with np.errstate(all="ignore"):
            every = [weighed(one, y, steps_in_time) for one in models]
        out[who] = every[0].total
        rows = _score_rows(np.stack([one.gained[:, 1:] for one in every]), steps)
        z += rows.T @ rows
        count += len(rows)
    return Quadratic(z[:c, :c], z[:c, c], float(z[c, c]), float(count)), out
