"""`Numbers`: what is not known of expressions that are given, named in them, to be found with the equation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.errors import argument_error
from itoscope.expressions.grammar import CONSTANTS, renamed
from itoscope.expressions.graph import FUNCTIONS
from itoscope.expressions.slopes import multiples, slope
from itoscope.library.bound import TIME, names_in
from itoscope.posterior.said import Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itoscope.common.types import Array, Bools
    from itoscope.library.bound import BoundLibrary

__all__ = ["Numbers", "beside_numbers", "check_parameters"]

WANTED = "a start, as 1.0, or (low, start, high), as (0.01, 0.1, 10.0), None for no bound"
STARTS = 6
"""Points beside the one given from which the numbers are started."""
FACTOR = 4.0
"""Without bounds these lie within so many times the start."""
GENERIC = 0.0137
"""Share of it by which a number that stands for any is moved: no term vanishes or becomes another at the sum."""


def check_parameters(parameters: Any) -> None:
    """Raise `ArgumentError` unless parameters are given as `{"a": 1.0, "tau": (0.01, 0.1, 10.0)}`."""
    if parameters is None:
        return
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise argument_error("parameters", parameters, "names and starts, as {'a': 1.0}")
    for name, value in parameters.items():
        _checked(name, value)


def _checked(name: str, value: Any) -> tuple[float, float, float]:
    """Low, start and high, infinite where there is no bound."""
    argument = f"parameters[{name!r}]"
    if not checks.is_list(value):
        return -math.inf, checks.finite(argument, value, WANTED), math.inf
    if len(value) != 3:
        raise argument_error(argument, value, WANTED)
    low, start, high = value
    low = -math.inf if low is None else checks.finite(argument, low, WANTED)
    high = math.inf if high is None else checks.finite(argument, high, WANTED)
    start = checks.finite(argument, start, WANTED)
    if not (low <= start <= high and low < high):
        raise argument_error(argument, value, f"{WANTED}, in this order")
    return low, start, high


@dataclass(frozen=True, eq=False)
class Numbers:
    """Named numbers with starts and bounds.

    Attributes
    ----------
    names : tuple of P str
    start, low, high : (P,) array
    asked : dict
        As they were given.
    points : tuple of (Q,) array
        Starts of the last Q ones, which came beside those that were asked for.
    """

    names: tuple[str, ...] = ()
    start: Array = field(default_factory=lambda: np.zeros(0))
    low: Array = field(default_factory=lambda: np.zeros(0))
    high: Array = field(default_factory=lambda: np.zeros(0))
    asked: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[Array, ...] = ()

    @classmethod
    def of(cls, parameters: Mapping[str, Any] | None, taken: Sequence[str], texts: Iterable[str]) -> Numbers:
        """Check names and values.

        Parameters
        ----------
        parameters : mapping of str, optional
            Start, or (low, start, high), of each name.
        taken : sequence of str
            Names of states and inputs.
        texts : iterable of str
            The expressions that may use them.

        Raises
        ------
        ArgumentError
            For a name that is taken, or that no expression uses.
        """
        if not parameters:
            return cls()
        used = set().union(*(names_in(text) for text in texts))
        for name in checks.names(parameters, "parameters"):
            if name in (*taken, TIME, *FUNCTIONS, *CONSTANTS):
                raise argument_error(
                    "parameters", name, "another name than those of states, inputs, the time and functions"
                )
            if name not in used:
                raise argument_error("parameters", name, "a name that known_drift or known_diffusion uses")
        low, start, high = np.array([_checked(name, value) for name, value in parameters.items()]).T
        return cls(tuple(parameters), start, low, high, dict(parameters))

    def __len__(self) -> int:
        return len(self.names)

    def filled(self, text: str, values: Array) -> str:
        """An expression with numbers for the names."""
        return renamed(text, {name: f"({exact(value)})" for name, value in zip(self.names, values)})

    @property
    def generic(self) -> Array:
        """Values for which no expression has another form than for all others."""
        moved = self.start + GENERIC * np.where(self.start == 0.0, 1.0, self.start)
        return np.where(moved > self.high, self.start - GENERIC * np.abs(self.start), moved)

    @property
    def positive(self) -> Bools:
        """Which ones can only be positive."""
        return self.low >= 0.0

    @property
    def sizes(self) -> Array:
        """About how large each is, by its start or else its bounds."""
        span = np.where(np.isfinite(self.high - self.low), self.high - self.low, 1.0)
        return np.where(self.start != 0.0, np.abs(self.start), span)

    def within(self, values: Array) -> Array:
        """Values brought between their bounds."""
        return np.clip(values, self.low, self.high)

    def beside(self, names: Sequence[str], bounds: tuple[Array, Array], points: Sequence[Array]) -> Numbers:
        """The same with more numbers, between bounds, which are started from points of their own."""
        before = self.points or (self.start[:0],)
        every = [np.concatenate([before[k % len(before)], point]) for k, point in enumerate(points)]
        return replace(
            self,
            names=(*self.names, *names),
            start=np.concatenate([self.start, points[0]]),
            low=np.concatenate([self.low, bounds[0]]),
            high=np.concatenate([self.high, bounds[1]]),
            points=tuple(every),
        )

    def starts(self) -> list[Array]:
        """Points from which they are started: the one given, then some that fill the bounds evenly.

        Where the lower bound is positive they are even on the scale of the logarithm. Without bounds they lie within
        `FACTOR` times the start; a start of zero stays.
        """
        if not self.names:
            return [self.start]
        if self.points:
            asked = self.start[: len(self) - len(self.points[0])]
            return [self.start, *(np.concatenate([asked, point]) for point in self.points[1:])]
        root = 1.0  # of x^(P + 1) = x + 1: its powers fill the cube of any dimension evenly
        for _ in range(64):
            root = (1.0 + root) ** (1.0 / (len(self) + 1))
        steps = root ** -np.arange(1.0, len(self) + 1)
        found = [self.start]
        for k in range(1, STARTS + 1):
            share = np.mod(0.5 + k * steps, 1.0)
            found.append(np.array([self._between(a, float(u)) for a, u in enumerate(share)]))
        return found

    def _between(self, a: int, share: float) -> float:
        low, start, high = float(self.low[a]), float(self.start[a]), float(self.high[a])
        if math.isfinite(low) and math.isfinite(high):
            return low * math.pow(high / low, share) if low > 0.0 else low + share * (high - low)
        return min(max(start * math.pow(FACTOR, 2.0 * share - 1.0), low), high)

    def at(self, start: Array) -> Numbers:
        """The same with another start."""
        return replace(self, start=start)


def beside_numbers(
    said: Mapping[str, Said],
    parts: Mapping[str, str],
    numbers: Numbers,
    library: BoundLibrary,
    names: Sequence[str],
) -> dict[str, Said]:
    """What is said of rows, without the terms that a number of their known parts is the coefficient of."""
    found = dict(said)
    for row, text in parts.items() if numbers else ():
        slopes = [numbers.filled(slope(text, names, name), numbers.generic) for name in numbers.names]
        own = {library.names[k] for one in slopes for k in multiples(one, library.expressions, names)}
        before = found.get(row, Said())
        found[row] = before.without(*(own - before.included))
    return found
