"""How far the samples of a recording are apart, and the longest step that the filter predicts in one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.sensors.angles import pieces_of

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.question import Question

__all__ = ["gaps_of", "longest_step"]

LONG_STEP = 1.001
"""A step longer than this share of the usual one is predicted in several pieces."""


def gaps_of(data: Trajectories) -> Array:
    """Times between the samples of all paths."""
    return np.concatenate(
        [np.full(len(x) - 1, t) if np.ndim(t) == 0 else np.diff(t) for x, t in zip(data.paths, data.steps())]
    )


def longest_step(question: Question, gaps: Array) -> float:
    """The longest step in one piece: a usual one, or what angles that turn fast leave of it."""
    states, drift = list(question.states), question.known_drift
    rates = {states.index(x): states.index(v) for x, v in drift.items() if v in states}
    pieces = (
        pieces_of(question.data, question.observation, question.periods, rates) if question.periods else 1
    )
    return LONG_STEP * float(np.median(gaps)) / pieces
