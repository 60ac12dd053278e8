"""`Steps`: standardised residuals or innovations beside what was known before each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from itoscope.backends.records import Fitted, ResidualSums, Variance
from itoscope.stats.jumps import normal_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.backends.records import Program
    from itoscope.common.types import Array, Bools, Integers, Times
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.observer import Innovations

__all__ = [
    "Steps",
    "Stretches",
    "compact",
    "of_innovations",
    "of_measured",
    "only",
    "past_of",
    "roots_of",
    "stretches",
    "sums_before",
    "sums_of",
    "sums_over",
    "time_of",
]

CHUNK = 65_536
"""Rows of a library that are held at a time."""
SOME = 5_000
"""Stretches of steps at most that are regressed on, spread over the recording; the block sums take all steps."""
LONGEST = 32
"""Steps of a stretch at most: longer ones say no more of a motion that turns within them."""
UNSTEADY = 0.5
"""Share by which a fitted variance is to change over a step that tells nothing of the variance at its start."""


Given = TypeVar("Given", Fitted, Variance)


class Stretches(NamedTuple):
    """First steps `some` `(s,)` of stretches, the steps of each `inside` `(b, s)`, and which of those it has not."""

    some: Integers
    inside: Integers
    beyond: Bools


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
        The steps at which the s stretches begin that all of the following is about.
    parts : (b, s) array
        The residuals of each, first the first ones; NaN where one is missing, or the path is over.
    time : (s,) array
        Share of the path that is over: -1 at its start, 1 at its end.
    states, past : (s, m) arrays
        What was recorded before, and its mean over the path so far.
    scale : (s,) array
        How far a unit of drift moves `residual`.
    held, outside : (s, h), (s, k) arrays
        Selected terms of the drift, and the others, which are called `outside_names`.
    force : (s,) array or None
        The fitted drift in units of `residual`; None where nobody knows it.
    noise_held, noise_outside : arrays
        The same of the variance, over the fitted variance; the others are called `noise_names`.
    steady : (b, s) array of bool
        Steps over which the fitted variance is hardly to change.
    turning : (s,) array
        Share by which it is to change over the first one, the state moving on as it did over the step before: so it
        does where what drives the variance moves smoothly. By what it did, the large residuals of a variance with noise
        of its own would be left out.
    spread : float or None
        Standard deviation of the state over that of the noise of a step.
    """

    name: str
    z: Array
    piece: Integers
    some: Integers
    parts: Array
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

    @cached_property
    def residual(self) -> Array:
        """Sum of the residuals of each stretch over the root of their number `(s,)`, NaN where there is none."""
        return roots_of(self.parts)[0]

    @property
    def places(self) -> Integers:
        """The path or stretch of the recording of each `(s,)`."""
        return self.piece[self.some]

    @cached_property
    def still(self) -> Array:
        """`parts` without the steps over which the variance is to change."""
        return np.where(self.steady, self.parts, np.nan)

    @cached_property
    def sizes(self) -> tuple[Array, Array, float]:
        """What the sizes of `still` leave of their mean, as `roots_of` has it, in their standard deviation; and which
        share of the variance one such deviation is.
        """
        size = np.abs(self.still)
        mean, spread = float(np.nanmean(size)), float(np.nanstd(size))
        return *roots_of((size - mean) / spread), 2.0 * spread / mean


def roots_of(parts: Array) -> tuple[Array, Array]:
    """Sums over each column of `parts` `(b, s)` by the root of how many there are, and these roots, NaN for none."""
    sums = parts.sum(axis=0)
    roots = np.full(len(sums), np.sqrt(len(parts)))
    holes = np.flatnonzero(np.isnan(sums))
    if len(holes):
        few = parts[:, holes]
        many = np.count_nonzero(~np.isnan(few), axis=0)
        roots[holes] = np.sqrt(np.where(many > 0, many, np.nan))
        sums[holes] = np.nansum(few, axis=0)
    return sums / roots, roots


