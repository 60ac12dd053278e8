"""Kinds of sensors that show the states over a time: averages over an exposure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from itoscope.common import checks
from itoscope.errors import argument_error

__all__ = ["Average", "sensors_of", "shown"]

FULL, OPEN = "full", "average("
"""The exposure of a whole step, and how the text of an average starts."""


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


def shown(what: str) -> tuple[str, bool]:
    """The expression that a sensor shows, and whether it shows its average: of `average(x1)` it is `x1`."""
    text = what.strip()
    if text.startswith(OPEN) and text.endswith(")"):
        return text[len(OPEN) : -1].strip(), True
    return what, False


def sensors_of(observed: list[str] | str | None) -> tuple[list[str] | str | None, dict[int, str]]:
    """What columns show in a moment, and those that show an average, by number."""
    if observed is None or not checks.is_list(observed):
        return observed, {}
    found = [shown(what) if isinstance(what, str) else (what, False) for what in observed]
    return [text for text, _ in found], {c: text for c, (text, mean) in enumerate(found) if mean}


def _check_expression(kind: str, of: object) -> None:
    if not isinstance(of, str) or not of.strip():
        raise argument_error(kind, of, "an expression of the states, such as 'x1'")
