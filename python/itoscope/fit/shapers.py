"""Forces with a memory: a hidden state, or two, that white noise drives and that drives a row in its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from itoscope.common import checks
from itoscope.common.types import Forcing
from itoscope.errors import argument_error
from itoscope.expressions.kinks import distinct
from itoscope.posterior.said import Said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.given import Given
    from itoscope.library.bound import BoundLibrary

__all__ = [
    "Shaper",
    "check_forcing",
    "extended",
    "forced",
    "said_of_forces",
    "shapers_of",
    "starts_of",
    "times_of",
    "words_of",
]

WORDS: tuple[Forcing, ...] = get_args(Forcing)
MEMORY: Forcing = "memory"
STARTS = 6
"""Correlation times, or half periods, from which the rates of a force are started."""
SHORTEST, LONGEST = 0.5, 0.05
"""The shortest of them in steps, and the longest as a share of the recording."""
FASTEST = 3.0
"""Rates of a force are at most so many a step."""
DAMPED = 0.5
"""Damping ratio at which a peaked force is started."""


@dataclass(frozen=True)
class Shaper:
    """A force on a row: ``dF = -F / tau dt + s dB``, or of second order ``dF = R dt, dR = (-w^2 F - c R) dt + s dB``.

    Attributes
    ----------
    row : str
        The forced row.
    kind : {"coloured", "peaked"}
    force : str
        The hidden state.
    rate : str or None
        Its rate, of a peaked one.
    """

    row: str
    kind: Forcing
    force: str
    rate: str | None = None

    @property
    def states(self) -> tuple[str, ...]:
        """The hidden states."""
        return (self.force,) if self.rate is None else (self.force, self.rate)

    @property
    def driven(self) -> str:
        """The row that carries the noise, and has all `states` as its terms."""
        return self.rate or self.force

    def bounds(self, step: float, longest: float) -> dict[str, tuple[float, float]]:
        """Between which the coefficients of the driven row are: times from a third of a step to the recording."""
        fast, slow = FASTEST / step, 1.0 / longest
        if self.rate is None:
            return {self.force: (-fast, -slow)}
        return {self.force: (-(fast**2), -(slow**2)), self.rate: (-2.0 * fast, -slow)}


def check_forcing(forcing: Any) -> None:
    """Raise `ArgumentError` for what is neither one of `WORDS` nor a mapping of rows to them."""
    if not isinstance(forcing, Mapping):
        _kind("forcing", forcing)
        return
    for row, word in forcing.items():
        _kind(f"forcing[{row!r}]", word)


def _kind(argument: str, word: Any) -> tuple[Forcing, int]:
    """A kind of force and how many there are: `"memory:2"` and `("memory", 2)` are two."""
    if isinstance(word, (tuple, list)) and len(word) == 2 and isinstance(word[0], str) and word[0] == MEMORY:
        return MEMORY, checks.count(argument, word[1])
    if isinstance(word, str) and word.startswith(f"{MEMORY}:") and word.partition(":")[2].isdecimal():
        return MEMORY, int(word.partition(":")[2])
    return checks.choice(argument, word, WORDS), 1


def words_of(forcing: Any, sought: Sequence[str]) -> dict[str, tuple[Forcing, int]]:
    """The kind of force on each row that is named, and how many there are.

    Raises
    ------
    ArgumentError
        For a row that is not sought.
    """
    words = dict(forcing) if isinstance(forcing, Mapping) else dict.fromkeys(sought, forcing)
    for row in words:
        if row not in sought:
            raise argument_error("forcing", row, f"a row that is sought: {', '.join(sought)}")
    return {row: _kind("forcing", word) for row, word in words.items()}


def shapers_of(forcing: Any, sought: Sequence[str], taken: Sequence[str]) -> tuple[Shaper, ...]:
    """The coloured and peaked forces of the rows that are sought, with names that are not `taken`."""
    words = words_of(forcing, sought)

    def free(name: str) -> str:
        return free(f"{name}_") if name in taken else name

    found = []
    for row in sought:
        word, _ = words.get(row, ("white", 1))
        if word not in ("white", MEMORY):
            rate = free(f"rate_of_force_{row}") if word == "peaked" else None
            found.append(Shaper(row, word, free(f"force_{row}"), rate))
    return tuple(found)


def forced(given: Given, shapers: Sequence[Shaper]) -> Given:
    """What is given, with the forces as parts of their rows."""
    drift, parts = dict(given.drift), dict(given.parts)
    for shaper in shapers:
        known = parts.get(shaper.row, "")
        parts[shaper.row] = f"{known} + {shaper.force}" if known else shaper.force
        if shaper.rate is not None:
            drift[shaper.force] = shaper.rate
    return replace(given, drift=drift, parts=parts)


def extended(library: BoundLibrary, states: Sequence[str], texts: Sequence[str] = ()) -> BoundLibrary:
    """A library over more states, of which it has no terms but those of `texts`."""
    inputs = [*states, *library.inputs[len(library.states) :]]
    names, expressions = list(library.names), list(library.expressions)
    for text in dict.fromkeys(texts):
        _, where = distinct([*expressions, text], inputs)
        if where[-1] not in where[:-1]:
            names.append(text)
            expressions.append(text)
    return replace(library, states=list(states), inputs=inputs, names=names, expressions=expressions)


def said_of_forces(shapers: Sequence[Shaper], library: BoundLibrary, data: Trajectories) -> dict[str, Said]:
    """What is known of the rows that noise drives: their terms, and that these lead back."""
    if not shapers:
        return {}
    step, longest = times_of(data)
    return {
        shaper.driven: Said(
            excluded=frozenset(library.names).difference(shaper.states),
            included=frozenset(shaper.states),
            bounds=shaper.bounds(step, longest),
        )
        for shaper in shapers
    }


def starts_of(shapers: Sequence[Shaper], data: Trajectories) -> list[dict[tuple[str, str], float]]:
    """Coefficients `(row, term)` from which the search starts beside none at all."""
    if not shapers:
        return []
    step, longest = times_of(data)
    times = np.geomspace(SHORTEST * step, max(LONGEST * longest, 2 * SHORTEST * step), STARTS)
    return [
        {key: value for one in shapers for key, value in _start(one, time).items()} for time in times.tolist()
    ]


def _start(shaper: Shaper, time: float) -> dict[tuple[str, str], float]:
    if shaper.rate is None:
        return {(shaper.force, shaper.force): -1.0 / time}
    omega = 2.0 * math.pi / (2.0 * time)
    return {(shaper.rate, shaper.force): -(omega**2), (shaper.rate, shaper.rate): -2.0 * DAMPED * omega}


def times_of(data: Trajectories) -> tuple[float, float]:
    """The median step of a recording, and the duration of its longest path."""
    step = float(np.median(np.concatenate([np.diff(stamps) for stamps in data.times])))
    return step, max(float(stamps[-1] - stamps[0]) for stamps in data.times)
