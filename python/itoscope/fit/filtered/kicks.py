"""Steps of unknown size behind the filter: their law, tried over its whole range."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from itoscope.fit.filtered.recording import Recording
    from itoscope.fit.filtered.state import State

__all__ = ["START", "SWEEPS", "kicked"]

DEGREES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 200.0)
"""Degrees of freedom that are tried; between them the likelihood is climbed at the end."""
SHARES, WIDTHS = (1e-3, 4e-3, 0.016, 0.064, 0.2), (3.0, 6.0, 12.0, 25.0, 50.0)
"""Shares and widths of jumps that are tried, all with all."""
TRIALS = {1: tuple((1.0 / nu,) for nu in DEGREES), 2: tuple(product(SHARES, WIDTHS))}
START = {"student": (0.25,), "jumps": (0.02, 10.0)}
"""Laws with which the search begins."""
TURNS, SWEEPS = 3, 3
"""How often they are tried, and scoring steps of Gamma and the noise after each time."""


def kicked(recording: Recording, state: State) -> State:
    """The model with the likeliest law of steps, Gamma and the noise beside it."""
    model, height = state.model, state.loglik
    for _ in range(TURNS if recording.kicks else 0):
        before = model.kicks
        trials = [replace(model, kicks=law) for law in TRIALS[len(recording.kicks)]]
        best = max((model, *trials), key=recording.loglik)
        model, height = maximise_noise(recording, best, SWEEPS)
        if model.kicks == before:
            break
    return state.at(model, height)
