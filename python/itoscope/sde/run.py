"""A simulation run: checked arguments, one call of the backend, paths as `Trajectories`."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Dynamics, Stepping
from itoscope.common import checks
from itoscope.common.progress import Reporter
from itoscope.data.samples import MIN_SAMPLES, Finite
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, DivergenceError, argument_error
from itoscope.expressions.ito import check_scheme
from itoscope.sde.driven import along
from itoscope.stats.covariance import negative_part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from itoscope.common.types import Array, DiscreteScheme, OnDivergence, Progress
    from itoscope.sde.form import Form

__all__ = ["Run", "simulated"]

#: Steps of a path, substeps too: some hours of work, and less than a float can count.
MOST_STEPS = 2**40
#: About how many states of a simulation are looked at for a covariance that is none.
SEEN = 10_000


@dataclass(frozen=True)
class Run:
    """What a simulation was asked beside its model and its starts, not checked yet; see `SDE.simulate`."""

    dt: float
    n_steps: int
    n_paths: int | None = None
    scheme: DiscreteScheme = "milstein"
    substeps: int = 1
    keep_every: int = 1
    seed: int | None = None
    noise: ArrayLike | None = None
    observe_noise: float = 0.0
    inputs: Mapping[str, Any] | None = None
    start: float = 0.0
    on_divergence: OnDivergence = "cut"
    backend: str | None = None
    progress: bool | Progress = None

    def stepping(self) -> Stepping:
        """How time goes, checked."""
        dt = checks.positive("dt", self.dt)
        n_steps = checks.count("n_steps", self.n_steps, most=MOST_STEPS)
        substeps = checks.count("substeps", self.substeps, most=MOST_STEPS // n_steps)
        keep_every = checks.count("keep_every", self.keep_every)
        if not math.isfinite(dt * (n_steps + 1)):
            raise argument_error("dt", dt, f"a step of which {n_steps} are a finite time")
        if n_steps // keep_every + 1 < MIN_SAMPLES:
            allowed = f"at least {2 * keep_every}, so that three samples are kept"
            raise argument_error("n_steps", n_steps, allowed)
        return Stepping(dt, n_steps, self.scheme, substeps, keep_every)


def simulated(
    sde: Form,
    x0: ArrayLike,
    run: Run,
    *,
    position_names: list[str] | None = None,
    parameters: tuple[Sequence[str], Array] | None = None,
) -> Trajectories:
    """Simulate a model; see `SDE.simulate`.

    Parameters
    ----------
    sde : Form
    x0 : (m,) or (n_paths, m) array of float
    run : Run
    position_names : list of str, optional
        Which states are positions.
    parameters : names and (n_paths, n_parameters) array, optional
        Names in the expressions, and what they stand for in each path.
    """
    check_scheme(run.scheme, sde.noise_structure)
    steps = run.stepping()
    checks.choice("on_divergence", run.on_divergence, ("cut", "raise"))
    observe_noise = checks.not_negative("observe_noise", run.observe_noise)
    reporter = Reporter(run.progress)
    seed = checks.seed(run.seed)
    n_fine = steps.n_steps * steps.substeps
    increments = None if run.noise is None else _checked_noise(run.noise, n_fine, sde.n_noise, run.scheme)
    starts = _checked_starts(x0, sde.states, run.n_paths, None if increments is None else len(increments))
    names, values = ((), None) if parameters is None else parameters
    gamma = sde.gamma_expressions if sde.diffusion_expressions is None else None
    start = checks.finite("start", run.start)
    driving = along(sde.inputs, run.inputs, start, steps.dt, (steps.n_steps, steps.substeps))
    dynamics = Dynamics(
        sde.states, sde.drift_expressions, sde.diffusion_expressions, gamma, names, list(sde.inputs)
    )
    with reporter.stage("simulating", len(starts) * n_fine, "path-steps") as count:
        samples, lengths = get_backend(run.backend).simulate(
            dynamics,
            starts,
            steps,
            seed=seed,
            noise=increments,
            values=values,
            inputs=driving,
            progress=count,
        )
    settings: dict[str, Any] = {
        "dt": steps.dt * steps.keep_every,
        "names": sde.states,
        "position_names": position_names,
        "seed": seed,
    }
    diverged = np.flatnonzero(lengths < samples.shape[1])
    if not len(diverged):
        # The backend cuts a path where it is no longer finite, so all of this is.
        data = Trajectories(samples.view(Finite), **settings)
    else:
        _report(diverged, lengths, settings["dt"], len(samples), run.on_divergence)
        cut = [path[:length] for path, length in zip(samples, lengths)]
        data = Trajectories(cut, diverged=diverged.tolist(), **settings)
    if gamma is not None and parameters is None and not sde.inputs:
        _warn_of_repair(cast("_Covariant", sde), data)
    return data.add_noise(observe_noise, seed=seed) if observe_noise else data


def _checked_noise(noise: ArrayLike, n_fine: int, n_noise: int, scheme: str) -> Array:
    increments = np.ascontiguousarray(checks.reals("noise", noise))
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
    starts = checks.reals("x0", x0)
    m = len(states)
    if starts.ndim == 0 and m == 1:
        starts = starts[None]
    if starts.ndim not in (1, 2) or starts.shape[-1] != m:
        raise ArgumentError(
            f"x0 of shape {starts.shape}: ({m},) or (n_paths, {m}), states {', '.join(states)}"
        )
    if not np.isfinite(starts).all():
        raise argument_error("x0", x0, "finite numbers")
    counts = {"n_paths": None if n_paths is None else checks.count("n_paths", n_paths)}
    counts["x0"] = len(starts) if starts.ndim == 2 else None
    counts["noise"] = n_noise_paths
    given = {name: count for name, count in counts.items() if count is not None}
    if len(set(given.values())) > 1:
        raise ArgumentError(
            f"number of paths: the same in {', '.join(f'{k} ({v})' for k, v in given.items())}"
        )
    for name, count in given.items():
        if count == 0:
            raise ArgumentError(f"{name}: at least one path, and none is given")
    total = next(iter(given.values()), 1)
    return np.ascontiguousarray(np.broadcast_to(starts, (total, m)))


class _Covariant(Protocol):
    """An SDE of one set of numbers."""

    def gamma(self, x: Array) -> Array: ...


def _warn_of_repair(sde: _Covariant, data: Trajectories) -> None:
    """Say where along the paths Gamma is no covariance, so that its factor is that of another matrix."""
    states = np.concatenate([path[:: max(1, data.n_steps // SEEN)] for path in data.paths])
    worst = negative_part(sde.gamma(states))
    if bad := int(np.count_nonzero(worst)):
        warnings.warn(
            f"gamma has a negative eigenvalue at {bad} of {len(worst)} states of the paths, "
            f"the worst {worst.min():.6g}: it is no covariance there, and the nearest one, whose negative eigenvalues "
            "are zero, takes its place",
            RuntimeWarning,
            stacklevel=4,
        )


def _report(
    diverged: NDArray[np.int64],
    lengths: NDArray[np.int64],
    dt: float,
    n_paths: int,
    on_divergence: OnDivergence,
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