def of_measured(
    stages: Backend, paths: Sequence[Array], times: Sequence[Times], row: int, name: str, drift: Fitted,
    variance: Variance, law: Sequence[float] = (),
) -> tuple[Steps, ResidualSums]:  # fmt: skip
    """Those of a row of measured states, and sums over all residuals; see `backends.protocol` for the arguments.

    Under a `law` that is not normal, see `stats.heavy`, they are the normal scores of the residuals.
    """
    own = compact(stages, variance)
    sums, z = stages.residual_sums(paths, times, row, compact(stages, drift), own)
    lengths = np.array([len(x) - 1 for x in paths])
    if law:
        z = normal_scores(law, z)
        sums = sums_over(z, lengths)
    piece = np.repeat(np.arange(len(paths)), lengths)
    some, inside, beyond = found = stretches(lengths)
    x = paths[0] if len(paths) == 1 else np.concatenate(paths)
    states = np.ascontiguousarray(x[some + piece[some]])  # each path has a sample more than steps
    dt, gamma, steady, turn = _variances(x, times, piece, found, own)
    parts = np.where(beyond, np.nan, z[inside])
    scale = np.sqrt(dt / gamma) * roots_of(parts)[1]
    u = drift.program.evaluate(states)
    same = list(variance.program.expressions) == list(drift.program.expressions)
    g = u if same else variance.program.evaluate(states)
    whole = np.maximum(g @ variance.coef[0], variance.floors[0])[:, None]
    chosen, kept = drift.coef[0] != 0.0, variance.coef[0] != 0.0
    moved = float(np.sqrt(np.nanmean(gamma * dt)))
    steps = Steps(
        name=name,
        z=z,
        piece=piece,
        some=some,
        parts=parts,
        time=time_of(some, lengths),
        states=states,
        past=past_of(states, piece[some]),
        scale=scale,
        held=u[:, chosen],
        outside=u[:, ~chosen],
        outside_names=tuple(np.array(drift.program.expressions)[~chosen]),
        force=(u @ drift.coef[0]) * scale,
        noise_held=g[:, kept] / whole,
        noise_outside=g[:, ~kept] / whole,
        noise_names=tuple(np.array(variance.program.expressions)[~kept]),
        steady=steady,
        turning=turn,
        spread=float(np.nanstd(states[:, row])) / moved if moved > 0.0 else math.inf,
    )
    return steps, sums


def sums_over(z: Array, lengths: Integers, lags: int = 10) -> ResidualSums:
    """Sums over standardised residuals `(n,)` of paths of so many steps, NaN where one is missing."""
    piece = np.repeat(np.arange(len(lengths)), lengths)
    there = np.isfinite(z)
    known = np.where(there, z, 0.0)
    lagged, pairs = np.zeros(lags), np.zeros(lags)
    for lag in range(1, min(lags, len(z) - 1) + 1):
        own = piece[lag:] == piece[:-lag]
        lagged[lag - 1] = (known[lag:] * known[:-lag])[own].sum()
        pairs[lag - 1] = np.count_nonzero(own & there[lag:] & there[:-lag])
    top = int(np.argmax(np.abs(known)))
    powers = np.array([np.sum(known**p) for p in (1, 2, 3, 4)])
    first = int((np.cumsum(lengths) - lengths)[piece[top]])
    count = int(np.count_nonzero(there))
    return ResidualSums(count, powers, lagged, pairs, float(abs(known[top])), int(piece[top]), top - first)


def _variances(
    x: Array, times: Sequence[Times], piece: Integers, found: Stretches, variance: Variance
) -> tuple[Array, Array, Bools, Array]:
    """Length and fitted variance at the start of each stretch `(s,)`; which of its steps are steady, and how far the
    variance is to turn over the first `(s,)`.
    """
    some, inside, _ = found
    dt = _lengths(times, piece)
    program, coef, floor = variance.program, variance.coef[0], variance.floors[0]
    if set(program.expressions) <= {"1"}:
        gamma, ahead = np.full((2, *inside.shape), max(float(coef.sum()), floor))
        raw = np.full(inside.shape, float(coef.sum()))
    else:
        at = inside + piece[inside]
        here = np.ascontiguousarray(x[at.ravel()])
        first = (inside == 0) | (piece[inside] != piece[inside - 1])
        before = np.where(first, at, at - 1).ravel()
        stride = (dt[inside] / dt[np.maximum(inside - 1, 0)]).ravel()
        moved = np.ascontiguousarray(here + (here - x[before]) * stride[:, None])
        raw = sums_of(program, coef, here).reshape(inside.shape)
        gamma = np.maximum(raw, floor)
        ahead = np.maximum(sums_of(program, coef, moved), floor).reshape(inside.shape)
    turn = ahead / gamma - 1.0
    steady = (raw > floor) & (np.abs(turn) < UNSTEADY)
    return dt[some], gamma[0], steady, np.nan_to_num(np.clip(turn[0], -UNSTEADY, UNSTEADY))


