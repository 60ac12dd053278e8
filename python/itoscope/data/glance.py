"""A recording at a glance: size, times, units and gaps, order, rows that follow from others, the call to make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.numbers import number
from itoscope.data.order import OrderAnswer, classify_order
from itoscope.data.traits import call_of, follows, traits
from itoscope.data.trajectories import as_trajectories
from itoscope.stats.variogram import variogram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.data.advice import Advice
    from itoscope.data.trajectories import Trajectories

__all__ = ["Glance", "advise", "glance"]

NOISY, SURE = 0.02, 2.0
"""Share of the spread of a column from which noise of the sensor is too much to take samples for states, and standard
errors from which it is there."""

TOLD = ("wrong order", "offset")
"""Traits that the order and the choice of the origin say already."""


@dataclass(frozen=True)
class Glance:
    """What is seen of a recording before a fit.

    Attributes
    ----------
    data : Trajectories
    order : OrderAnswer
    follows : dict
        Columns whose rate of change is another column: `{"x": "v"}`.
    traits : tuple of Advice
        What the samples show of their sensor, the gravest first.
    """

    data: Trajectories
    order: OrderAnswer
    follows: dict[str, str]
    traits: tuple[Advice, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What to say to `discover`."""
        return self._asked()[1]

    @property
    def recording(self) -> dict[str, Any]:
        """What to do to the data first: `{"thin": 4}` or `{"select": ["x"]}`, methods and what they take."""
        return self._asked()[0]

    def _asked(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both; velocities that somebody made of positions are no rows that follow."""
        told = [
            trait for trait in self.traits if trait.arguments and {*trait.recording} <= {"thin", "select"}
        ]
        made = [trait for trait in told if trait.cause == "smoothed derivative"]
        if not made and self.follows:
            return {}, {"known_drift": self.follows}
        if not made and self.order.order == 2:
            return {}, {"order": 2, "measurement_noise": "estimate"}
        for trait in [*made, *told][:1]:
            return dict(trait.recording), dict(trait.arguments)
        return {}, {"measurement_noise": "estimate"} if self._noisy() else {}

    def _noisy(self) -> bool:
        """Whether a column has noise that matters and is no chance; where steps are uneven, that matters."""
        data = self.data
        for k, (noise, sd) in enumerate(zip(self.order.noise, data.sd())):
            found = variogram([path[:, k] for path in data.paths]) if data.dt is not None else None
            if noise > NOISY * sd and (found is None or found.errors > SURE):
                return True
        return False

    @property
    def call(self) -> str:
        """The call that finds the equation of `data`."""
        return f"itoscope.{call_of(*self._asked())}"

    def __str__(self) -> str:
        return "\n".join([*self.lines(), "", self.call])

    __repr__ = __str__

    def lines(self) -> Iterator[str]:
        """What a person reads."""
        data = self.data
        yield repr(data).removeprefix("Trajectories: ")
        if data.time_source:
            yield f"time: {data.time_source}{f', in {data.time_unit}' if data.time_unit else ''}"
        else:
            yield "time: no column; the rows follow each other in equal steps"
        if data.ids is not None:
            shown = ", ".join(str(label) for label in data.ids[:6])
            yield f"recordings: {data.n_paths} ({shown}{', ...' if data.n_paths > 6 else ''})"
        yield from self._times()
        yield from self._states()
        if not self.follows:
            yield f"order: {self.order.reason}"
        for row, rate in self.follows.items():
            yield f"{rate} is the rate of change of {row}"
        for trait in self.traits:
            yield f"{trait.cause}: {trait.sentence}"

    def _times(self) -> Iterator[str]:
        if self.data.dt is None:
            steps = np.concatenate([np.diff(stamps) for stamps in self.data.times])
            low, middle, high = (number(float(value)) for value in np.quantile(steps, [0, 0.5, 1]))
            yield f"steps: {low} to {high}, most often near {middle}"

    def _states(self) -> Iterator[str]:
        data = self.data
        for k, (name, mean, sd) in enumerate(zip(data.names, data.mean(), data.sd())):
            column = np.concatenate([path[:, k] for path in data.paths])
            there = column[~np.isnan(column)]
            unit = f" {data.units[k]}" if data.units[k] else ""
            gone = len(column) - len(there)
            held = float(np.mean(np.diff(there) == 0)) if len(there) > 1 else 0.0
            notes = [f"{gone} missing"] if gone else []
            notes += [f"{100 * held:.0f} % of samples repeat the one before"] if held > 0.1 else []
            low, high = number(float(there.min())), number(float(there.max()))
            yield "; ".join([f"{name}: {number(mean)} ± {number(sd)}{unit}, {low} to {high}", *notes])


def advise(data: Trajectories | Any, *, dt: float | None = None) -> Glance:
    """Look at a recording before a fit: its times, states and gaps, its order, and the call that finds its equation.

    Parameters
    ----------
    data : Trajectories, array or table
        What `discover` takes.
    dt : float, optional
        Step between samples, only for arrays.

    Returns
    -------
    Glance
        Printed, what was seen and the call; `settings` are what to say to `discover`, `order` is what
        `classify_order` says, `follows` names the columns whose rate of change is another column.

    Raises
    ------
    DataError
        For data that are no recording.

    Examples
    --------
    >>> import itoscope as ito
    >>> motion = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=5, seed=1)
    >>> ito.advise(motion.positions(noise=0.05, seed=2)).call
    "itoscope.discover(data, order=2, measurement_noise='estimate')"
    >>> ito.advise(motion).settings
    {'known_drift': {'x1': 'x2'}}
    """
    return glance(as_trajectories(data, dt=dt))


def glance(data: Trajectories) -> Glance:
    """Look at a recording."""
    order = classify_order(data)
    seen = tuple(trait for trait in traits(data, order.order == 2, closely=False) if trait.cause not in TOLD)
    return Glance(data, order, follows(data), seen)
