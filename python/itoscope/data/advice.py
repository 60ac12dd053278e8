"""`Advice`: what a recording or a fit suffers from, the figures that say so, and the call that mends it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data.trajectories import Trajectories
from itoscope.stats.marks import bursts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from itoscope.common.types import Array

__all__ = ["Advice"]

SHORTEST = 20
"""Samples of a stretch between two jumps that is worth keeping."""


@dataclass(frozen=True)
class Advice:
    """A cause and the next step.

    Attributes
    ----------
    cause : str
        `"measurement noise"`, `"wrapped angle"`, ...
    about : str
        The column or the row that it was seen on.
    sentence : str
        Cause, figures and remedy in words.
    evidence : dict of str to float
        The figures.
    arguments : dict
        What to say to `discover` in place of what was said. `library` and `diffusion_library` are expressions to be
        added to the candidate terms, or `"about_mean"`.
    recording : dict
        What to do to the recording first; `mend` does it: `thin`, `select`, `unwrap`, `blank` (outliers), `split` (at
        jumps).
    """

    cause: str
    about: str
    sentence: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    recording: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.sentence

    def as_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return asdict(self)

    @property
    def can_be_tried(self) -> bool:
        """Whether a call is known that mends it."""
        return bool(self.arguments or self.recording)

    def mend(self, data: Trajectories) -> Trajectories:
        """Return the recording as `recording` wants it.

        Parameters
        ----------
        data : Trajectories
        """
        for what, value in self.recording.items():
            data = MENDERS[what](data, value)
        return data


def _thin(data: Trajectories, k: int) -> Trajectories:
    return data.thin(int(k))


def _select(data: Trajectories, names: list[str]) -> Trajectories:
    return data.select(names)


def _unwrap(data: Trajectories, periods: Mapping[str, float]) -> Trajectories:
    """Add whole periods where a column wraps; a missing sample is passed over."""
    paths = [path.copy() for path in data.paths]
    for name, period in periods.items():
        column = data.names.index(name)
        for path in paths:
            there = np.isfinite(path[:, column])
            path[there, column] = np.unwrap(path[there, column], period=period)
    return _with_paths(data, paths)


def _blank(data: Trajectories, names: list[str]) -> Trajectories:
    """Outliers are missing."""
    paths = [path.copy() for path in data.paths]
    for name in names:
        column = data.names.index(name)
        for number, sample in bursts([path[:, column] for path in data.paths]).outliers:
            paths[number][sample, column] = np.nan
    return _with_paths(data, paths)


def _split(data: Trajectories, names: list[str]) -> Trajectories:
    """Paths end before a jump and begin behind it."""
    places: dict[int, set[int]] = {}
    for name in names:
        column = data.names.index(name)
        for number, sample in bursts([path[:, column] for path in data.paths]).jumps.tolist():
            places.setdefault(number, set()).add(sample)
    paths: list[Array] = []
    times: list[Array] = []
    for number, (path, stamps) in enumerate(zip(data.paths, data.times)):
        cuts = sorted(places.get(number, ()))
        for first, last in zip([0, *(cut + 2 for cut in cuts)], [*(cut - 1 for cut in cuts), len(path)]):
            if last - first >= SHORTEST:
                paths.append(path[first:last])
                times.append(stamps[first:last])
    return Trajectories(paths, t=times, names=data.names, units=data.units)


def _with_paths(data: Trajectories, paths: list[Array]) -> Trajectories:
    times = {"t": list(data.times)} if data.dt is None else {"dt": data.dt}
    return Trajectories(paths, names=data.names, units=data.units, **times)


MENDERS: dict[str, Callable[[Trajectories, Any], Trajectories]] = {
    "thin": _thin,
    "select": _select,
    "unwrap": _unwrap,
    "blank": _blank,
    "split": _split,
}
