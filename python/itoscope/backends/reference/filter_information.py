"""Gradient and Fisher information of the filter's likelihood, by filters of slightly changed models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from itoscope.backends.protocol import Array
from itoscope.backends.reference.filter import Times, Update, blocks, nothing, run
from itoscope.backends.statespace import FilterMoments, StateSpace

__all__ = ["filter_information"]


def _keep(kept: list[Update]) -> Callable[[Update, Array, Array], None]:
    return lambda update, mean, cov: kept.append(update)


def filter_information(
    model: StateSpace,
    paths: Sequence[Array],
    times: Times,
    parameters: Sequence[tuple[str, int, int]],
    steps: Sequence[float],
) -> tuple[FilterMoments, Array]:
    """Fisher information (`gram`) and gradient (`moment`) of the log-likelihood, and the log-likelihoods.

    `dl = -r^T S^-1 dr + tr(S^-1 (r r^T - S) S^-1 dS) / 2`; information `dr^T S^-1 dr + tr(S^-1 dS S^-1 dS) / 2`, summed
    over the samples; `dr`, `dS` are central differences over ("drift", row, term), ("gamma", pair, term) or
    ("noise", channel, 0) with the given steps.
    """
    models = [model]
    for (kind, i, k), step in zip(parameters, steps):
        place = i if kind == "noise" else (i, k)
        for signed in (step, -step):
            table = getattr(model, kind).copy()
            table[place] += signed
            models.append(replace(model, **{kind: table}))
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
                )
            if index == 0:
                out[who] = values
            seen.append(kept)
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
    return FilterMoments(z[:c, :c], z[:c, c], float(z[c, c]), float(count)), out
