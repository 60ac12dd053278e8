"""The climb over Gamma and the measurement noise alone, the drift held: what follows every change of the drift."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.fit.filtered.climb import Ascent, Pace, climb, moved
from itoscope.stats.linked import FURTHEST

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Columns, Model
    from itoscope.fit.filtered.recording import Recording
    from itoscope.stats.quadratic import Quadratic

__all__ = ["maximise_noise"]

ENOUGH = 0.1
"""Gain of log-likelihood that is not worth a step between two rounds: far below what decides about a term."""
NEARLY = 1.0
"""Gain of a whole step after which the next would gain less than `ENOUGH`, scoring being nearly Newton's method."""
DIFFERENCE = 1e-3
"""Share of a variance by which it is moved for a score: the error of the central difference is a millionth."""
TENFOLD = 2.3
"""Logarithm of the largest factor by which a variance falls in one step."""
LINK_STEP = 1.0
"""Most by which a link of two noises moves in one step: from none to a correlation of 0.76."""


def maximise_noise(
    recording: Recording,
    model: Model,
    sweeps: int = 8,
    loglik: float | None = None,
    *,
    tries: int = 8,
) -> tuple[Model, float]:
    """Climb the likelihood over the Gamma coefficients in the model, the free noise variances and links by scoring.

    A Gamma_ii of one term and the noise variances stay positive and fall by a factor. Named numbers that move given
    elements of Gamma are among them.

    Parameters
    ----------
    recording : Recording
    model : Model
    sweeps : int
        Scoring steps at most.
    loglik : float, optional
        That of `model`, if it is known.
    tries : int
        See `climb.Pace`.

    Returns
    -------
    Model, float
        The model and its log-likelihood.
    """
    columns, free, pairs = model.gamma_columns(), recording.free_noise, recording.candidates.pairs
    index = tuple(np.array(columns, dtype=int).reshape(-1, 2).T)
    n, named = len(columns), recording.candidates.named
    own = named.moving("gamma")
    end = n + len(own)
    alone = [pairs[p][0] == pairs[p][1] and np.count_nonzero(model.gamma[p]) == 1 for p, _ in columns]
    linked, last = recording.links.free, end + int(free.sum())
    positive = np.concatenate(
        [
            np.array(alone, dtype=bool),
            named.numbers.positive[own],
            np.ones(int(free.sum()), dtype=bool),
            np.zeros(len(linked), dtype=bool),
        ]
    )

    def way(model: Model) -> Ascent:
        now = np.concatenate([model.gamma[index], model.numbers[own], model.noise[free], model.links[linked]])
        step, cov, sums = _step(recording, model, columns, now)
        step[last:] = np.clip(step[last:], -LINK_STEP, LINK_STEP)

        def at(share: float) -> Model:
            values = moved(now, step * share, positive, TENFOLD)
            gamma, noise, numbers = model.gamma.copy(), model.noise.copy(), model.numbers.copy()
            links = model.links.copy()
            gamma[index], numbers[own], noise[free] = values[:n], values[n:end], values[end:last]
            links[linked] = np.clip(values[last:], -FURTHEST, FURTHEST)
            return replace(
                model, gamma=gamma, noise=noise, numbers=named.numbers.within(numbers), links=links
            )

        return Ascent(at, 0.5 * float(step @ sums.gram @ step), cov)

    pace = Pace(sweeps, tries, ENOUGH, whole=NEARLY, part=ENOUGH)
    start = recording.loglik(model) if loglik is None else loglik
    top = climb(recording.loglik, way, (model, start), pace)
    return top.model, top.loglik


def _step(recording: Recording, model: Model, columns: Columns, now: Array) -> tuple[Array, Array, Quadratic]:
    """A scoring step, the covariance, and the sums; of laws with tails, which no regression describes, by scores."""
    numbers = recording.candidates.named.numbers
    own, n = recording.candidates.named.moving("gamma"), len(columns)
    if not model.heavy:
        sums = recording.noise_moments(model, columns, numbers=True)
        aim, cov = sums.solve()
        step: Array = aim - now
        step[n : n + len(own)] = aim[n : n + len(own)]  # of numbers the regression says the change
        return step, cov, sums
    parameters = [
        *(Parameter("gamma", p, k) for p, k in columns),
        *(Parameter("number", int(a)) for a in own),
        *(Parameter("noise", int(c)) for c in np.flatnonzero(recording.free_noise)),
    ]
    sizes = np.abs(now)
    sizes[n : n + len(own)] = np.maximum(sizes[n : n + len(own)], numbers.sizes[own])
    sums = recording.information(model, parameters, (DIFFERENCE * sizes).tolist())
    step, cov = sums.solve()
    return step, cov, sums
