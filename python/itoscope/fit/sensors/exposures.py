"""Whether exposures fit between the samples of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.data.timeline import SAME, reached
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["check_exposures"]


def check_exposures(data: Trajectories, gathered: Mapping[int, Gathered]) -> None:
    """Raise `ArgumentError` for an exposure that is longer than a step between samples of its column.

    And for one that leaves no sample whose exposure starts within the recording.
    """
    for c, what in gathered.items():
        stamps = [np.asarray(t)[~np.isnan(path[:, c])] for path, t in zip(data.paths, data.times)]
        name, window = f"observed[{data.names[c]!r}]", what.window
        gaps = np.concatenate([np.diff(one) for one in stamps])
        if window.exposure is not None and len(gaps) and window.exposure > gaps.min() * (1.0 + SAME):
            raise argument_error(
                name,
                f"an average over {window.exposure:g}",
                f"an exposure of at most {gaps.min():.6g}, the shortest step between samples of "
                f"{data.names[c]}; 'full' is the step to the sample before, however long",
            )
        if not any(reached(window, np.asarray(t)).any() for t in data.times):
            raise argument_error(
                name,
                f"a lag of {window.lag:g}",
                "less than the recording is long, for no exposure lies in it",
            )
