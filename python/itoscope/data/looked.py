"""Which stretches of a long recording are looked at for what is no sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.data.trajectories import Trajectories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["LOOKED", "Look", "all_of", "looked_at", "looks"]

LOOKED = 2**18
"""Samples of a recording in memory from which on stretches of it are looked at, and how many of them at most."""
STRETCH = 2**15
"""Steps at most that follow each other in such a stretch."""


class Look(NamedTuple):
    """A stretch of consecutive samples of path number `path`."""

    path: int
    samples: slice


def looks(paths: Sequence[Array]) -> list[Look]:
    """Stretches from all over the paths, of `LOOKED` samples in all at most; whole paths where that is all of them.

    Paths are cut into equal stretches of `STRETCH` steps at most, of which as many as may be are taken at even
    distances. One in which a column has no sample is left out.

    Parameters
    ----------
    paths : sequence of (n_i, m) arrays
        NaN where a sample is missing.
    """
    total = sum(map(len, paths))
    if total <= LOOKED:
        return all_of(paths)
    found = [look for number, x in enumerate(paths) for look in _cut(number, len(x) - 1)]
    lengths = np.array([look.samples.stop - look.samples.start for look in found])
    many = max(1, LOOKED * len(found) // int(lengths.sum()))
    while True:
        places = np.arange(many) * len(found) // many
        if many == 1 or lengths[places].sum() <= LOOKED:
            break
        many -= max(1, many // 32)
    chosen = [found[k] for k in places]
    there = [look for look in chosen if np.isfinite(paths[look.path][look.samples]).any(axis=0).all()]
    return there or all_of(paths)


def all_of(paths: Sequence[Array]) -> list[Look]:
    """All samples of all paths."""
    return [Look(number, slice(None)) for number in range(len(paths))]


def _cut(number: int, steps: int) -> list[Look]:
    """Equal stretches of a path, neighbours with a sample in common."""
    parts = -(-steps // STRETCH)
    return [Look(number, slice(steps * k // parts, steps * (k + 1) // parts + 1)) for k in range(parts)]


def looked_at(data: Trajectories) -> Trajectories:
    """The stretches of a recording as one of their own, of a short one itself; samples are not copied."""
    found, dt = looks(data.paths), data.dt
    if found == all_of(data.paths):
        return data
    times = None if dt is not None else [data.times[look.path][look.samples] for look in found]
    paths = [data.paths[look.path][look.samples] for look in found]
    part = Trajectories(paths, dt=dt, t=times, names=data.names, position_names=data.position_names)
    part.labels, part.units = data.labels, data.units
    part.time_unit, part.time_source = data.time_unit, data.time_source
    return part
