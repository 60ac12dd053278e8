"""The posterior of moments as a question asks for it: short chains while terms are chosen, full ones at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from itoscope.common.progress import Reporter
from itoscope.posterior.said import Said
from itoscope.posterior.sampling import sample as sample_posterior

if TYPE_CHECKING:
    from itoscope.fit.question import Question
    from itoscope.fit.streams import Stream
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.moments import Moments

__all__ = ["NOTHING", "STABLE_SHIFT", "Sample", "sampler_of"]

NOTHING = Said()
STABLE_SHIFT = 0.1
"""Movement of a coefficient between rounds, in standard errors, that counts as none."""
ROUND_CHAINS, ROUND_SAMPLES, ROUND_BURN = 2, 400, 200
"""Chains, draws and draws before them of the rounds that only choose terms."""


class Sample(Protocol):
    """The posterior of moments as a question asks for it."""

    def __call__(self, moments: Moments, final: bool, stream: Stream, said: Said = NOTHING, /) -> Equation:
        """By full chains if `final`, on a stream of its own, with what is `said` of the terms."""
        ...


def sampler_of(question: Question, *, rounds_told: bool = True) -> Sample:
    """What samples the posterior of moments.

    Parameters
    ----------
    question : Question
    rounds_told : bool
        Whether the reporter hears of the short chains too. Not where it hears of the filter: bars do not nest.
    """
    full = question.sampling
    short = replace(full, n_chains=ROUND_CHAINS, n_samples=ROUND_SAMPLES, n_burn=ROUND_BURN)

    def sample(moments: Moments, final: bool, stream: Stream, said: Said = NOTHING, /) -> Equation:
        chains = full if final or full.sampler == "exact" else short
        settings = replace(chains, seed=stream.seed(full.seed or 0))
        total, unit = settings.work
        label = f"{'posterior' if final else 'choosing terms'}, {stream.name}"
        reporter = question.reporter if final or rounds_told else Reporter()
        with reporter.stage(label, total, unit) as count:
            prior = question.prior.scaled(moments.slab_scale)
            return sample_posterior(moments, moments.names, prior, settings, count, said)

    return sample
