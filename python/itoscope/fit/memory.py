"""Friction with a memory: hidden friction forces, each with the noise that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import argument_error
from itoscope.fit.shapers import FASTEST, LONGEST, SHORTEST, STARTS, times_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.given import Given
    from itoscope.fit.numbers import Numbers
    from itoscope.posterior.said import Said

__all__ = ["Memory", "memories_of", "numbers_of", "remembering", "without_friction"]

MOST = 3
"""Exponentials of a kernel at most."""
APART = 8.0
"""Ratio of the times from which several are started."""
COLDEST, HOTTEST = 1e-8, 1e2
"""Bounds of the temperature as shares of the mean square of the rate that samples show."""


@dataclass(frozen=True)
class Memory:
    """Friction ``-int K(t - s) v(s) ds`` on a row `v`, ``K = sum_k c_k exp(-t / tau_k)``, as hidden forces.

    ``dz_k = (-z_k / tau_k - c_k v) dt + sqrt(2 T c_k / tau_k) dB_k``, so that in rest `v` has the variance `T`.

    Attributes
    ----------
    row : str
    states : tuple of n str
        The forces `z_k`.
    amplitudes, times : tuple of n str
        Names of the numbers `c_k` and `tau_k`.
    temperature : str
        Name of `T`.
    """

    row: str
    states: tuple[str, ...]
    amplitudes: tuple[str, ...]
    times: tuple[str, ...]
    temperature: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all numbers."""
        return (*self.amplitudes, *self.times, self.temperature)


def memories_of(forcing: Any, sought: Sequence[str], taken: Sequence[str]) -> tuple[Memory, ...]:
    """The rows with such a friction, names that are not `taken`.

    Raises
    ------
    ArgumentError
        For a number of exponentials that is not 1, 2 or 3.
    """
    found = []
    for row, (kind, count) in words_of(forcing, sought).items():
        if kind != "memory":
            continue
        if not 1 <= count <= MOST:
            raise argument_error(
                f"forcing[{row!r}]", f"{kind}:{count}", f"a kernel of 1 to {MOST} exponentials"
            )
        ends = [""] if count == 1 else [str(k + 1) for k in range(count)]

        def free(name: str) -> str:
            return free(f"{name}_") if name in taken else name

        states, amplitudes, times = (
            tuple(free(f"{what}{end}_{row}") for end in ends) for what in ("friction", "c", "tau")
        )
        found.append(Memory(row, states, amplitudes, times, free(f"temperature_{row}")))
    return tuple(found)


def remembering(given: Given, memories: Sequence[Memory]) -> Given:
    """What is given, with these forces as rows of their own and parts of others."""
    drift, parts, noise = dict(given.drift), dict(given.parts), dict(given.noise)
    for memory in memories:
        known = parts.get(memory.row)
        parts[memory.row] = " + ".join([*([known] if known else []), *memory.states])
        for state, c, tau in zip(memory.states, memory.amplitudes, memory.times):
            drift[state] = f"-{state}/{tau} - {c}*{memory.row}"
            noise[state, state] = f"2*{memory.temperature}*{c}/{tau}"
    return replace(given, drift=drift, parts=parts, noise=noise)


def without_friction(
    said: Mapping[str, Said], memories: Sequence[Memory], terms: Sequence[str]
) -> dict[str, Said]:
    """What is said of rows, without the white friction that a memory takes the place of, unless it must be in."""
    found = dict(said)
    for memory in memories:
        before = found[memory.row]
        if memory.row in terms and memory.row not in before.included:
            found[memory.row] = before.without(memory.row)
    return found


def numbers_of(numbers: Numbers, memories: Sequence[Memory], given: Given, data: Trajectories) -> Numbers:
    """The numbers with those of the memories, which are started from several times."""
    for memory in memories:
        step, longest = times_of(data)
        hot = _square_rate(memory.row, given, data)
        count = len(memory.states)
        shortest = 2.0 * SHORTEST * step
        grid = np.geomspace(shortest, max(LONGEST * longest, 2.0 * shortest), STARTS)
        points = []
        for time in grid:
            times = np.minimum(time * APART ** np.arange(count), longest)
            points.append(np.array([*(1.0 / times**2 / count), *times, hot]))
        low = [*[longest**-2] * count, *[step / FASTEST] * count, COLDEST * hot]
        high = [*[(FASTEST / step) ** 2] * count, *[longest] * count, HOTTEST * hot]
        bounds = np.array(low), np.array(high)
        numbers = numbers.beside(memory.names, bounds, [np.clip(point, *bounds) for point in points])
    return numbers


def _square_rate(row: str, given: Given, data: Trajectories) -> float:
    """Mean square of a velocity: of the column, or of the rate of the column whose row it is."""
    names = list(data.names)
    if row in names:
        return _mean_square([path[:, names.index(row)] for path in data.paths])
    seen = [state for state, text in given.drift.items() if text.strip() == row and state in names]
    if not seen:
        return _mean_square([np.diff(path, axis=0) for path in data.paths])
    column = names.index(seen[0])
    rates = [np.diff(x[:, column]) / np.diff(stamps) for x, stamps in zip(data.paths, data.times)]
    return _mean_square(rates)


def _mean_square(values: Sequence[Array]) -> float:
    return max(float(np.nanmean(np.concatenate([one.ravel() for one in values]) ** 2)), np.finfo(float).tiny)
