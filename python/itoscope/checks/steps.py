"""`Steps`: standardised residuals or innovations beside what was known before each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.records import Fitted, Program, Variance
    from itoscope.common.types import Array, Bools, Integers, Times
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.observer import Innovations

__all__ = [
    "Steps",
    "of_innovations",
    "of_measured",
    "past_of",
    "some_of",
    "sums_before",
    "sums_of",
    "time_of",
]

CHUNK = 65_536
"""Rows of a library that are held at a time."""
SOME = 100_000
"""Steps at most that are regressed on, every so many of the recording; the block sums take all."""
UNSTEADY = 0.5
"""Share by which a fitted variance is to change over a step that tells nothing of the variance at its start."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Standardised residuals of one row or channel, and columns that were known before each: a right model has no
    regression of the one on the other, and any subset of steps will do.

    Attributes
    ----------
    name : str
    z : (n,) array
        All of them, NaN where one is missing.
    piece : (n,) array of int
        The path or stretch of each.
    some : array of int
        The steps that the following hold, s of them.
    time : (s,) array
        Share of the path that is over: -1 at its start, 1 at its end.
    states, past : (s, m) arrays
        What was recorded before the step, and its mean over the path so far.
    scale : (s,) array
        How far a unit of drift moves z.
    held, outside : (s, h), (s, k) arrays
        Selected terms of the drift, and the others, which are called `outside_names`.
    force : (s,) array or None
        The fitted drift in units of z; None where nobody knows it.
    noise_held, noise_outside : arrays
        The same of the variance, over the fitted variance; the others are called `noise_names`.
    steady : (s,) array of bool
        Steps over which the fitted variance is hardly to change.
    turning : (s,) array
        Share by which it is to change, the state moving on as it did over the step before: so it does where what drives
        the variance moves smoothly. By what it did, the large residuals of a variance with noise of its own would be
        left out.
    spread : float or None
        Standard deviation of the state over that of the noise of a step.
    """

    name: str
    z: Array
    piece: Integers
    some: Integers
    time: Array
    states: Array
    past: Array
    scale: Array
    held: Array
    outside: Array
    outside_names: tuple[str, ...]
    force: Array | None
    noise_held: Array
    noise_outside: Array
    noise_names: tuple[str, ...]
    steady: Bools
    turning: Array
    spread: float | None


def of_measured(
    paths: Sequence[Array], times: Sequence[Times], row: int, name: str, drift: Fitted, variance: Variance
) -> Steps:
    """Those of a row of measured states; see `backends.protocol` for the arguments."""
    z, before, scales, steady, turning, numbers = [], [], [], [], [], []
    some = some_of(sum(len(x) - 1 for x in paths))
    tables = _Tables(drift, variance, some)
    still = all(
        term == "1" for term, coef in zip(variance.program.expressions, variance.coef[0]) if coef != 0.0
    )
    for x, t in zip(paths, times):
        dt = np.diff(t) if np.ndim(t) else np.full(len(x) - 1, float(t))
        f, now = tables.take(x)
        gamma = np.maximum(now, variance.floors[0])
        turned = now[:-1] if still else sums_of(variance.program, variance.coef[0], _ahead(x[:-1], dt))
        z.append((np.diff(x[:, row]) - dt * (f[:-1] + f[1:]) / 2) / np.sqrt(gamma[:-1] * dt))
        z[-1][~(np.isfinite(x[:-1]).all(axis=1) & np.isfinite(x[1:]).all(axis=1))] = np.nan
        before.append(x[:-1])
        scales.append(np.sqrt(dt / gamma[:-1]))
        turn = np.maximum(turned, variance.floors[0]) / gamma[:-1] - 1.0
        steady.append((gamma[:-1] > variance.floors[0]) & (np.abs(turn) < UNSTEADY))
        turning.append(np.clip(turn, -UNSTEADY, UNSTEADY))
        numbers.append(np.sqrt(gamma[:-1] * dt))
    piece = np.repeat(np.arange(len(z)), [len(one) for one in z])
    states, scale = np.concatenate(before), np.concatenate(scales)[some]
    u, g = tables.columns()
    whole = np.maximum(g @ variance.coef[0], variance.floors[0])[:, None]
    chosen, kept = drift.coef[0] != 0.0, variance.coef[0] != 0.0
    moved = float(np.sqrt(np.nanmean(np.concatenate(numbers) ** 2)))
    return Steps(
        name=name,
        z=np.concatenate(z),
        piece=piece,
        some=some,
        time=time_of(piece)[some],
        states=states[some],
        past=past_of(states, piece)[some],
        scale=scale,
        held=u[:, chosen],
        outside=u[:, ~chosen],
        outside_names=tuple(np.array(drift.program.expressions)[~chosen]),
        force=(u @ drift.coef[0]) * scale,
        noise_held=g[:, kept] / whole,
        noise_outside=g[:, ~kept] / whole,
        noise_names=tuple(np.array(variance.program.expressions)[~kept]),
        steady=np.concatenate(steady)[some],
        turning=np.nan_to_num(np.concatenate(turning)[some]),
        spread=float(np.nanstd(states[:, row])) / moved if moved > 0.0 else math.inf,
    )


def of_innovations(seen: Innovations, channel: int, data: Trajectories) -> Steps:
    """Those of a channel, beside the samples before: of the model behind, nothing need be known."""
    states = np.full((len(seen.z), data.n_states), np.nan)
    for number in np.unique(seen.path):
        here = (seen.path == number) & (seen.step > 0)
        states[here] = data.paths[number][seen.step[here] - 1]
    some = some_of(len(states))
    none = np.zeros((len(some), 0))
    return Steps(
        name=seen.names[channel],
        z=seen.z[:, channel],
        piece=seen.piece,
        some=some,
        time=time_of(seen.piece)[some],
        states=states[some],
        past=past_of(states, seen.piece)[some],
        scale=np.ones(len(some)),
        held=none,
        outside=none,
        outside_names=(),
        force=None,
        noise_held=none,
        noise_outside=none,
        noise_names=(),
        steady=np.ones(len(some), dtype=bool),
        turning=np.zeros(len(some)),
        spread=None,
    )


class _Tables:
    """The terms of drift and variance along the paths, evaluated once: their sums, and the rows that are looked at."""

    def __init__(self, drift: Fitted, variance: Variance, some: Integers) -> None:
        self.drift, self.variance, self.some = drift, variance, some
        self.start = 0
        self.rows: tuple[list[Array], list[Array]] = ([], [])

    def take(self, x: Array) -> tuple[Array, Array]:
        """Fitted drift and variance at every sample of the next path; the last one begins no step."""
        steps = len(x) - 1
        here = self.some[(self.some >= self.start) & (self.some < self.start + steps)] - self.start
        sums: tuple[list[Array], list[Array]] = ([], [])
        for k in range(0, len(x), CHUNK):
            part = np.ascontiguousarray(x[k : k + CHUNK])
            wanted = here[(here >= k) & (here < k + CHUNK)] - k
            both = (
                (self.drift.program, self.drift.coef[0]),
                (self.variance.program, self.variance.coef[0]),
            )
            for kept, found, (program, coefficients) in zip(self.rows, sums, both):
                table = program.evaluate(part)
                found.append(table @ coefficients)
                kept.append(table[wanted])
        self.start += steps
        return np.concatenate(sums[0]), np.concatenate(sums[1])

    def columns(self) -> tuple[Array, Array]:
        """The terms of drift and variance `(s, K)` at the start of each step that is looked at."""
        return np.concatenate(self.rows[0]), np.concatenate(self.rows[1])


def _ahead(x: Array, dt: Array) -> Array:
    """Each sample moved on by the step before it; the first stays."""
    moved = np.zeros_like(x)
    moved[1:] = np.diff(x, axis=0) * (dt[1:] / dt[:-1])[:, None]
    return np.asarray(x + moved)


def sums_of(program: Program, coef: Array, x: Array) -> Array:
    """The fitted sum at every row, a chunk at a time."""
    parts = [np.ascontiguousarray(x[k : k + CHUNK]) for k in range(0, len(x), CHUNK)]
    return np.concatenate([program.evaluate(part) @ coef for part in parts])


def some_of(n: int) -> Integers:
    """The steps that are regressed on."""
    return np.arange(0, n, max(1, -(-n // SOME)))


def _starts(piece: Integers) -> tuple[Integers, Integers]:
    """Where the piece of each step starts, and how long it is."""
    _, first, length = np.unique(piece, return_index=True, return_counts=True)
    return np.repeat(first, length), np.repeat(length, length)


def sums_before(values: Array, piece: Integers) -> Array:
    """Sums `(n,)` or `(n, m)` over the earlier members of the piece of each."""
    first, _ = _starts(piece)
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    return np.asarray(sums[:-1] - sums[first])


def time_of(piece: Integers) -> Array:
    """Share of the piece that is over, -1 to 1."""
    first, length = _starts(piece)
    return np.asarray(2.0 * (np.arange(len(piece)) - first) / np.maximum(length - 1.0, 1.0) - 1.0)


def past_of(states: Array, piece: Integers) -> Array:
    """Mean of all samples of the piece up to this one `(n, m)`; NaN before the first."""
    there = np.isfinite(states)
    known = np.where(there, states, 0.0)
    many = sums_before(there.astype(float), piece) + there
    return np.where(many > 0, (sums_before(known, piece) + known) / np.maximum(many, 1.0), np.nan)
