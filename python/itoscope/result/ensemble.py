"""Ensembles from a discovery, with its mean model or with models drawn from its posterior."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from itoscope.common.progress import Reporter
from itoscope.common.types import Array, Progress
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, argument_error
from itoscope.expressions.ito import SCHEMES
from itoscope.result.forecast import Forecast, summed_up
from itoscope.sde.family import Family, families
from itoscope.sde.run import checked_seed, simulated

if TYPE_CHECKING:
    from itoscope.result.findings import Findings
    from itoscope.sde.sde import SDE

__all__ = ["best_scheme", "forecast", "simulate"]

#: Models drawn from the posterior for one ensemble; more paths than that share them in turn.
MAX_MODELS = 100
#: Substeps where only Euler-Maruyama fits: its own bias is of the order of the step.
EULER_SUBSTEPS = 10


def best_scheme(sde: SDE | Family) -> str:
    """Name of the scheme of the highest strong order that the noise of `sde` allows."""
    fits = [scheme for scheme in SCHEMES.values() if sde.noise_structure in scheme.structures]
    return max(fits, key=lambda scheme: scheme.strong_order).name


def simulate(
    result: Findings,
    x0: ArrayLike,
    *,
    duration: float | None = None,
    n_steps: int | None = None,
    dt: float | None = None,
    n_paths: int = 1,
    posterior: bool = True,
    scheme: str | None = None,
    substeps: int | None = None,
    keep_every: int = 1,
    seed: int | None = None,
    backend: str | None = None,
    progress: bool | Progress = None,
) -> Trajectories:
    """Simulate; see `Discovery.simulate`."""
    step = dt if dt is not None else result.data_summary.get("dt")
    if step is None:
        raise ArgumentError("dt: give the time step of the simulation, the data have uneven steps")
    if (duration is None) == (n_steps is None):
        raise ArgumentError("simulate needs one of duration and n_steps")
    count = n_steps if n_steps is not None else round(float(duration or 0.0) / step)
    if isinstance(n_paths, bool) or not isinstance(n_paths, (int, np.integer)) or n_paths < 1:
        raise argument_error("n_paths", n_paths, "a whole number of at least 1")
    known_seed = checked_seed(seed)
    starts = np.asarray(x0, dtype=np.float64)
    if starts.shape == (len(result.states),):
        starts = np.broadcast_to(starts, (n_paths, len(result.states)))
    if starts.shape != (n_paths, len(result.states)):
        raise argument_error(
            "x0", f"shape {starts.shape}", f"one state, or shape {(n_paths, len(result.states))}"
        )
    models = result.draw_models(min(n_paths, MAX_MODELS), known_seed) if posterior else result.mean_model()
    paths: list[Array | None] = [None] * n_paths
    diverged: list[int] = []
    forms = families(models)
    fine = [_substeps(form, scheme, substeps) for form in forms]
    # Path i has model i, and where there are more paths than models these take turns.
    owner = np.arange(n_paths) % len(models)
    shares = [np.flatnonzero(np.isin(owner, form.members)) for form in forms]
    total = count * sum(len(mine) * steps for mine, (_, steps) in zip(shares, fine))
    with Reporter(progress).stage("simulating", total, "path-steps") as report, warnings.catch_warnings():
        # One sentence about all paths that left the finite range, not one per form.
        warnings.filterwarnings("ignore", message=".* left the finite range", category=RuntimeWarning)
        before = 0
        for number, (form, mine, (name, steps)) in enumerate(zip(forms, shares, fine)):
            values = form.values[np.searchsorted(form.members, owner[mine])]
            found = simulated(
                form, starts[mine], dt=step, n_steps=count, n_paths=len(mine), scheme=name, substeps=steps,
                keep_every=keep_every, seed=(known_seed + number) % 2**63, noise=None, observe_noise=0.0,
                on_divergence="cut", backend=backend, parameters=(form.parameters, values),
                progress=False if report is None else partial(_add, report, before),
            )  # fmt: skip
            before += len(mine) * count * steps
            for at, path in zip(mine, found.paths):
                paths[at] = path
            diverged += [int(mine[i]) for i in found.diverged or ()]
    if diverged:
        warnings.warn(
            f"{len(diverged)} of {n_paths} paths left the finite range, path {min(diverged)} first; they end there "
            "(see Trajectories.diverged)",
            RuntimeWarning,
            stacklevel=3,
        )
    return Trajectories(
        [path for path in paths if path is not None],
        dt=step * keep_every,
        names=result.states,
        diverged=sorted(diverged),
        seed=known_seed,
    )


def forecast(
    result: Findings,
    x0: ArrayLike,
    *,
    n_paths: int = 200,
    levels: Sequence[float] = (0.5, 0.9),
    **settings: Any,
) -> Forecast:
    """Simulate an ensemble and sum it up; see `Discovery.forecast`."""
    for level in levels:
        if not 0 < level < 1:
            raise argument_error("levels", level, "probabilities between 0 and 1")
    return summed_up(simulate(result, x0, n_paths=n_paths, **settings), tuple(levels))


def _substeps(model: SDE | Family, scheme: str | None, substeps: int | None) -> tuple[str, int]:
    name = scheme if scheme is not None else best_scheme(model)
    return name, substeps if substeps is not None else (EULER_SUBSTEPS if name == "euler-maruyama" else 1)


def _add(report: Callable[[int], Any], before: int, done: int) -> None:
    report(before + done)
