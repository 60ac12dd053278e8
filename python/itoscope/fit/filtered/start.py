"""Where the search starts: an integrated random walk fitted to the recording by maximum likelihood."""

from __future__ import annotations

import math

import numpy as np

from itoscope.common.types import Array
from itoscope.errors import DataError
from itoscope.fit.filtered.recording import Coefficients, Filtering

__all__ = ["maximise_noise", "start"]

ENOUGH = 0.1
"""Gain of log-likelihood that is not worth a step."""

NEARLY = 1.0
"""Gain of a whole step after which the next would gain less than `ENOUGH`, scoring being nearly Newton's method."""

PROMISED = 4.0
"""How many times the gain that its quadratic form promises a step is given credit for."""

MAX_SUBSET = 20_000
"""Samples that the coarse search of the start-up looks at."""


def _differences(path: Array, order: int) -> Array:
    d = np.diff(path, n=order)
    return d[np.isfinite(d)]


def _scales(f: Filtering) -> tuple[Array, Array]:
    """Upper bounds of the noise variances `(q,)` and Gamma_ii `(m,)` from differences.

    Also sets the prior of the first state: mean and variance of the recording, differences for what is not seen.
    """
    m, q = len(f.states), len(f.observation)
    gaps = [
        np.full(max(len(y) - 1, 0), t) if np.ndim(t) == 0 else np.diff(t) for y, t in zip(f.paths, f.times)
    ]
    dt = float(np.median(np.concatenate(gaps)))
    noise, first, second = np.zeros(q), np.zeros(q), np.zeros(q)
    mean, var = np.zeros(q), np.zeros(q)
    for c in range(q):
        columns = [y[:, c] for y in f.paths]
        values = np.concatenate([y[np.isfinite(y)] for y in columns])
        mean[c], var[c] = values.mean(), values.var()
        d1, d2, d3 = (np.concatenate([_differences(y, k) for y in columns]) for k in (1, 2, 3))
        first[c], second[c] = np.mean(d1**2) if len(d1) else var[c], np.mean(d2**2) if len(d2) else 2 * var[c]
        noise[c] = (np.mean(d3**2) if len(d3) else 20 * var[c]) / 20.0
    f.mean0 = np.linalg.pinv(f.observation) @ mean
    slopes = np.zeros((m, m))
    if f.known:
        program = f.stages.compile(list(f.known.values()), f.states)
        slopes[list(f.known)] = program.gradient(f.mean0[None])[0]
    gamma, spread = np.zeros(m), np.zeros(m)
    for i in range(m):
        seen = np.flatnonzero(f.observation[:, i]).tolist()
        feeds = [
            (r, c)
            for r in range(m)
            for c in np.flatnonzero(f.observation[:, r]).tolist()
            if r != i and slopes[r, i] != 0.0
        ]
        if seen:
            c = seen[int(np.argmax(np.abs(f.observation[seen, i])))]
            factor = f.observation[c, i] ** 2
            spread[i], gamma[i] = var[c] / factor, first[c] / (dt * factor)
        elif feeds:
            r, c = feeds[0]
            factor = (slopes[r, i] * f.observation[c, r]) ** 2
            spread[i], gamma[i] = first[c] / (dt**2 * factor), second[c] / (dt**3 * factor)
        else:
            spread[i] = gamma[i] = float(np.mean(var))
    spread = np.where(spread > 0.0, spread, 1.0)
    f.cov0 = np.diag(4.0 * spread)
    tiny = np.finfo(float).tiny
    return np.maximum(noise, tiny), np.maximum(gamma, tiny)


