"""The states behind a noisy recording, with bands: what `result.states()` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.types import Array
from itoscope.errors import ArgumentError, argument_error
from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.observer import Observer

__all__ = ["SmoothedStates", "StateNames"]

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
    """

    names: tuple[str, ...]
    times: list[Array]
    mean: list[Array]
    sd: list[Array]

    def band(self, probability: float = 0.95) -> list[Array]:
        """Central bands `(n_i, m, 2)` of every path, at each time by itself."""
        if not 0 < probability < 1:
            raise argument_error("probability", probability, "a number between 0 and 1, both excluded")
        z = student_quantile(0.5 + probability / 2, NORMAL)
        return [np.stack([mean - z * sd, mean + z * sd], axis=-1) for mean, sd in zip(self.mean, self.sd)]


class StateNames(tuple[str, ...]):
    """The names of the states; called, it returns the `SmoothedStates` of a noisy or partly seen recording."""

    observer: Observer | None
    data: Trajectories | None

    @classmethod
    def of(cls, names: tuple[str, ...], observer: Observer | None, data: Trajectories | None) -> StateNames:
        """The names, with what it takes to smooth the states."""
        made = cls(names)
        made.observer, made.data = observer, data
        return made

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        """Pickled as plain names: the result that they belong to gives them their powers again."""
        return tuple, (tuple(self),)

    def __call__(self, data: Trajectories | None = None) -> SmoothedStates:
        """Smooth a recording.

        Parameters
        ----------
        data : Trajectories, optional
            Of the same channels; by default the recording of the fit.

        Raises
        ------
        ArgumentError
            When the states were taken as measured exactly, or there is no recording: a saved result holds none.
        """
        if self.observer is None:
            raise ArgumentError("states(): nothing to smooth; the states were taken as exact")
        data = self.data if data is None else data
        if data is None:
            raise ArgumentError("states(): give the recording, which a saved result does not hold")
        mean, sd = self.observer.smooth(data)
        return SmoothedStates(tuple(self), [np.asarray(t) for t in data.times], mean, sd)
