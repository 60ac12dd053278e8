"""The steps of a recording beside a result: states before and after, and what the model leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.data.angles import angle_of, periods_of, unwrapped
from itoscope.data.driving import rows
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError
from itoscope.result.values import drift_at, equation_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.common.types import Array
    from itoscope.data.angles import Circle
    from itoscope.result.findings import Findings

__all__ = ["Steps", "circles_of_columns", "recording_of", "standardised", "steps_of"]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a recording whose ends are both there.

    Attributes
    ----------
    x, y : (n, m + g) arrays
        States before and after, and what drives them.
    dt : (n,) array
        Lengths.
    path : (n,) array of int
        Numbers of the paths.
    """

    x: Array
    y: Array
    dt: Array
    path: NDArray[np.intp]

    @classmethod
    def of(cls, data: Trajectories, inputs: Sequence[str] = ()) -> Steps:
        """Those of a recording, with what drives it."""
        paths = rows(data, inputs)
        whole = [~(np.isnan(x[:-1]) | np.isnan(x[1:])).any(axis=1) for x in paths]
        return cls(
            x=np.concatenate([x[:-1][there] for x, there in zip(paths, whole)]),
            y=np.concatenate([x[1:][there] for x, there in zip(paths, whole)]),
            dt=np.concatenate([np.diff(t)[there] for t, there in zip(data.times, whole)]),
            path=np.repeat(np.arange(data.n_paths), [int(there.sum()) for there in whole]),
        )

    def some(self, most: int) -> Steps:
        """About `most` of them, spread over the recording."""
        stride = -(-len(self.x) // most)
        return Steps(self.x[::stride], self.y[::stride], self.dt[::stride], self.path[::stride])


def recording_of(result: Findings, data: Trajectories | None, what: str) -> Trajectories:
    """The recording to compare a result with.

    Parameters
    ----------
    result : Findings
    data : Trajectories or None
        By default that of the fit.
    what : str
        What needs it, for messages.
    """
    data = result.data if data is None else data
    if data is None:
        raise ArgumentError(f"data: {what} needs the recording, which a saved result does not hold")
    checks.instance("data", data, Trajectories, "Trajectories")
    return unwrapped(data, periods_of(data.names, result.settings.get("observed")))


def steps_of(result: Findings, data: Trajectories | None, what: str) -> Steps:
    """The steps to compare a result with; see `recording_of`."""
    data = result.driven(recording_of(result, data, what))
    if tuple(data.names) != tuple(result.states):
        raise ArgumentError(
            f"data have the states {', '.join(data.names)}: {what} needs all states of the model, "
            f"{', '.join(result.states)}"
        )
    return Steps.of(data, result.inputs)


def standardised(result: Findings, steps: Steps, state: str) -> Array:
    """Residuals of one row over the root of their predicted variance, where that is positive; NaN elsewhere."""
    i = result.states.index(state)
    drift = (drift_at(result, steps.x)[:, i] + drift_at(result, steps.y)[:, i]) / 2
    variance = equation_at(result, result.diffusion[state, state], steps.x)[0] * steps.dt
    positive = variance > 1e-2 * variance.mean()
    variance = np.where(positive, variance, np.nan)
    return (steps.y[:, i] - steps.x[:, i] - drift * steps.dt) / np.sqrt(variance)


def circles_of_columns(result: Findings, names: Sequence[str]) -> dict[int, Circle]:
    """The columns that are angles, states or what shows one, by number, and how they are shown."""
    of = dict(zip(names, result.settings.get("observed") or ()))
    found = {}
    for column, name in enumerate(names):
        angle = angle_of(of.get(name, ""))
        circle = result.circles.get(name if angle is None else angle[0])
        if circle is not None:
            found[column] = circle
    return found