def _lengths(times: Sequence[Times], piece: Integers) -> Array:
    """The length of every step of all paths `(n,)`."""
    if all(np.ndim(t) == 0 for t in times):
        return (
            np.broadcast_to(np.float64(times[0]), piece.shape) if len(times) == 1 else np.array(times)[piece]
        )
    counts = np.bincount(piece, minlength=len(times))
    return np.concatenate([np.diff(t) if np.ndim(t) else np.full(n, float(t)) for t, n in zip(times, counts)])


def compact(stages: Backend, fitted: Given) -> Given:
    """The same with the terms that have a coefficient, compiled by themselves."""
    kept = np.flatnonzero((fitted.coef != 0.0).any(axis=0))
    kept = kept if len(kept) else np.zeros(1, dtype=int)
    program = only(stages, fitted.program, kept)
    return replace(fitted, program=program, coef=np.ascontiguousarray(fitted.coef[:, kept]))


def only(stages: Backend, program: Program, places: Integers) -> Program:
    """The expressions at these places of a program."""
    expressions = program.expressions
    return stages.compile([expressions[k] for k in places], list(program.inputs))


def of_innovations(seen: Innovations, channel: int, data: Trajectories) -> Steps:
    """Those of a channel, beside the samples before: of the model behind, nothing need be known."""
    lengths = np.bincount(seen.piece)
    some, inside, beyond = stretches(lengths)
    states = np.full((len(some), data.n_states), np.nan)
    before = seen.step[some] - 1
    for number in np.unique(seen.path[some]):
        here = (seen.path[some] == number) & (before >= 0)
        states[here] = data.paths[number][before[here]]
    none, z = np.zeros((len(some), 0)), seen.z[:, channel]
    parts = np.where(beyond, np.nan, z[inside])
    return Steps(
        name=seen.names[channel],
        z=z,
        piece=seen.piece,
        some=some,
        parts=parts,
        time=time_of(some, lengths),
        states=states,
        past=past_of(states, seen.piece[some]),
        scale=roots_of(parts)[1],
        held=none,
        outside=none,
        outside_names=(),
        force=None,
        noise_held=none,
        noise_outside=none,
        noise_names=(),
        steady=np.ones(parts.shape, dtype=bool),
        turning=np.zeros(len(some)),
        spread=None,
    )


def sums_of(program: Program, coef: Array, x: Array) -> Array:
    """The fitted sum at every row, a chunk at a time."""
    parts = [np.ascontiguousarray(x[k : k + CHUNK]) for k in range(0, len(x), CHUNK)]
    return np.concatenate([program.evaluate(part) @ coef for part in parts])


def stretches(lengths: Integers) -> Stretches:
    """Of paths of so many steps: one after the other, or spread where there are more steps than these hold."""
    every = max(1, -(-int(lengths.sum()) // SOME))
    ends = np.cumsum(lengths)
    many = -(-lengths // every)
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    some, last = np.repeat(ends - lengths, many) + every * within, np.repeat(ends - 1, many)
    few = slice(None, None, max(1, len(some) // (2 * SOME)))  # of very many short paths
    some, last = some[few], last[few]
    inside = some + np.arange(min(every, LONGEST))[:, None]
    return Stretches(some, np.minimum(inside, last), inside > last)


def _starts(piece: Integers) -> tuple[Integers, Integers]:
    """Where the piece of each step starts, and how long it is."""
    _, first, length = np.unique(piece, return_index=True, return_counts=True)
    return np.repeat(first, length), np.repeat(length, length)


def sums_before(values: Array, piece: Integers) -> Array:
    """Sums `(n,)` or `(n, m)` over the earlier members of the piece of each."""
    first, _ = _starts(piece)
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
    return np.asarray(sums[:-1] - sums[first])


def time_of(some: Integers, lengths: Integers) -> Array:
    """Share of the path of so many steps that is over at a step, -1 to 1."""
    ends = np.cumsum(lengths)
    place = np.searchsorted(ends, some, side="right")
    within = some - (ends - lengths)[place]
    return np.asarray(2.0 * within / np.maximum(lengths[place] - 1.0, 1.0) - 1.0)


def past_of(states: Array, piece: Integers) -> Array:
    """Mean of all samples of the piece up to this one `(n, m)`; NaN before the first."""
    there = np.isfinite(states)
    known = np.where(there, states, 0.0)
    many = sums_before(there.astype(float), piece) + there
    return np.where(many > 0, (sums_before(known, piece) + known) / np.maximum(many, 1.0), np.nan)
