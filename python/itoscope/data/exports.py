"""Trajectories as tables and arrays of others: pandas and xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.extras import require

if TYPE_CHECKING:
    from itoscope.data.recording import Recording

__all__ = ["to_array", "to_frame"]


def to_frame(data: Recording) -> Any:
    """Return trajectories as a pandas DataFrame with columns ``path``, ``t`` and the states."""
    pandas = require("pandas", "data", "A DataFrame")
    lengths = [len(path) for path in data.paths]
    frame = pandas.DataFrame(np.concatenate(data.paths), columns=list(data.names))
    frame.insert(0, "t", np.concatenate(data.times))
    frame.insert(0, "path", np.repeat(np.arange(len(data.paths)), lengths))
    return frame


def to_array(data: Recording) -> Any:
    """Return trajectories as an xarray DataArray; see `Trajectories.to_xarray`."""
    xarray = require("xarray", "data", "A DataArray")
    common = all(stamps is data.times[0] for stamps in data.times)
    length = max(len(path) for path in data.paths)
    values = np.full((len(data.paths), length, len(data.names)), np.nan)
    stamps = np.full((len(data.paths), length), np.nan)
    for i, (path, t) in enumerate(zip(data.paths, data.times)):
        values[i, : len(path)], stamps[i, : len(path)] = path, t
    coords = {"path": np.arange(len(data.paths)), "state": list(data.names)}
    if common:
        return xarray.DataArray(values, dims=("path", "time", "state"), coords={**coords, "time": stamps[0]})
    return xarray.DataArray(
        values, dims=("path", "sample", "state"), coords={**coords, "time": (("path", "sample"), stamps)}
    )
