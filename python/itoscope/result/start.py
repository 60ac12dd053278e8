"""Where a forecast begins beside a recording: its start, its length, and the sample of the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.errors import ArgumentError, argument_error

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["last_state", "started"]


def started(
    result: Findings, held: Trajectories | None, path: int, settings: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """What `Discovery.forecast` is to be given so that it runs beside a path, and the sample where that begins.

    The start is the first complete sample of the path; where the model has states that were not recorded, or the
    recording is noisy, the first smoothed state.
    """
    settings = {key: value for key, value in settings.items() if value is not None}
    if held is None:
        if "x0" not in settings:
            raise ArgumentError("x0: give the start, or data to compare with")
        return settings, 0
    if not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    whole = np.flatnonzero(~np.isnan(held.paths[path]).any(axis=1))
    first = int(whole[0]) if len(whole) else 0
    times = held.times[path][first:] - held.times[path][first]
    if "x0" not in settings:
        settings["x0"] = _start(result, held, path, first)
    if result.inputs:
        settings |= _driven(result, held, path, first)
    if "duration" not in settings and "n_steps" not in settings:
        step = settings.get("dt") or result.data_summary.get("dt") or float(np.diff(times).mean())
        settings["dt"] = step
        settings["n_steps"] = max(round(float(times[-1]) / step), 2)
    return settings, first


def _driven(result: Findings, held: Trajectories, path: int, sample: int) -> dict[str, Any]:
    """The inputs of a recorded path, and the time of its sample."""
    driving = result.driven(held).driving
    begin = float(held.times[path][0] if driving is None else driving.starts[path])
    start = {"start": float(held.times[path][sample]) - begin}
    return start | ({"inputs": driving.of_path(path)} if driving is not None and driving.names else {})


def _start(result: Findings, held: Trajectories, path: int, sample: int) -> Array:
    """The state at one sample of a path: smoothed where the recording is noisy or partly seen."""
    if result.observer is not None and tuple(held.names) == result.observer.channels:
        seen: Array = result.smoothed(held[path]).mean[0][sample]
        return seen
    missing = [name for name in result.states if name not in held.names]
    if missing:
        raise ArgumentError(f"x0: give the start, since {', '.join(missing)} was not measured")
    columns = [held.names.index(name) for name in result.states]
    return held.paths[path][sample, columns]


def last_state(result: Findings, held: Trajectories, path: int) -> Array:
    """The state at the last complete sample of a path."""
    if not 0 <= path < held.n_paths:
        raise argument_error("path", path, f"the number of a path, 0 to {held.n_paths - 1}")
    whole = np.flatnonzero(~np.isnan(held.paths[path]).any(axis=1))
    return _start(result, held, path, int(whole[-1]) if len(whole) else -1)
