"""A simulation run: checked arguments, one call of the backend, paths as `Trajectories`."""

from __future__ import annotations

import math
import secrets
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itoscope.backends import get_backend
from itoscope.backends.records import Dynamics, Stepping
from itoscope.common.progress import Reporter
from itoscope.common.types import Array, Progress
from itoscope.data.samples import Finite
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, DivergenceError, argument_error
from itoscope.expressions.ito import check_scheme

if TYPE_CHECKING:
    from itoscope.sde.family import Family
    from itoscope.sde.sde import SDE

__all__ = ["checked_seed", "simulated"]

MIN_SAMPLES = 3


def simulated(
    sde: SDE | Family,
    x0: ArrayLike,
    *,
    dt: float,
    n_steps: int,
    n_paths: int | None,
    scheme: str,
    substeps: int,
    keep_every: int,
    seed: int | None,
    noise: ArrayLike | None,
    observe_noise: float,
    on_divergence: str,
    backend: str | None,
    progress: bool | Progress,
    position_names: list[str] | None = None,
    parameters: tuple[list[str], Array] | None = None,
) -> Trajectories:
    """Run what `SDE.simulate` describes; `parameters` are names in the expressions and their values of each path."""
    check_scheme(scheme, sde.noise_structure)
    if isinstance(dt, bool) or not isinstance(dt, Real) or not 0 < dt < math.inf:
        raise argument_error("dt", dt, "a positive, finite number")
    n_steps = _count("n_steps", n_steps)
    substeps = _count("substeps", substeps)
    keep_every = _count("keep_every", keep_every)
    if n_steps // keep_every + 1 < MIN_SAMPLES:
        raise argument_error("n_steps", n_steps, f"at least {2 * keep_every}, so that three samples are kept")
    if on_divergence not in ("cut", "raise"):
        raise argument_error("on_divergence", on_divergence, "'cut' or 'raise'")
    if (
        isinstance(observe_noise, bool)
        or not isinstance(observe_noise, Real)
        or not 0 <= observe_noise < math.inf
    ):
        raise argument_error("observe_noise", observe_noise, "a finite number, 0 or more")
    reporter = Reporter(progress)
    seed = checked_seed(seed)
    increments = None if noise is None else _checked_noise(noise, n_steps * substeps, sde.n_noise, scheme)
    starts = _checked_starts(x0, sde.states, n_paths, None if increments is None else len(increments))
    with reporter.stage("simulating", len(starts) * n_steps * substeps, "path-steps") as count:
        samples, lengths = get_backend(backend).simulate(
            Dynamics(
                sde.states,
                sde.drift_expressions,
                sde.diffusion_expressions,
                sde.gamma_expressions if sde.diffusion_expressions is None else None,
                () if parameters is None else parameters[0],
            ),
            starts,
            Stepping(float(dt), n_steps, scheme, substeps, keep_every),
            seed=seed,
            noise=increments,
            values=None if parameters is None else parameters[1],
            progress=count,
        )
    settings: dict[str, Any] = {
        "dt": float(dt) * keep_every,
        "names": sde.states,
        "position_names": position_names,
        "seed": seed,
    }
    diverged = np.flatnonzero(lengths < samples.shape[1])
    if not len(diverged):
        # The backend cuts a path where it is no longer finite, so all of this is.
        data = Trajectories(samples.view(Finite), **settings)
    else:
        _report(diverged, lengths, settings["dt"], len(samples), on_divergence)
        cut = [path[:length] for path, length in zip(samples, lengths)]
        data = Trajectories(cut, diverged=diverged.tolist(), **settings)
    return data.add_noise(observe_noise, seed=seed) if observe_noise else data


def checked_seed(seed: int | None) -> int:
    """The seed, or one drawn from the system if it is None."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**64:
        raise argument_error("seed", seed, "None or an integer from 0 to 2^64 - 1")
    return int(seed)


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise argument_error(name, value, "an integer, 1 or more")
    return int(value)


def _checked_noise(noise: ArrayLike, n_fine: int, n_noise: int, scheme: str) -> Array:
    increments = np.ascontiguousarray(noise, dtype=np.float64)
    widths = (n_noise, 2 * n_noise) if scheme == "taylor15" else (n_noise,)
    if increments.ndim != 3 or increments.shape[1] != n_fine or increments.shape[2] not in widths:
        wanted = f"(n_paths, n_steps * substeps = {n_fine}, {' or '.join(map(str, widths))})"
        raise ArgumentError(f"noise of shape {increments.shape}: {wanted}")
    if not np.isfinite(increments).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(increments))[0])
        raise ArgumentError(f"noise{list(index)} = {increments[index]}: finite increments")
    return increments


def _checked_starts(
    x0: ArrayLike, states: list[str], n_paths: int | None, n_noise_paths: int | None
) -> Array:
    """One start per path, `(n_paths, m)`."""
    starts = np.asarray(x0, dtype=np.float64)
    m = len(states)
    if starts.ndim == 0 and m == 1:
        starts = starts[None]
    if starts.ndim not in (1, 2) or starts.shape[-1] != m:
        raise ArgumentError(
            f"x0 of shape {starts.shape}: ({m},) or (n_paths, {m}), states {', '.join(states)}"
        )
    if not np.isfinite(starts).all():
        raise argument_error("x0", x0, "finite numbers")
    counts = {"n_paths": None if n_paths is None else _count("n_paths", n_paths)}
    counts["x0"] = len(starts) if starts.ndim == 2 else None
    counts["noise"] = n_noise_paths
    given = {name: count for name, count in counts.items() if count is not None}
    if len(set(given.values())) > 1:
        raise ArgumentError(
            f"number of paths: the same in {', '.join(f'{k} ({v})' for k, v in given.items())}"
        )
    total = next(iter(given.values()), 1)
    return np.ascontiguousarray(np.broadcast_to(starts, (total, m)))


def _report(
    diverged: NDArray[np.int64], lengths: NDArray[np.int64], dt: float, n_paths: int, on_divergence: str
) -> None:
    first = int(diverged[np.argmin(lengths[diverged])])
    message = (
        f"{len(diverged)} of {n_paths} paths left the finite range, path {first} first, "
        f"after t = {(lengths[first] - 1) * dt:.6g}"
    )
    if on_divergence == "raise":
        raise DivergenceError(f"{message}; a smaller dt or more substeps may help")
    if lengths[first] < MIN_SAMPLES:
        raise DivergenceError(
            f"{message}, with fewer than {MIN_SAMPLES} samples; a smaller dt or more substeps may help"
        )
    warnings.warn(f"{message}; they end there (see Trajectories.diverged)", RuntimeWarning, stacklevel=4)
