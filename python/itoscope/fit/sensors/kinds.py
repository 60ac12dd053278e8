"""Kinds of sensors that show the states over a time: averages over an exposure, accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from itoscope.common import checks
from itoscope.errors import argument_error

__all__ = ["Acceleration", "Average", "Gathered", "Sensor", "sensors_of", "shown"]

FULL = "full"
"""The exposure of a whole step."""
Kind = Literal["average", "acceleration"]
KINDS: tuple[Kind, ...] = ("average", "acceleration")
"""What a sensor shows of an expression over the step, as a text of it starts."""


class Gathered(NamedTuple):
    """What a sensor shows over the step to the sample before: the kind, and of which expression."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Average:
    """A sensor that shows the average of the states over its exposure, such as a camera or a monthly mean.

    `y_n = 1/T int_{t_n - T}^{t_n} of(x(s)) ds + e_n` with `T = t_n - t_{n-1}`, the whole step. The filter carries the
    integral along as a state, `dz = of(x) dt`, which starts at zero with each exposure. The first sample of every path,
    whose exposure starts before the recording, is not used.

    Parameters
    ----------
    of : str
        A linear expression of the states.
    exposure : "full"
        The whole step to the sample before.

    Raises
    ------
    ArgumentError
        For another exposure, or an expression that is no text.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.Average("x1").text
    'average(x1)'
    """

    of: str
    exposure: Literal["full"] = "full"

    def __post_init__(self) -> None:
        _check_expression("Average", self.of)
        checks.choice("exposure", self.exposure, (FULL,))

    @property
    def text(self) -> str:
        """As a settings file and the command line have it."""
        return f"average({self.of})"


@dataclass(frozen=True)
class Acceleration:
    """A sensor that shows the acceleration of a position, the average over the step to the sample before.

    `y_n = (v(t_n) - v(t_{n-1})) / (t_n - t_{n-1}) + e_n` with the velocity `v` of the expression. Where white noise
    drives the velocity its derivative has no value at a moment, and an accelerometer can show nothing else. The filter
    keeps a copy of the velocity, renewed at each sample. The first sample of every path is not used.

    Parameters
    ----------
    of : str
        A linear expression of positions, states whose given rows are velocities.

    Raises
    ------
    ArgumentError
        For an expression that is no text.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.Acceleration("x1").text
    'acceleration(x1)'
    """

    of: str

    def __post_init__(self) -> None:
        _check_expression("Acceleration", self.of)

    @property
    def text(self) -> str:
        """As a settings file and the command line have it."""
        return f"acceleration({self.of})"


Sensor = Average | Acceleration


def shown(what: str) -> tuple[str, Kind | None]:
    """The expression that a sensor shows, and what of it over the step: of `average(x1)` it is the average of `x1`."""
    text = what.strip()
    for kind in KINDS:
        if text.startswith(f"{kind}(") and text.endswith(")"):
            return text[len(kind) + 1 : -1].strip(), kind
    return what, None


def sensors_of(observed: list[str] | str | None) -> tuple[list[str] | str | None, dict[int, Gathered]]:
    """The expressions of all columns, and the columns that show something of them over the step, by number."""
    if observed is None or not checks.is_list(observed):
        return observed, {}
    found = [shown(what) if isinstance(what, str) else (what, None) for what in observed]
    gathered = {c: Gathered(kind, text) for c, (text, kind) in enumerate(found) if kind is not None}
    return [text for text, _ in found], gathered


def _check_expression(kind: str, of: object) -> None:
    if not isinstance(of, str) or not of.strip():
        raise argument_error(kind, of, "an expression of the states, such as 'x1'")
