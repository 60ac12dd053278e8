"""Kinds of sensors that show the states over a time: averages over an exposure, accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.data.timeline import STEP, Window
from itoscope.errors import ArgumentError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Acceleration", "Average", "Gathered", "sensors_of", "shown"]

FULL: Literal["full"] = "full"
"""The exposure of a whole step."""
Kind = Literal["average", "acceleration"]
KINDS: tuple[Kind, ...] = ("average", "acceleration")
"""What a sensor shows of an expression over a time, as a text of it starts."""


class Gathered(NamedTuple):
    """What a sensor shows over a time: the kind, of which expression, and when it looks."""

    kind: Kind
    text: str
    window: Window = STEP


@dataclass(frozen=True)
class Average:
    """A sensor that shows the average of the states over its exposure, such as a camera or a monthly mean.

    `y_n = 1/T int_{t_n - lag - T}^{t_n - lag} of(x(s)) ds + e_n`, with the exposure `T`. The filter carries the
    integral along as a state, `dz = of(x) dt`, which starts at zero with each exposure. A sample whose exposure starts
    before the recording is not used.

    Parameters
    ----------
    of : str
        A linear expression of the states.
    exposure : float or "full"
        How long, in the unit of the times; "full" is the whole step to the sample before, `T = t_n - t_{n-1}`.
    lag : float
        How long before its stamp the exposure ends.

    Raises
    ------
    ArgumentError
        For another exposure, or an expression that is no text.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.Average("x1").text
    'average(x1)'
    >>> ito.Average("x1", exposure=0.033, lag=0.01).text
    'average(x1, 0.033, lag=0.01)'
    """

    of: str
    exposure: float | Literal["full"] = FULL
    lag: float = 0.0

    def __post_init__(self) -> None:
        _check_expression("Average", self.of)
        if not _full(self.exposure):
            checks.positive(
                "exposure", self.exposure, "'full', or a positive number in the unit of the times"
            )
        checks.not_negative("lag", self.lag, "a number of at least 0 in the unit of the times")

    @property
    def text(self) -> str:
        """As a settings file and the command line have it."""
        parts = [self.of]
        parts += [] if _full(self.exposure) else [exact(float(self.exposure))]
        parts += [f"lag={exact(float(self.lag))}"] if self.lag else []
        return f"average({', '.join(parts)})"


@dataclass(frozen=True)
class Acceleration:
    """A sensor that shows the acceleration of a position: its value, or where it has none the average over the step.

    `y_n = (v(t_n) - v(t_n - T)) / T + e_n` with the velocity `v` of the expression. Where white noise drives the
    velocity its derivative has no value at a moment, an accelerometer shows an average, and `T` is the whole step to
    the sample before. Where none does, in a row without noise or under a force with a memory, it shows the drift
    `f(x(t_n))`, and `T` is a hundredth of the shortest step. The filter keeps a copy of the velocity, renewed a time
    `T` before each sample. The first sample of every path is not used.

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


def shown(what: str) -> tuple[str, Gathered | None]:
    """The expression that a sensor shows, and what of it over a time: of `average(x1)` it is the average of `x1`.

    Raises
    ------
    ArgumentError
        For words after the expression that mean nothing.
    """
    text = what.strip()
    for kind in KINDS:
        if text.startswith(f"{kind}(") and text.endswith(")"):
            of, *words = _parts(text[len(kind) + 1 : -1])
            return of, Gathered(kind, of, _window(what, words) if kind == "average" else _none(what, words))
    return what, None


def _parts(text: str) -> list[str]:
    """What stands between the commas that are in no bracket."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def _none(what: str, words: Sequence[str]) -> Window:
    if words:
        raise argument_error("observed", what, "an expression alone, as acceleration(x1)")
    return STEP


def _window(what: str, words: Sequence[str]) -> Window:
    """Exposure and lag as the words after an expression have them."""
    told: dict[str, str] = {}
    for place, word in enumerate(words):
        name, is_named, value = word.rpartition("=")
        told[name.strip() if is_named else ("exposure", "lag")[min(place, 1)]] = value.strip()
    try:
        if len(told) < len(words):
            raise ValueError
        numbers: dict[str, Any] = {
            name: value if _full(value) else float(value) for name, value in told.items()
        }
        sensor = Average("x", **numbers)
    except (TypeError, ValueError, ArgumentError):
        allowed = "an exposure and a lag in the unit of the times, as average(x1, 0.033, lag=0.01)"
        raise argument_error("observed", what, allowed) from None
    exposure = None if _full(sensor.exposure) else float(sensor.exposure)
    return Window(exposure, float(sensor.lag))


def sensors_of(observed: list[str] | str | None) -> tuple[list[str] | str | None, dict[int, Gathered]]:
    """The expressions of all columns, and the columns that show something of them over a time, by number."""
    if observed is None or not checks.is_list(observed):
        return observed, {}
    found = [shown(what) if isinstance(what, str) else (what, None) for what in observed]
    gathered = {c: what for c, (_, what) in enumerate(found) if what is not None}
    return [text for text, _ in found], gathered


def _full(exposure: object) -> bool:
    return isinstance(exposure, str) and exposure == FULL


def _check_expression(kind: str, of: object) -> None:
    if not isinstance(of, str) or not of.strip():
        raise argument_error(kind, of, "an expression of the states, such as 'x1'")
