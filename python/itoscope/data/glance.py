"""A recording at a glance: times, units and gaps, order, pace, noise, offset, recordings that differ, the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.numbers import number, rough
from itoscope.data.alike import Likeness, likeness
from itoscope.data.bystanders import Bystander, bystanders
from itoscope.data.bystanders import said_of as said_of_columns
from itoscope.data.order import OrderAnswer, classify_order
from itoscope.data.pace import paces, said_of
from itoscope.data.traits import FAR, call_of, follows, traits
from itoscope.data.trajectories import as_trajectories
from itoscope.stats.variogram import variogram

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.data.advice import Advice
    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.pace import Pace

__all__ = ["Glance", "advise", "glance"]

NOISY, SURE = 0.02, 2.0
"""Share of the spread of a column from which noise of the sensor is too much to take samples for states, and standard
errors from which it is there."""

TOLD = ("wrong order", "offset", "coarse step")
"""Traits that the order, the line on the offset and the pace say already."""

NOISE = "measurement noise"
"""The trait whose level is told in the line on the noise of all columns."""

ANOTHER = ("wrapped angle", "smoothed derivative")
"""Traits of columns whose values are no state, so that nothing is said of their pace."""


@dataclass(frozen=True)
class Glance:
    """What is seen of a recording before a fit.

    Attributes
    ----------
    data : Trajectories
    order : OrderAnswer
    follows : dict
        Columns whose rate of change is another column: `{"x": "v"}`.
    pace : dict
        By column the samples in a period or in a relaxation time; None where it does not settle.
    alike : Likeness
        Whether recordings differ by more than chance, and in what.
    traits : tuple of Advice
        What the samples show of their sensor, the gravest first.
    whole : Trajectories
        The recording with the columns that are no states of the motion, which `data` is without.
    beside : tuple of Bystander
        These columns.
    """

    data: Trajectories
    order: OrderAnswer
    follows: dict[str, str]
    pace: dict[str, Pace | None]
    alike: Likeness
    traits: tuple[Advice, ...]
    whole: Trajectories
    beside: tuple[Bystander, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What to say to `discover`."""
        return self._asked()[1]

    @property
    def recording(self) -> dict[str, Any]:
        """What to do to the data first: `{"thin": 4}` or `{"select": ["x"]}`, methods and what they take."""
        found = self._asked()[0]
        return {"select": list(self.data.names)} | found if self.beside else found

    def _asked(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both; velocities that somebody made of positions are no rows that follow."""
        told = [
            trait for trait in self.traits if trait.arguments and {*trait.recording} <= {"thin", "select"}
        ]
        made = [trait for trait in told if trait.cause == "smoothed derivative"]
        if not made and self.follows:
            return {}, {"known_drift": self.follows} | self._of_steps() | self._varying()
        if not made and self.order.order == 2:
            return {}, {"order": 2, "measurement_noise": "estimate"} | self._varying()
        for trait in [*made, *told][:1]:
            return dict(trait.recording), dict(trait.arguments)
        noisy = {"measurement_noise": "estimate"} if self._noisy() else self._of_steps()
        return {}, noisy | self._varying()

    def _of_steps(self) -> dict[str, Any]:
        """What steps too coarse for a regression ask for; where nothing rings, the fit sees to it."""
        coarse = any(pace is not None and pace.rings and pace.coarse for pace in self.pace.values())
        return {"scheme": "filter"} if coarse else {}

    def _varying(self) -> dict[str, Any]:
        """What recordings that differ ask for, of all columns together."""
        rows: dict[str, list[str]] = {}
        for advice in self.alike.differing:
            rows |= advice.arguments.get("vary", {})
        return {"vary": rows} if rows else {}

    def _noisy(self) -> bool:
        """Whether a column has noise that matters and is no chance."""
        return any(noise > NOISY * sd for noise, sd in zip(self._noise(), self.data.sd()))

    def _noise(self) -> list[float]:
        """Of each column, 0 where it may be chance or the curve of a coarse step; uneven ones do not tell."""
        data, found = self.data, []
        for k, noise in enumerate(self.order.noise):
            pace = self.pace.get(data.names[k])
            if self.order.order != 2 and pace is not None and pace.coarse:
                noise = 0.0
            seen = variogram([path[:, k] for path in data.paths]) if data.dt is not None and noise else None
            found.append(noise if self.order.order == 2 or seen is None or seen.errors > SURE else 0.0)
        return found

    @property
    def call(self) -> str:
        """The call that finds the equation of `data`."""
        return f"itoscope.{call_of(self.recording, self.settings)}"

    def __str__(self) -> str:
        return "\n".join([*self.lines(), "", self.call])

    __repr__ = __str__

    def lines(self) -> Iterator[str]:
        """What a person reads."""
        data = self.whole
        yield repr(data).removeprefix("Trajectories: ")
        if data.time_source:
            yield f"time: {data.time_source}{f', in {data.time_unit}' if data.time_unit else ''}"
        elif data.dt is None:
            yield "time: as given"
        else:
            yield "time: no column; the rows follow each other in equal steps"
        yield from self._recordings()
        yield from self._times()
        yield from self._states()
        if self.beside:
            yield f"no states: {'; '.join(said_of_columns(self.beside))}"
        if not self.follows:
            yield f"order: {self.order.reason}"
        for row, rate in self.follows.items():
            yield f"{rate} is the rate of change of {row}"
        if self.pace:
            yield f"pace: {said_of(data, self.pace, self.order.order == 2 and not self.follows)}"
        yield from self._sensor()
        for trait in self.traits:
            if trait.cause != NOISE:
                yield f"{trait.cause}: {trait.sentence}"

    def _recordings(self) -> Iterator[str]:
        data = self.data
        if data.n_paths == 1 and data.ids is None:
            return
        labels = [] if data.ids is None else [str(label) for label in data.ids]
        shown = f" ({', '.join(labels[:6])}{', ...' if len(labels) > 6 else ''})" if labels else ""
        of = self.alike
        alike = f", alike in mean, spread and time scale of {', '.join(of.asked)}" if of.asked else ""
        yield f"recordings: {data.n_paths}{shown}{'' if of.differing else alike}"
        for advice in of.differing:
            yield f"{advice.cause}: {advice.sentence}"

    def _sensor(self) -> Iterator[str]:
        """Noise and offset, the number of each column, and what follows."""
        data = self.data
        sd = np.where(data.sd() > 0, data.sd(), 1.0)
        levels = dict(zip(data.names, self._noise()))
        levels |= {trait.about: trait.evidence["noise"] for trait in self.traits if trait.cause == NOISE}
        noisy = [
            f"{name} about {rough(levels[name])}{f' {unit}' if unit else ''}, "
            f"{rough(100 * levels[name] / one)} % of its spread"
            for name, unit, one in zip(data.names, data.units, sd)
            if levels[name]
        ]
        sought = "measurement_noise" in self.settings
        left = "too little to be seen, left to the fit" if sought else "none to be seen"
        yield f"noise: {'; '.join(noisy) or left}"
        distance = np.abs(data.mean()) / sd
        listed = ", ".join(f"{name} {rough(round(float(far), 2))}" for name, far in zip(data.names, distance))
        follows = ""
        if (distance > FAR).any():
            follows = (
                "; where no library is given polynomials are about the mean if the data say so, else "
                'Library.polynomials(3, origin="mean")'
            )
        yield f"offset: {listed} standard deviations from zero{follows}"

    def _times(self) -> Iterator[str]:
        if self.data.dt is None:
            steps = np.concatenate([np.diff(stamps) for stamps in self.data.times])
            low, middle, high = (number(float(value)) for value in np.quantile(steps, [0, 0.5, 1]))
            yield f"steps: {low} to {high}, most often near {middle}"

    def _states(self) -> Iterator[str]:
        data = self.whole
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
    whole, beside = data, tuple(bystanders(data))
    if beside:
        data = data.select([name for name in data.names if name not in dict(beside)])
    order, rows = classify_order(data), follows(data)
    seen = tuple(trait for trait in traits(data, order.order == 2, closely=False) if trait.cause not in TOLD)
    others = [*rows.values(), *(trait.about for trait in seen if trait.cause in ANOTHER)]
    pace = paces(data, order.noise, others)
    alike = likeness(data, pace, rows, order.order == 2 and not rows)
    return Glance(data, order, rows, pace, alike, seen, whole, beside)
