"""Ensembles from a discovery, with its mean model or with models drawn from its posterior; bands; a self-check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from itoscope.backends.protocol import Array
from itoscope.backends.reference.schemes import SCHEMES
from itoscope.errors import ArgumentError, argument_error
from itoscope.simulation import checked_seed
from itoscope.trajectories import Trajectories

if TYPE_CHECKING:
    from itoscope.discovery import Discovery
    from itoscope.model import SDE

__all__ = ["Forecast", "forecast", "self_check", "simulate"]

#: Models drawn from the posterior for one ensemble; more paths than that share them in turn.
MAX_MODELS = 100
#: Substeps where only Euler-Maruyama fits: its own bias is of the order of the step.
EULER_SUBSTEPS = 10


@dataclass(frozen=True)
class Forecast:
    """Bands of an ensemble at each time.

    Attributes
    ----------
    times : (n_times,) array
    names : tuple of str
    mean, sd : (n_times, n_states) arrays
    bands : dict of float to (n_times, n_states, 2) array
        Central intervals by probability.
    paths : Trajectories
        The ensemble itself.
    """

    times: Array
    names: tuple[str, ...]
    mean: Array
    sd: Array
    bands: dict[float, Array]
    paths: Trajectories


def best_scheme(sde: SDE) -> str:
    """Name of the scheme of the highest strong order that the noise of `sde` allows."""
    fits = [scheme for scheme in SCHEMES.values() if sde.noise_structure in scheme.structures]
    return max(fits, key=lambda scheme: scheme.strong_order).name


def simulate(
    result: Discovery,
    x0: ArrayLike,
    *,
    duration: float | None,
    n_steps: int | None,
    dt: float | None,
    n_paths: int,
    posterior: bool,
    scheme: str | None,
    substeps: int | None,
    keep_every: int,
    seed: int | None,
    backend: str | None,
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
    models = result.sample_models(min(n_paths, MAX_MODELS), known_seed) if posterior else [result.model()]
    paths: list[Array | None] = [None] * n_paths
    diverged: list[int] = []
    for number, model in enumerate(models):
        mine = np.arange(number, n_paths, len(models))
        name = scheme if scheme is not None else best_scheme(model)
        steps = substeps if substeps is not None else (EULER_SUBSTEPS if name == "euler-maruyama" else 1)
        found = model.simulate(
            starts[mine], dt=step, n_steps=count, n_paths=len(mine), scheme=name, substeps=steps,
            keep_every=keep_every, seed=(known_seed + number) % 2**63, backend=backend,
        )  # fmt: skip
        for at, path in zip(mine, found.paths):
            paths[at] = path
        diverged += [int(mine[i]) for i in found.diverged or ()]
    return Trajectories(
        [path for path in paths if path is not None],
        dt=step * keep_every,
        names=result.states,
        diverged=sorted(diverged),
        seed=known_seed,
    )


def forecast(paths: Trajectories, levels: tuple[float, ...]) -> Forecast:
    """Summarise an ensemble; see `Discovery.forecast`."""
    length = min(len(path) for path in paths.paths)
    samples = np.stack([path[:length] for path in paths.paths])
    bands = {
        level: np.moveaxis(np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0), 0, -1)
        for level in levels
    }
    return Forecast(
        times=np.asarray(paths.times[0][:length]),
        names=tuple(paths.names),
        mean=samples.mean(axis=0),
        sd=samples.std(axis=0),
        bands=bands,
        paths=paths,
    )


def self_check(result: Discovery, seed: int | None) -> dict[str, Any]:
    """Simulate the fitted model, discover from the simulation, compare; see `Discovery.self_check`."""
    from itoscope.discover import discover

    data = result.data
    if data is None:
        raise ArgumentError("self_check: this result was loaded from a file and has no data to compare with")
    if result.settings.get("order", 1) != 1 or result.measurement_noise:
        raise ArgumentError("self_check: only for fully measured states")
    known_seed = checked_seed(seed)
    starts = np.stack([path[np.flatnonzero(~np.isnan(path).any(axis=1))[0]] for path in data.paths])
    step = data.dt or float(np.mean([np.diff(t).mean() for t in data.times]))
    count = int(max(len(path) for path in data.paths)) - 1
    again = simulate(
        result, starts, duration=None, n_steps=count, dt=step, n_paths=len(starts), posterior=False, scheme=None,
        substeps=10, keep_every=1, seed=known_seed, backend=None,
    )  # fmt: skip
    settings = {
        k: v
        for k, v in result.settings.items()
        if k not in ("prior", "library", "diffusion_library", "backend")
    }
    settings.pop("seed", None)
    refit = discover(
        again, result.library, diffusion_library=result.diffusion_library, seed=known_seed, **settings
    )
    rows: list[dict[str, Any]] = []
    worst = 0.0
    for label, equation in result.labelled():
        other = dict(refit.labelled())[label]
        for k, term in enumerate(equation.terms):
            if equation.selected[k] or other.selected[k]:
                sd = float(np.hypot(equation.sd[k], other.sd[k]))
                change = float(other.mean[k] - equation.mean[k]) / sd if sd > 0 else float("inf")
                worst = max(worst, abs(change))
                rows.append(
                    {
                        "equation": label,
                        "term": term,
                        "fitted": float(equation.mean[k]),
                        "from simulation": float(other.mean[k]),
                        "difference in sd": change,
                        "both selected": bool(equation.selected[k] and other.selected[k]),
                    }
                )
    before, after = data.sd(), again.sd()
    spread = {name: (float(before[i]), float(after[i])) for i, name in enumerate(result.states)}
    consistent = all(row["both selected"] for row in rows) and worst < 4
    return {"terms": rows, "spread": spread, "largest": worst, "consistent": consistent, "seed": known_seed}
