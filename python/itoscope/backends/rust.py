"""The compiled backend: each stage is one call into `itoscope._core`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from itoscope import _core
from itoscope.backends.protocol import (
    Array,
    Fitted,
    Program,
    Progress,
    ResidualSums,
    Sums,
    Survey,
    Target,
    Variance,
    Weights,
)

__all__ = ["compile", "project", "regression_sums", "residual_sums", "simulate", "survey"]


def compile(expressions: Sequence[str], inputs: Sequence[str]) -> Program:
    """Compile expressions over the named inputs; see `itoscope.backends.protocol.Backend.compile`."""
    return _core.Program(list(expressions), list(inputs))


def _pair(fitted: Fitted) -> tuple[_core.Program, Array]:
    return cast("_core.Program", fitted.program), np.ascontiguousarray(fitted.coef, dtype=np.float64)


def regression_sums(
    paths: Sequence[Array],
    times: Sequence[float | Array],
    program: Program,
    target: Target,
    *,
    scheme: str = "trapezoid",
    weights: Weights = None,
    ensemble: str = "pool",
    progress: Progress = None,
) -> Sums:
    """Additive sums of one regression; see `itoscope.backends.reference.gram.regression_sums`."""
    given: object = weights
    if isinstance(weights, Variance):
        given = (weights.program, np.ascontiguousarray(weights.coef), list(map(float, weights.floors)))
    elif weights is not None:
        given = list(weights)
    found = _core.regression_sums(
        list(paths),
        list(times),
        cast("_core.Program", program),
        target.pair,
        target.is_diffusion,
        None if target.drift is None else _pair(target.drift),
        scheme,
        given,
        ensemble,
        progress,
    )
    return Sums(*found)


def project(sums: Sums) -> tuple[Array, Array, float]:
    """Moments of the sums; see `itoscope.backends.reference.moments.project`."""
    return _core.project(sums.omega, sums.cross, sums.inner, sums.c, sums.d, sums.s)


def residual_sums(
    paths: Sequence[Array],
    times: Sequence[float | Array],
    row: int,
    drift: Fitted,
    variance: Variance,
    *,
    lags: int = 10,
) -> ResidualSums:
    """Standardised residuals of a row; see `itoscope.backends.reference.residuals.residual_sums`."""
    gamma = _pair(Fitted(variance.program, variance.coef))
    found = _core.residual_sums(
        list(paths), list(times), row, _pair(drift), gamma, float(variance.floors[0]), lags
    )
    n, powers, lagged, pairs, largest, path, step = found
    return ResidualSums(n, np.array(powers), np.array(lagged), np.array(pairs), largest, path, step)


def survey(paths: Sequence[Array], gamma: Fitted, pairs: Sequence[tuple[int, int]], floors: Array) -> Survey:
    """The predicted covariance on the data; see `itoscope.backends.reference.residuals.survey`."""
    n, mean, low, below, indefinite, worst, path, sample = _core.survey(
        list(paths), _pair(gamma), list(pairs), list(map(float, floors))
    )
    counts = np.array(below, dtype=np.int64)
    return Survey(n, np.array(mean), np.array(low), counts, indefinite, worst, path, sample)


def simulate(
    drift: Sequence[str],
    diffusion: Sequence[Sequence[str]] | None,
    gamma: Sequence[Sequence[str]] | None,
    states: Sequence[str],
    x0: Array,
    *,
    dt: float,
    n_steps: int,
    scheme: str,
    substeps: int,
    keep_every: int,
    seed: int,
    noise: Array | None,
    progress: Progress,
) -> tuple[Array, NDArray[np.int64]]:
    """Paths of an SDE from `x0`; see `itoscope.backends.protocol.Backend.simulate`."""
    return _core.simulate(
        list(drift),
        None if diffusion is None else [list(row) for row in diffusion],
        None if gamma is None else [list(row) for row in gamma],
        list(states),
        x0,
        dt=dt,
        n_steps=n_steps,
        scheme=scheme,
        substeps=substeps,
        keep_every=keep_every,
        seed=seed,
        noise=noise,
        progress=progress,
    )
