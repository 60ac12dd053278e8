"""Recordings as a fitted model would make them: the starts, times, channels, gaps and noise of one that is there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import DivergenceError
from itoscope.result.ensemble import EULER_SUBSTEPS, Asked, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["Likeness", "likenesses"]

UNEVEN = 4
"""Simulated steps in the mean step of uneven times, which the nearest of them stands for."""

FINE = 8
"""Simulated steps in a step over which a sensor averages: what the sum over them misses is a 64th of what the average
over a single one would."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """A simulated recording: its paths `(n_i, channels)`, and how many of them left the finite range and end early."""

    paths: list[Array]
    lost: int


def likenesses(
    result: Findings, data: Trajectories, replicas: int, seed: int, *, posterior: bool
) -> list[Likeness]:
    """So many recordings like `data`.

    Parameters
    ----------
    result : Findings
    data : Trajectories
        With the columns of the recording that was fitted.
    replicas : int
    seed : int
    posterior : bool
        True: each recording has a model of its own, drawn from the posterior; False: all have the mean model.
    """
    starts, zeros = _starts(result, data)
    step, at = _grid(data, FINE if result.observer is not None and result.observer.gathered else 1)
    asked = Asked(
        n_steps=max(2, max(int(places[-1]) for places in at)),
        dt=step,
        n_paths=len(starts) * replicas,
        posterior=posterior,
        models=replicas,
        substeps=EULER_SUBSTEPS if data.dt is not None else -(-EULER_SUBSTEPS // UNEVEN),
        seed=seed,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* left the finite range", category=RuntimeWarning)
        try:
            whole = _simulated(result, data, starts, asked)
        except DivergenceError:  # at once
            whole = [np.zeros((0, len(result.states)))] * (len(starts) * replicas)
    rng = np.random.default_rng([seed, 1])
    made = []
    for replica in range(replicas):
        full = [whole[number * replicas + replica] for number in range(len(starts))]
        paths = [
            _seen(result, path, places, data, i, zeros[i], step, rng)
            for i, (path, places) in enumerate(zip(full, at))
        ]
        made.append(Likeness(paths, sum(len(a) < len(b) for a, b in zip(paths, data.paths))))
    return made


def _simulated(result: Findings, data: Trajectories, starts: Array, asked: Asked) -> list[Array]:
    """As many paths from each start as there are recordings; each under what drove the path that starts there."""
    replicas = asked.n_paths // len(starts)
    if not result.inputs:
        return simulate(result, np.repeat(starts, replicas, axis=0), asked).paths
    found: list[Array] = []
    driving = result.driven(data).driving
    for i, (start, times) in enumerate(zip(starts, data.times)):
        begin = float(times[0] if driving is None else driving.starts[i])
        one = replace(
            asked,
            n_paths=replicas,
            n_steps=min(asked.n_steps or 0, int(np.floor(np.ptp(times) / (asked.dt or 1.0) + 1e-6))),
            seed=(asked.seed or 0) + i,
            inputs=None if driving is None or not driving.names else driving.of_path(i),
            start=float(times[0]) - begin,
        )
        found += simulate(result, start, one).paths
    return found


def _starts(result: Findings, data: Trajectories) -> tuple[Array, list[Array]]:
    """First known state of each path, smoothed where the recording is noisy, and the zeros of sensors `(n_i, q)`."""
    zeros = [np.zeros((len(path), data.n_states)) for path in data.paths]
    if result.observer is None:
        firsts = [path[np.flatnonzero(~np.isnan(path).any(axis=1))[0]] for path in data.paths]
        return np.stack(firsts), zeros
    smoothed = result.smoothed(data)
    for name, offsets in smoothed.offsets.items():
        for zero, offset in zip(zeros, offsets):
            zero[:, data.names.index(name)] = offset
    return np.stack([mean[0] for mean in smoothed.mean]), zeros


def _grid(data: Trajectories, fine: int) -> tuple[float, Sequence[Integers]]:
    """A step of simulation, and the numbers of the steps that stand for the samples of each path."""
    if data.dt is not None:
        return data.dt / fine, [fine * np.arange(len(path)) for path in data.paths]
    step = float(np.mean(np.concatenate([np.diff(times) for times in data.times]))) / (UNEVEN * fine)
    return step, [np.round((times - times[0]) / step).astype(np.int64) for times in data.times]


def _seen(
    result: Findings, path: Array, places: Integers, data: Trajectories, number: int, zeros: Array,
    step: float, rng: np.random.Generator,
) -> Array:  # fmt: skip
    """A simulated path as it would be recorded, by sensors of these offsets."""
    places, recorded = places[places < len(path)], data.paths[number]
    if result.observer is not None:
        path = result.observer.sight.recorded(path, places, result.observer.shown, step)
        variance = result.observer.variances * result.observer.sight.factors(data, number)[: len(path)]
        path = path + zeros[: len(path)] + result.observer.errors(variance, rng)
    else:
        path = path[places]
    return np.where(np.isnan(recorded[: len(path)]), np.nan, path)
