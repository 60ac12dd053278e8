"""The states behind a noisy recording, with bands: what `result.states()` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.protocol import Array
from itoscope.errors import ArgumentError, argument_error
from itoscope.student import student_quantile

if TYPE_CHECKING:
    from itoscope.noisy import NoisyFit
    from itoscope.trajectories import Trajectories

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

    fit: NoisyFit | None
    data: Trajectories | None

    @classmethod
    def of(cls, names: tuple[str, ...], fit: NoisyFit | None, data: Trajectories | None) -> StateNames:
        """The names, with what it takes to smooth the states."""
        made = cls(names)
        made.fit, made.data = fit, data
        return made

    def __call__(self) -> SmoothedStates:
        """Smooth the recording.

        Raises
        ------
        ArgumentError
            When the states were taken as measured exactly, or the result was loaded from a file without its data.
        """
        if self.fit is None or self.data is None:
            raise ArgumentError(
                "states(): nothing to smooth; the states were taken as exact, or the data are not at hand"
            )
        mean, sd = self.fit.states()
        return SmoothedStates(tuple(self), [np.asarray(t) for t in self.data.times], mean, sd)
