"""The states behind a noisy recording, with bands: what `result.smoothed()` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError
from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from itoscope.common.types import Array, Integers
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.observer import Observer

__all__ = ["SmoothedStates", "smoothed"]

NORMAL = 1e9
"""Degrees of freedom at which Student's law is the normal one."""


@dataclass(frozen=True)
class SmoothedStates:
    """Mean and standard deviation of every state at every time, given the whole recording and the fitted model.

    Attributes
    ----------
    names : tuple of m str
    times : list of (n_i,) arrays
    mean, sd : lists of (n_i, m) arrays
    channels : tuple of q str
    readings, readings_sd : lists of (n_i, q) arrays
        What the sensors would show there without noise, their offsets in it, and its standard deviation; NaN where a
        sensor shows an average that began before the recording, or an exposure of its own without a sample.
    offsets : dict of str to list of (n_i,) arrays
        The zeros of sensors of which they are not known.
    """

    names: tuple[str, ...]
    times: list[Array]
    mean: list[Array]
    sd: list[Array]
    channels: tuple[str, ...] = ()
    readings: list[Array] = field(default_factory=list)
    readings_sd: list[Array] = field(default_factory=list)
    offsets: dict[str, list[Array]] = field(default_factory=dict)

    def band(self, probability: float = 0.95) -> list[Array]:
        """Central bands `(n_i, m, 2)` of every path, at each time by itself."""
        probability = checks.share("probability", probability)
        z = student_quantile(0.5 + probability / 2, NORMAL)
        return [np.stack([mean - z * sd, mean + z * sd], axis=-1) for mean, sd in zip(self.mean, self.sd)]


def smoothed(observer: Observer | None, data: Trajectories | None) -> SmoothedStates:
    """Smooth a recording; see `Discovery.smoothed`."""
    if observer is None:
        raise ArgumentError("smoothed(): nothing to smooth; the states were taken as exact")
    if data is None:
        raise ArgumentError("smoothed(): give the recording, which a saved result does not hold")
    means, covs = observer.moments_of(data)
    own, sight, seen = observer.own, observer.sight, observer.observation
    samples = [line.samples for line in sight.timelines(data)]
    lengths, rows = [sight.of_channels(data, i) for i in range(data.n_paths)], sight.rows(data)
    sd = [_roots(np.einsum("nii->ni", cov)) for cov in covs]
    readings = [mean @ seen.T for mean in means]
    spreads = [_roots(np.einsum("ci,nij,cj->nc", seen, cov, seen)) for cov in covs]
    return SmoothedStates(
        observer.states[:own],
        [np.asarray(t) for t in data.times],
        [one[at, :own] for one, at in zip(means, samples)],
        [one[at, :own] for one, at in zip(sd, samples)],
        observer.channels,
        [_read(one, at) / length for one, at, length in zip(readings, rows, lengths)],
        [_read(one, at) / length for one, at, length in zip(spreads, rows, lengths)],
        {
            name: [one[at, place] for one, at in zip(means, samples)]
            for name, place in observer.zero_states.items()
        },
    )


def _read(each: Array, rows: Integers) -> Array:
    """Values of the moments `(N, q)` at those of the readings `(n, q)`, NaN where there is none."""
    return np.where(rows >= 0, np.take_along_axis(each, np.maximum(rows, 0), axis=0), np.nan)


def _roots(variances: Array) -> Array:
    found: Array = np.sqrt(np.maximum(variances, 0.0))
    return found
