"""The Bouc-Wen forecast: 500 s at s = 6 from an equation learnt from 1 s at s = 2, beside the true system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.problems import bouc_wen
from itoscope.result.ensemble import best_scheme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.sde.sde import SDE

__all__ = ["LOUDER", "Motion", "foretold", "joined", "motion", "overlap", "spectrum", "true_motion"]

LEARNT_AT, FORETOLD_AT = 2.0, 6.0
LOUDER = FORETOLD_AT / LEARNT_AT
"""How many times as strong the forcing of the forecast is; the discovered Gamma is multiplied by its square."""
DT = 1e-3
BAND = (0.5, 50.0)
"""Frequencies in Hz of the vibration: below is the slow creep of the hysteretic spring, above is nothing."""
SEGMENT = 4096
STRIDE = 50
SUBSTEPS, EULER_SUBSTEPS = 2, 50
"""Steps of the scheme in a millisecond; Euler-Maruyama takes `k h` off a damping of 20."""


@dataclass(frozen=True)
class Motion:
    """Standard deviations and spectra of an ensemble, one row per path.

    Attributes
    ----------
    displacement, velocity : (n_paths,) arrays
        Standard deviations over the whole time.
    vibration : (n_paths,) array
        That of the displacement in `BAND`.
    mean : (n_paths,) array
        Of the displacement.
    frequency, spectra : (f,) and (n_paths, f) arrays
        Of the displacement, Welch's estimate with a Hann window, one-sided.
    times, first : (n,) and (n, 2) arrays
        The first path, for a picture.
    diverged : int
        Paths that left the finite range and are not counted.
    """

    displacement: Array
    velocity: Array
    vibration: Array
    mean: Array
    frequency: Array
    spectra: Array
    times: Array
    first: Array
    diverged: int = 0


def spectrum(x: Array, dt: float, segment: int = SEGMENT) -> tuple[Array, Array]:
    """One-sided power spectral density of `x` `(n,)` by Welch's method: half-overlapping Hann windows, means removed.

    Returns frequencies in cycles per unit of `dt`, `(segment / 2 + 1,)`, and densities of the same shape.
    """
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(segment) / segment)
    starts = range(0, len(x) - segment + 1, segment // 2)
    pieces = np.stack([x[s : s + segment] for s in starts])
    pieces = (pieces - pieces.mean(axis=1, keepdims=True)) * window
    power = np.mean(np.abs(np.fft.rfft(pieces, axis=1)) ** 2, axis=0) * 2 * dt / np.sum(window**2)
    power[[0, -1]] /= 2
    return np.asarray(np.fft.rfftfreq(segment, dt), dtype=np.float64), np.asarray(power, dtype=np.float64)


def overlap(frequency: Array, one: Array, other: Array) -> float:
    """Area common to two spectra in `BAND` over the area of their union: 1 for equal ones."""
    inside = (frequency >= BAND[0]) & (frequency <= BAND[1])
    return float(np.minimum(one, other)[inside].sum() / np.maximum(one, other)[inside].sum())


def motion(data: Trajectories, names: Sequence[str]) -> Motion | None:
    """Summarise an ensemble; `names` are those of displacement and velocity; None if every path diverged."""
    columns = [data.names.index(name) for name in names]
    paths = [path[:, columns] for i, path in enumerate(data.paths) if i not in data.diverged]
    if not paths:
        return None
    frequency = np.zeros(0)
    spectra = []
    for path in paths:
        frequency, power = spectrum(path[:, 0], data.dt or DT)
        spectra.append(power)
    inside = (frequency >= BAND[0]) & (frequency <= BAND[1])
    width = frequency[1] - frequency[0]
    return Motion(
        displacement=np.array([path[:, 0].std() for path in paths]),
        velocity=np.array([path[:, 1].std() for path in paths]),
        vibration=np.array([np.sqrt(power[inside].sum() * width) for power in spectra]),
        mean=np.array([path[:, 0].mean() for path in paths]),
        frequency=frequency,
        spectra=np.array(spectra),
        times=np.asarray(data.times[0][::STRIDE]),
        first=paths[0][::STRIDE],
        diverged=len(data.diverged),
    )


def joined(parts: Sequence[Motion | None], paths: int = 1) -> Motion | None:
    """Several ensembles of `paths` as one; None stands for one whose paths all diverged, and where nothing is left."""
    kept = [part for part in parts if part is not None]
    if not kept:
        return None
    both = {
        name: np.concatenate([getattr(part, name) for part in kept])
        for name in ("displacement", "velocity", "vibration", "mean", "spectra")
    }
    lost = sum(part.diverged for part in kept) + paths * (len(parts) - len(kept))
    return replace(kept[0], **both, diverged=lost)


def true_motion(duration: float, n_paths: int, seed: int) -> tuple[Motion, Array]:
    """The true system at s = 6, from the start of the recordings; also where that is."""
    problem = bouc_wen(s=FORETOLD_AT)
    data = problem.simulate(duration=duration, dt=DT, n_paths=n_paths, substeps=SUBSTEPS, seed=seed)
    seen = motion(data, ("x1", "x2"))
    assert seen is not None, "the true system is stable"
    return seen, problem.x0


def foretold(model: SDE, x0: Array, duration: float, n_paths: int, seed: int) -> Motion | None:
    """The motion of a discovered model (displacement, velocity) under the stronger forcing."""
    louder = model.scaled_noise(LOUDER)
    scheme = best_scheme(louder)
    data = louder.simulate(
        x0[: len(model.states)],
        dt=DT,
        n_steps=round(duration / DT),
        n_paths=n_paths,
        scheme=scheme,
        substeps=EULER_SUBSTEPS if scheme == "euler-maruyama" else SUBSTEPS,
        seed=seed,
    )
    return motion(data, model.states[:2])
