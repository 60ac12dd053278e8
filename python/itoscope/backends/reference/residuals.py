"""What a fit leaves over: standardised residuals of the drift, and the predicted covariance on the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted, ResidualSums, Survey, Variance
from itoscope.backends.reference.gram import present, step_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["residual_sums", "survey"]

INDEFINITE_TOLERANCE = 1e-9


def residual_sums(
    paths: Sequence[Array],
    times: Sequence[float | Array],
    row: int,
    drift: Fitted,
    variance: Variance,
    *,
    lags: int = 10,
) -> tuple[ResidualSums, Array]:
    """Sums over `z = e / sqrt(Gamma dt)`, `e` the increment less the mean of the drift at both ends of the step.

    Parameters
    ----------
    paths, times : as in `backends.protocol`
    row : int
        The state whose increments are looked at.
    drift : Fitted
        Its drift, one row.
    variance : Variance
        Its variance `Gamma_ii`, one row, and the floor.
    lags : int
        Products `z[n] z[n + l]` are summed for `l = 1..lags`, over steps that touch no missing sample.

    Returns
    -------
    ResidualSums, and z (N,) of all steps of all paths, NaN where one touches a missing sample
    """
    powers, lagged, pairs = np.zeros(4), np.zeros(lags), np.zeros(lags)
    n, largest, where = 0, 0.0, (0, 0)
    every = []
    for number, (x, t) in enumerate(zip(paths, times)):
        dt = step_lengths(t, 0, len(x) - 1)
        f = drift.program.evaluate(x) @ drift.coef[0]
        gamma = np.maximum(variance.program.evaluate(x[:-1]) @ variance.coef[0], variance.floors[0])
        z = (np.diff(x[:, row]) - dt * (f[:-1] + f[1:]) / 2) / np.sqrt(gamma * dt)
        seen = present(x)
        ok = seen[:-1] & seen[1:]
        every.append(np.where(ok, z, np.nan))
        z = np.where(ok, z, 0.0)
        n += int(ok.sum())
        powers += [np.sum(z**p) for p in (1, 2, 3, 4)]
        for lag in range(1, lags + 1):
            lagged[lag - 1] += z[:-lag] @ z[lag:]
            pairs[lag - 1] += np.sum(ok[:-lag] & ok[lag:])
        top = int(np.argmax(np.abs(z)))
        if abs(z[top]) > largest:
            largest, where = float(abs(z[top])), (number, top)
    return ResidualSums(n, powers, lagged, pairs, largest, *where), np.concatenate(every)


def survey(paths: Sequence[Array], gamma: Fitted, pairs: Sequence[tuple[int, int]], floors: Array) -> Survey:
    """Mean, smallest value and sign of the predicted covariance matrix over all samples without a gap.

    Parameters
    ----------
    paths : as in `backends.protocol`
    gamma : Fitted
        One row of coefficients per entry.
    pairs : sequence of (int, int)
        Which entry each row is, counted within the r noisy rows; every diagonal entry must be among them.
    floors : (r,) array
        Lower bound of each variance, only counted here.

    Returns
    -------
    Survey
    """
    r = len(floors)
    diagonal = [list(pairs).index((i, i)) for i in range(r)]
    total, low = np.zeros(len(pairs)), np.full(len(pairs), np.inf)
    below = np.zeros(r, dtype=np.int64)
    n, indefinite, worst, where = 0, 0, 0.0, (0, 0)
    for number, x in enumerate(paths):
        rows = np.flatnonzero(present(x))
        if not len(rows):
            continue
        values = gamma.program.evaluate(x[rows]) @ gamma.coef.T
        n += len(rows)
        total += values.sum(axis=0)
        low = np.minimum(low, values.min(axis=0))
        below += (values[:, diagonal] < floors).sum(axis=0)
        matrix = np.zeros((len(rows), r, r))
        for q, (i, j) in enumerate(pairs):
            matrix[:, i, j] = matrix[:, j, i] = values[:, q]
        smallest = np.linalg.eigvalsh(matrix)[:, 0]
        scale = np.abs(values[:, diagonal]).sum(axis=1)
        bad = smallest < -INDEFINITE_TOLERANCE * scale
        indefinite += int(bad.sum())
        at = int(np.argmin(smallest))
        if smallest[at] < worst and bad[at]:
            worst, where = float(smallest[at]), (number, int(rows[at]))
    return Survey(n, total / max(n, 1), low, below, indefinite, worst, *where)
