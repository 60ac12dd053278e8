"""How a filter is shown a recording: its readings, how noisy they are, and when what a sensor gathers starts anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.data.timeline import STEP, Timeline, Window, reached, timeline
from itoscope.data.trajectories import Trajectories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Bools, Integers, Times

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
    windows : tuple of (int, float or None, float)
        Those of them that look at less than the step, or at another time than that to the sample: exposure and lag.
    """

    channels: tuple[str, ...]
    scaled: tuple[int, ...] = ()
    gathered: tuple[int, ...] = ()
    step: float = 1.0
    differences: tuple[int, ...] = ()
    windows: tuple[tuple[int, float | None, float], ...] = ()

    @property
    def by_channel(self) -> dict[int, Window]:
        """The window of each channel that gathers."""
        own = {channel: Window(exposure, lag) for channel, exposure, lag in self.windows}
        return {channel: own.get(channel, STEP) for channel in self.gathered}

    @property
    def of_step(self) -> list[int]:
        """Channels that gather over a whole step."""
        return [channel for channel, window in self.by_channel.items() if window.exposure is None]

    def timelines(self, data: Trajectories) -> list[Timeline]:
        """When the filter looks at each path."""
        found = []
        for path, stamps in zip(data.paths, data.times):
            seen = dict.fromkeys(self.by_channel.values(), np.zeros(len(path), dtype=bool))
            for channel, window in self.by_channel.items():
                there = ~np.isnan(path[:, channel])
                seen[window] = seen[window] | (True if window.exposure is None else there)
            found.append(timeline(np.asarray(stamps), seen))
        return found

    def spread(self, data: Trajectories) -> Trajectories:
        """The data with a row of NaN at each moment of the filter that is no sample."""
        if not self.windows:
            return data
        paths, times = [], []
        for path, line in zip(data.paths, self.timelines(data)):
            wide = np.full((len(line.stamps), path.shape[1]), np.nan)
            wide[line.samples] = path
            paths.append(wide)
            times.append(line.stamps)
        found = Trajectories(paths, t=times, names=data.names)
        found.driving = data.driving
        return found

    def times(self, data: Trajectories) -> list[Times]:
        """The moments of each path as stages take them."""
        return self.spread(data).steps()

    def rows(self, data: Trajectories) -> list[Integers]:
        """At which moment each reading of each channel was taken `(n_i, q)`, -1 where that is no moment."""
        found = []
        for line in self.timelines(data):
            rows = np.tile(line.samples[:, None], (1, len(self.channels)))
            for channel, window in self.by_channel.items():
                rows[:, channel] = line.readings[window]
            found.append(rows)
        return found

    def lengths(self, data: Trajectories, path: int) -> Array:
        """Step to each sample over the usual one `(n,)`, 1 at the first and where all are even."""
        found = np.ones(len(data.times[path]))
        if np.ndim(data.steps()[path]):
            found[1:] = np.diff(data.times[path]) / self.step
        return found

    def of_channels(self, data: Trajectories, path: int) -> Array:
        """What divides a reading of the filter `(n, q)` to be one of the data; NaN where the data have none."""
        found = np.ones((len(data.times[path]), len(self.channels)))
        found[:, self.of_step] = self.lengths(data, path)[:, None]
        found[self._unused(data, path)] = np.nan
        return found

    def _unused(self, data: Trajectories, path: int) -> Bools:
        """Readings whose exposure began before the recording `(n, q)`."""
        stamps = np.asarray(data.times[path])
        found = np.zeros((len(stamps), len(self.channels)), dtype=bool)
        for channel, window in self.by_channel.items():
            found[:, channel] = ~reached(window, stamps)
        return found

    def readings(self, data: Trajectories) -> list[Array]:
        """The channels of every path `(n_i, q)`."""
        found = []
        for i, path in enumerate(data.paths):
            readings = np.array(path, dtype=np.float64)
            readings[:, self.of_step] *= self.lengths(data, i)[:, None]
            readings[self._unused(data, i)] = np.nan
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
        grid = np.arange(len(path))
        for channel, exposure, lag in self.windows:
            window, rate = Window(exposure and exposure / step, lag / step), channel in self.differences
            begin, end = np.maximum(window.starts(places.astype(float)), 0.0), places - window.lag
            of = whole if rate else gathered
            first, last = (np.interp(at, grid, of[:, channel]) for at in (begin, end))
            found[:, channel] = (last - first) / np.maximum((end - begin) * (step if rate else 1.0), 1e-9)
        return found

    def columns(self, data: Trajectories, carried: Sequence[Array]) -> list[Array]:
        """The paths of the filter: readings, what is `carried` along, factors of the noise, marks of the resets.

        Parameters
        ----------
        data : Trajectories
        carried : sequence of (N_i, g) arrays
            At the moments of the filter.
        """
        found = []
        lines, rows = self.timelines(data), self.rows(data)
        for i, (readings, more) in enumerate(zip(self.readings(data), carried)):
            line, at = lines[i], rows[i]
            factors = self.factors(data, i)
            factors[:, self.of_step] *= self.lengths(data, i)[:, None] ** 2
            wide = np.full((len(line.stamps), len(self.channels)), np.nan)
            scale = np.ones_like(wide)
            for c in range(len(self.channels)):
                there = at[:, c] >= 0
                wide[at[there, c], c] = readings[there, c]
                scale[at[there, c], c] = factors[there, c]
            marks = np.array([line.starts[window] for window in dict.fromkeys(self.by_channel.values())])
            marks = marks.reshape(-1, len(wide)).T.astype(float)
            found.append(np.ascontiguousarray(np.hstack([wide, more, scale[:, list(self.scaled)], marks])))
        return found
