"""Simulation of an SDE: all paths advance together, one step of a scheme after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.reference.expansion import expansion
from itoscope.common.types import Array, Integers, Progress
from itoscope.errors import argument_error
from itoscope.expressions.ito import Operators, check_scheme
from itoscope.stats.covariance import root_of_covariance

if TYPE_CHECKING:
    from itoscope.backends.records import Dynamics, Stepping

__all__ = ["simulate"]

Step = Callable[[Array, float, Array, Array, Sequence[float]], Array]

# Fine steps whose normals are drawn at once; bounds the memory of long runs.
CHUNK = 1024


def _step_of_expansion(coefficients: Operators, scheme: str, parameters: list[Array]) -> Step:
    terms = expansion(scheme, coefficients)
    roots = [term.coefficient for term in terms]

    def step(x: Array, h: float, dw: Array, dz: Array, driven: Sequence[float]) -> Array:
        after: Array = x.copy()
        for term, value in zip(
            terms, coefficients.graph.evaluate(roots, [*x, *parameters, *map(np.asarray, driven)])
        ):
            after[term.row] += value * term.integral(h, dw, dz)
        return after

    return step


def _step_of_covariance(drift: Operators, gamma: Operators, parameters: list[Array]) -> Step:
    """Euler-Maruyama with the noise given by its covariance: `x + a h + b dW` with `b b^T = Gamma`."""
    m = drift.n_states
    roots = [node for row in gamma.diffusion for node in row]

    def step(x: Array, h: float, dw: Array, dz: Array, driven: Sequence[float]) -> Array:
        inputs = [*x, *parameters, *map(np.asarray, driven)]
        a = np.stack(np.broadcast_arrays(*drift.graph.evaluate(drift.drift, inputs), x[0])[:-1])
        entries = np.broadcast_arrays(*gamma.graph.evaluate(roots, inputs), x[0])[:-1]
        factor = root_of_covariance(np.stack(entries, axis=-1).reshape(-1, m, m))
        kicks = np.einsum("pkj,jp->kp", factor, dw)
        after: Array = x + a * h + kicks
        return after

    return step


def simulate(
    dynamics: Dynamics,
    x0: Array,
    stepping: Stepping,
    *,
    seed: int,
    noise: Array | None = None,
    values: Array | None = None,
    inputs: Array | None = None,
    progress: Progress = None,
) -> tuple[Array, Integers]:
    """Paths of an SDE from `x0`; see `Backend.simulate`."""
    states, names, gamma = dynamics.states, [*dynamics.parameters, *dynamics.inputs], dynamics.gamma
    n_steps, substeps, keep_every = stepping.n_steps, stepping.substeps, stepping.keep_every
    parameters = [] if values is None else list(values.T)
    empty: list[list[str]] = [[] for _ in dynamics.drift]
    diffusion = empty if dynamics.diffusion is None else dynamics.diffusion
    coefficients = Operators(dynamics.drift, diffusion, states, names)
    if gamma is None:
        check_scheme(stepping.scheme, coefficients.structure())
        step = _step_of_expansion(coefficients, stepping.scheme, parameters)
        n_noise = coefficients.n_noise
    else:
        check_scheme(stepping.scheme, "general")
        step = _step_of_covariance(coefficients, Operators([], gamma, states, names), parameters)
        n_noise = len(gamma)
    n_paths, m = x0.shape
    h = stepping.dt / substeps
    kept = n_steps // keep_every + 1
    driven = np.zeros((n_steps * substeps, 0)) if inputs is None else inputs
    wanted = (n_steps * substeps, len(dynamics.inputs))
    if driven.shape != wanted or not np.isfinite(driven).all():
        raise argument_error("inputs", f"array of shape {driven.shape}", f"finite, shape {wanted}")
    samples = np.full((n_paths, kept, m), np.nan)
    samples[:, 0] = x0
    x = np.ascontiguousarray(x0.T)
    increments = _Increments(stepping.scheme, n_paths, n_noise, h, n_steps * substeps, seed, noise)
    with np.errstate(all="ignore"):
        for n in range(1, n_steps + 1):
            for fine in range((n - 1) * substeps, n * substeps):
                dw, dz = increments.take()
                x = step(x, h, dw, dz, driven[fine])
            if n % keep_every == 0:
                samples[:, n // keep_every] = x.T
            if progress is not None and n % CHUNK == 0:
                progress(n * n_paths)
    if progress is not None:
        progress(n_steps * n_paths)
    # A state that is not finite never becomes finite again, since a step adds to it.
    finite = np.isfinite(samples).all(axis=2)
    lengths = np.where(finite.all(axis=1), kept, np.argmin(finite, axis=1)).astype(np.int64)
    samples[~finite] = np.nan
    return samples, lengths


class _Increments:
    """dW and dZ of one fine step after the other, from the caller's noise or from one stream per path."""

    def __init__(
        self, scheme: str, n_paths: int, n_noise: int, h: float, n_fine: int, seed: int, noise: Array | None
    ) -> None:
        self.n_noise = n_noise
        self.h = h
        self.n_fine = n_fine
        self.noise = noise
        self.with_dz = scheme == "taylor15"
        self.given = 0 if noise is None else noise.shape[2]
        if noise is not None and self.given not in ((n_noise, 2 * n_noise) if self.with_dz else (n_noise,)):
            raise argument_error("noise", noise.shape, f"(n_paths, n_steps * substeps, {n_noise})")
        self.streams = [
            np.random.Generator(np.random.Philox(key=np.array([seed, path], np.uint64)))
            for path in range(n_paths)
        ]
        self.at = 0

    def take(self) -> tuple[Array, Array]:
        n, h, at = self.n_noise, self.h, self.at
        self.at += 1
        # Normals still needed for a fine step: those of dW unless given, then those of dZ unless given.
        n_normals = n * (1 + self.with_dz) - self.given
        if n_normals and at % CHUNK == 0:
            shape = (min(CHUNK, self.n_fine - at), n_normals)
            self.normals = np.stack([stream.standard_normal(shape) for stream in self.streams])
        normals = self.normals[:, at % CHUNK].T if n_normals else np.empty((0, 0))
        if self.noise is None:
            dw, normals = np.sqrt(h) * normals[:n], normals[n:]
        else:
            dw = self.noise[:, at, :n].T
        if self.noise is not None and self.given == 2 * n:
            return dw, self.noise[:, at, n:].T
        # Given dW, dZ is normal with mean h dW / 2 and variance h^3 / 12.
        return dw, h / 2 * (dw + np.sqrt(h / 3) * normals) if self.with_dz else dw