def start(f: Filtering, noise: Array) -> Coefficients:
    """The integrated random walk: no unknown drift, constant Gamma, by maximum likelihood.

    Parameters
    ----------
    f : Filtering
        Its prior of the first state and its floor of Gamma are set here.
    noise : (q,) array
        Noise variances; where they are free they are found here.
    """
    upper_noise, upper_gamma = _scales(f)
    m, k = len(f.states), f.n_terms
    sizes = np.array([len(y) for y in f.paths])
    few = np.flatnonzero(np.cumsum(sizes) <= MAX_SUBSET)
    coarse = f.subset(few.tolist() if len(few) else [0])
    best, model = -math.inf, None
    for cut in (0, 2, 4) if f.free_noise.any() else (0,):
        for power in np.arange(0.0, 10.0):
            trial = _constant(
                f, upper_gamma * 10.0**-power, np.where(f.free_noise, upper_noise * 10.0**-cut, noise), m, k
            )
            value = coarse.loglik(trial)
            if value > best:
                best, model = value, trial
    if model is None:
        raise DataError(
            "no random walk has a finite likelihood on this recording: its values are too large or constant"
        )
    model, _ = maximise_noise(coarse, model, sweeps=30)
    model, _ = maximise_noise(f, model, sweeps=5)
    _settle(f, model)
    return model


def _constant(f: Filtering, gamma: Array, noise: Array, m: int, k: int) -> Coefficients:
    coefficients = np.zeros((len(f.pairs), k))
    for p, (i, j) in enumerate(f.pairs):
        if i == j:
            coefficients[p, f.constant] = gamma[i]
    return Coefficients(np.zeros((m, k)), coefficients, noise)


def _settle(f: Filtering, model: Coefficients) -> None:
    """Sets the prior of the first state from the smoothed states, and the floor of Gamma."""
    means, covs = f.smooth(model)
    states = np.concatenate(means)
    spread = states.var(axis=0) + np.concatenate([np.einsum("nii->ni", c) for c in covs]).mean(axis=0)
    f.mean0, f.cov0 = states.mean(axis=0), np.diag(4.0 * spread)


def maximise_noise(
    f: Filtering,
    model: Coefficients,
    sweeps: int = 8,
    loglik: float | None = None,
    *,
    halvings: int = 8,
    needed: float = -math.inf,
) -> tuple[Coefficients, float]:
    """Climbs the likelihood over the Gamma coefficients in the model and the free noise variances by scoring.

    Variances that must stay positive move by a factor, at most tenfold a step; every step that does not raise the
    likelihood is halved, fewer than `halvings` times. Ends when a step promises less than `ENOUGH`, or so little that
    `PROMISED` times it does not reach the log-likelihood `needed`. `loglik` is that of `model`, if it is known.
    """
    columns = model.gamma_columns()
    index = tuple(np.array(columns, dtype=int).reshape(-1, 2).T)
    alone = np.array(
        [f.pairs[p][0] == f.pairs[p][1] and np.count_nonzero(model.gamma[p]) == 1 for p, _ in columns],
        dtype=bool,
    )
    n = len(columns)
    positive = np.concatenate([alone, np.ones(int(f.free_noise.sum()), dtype=bool)])
    loglik = f.loglik(model) if loglik is None else loglik
    for _ in range(sweeps):
        now = np.concatenate([model.gamma[index], model.noise[f.free_noise]])
        sums = f.noise_moments(model, columns)
        aim, _ = sums.solve()
        step, accepted = aim - now, False
        promise = 0.5 * float(step @ sums.gram @ step)
        if promise < ENOUGH or loglik + PROMISED * promise < needed:
            break
        for halving in range(halvings):
            part = step * 0.5**halving
            with np.errstate(all="ignore"):
                factor = np.exp(np.clip(part / np.where(positive, now, 1.0), -2.3, 2.3))
            moved = np.where(positive, now * factor, now + part)
            gamma = model.gamma.copy()
            gamma[index] = moved[:n]
            trial = f.with_noise(Coefficients(model.drift, gamma, model.noise), moved[n:])
            value = f.loglik(trial)
            if value > loglik:
                accepted = True
                break
        if not accepted:
            break
        model, before, loglik = trial, loglik, value
        if loglik - before < (NEARLY if halving == 0 else ENOUGH):
            break
    return model, loglik
