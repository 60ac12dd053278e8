"""`Asked`: what a caller says of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from itoscope.common.checks import choice
from itoscope.data.calendars import checked_unit, factor
from itoscope.data.samples import as_dt
from itoscope.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """What a caller says of a table; see `Trajectories`.

    Attributes
    ----------
    time, id, columns
        Columns by heading or position.
    dt, fps, per_year : float or None
        Time between two samples; samples a second; samples a year.
    time_unit : str or None
        Unit of the times that come out.
    wide : {"states", "repeats"} or None
        What columns are whose headings are numbered.
    timed : bool
        Whether times are given beside the table.
    named : bool
        Whether names are given to the states.
    """

    time: Any = None
    id: Any = None
    columns: Sequence[Any] | None = None
    dt: float | None = None
    fps: float | None = None
    per_year: float | None = None
    time_unit: str | None = None
    wide: str | None = None
    timed: bool = False
    named: bool = False

    def __post_init__(self) -> None:
        steps = {"dt": self.dt, "fps": self.fps, "per_year": self.per_year}
        given = {name: value for name, value in steps.items() if value is not None}
        if len(given) > 1:
            listed = " and ".join(f"{name} = {value!r}" for name, value in given.items())
            raise ArgumentError(f"{listed} are given: one of them tells the step")
        if given and self.timed:
            raise ArgumentError(
                f"{next(iter(given))} = {next(iter(given.values()))!r} and t are both given: give one of them"
            )
        for name, value in given.items():
            as_dt(value, name)
        if self.time_unit is not None:
            checked_unit(self.time_unit)
        if self.wide is not None:
            choice("wide", self.wide, ("states", "repeats"))
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", [self.columns])

    @property
    def unit(self) -> str | None:
        """`time_unit` by its short name."""
        return None if self.time_unit is None else checked_unit(self.time_unit)

    @property
    def step(self) -> float | None:
        """The time between two samples that dt, fps or per_year tell, in the unit that comes out."""
        if self.dt is not None:
            return float(self.dt)
        if self.fps is not None:
            return 1.0 / self.fps * _in_unit("s", self.unit)
        if self.per_year is not None:
            return 1.0 / self.per_year * _in_unit("y", self.unit)
        return None

    @property
    def step_unit(self) -> str:
        """The unit of that step; empty where nobody said."""
        if self.unit is not None:
            return self.unit
        return "s" if self.fps is not None else "y" if self.per_year is not None else ""


def _in_unit(unit: str, to: str | None) -> float:
    return 1.0 if to is None else factor(unit, to)
