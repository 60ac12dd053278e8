"""The posterior of moments as a question asks for it: short chains while terms are chosen, full ones at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from itoscope.common.progress import Reporter
from itoscope.fit.question import Question
from itoscope.fit.streams import Stream
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments

__all__ = ["Sample", "sampler_of"]

#: `sample(moments, final, stream)`: the posterior of moments, by full chains if `final`, on a stream of its own.
Sample = Callable[[Moments, bool, Stream], Equation]

ROUND_CHAINS, ROUND_SAMPLES, ROUND_BURN = 2, 400, 200
"""Chains, draws and draws before them of the rounds that only choose terms."""


def sampler_of(question: Question, *, rounds_told: bool = True) -> Sample:
    """What samples the posterior of moments.

    Parameters
    ----------
    question : Question
    rounds_told : bool
        Whether the reporter hears of the short chains too. Not where it hears of the filter: bars do not nest.
    """
    asked = question.options
    exact = asked.sampler == "exact"

    def sample(moments: Moments, final: bool, stream: Stream) -> Equation:
        short = not final and not exact
        n_chains, n_samples, n_burn = (
            (ROUND_CHAINS, ROUND_SAMPLES, ROUND_BURN)
            if short
            else (asked.n_chains, asked.n_samples, asked.n_burn)
        )
        draws = n_samples if isinstance(n_samples, (int, np.integer)) else 0
        total = None if exact or not draws else n_chains * (draws + n_burn)
        label = f"{'posterior' if final else 'choosing terms'}, {stream.name}"
        reporter = question.reporter if final or rounds_told else Reporter()
        with reporter.stage(label, total, "models" if exact else "sweeps") as count:
            return moments.sample(
                question.prior,
                sampler=asked.sampler,
                n_chains=n_chains,
                n_samples=n_samples,
                n_burn=n_burn,
                threshold=asked.threshold,
                seed=stream.seed(question.seed),
                backend=asked.backend,
                progress=count,
            )

    return sample
