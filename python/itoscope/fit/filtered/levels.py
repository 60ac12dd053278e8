"""Noise levels tried from scratch: a climb never leaves the corner where a variance is nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.noise import maximise_noise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.recording import Recording

__all__ = ["CUTS", "reopened"]

CUTS = (0, 1, 2, 3, 4, 6)
"""Powers of ten under its upper bound at which a noise variance is started: standard deviations over three decades."""
GAMMA_CUTS = (0, 2, 4, 6)
"""Powers of ten under its upper bound at which a Gamma_ii is started that has come down to nothing."""
PART = 3_000
"""Samples on which the levels are compared: a noise variance is known there to some three parts in a hundred."""
SWEEPS = 4
"""Scoring steps from each level on the part, down by a factor of ten each at most."""
WORTH = 0.5
"""Gain of log-likelihood on the part from which the climb from another level is done again on the whole recording."""
NOTHING = 1e-5
"""Share of its upper bound under which a variance counts as nothing."""


def reopened(
    recording: Recording,
    model: Model,
    loglik: float,
    noise: Array,
    gamma: Array,
    *,
    apart: bool = True,
) -> tuple[Model, float]:
    """The model with its noise variances started at other levels, where a climb from there ends higher.

    All channels together at each level first, then each alone that came down to nothing, and every such Gamma_ii.
    Compared on a part of a long recording.

    Parameters
    ----------
    recording : Recording
    model : Model
    loglik : float
        Its log-likelihood.
    noise, gamma : (q,) and (m,) array
        Upper bounds of the noise variances and of Gamma_ii.
    apart : bool
        Whether each channel is tried alone too.

    Returns
    -------
    Model, float
        Never of a lower likelihood.
    """
    part = recording.part(PART)
    start = maximise_noise(part, model, SWEEPS)
    best = start
    for family in (_together, _channels, _drives) if apart else (_together,):
        for trial in family(recording, best[0], noise, gamma):
            climbed = maximise_noise(part, trial, SWEEPS)
            if climbed[1] > best[1] or np.isnan(best[1]):
                best = climbed
    if not best[1] > start[1] + WORTH:
        return model, loglik
    top = maximise_noise(recording, best[0], SWEEPS)
    return top if top[1] > loglik else (model, loglik)


def _together(recording: Recording, model: Model, noise: Array, gamma: Array) -> Iterator[Model]:
    """All free channels at each level."""
    if recording.free_noise.any():
        for cut in CUTS:
            yield replace(model, noise=np.where(recording.free_noise, noise * 10.0**-cut, model.noise))


def _channels(recording: Recording, model: Model, noise: Array, gamma: Array) -> Iterator[Model]:
    """Each free channel at each level that has come down to nothing, where there are several."""
    free = np.flatnonzero(recording.free_noise)
    small = np.flatnonzero(recording.free_noise & (model.noise < NOTHING * noise))
    for channel in small if len(free) > 1 else ():
        for cut in CUTS:
            levels = model.noise.copy()
            levels[channel] = noise[channel] * 10.0**-cut
            yield replace(model, noise=levels)


def _drives(recording: Recording, model: Model, noise: Array, gamma: Array) -> Iterator[Model]:
    """Each constant Gamma_ii that is nothing, at each level."""
    constant = recording.candidates.constant
    for p, (i, j) in enumerate(recording.candidates.pairs):
        alone = i == j and np.count_nonzero(model.gamma[p]) == 1 and model.gamma[p, constant] != 0.0
        if alone and model.gamma[p, constant] < NOTHING * gamma[i]:
            for cut in GAMMA_CUTS:
                table = model.gamma.copy()
                table[p, constant] = gamma[i] * 10.0**-cut
                yield replace(model, gamma=table)
