"""How heavy the tails of the noise are: degrees of freedom tried over their whole range."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from itoscope.fit.filtered.recording import Recording
    from itoscope.fit.filtered.state import State

__all__ = ["tailed"]

DEGREES = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 200.0)
"""Degrees of freedom that are tried; between them the likelihood is climbed at the end."""
TURNS, SWEEPS = 3, 3
"""How often they are tried, and scoring steps of Gamma and the noise after each time."""


def tailed(recording: Recording, state: State) -> State:
    """The model with the likeliest degrees of freedom of each noise with a tail, Gamma and the noise beside them."""
    heavy = [c for c, tail in enumerate(recording.tails) if tail > 0.0]
    model, height = state.model, state.loglik
    for _ in range(TURNS if heavy else 0):
        before = model.tails
        for c in heavy:
            trials = [
                replace(model, tails=(*model.tails[:c], 1.0 / nu, *model.tails[c + 1 :])) for nu in DEGREES
            ]
            best = max((model, *trials), key=recording.loglik)
            model, height = maximise_noise(recording, best, SWEEPS)
        if model.tails == before:
            break
    return state.at(model, height)
