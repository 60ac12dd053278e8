"""How a filter is shown a recording: its readings, how noisy they are, and when what a sensor gathers starts anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers
    from itoscope.data.trajectories import Trajectories

__all__ = ["Sight"]


@dataclass(frozen=True)
class Sight:
    """What of the columns a filter takes otherwise than as they are.

    Parameters
    ----------
    channels : tuple of q str
    scaled : tuple of int
        Channels whose noise is not the same at all samples.
    gathered : tuple of int
        Channels that show a rate over the step to the sample before: their first samples are not used, and uneven steps
        are made the same, a reading over a long one counting for as much as it tells.
    step : float
        The step that all of those stand for.
    differences : tuple of int
        Those of them that show how much something has changed over the step, not its average.
    """

    channels: tuple[str, ...]
    scaled: tuple[int, ...] = ()
    gathered: tuple[int, ...] = ()
    step: float = 1.0
    differences: tuple[int, ...] = ()

    def lengths(self, data: Trajectories, path: int) -> Array:
        """Step to each sample over the usual one `(n,)`, 1 at the first and where all are even."""
        found = np.ones(len(data.times[path]))
        if np.ndim(data.steps()[path]):
            found[1:] = np.diff(data.times[path]) / self.step
        return found

    def of_channels(self, data: Trajectories, path: int) -> Array:
        """What divides a reading of the filter `(n, q)` to be one of the data; NaN where the data have none."""
        found = np.ones((len(data.times[path]), len(self.channels)))
        of = list(self.gathered)
        found[:, of] = self.lengths(data, path)[:, None]
        found[:1, of] = np.nan
        return found

    def readings(self, data: Trajectories) -> list[Array]:
        """The channels of every path `(n_i, q)`."""
        found = []
        for i, path in enumerate(data.paths):
            readings = np.array(path, dtype=np.float64)
            of = list(self.gathered)
            readings[:, of] *= self.lengths(data, i)[:, None]
            readings[:1, of] = np.nan
            found.append(readings)
        return found

    def factors(self, data: Trajectories, path: int) -> Array:
        """What multiplies the noise variance of each channel at every sample of a path `(n, q)`."""
        times = np.asarray(data.times[path])
        found = np.ones((len(times), len(self.channels)))
        if data.errors is not None:
            found[:, [self.channels.index(name) for name in data.errors.names]] = data.errors.at(path, times)
        return found

    def recorded(self, path: Array, places: Integers, shown: Array, step: float = 1.0) -> Array:
        """What the channels would show of a path of the states, without noise `(n, q)`.

        Parameters
        ----------
        path : (n_fine, m) array
            On an even grid.
        places : (n,) array of int
            The samples.
        shown : (q, m) array
            What the channels show in a moment, of differences what of.
        step : float
            Of the grid.
        """
        whole = path @ shown.T
        found: Array = whole[places]
        gathered = np.zeros_like(whole)
        gathered[1:] = np.cumsum((whole[1:] + whole[:-1]) / 2.0, axis=0)
        of = list(self.gathered)
        found[1:, of] = np.diff(gathered[places], axis=0)[:, of] / np.diff(places)[:, None]
        of = list(self.differences)
        found[1:, of] = np.diff(whole[places], axis=0)[:, of] / (step * np.diff(places)[:, None])
        return found

    def columns(self, data: Trajectories, carried: Sequence[Array]) -> list[Array]:
        """The paths of the filter: readings, what is `carried` along, factors of the noise, marks of the resets."""
        found = []
        for i, (readings, more) in enumerate(zip(self.readings(data), carried)):
            factors = self.factors(data, i)
            factors[:, list(self.gathered)] *= self.lengths(data, i)[:, None] ** 2
            factors = factors[:, list(self.scaled)]
            marks = np.ones((len(readings), int(bool(self.gathered))))
            found.append(np.ascontiguousarray(np.hstack([readings, more, factors, marks])))
        return found
