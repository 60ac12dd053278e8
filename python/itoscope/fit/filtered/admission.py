"""What a recording must have before a filter looks at it: motion in every channel, sizes in range, tied states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import ArgumentError, DataError, argument_error
from itoscope.fit.channels import FEWEST, check_moves
from itoscope.fit.jumps import shared_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Level
    from itoscope.fit.question import Question

__all__ = ["check_channels", "check_noise", "check_steps_followed", "check_tied"]

LARGEST, SMALLEST = 1e100, 1e-100
"""Sizes outside of which fourth powers, or the products of a filter, leave the range of floating point."""


def check_noise(noise: Level, column: str) -> None:
    """Raise `ArgumentError` for a given level of the noise whose square a filter cannot compute with."""
    if not isinstance(noise, str) and noise > LARGEST:
        raise argument_error(
            f"measurement_noise of {column}", noise, f"at most {LARGEST:g}; give the data in a larger unit"
        )


def check_channels(paths: Sequence[Array], names: Sequence[str]) -> None:
    """Whether every channel moves, and in sizes that can be computed with.

    Raises
    ------
    DataError
        Naming the channel, what is the matter and what to do.
    """
    for c, name in enumerate(names):
        values = [y[np.isfinite(y[:, c]), c] for y in paths]
        together = np.concatenate(values)
        if len(together) < FEWEST:
            raise DataError(
                f"{name} has {len(together)} samples that are not NaN: a filter needs at least {FEWEST}"
            )
        largest = float(np.max(np.abs(together)))
        if largest > LARGEST:
            raise DataError(
                f"{name} reaches {largest:.3g}, whose squares leave the range of floating point: give it in a larger "
                "unit"
            )
        check_moves(name, values, SMALLEST)


def check_steps_followed(question: Question) -> None:
    """Raise `ArgumentError` for what a filter does not follow with a law of steps."""
    laws, states = question.step_laws, question.states
    if not laws:
        return
    asked = {states[row]: law for row, law in laws.items()}
    noisy = [states[i] for i, j in question.pairs if i == j]
    if len(shared_steps(laws, question.pairs)) > 1 or len(laws) < len(noisy):
        rows = ", ".join(noisy)
        allowed = (
            f"where the filter is used one law of all rows with noise, {rows}, whose covariance is sought"
        )
        raise argument_error("diffusion_law", asked, allowed)
    if not question.constant_pairs.issuperset(question.pairs):
        allowed = f"'constant' beside diffusion_law={asked!r} where the filter is used"
        raise argument_error("diffusion", question.options.diffusion, allowed)
    slow = [question.data.names[c] for c, kind in question.offsets.items() if kind == "slow"]
    windows = [question.data.names[c] for c in question.gathered]
    beside: dict[str, tuple[object, bool]] = {
        "known_diffusion": (None, bool(question.given.noise)),
        "noise_law": ("normal", bool(question.laws)),
        "forcing": ("white", bool(question.shapers or question.memories)),
        "offset": ("'constant' or none", bool(slow)),
        "observed": (f"a reading of the moment, not over a time, for {', '.join(windows)}", bool(windows)),
        "symmetry": (None, question.orbits is not None),
    }
    for name, (wanted, there) in beside.items():
        if there:
            allowed = f"{wanted} beside diffusion_law={asked!r} where the filter is used"
            raise argument_error(name, getattr(question.options, name), allowed)


def check_tied(
    states: Sequence[str],
    observation: Array,
    known: Mapping[str, str],
    backend: Backend,
    at: Array,
    inputs: Sequence[str] = (),
) -> None:
    """Whether every state is shown by a column, or drives one that is through given rows of the drift.

    Parameters
    ----------
    states : sequence of m str
    observation : (q, m) array
    known : mapping of str to str
        The given rows.
    backend : Backend
    at : (m,) array
        Where the slopes of the given rows are read, and near it.
    inputs : sequence of str
        What else the given rows may contain.

    Raises
    ------
    ArgumentError
        For a state of which the recording says nothing but what its candidate terms would have it be, up to a scale.
    """
    tied = {state for i, state in enumerate(states) if np.any(observation[:, i])}
    program = backend.compile(list(known.values()), [*states, *inputs]) if known else None
    places = np.pad(at, (0, len(inputs))) + _around(len(states) + len(inputs))
    slopes = (
        None if program is None else np.any(program.gradient(np.ascontiguousarray(places)) != 0.0, axis=0)
    )
    for _ in states:
        for r, row in enumerate(known):
            if slopes is not None and row in tied:
                tied |= {state for i, state in enumerate(states) if slopes[r, i]}
    loose = [state for state in states if state not in tied]
    if loose:
        raise ArgumentError(
            f"states: {loose[0]!r} is tied to no sensor: no column shows it, and no given row of a state that one "
            f"shows has it; give such a row, for instance known_drift={{{sorted(tied)[0]!r}: {loose[0]!r}}}"
        )


def _around(n: int) -> Array:
    """A place and its neighbours in every direction, `(1 + 2 n, n)`."""
    around: Array = np.vstack([np.zeros(n), np.eye(n), -0.7 * np.eye(n)])
    return around
