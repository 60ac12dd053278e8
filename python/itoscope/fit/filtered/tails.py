"""What shapes the laws of noise that is not normal: tried over the whole range, and held against normal noise."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from itoscope.fit.filtered.likelihood import maximise
from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.fit.filtered.likelihood import Maximum
    from itoscope.fit.filtered.recording import Recording
    from itoscope.fit.filtered.state import State

__all__ = ["START", "gain_over", "over_normal", "tailed"]

DEGREES = (0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 200.0)
"""Degrees of freedom that are tried; between them the likelihood is climbed at the end."""
SHARES, WIDTHS = (1e-3, 4e-3, 0.016, 0.064, 0.2), (3.0, 6.0, 12.0, 25.0, 50.0)
"""Shares and widths of outliers that are tried, all with all."""
TRIALS = {1: tuple((1.0 / nu,) for nu in DEGREES), 2: tuple(product(SHARES, WIDTHS))}
FIRST_DEGREES, FIRST_SHARE, FIRST_WIDTH = 4.0, 0.02, 10.0
"""Laws with which the search begins."""
START = {"student": (1.0 / FIRST_DEGREES,), "outliers": (FIRST_SHARE, FIRST_WIDTH)}
TURNS, SWEEPS = 3, 3
"""How often they are tried, and scoring steps of Gamma and the noise after each time."""


def tailed(recording: Recording, state: State) -> State:
    """The model with the likeliest law of each noise that is not normal, Gamma and the noise beside them."""
    heavy = [c for c, law in enumerate(recording.tails) if law]
    model, height = state.model, state.loglik
    for _ in range(TURNS if heavy else 0):
        before = model.tails
        for c in heavy:
            trials = [
                replace(model, tails=(*model.tails[:c], law, *model.tails[c + 1 :]))
                for law in TRIALS[len(recording.tails[c])]
            ]
            best = max((model, *trials), key=recording.loglik)
            model, height = maximise_noise(recording, best, SWEEPS)
        if model.tails == before:
            break
    return state.at(model, height)


def over_normal(recording: Recording, maximum: Maximum) -> float:
    """The log Bayes factor of the laws of noise against normal noise, by Schwarz' approximation.

    The gain of the likelihood, Gamma and noise level at their best for each, less half the logarithm of the number of
    samples for each number that shapes a law.
    """
    normal = replace(recording, tails=())
    model, _ = maximise_noise(normal, replace(maximum.model, tails=()), SWEEPS * len(TRIALS))
    return gain_over(recording, maximum, maximise(normal, model, final=False), maximum.model.tails)


def gain_over(
    recording: Recording, maximum: Maximum, normal: Maximum, laws: Sequence[tuple[float, ...]]
) -> float:
    """The log Bayes factor of some laws by Schwarz' approximation, from the maximum without these."""
    numbers = sum(map(len, laws))
    return maximum.loglik - normal.loglik - 0.5 * numbers * math.log(max(recording.samples, 2))
