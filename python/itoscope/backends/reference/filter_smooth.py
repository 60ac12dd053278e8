"""Smoothed states (Rauch-Tung-Striebel): the filter's steps kept, then run backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.reference.filter import Step, Times, Update, blocks, factor_semidefinite, run
from itoscope.backends.reference.kicks import sizes_believed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.backends.records import StateSpace
    from itoscope.common.types import Array

__all__ = ["filter_smooth"]


def _keep_predictions(phi: Array, ahead: Array, spread: Array) -> Callable[[int, Step, Array, Array], None]:
    def keep(n: int, step: Step, mean: Array, cov: Array) -> None:
        phi[n] = step.phi @ phi[n]  # a long step comes in several pieces
        ahead[n], spread[n] = mean, cov

    return keep


def _keep_updates(means: Array, covs: Array, phi: Array) -> Callable[[Update, Array, Array], None]:
    def keep(update: Update, mean: Array, cov: Array) -> None:
        means[update.n], covs[update.n] = update.mean, update.cov
        if update.n + 1 < len(phi):
            phi[update.n + 1] = update.reset  # with which the way to the next sample starts

    return keep


def _solve_semidefinite(low: Array, b: Array) -> Array:
    """Solves `low low^T x = b` for `(p, m, m)`, leaving out the directions of zero pivots."""
    m = low.shape[-1]
    x: Array = b.copy()
    pivots = np.einsum("pii->pi", low)
    safe = np.where(pivots > 0.0, pivots, 1.0)
    for i in range(m):
        x[:, i] -= np.einsum("pj,pjk->pk", low[:, i, :i], x[:, :i])
        x[:, i] = np.where(pivots[:, i, None] > 0.0, x[:, i] / safe[:, i, None], 0.0)
    for i in range(m - 1, -1, -1):
        x[:, i] -= np.einsum("pj,pjk->pk", low[:, i + 1 :, i], x[:, i + 1 :])
        x[:, i] = np.where(pivots[:, i, None] > 0.0, x[:, i] / safe[:, i, None], 0.0)
    return x


def filter_smooth(model: StateSpace, paths: Sequence[Array], times: Times) -> tuple[list[Array], list[Array]]:
    """Smoothed means `(n_i, m)` and covariances `(n_i, m, m)` of every path (Rauch-Tung-Striebel)."""
    means: list[Array] = [np.empty(0)] * len(paths)
    covs: list[Array] = [np.empty(0)] * len(paths)
    m = model.drift.shape[0]
    for who, y, steps in blocks(paths, times):
        p, length, _ = y.shape
        mean, cov = np.zeros((length, p, m)), np.zeros((length, p, m, m))
        ahead, spread = np.zeros((length, p, m)), np.zeros((length, p, m, m))
        phi = np.tile(np.eye(m), (length, p, 1, 1))

        with np.errstate(all="ignore"):
            sizes, _ = sizes_believed(model, y, steps)
            run(model, y, steps, _keep_predictions(phi, ahead, spread), _keep_updates(mean, cov, phi), sizes)
            for n in range(length - 2, -1, -1):
                low = factor_semidefinite(spread[n + 1])
                back = _solve_semidefinite(low, phi[n + 1] @ cov[n])
                gain = np.swapaxes(back, 1, 2)
                mean[n] += np.einsum("pij,pj->pi", gain, mean[n + 1] - ahead[n + 1])
                change = gain @ (cov[n + 1] - spread[n + 1]) @ back
                cov[n] += 0.5 * (change + np.swapaxes(change, 1, 2))
        for index, path in enumerate(who):
            means[path], covs[path] = mean[:, index].copy(), cov[:, index].copy()
    return means, covs
