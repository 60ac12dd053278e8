"""What is sought in a recording, where the search stands, and the evidence by which models are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.levels import reopened
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.start import Scales, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Columns, Model
    from itoscope.fit.filtered.recording import Recording
    from itoscope.fit.sampler import Sample
    from itoscope.result.diagnostics import FilterRound

__all__ = ["Round", "State", "Task"]

KINK = 2.0
"""Log odds against a term with a kink."""
SHORT = 20_000
"""Samples of a recording up to which every model near the best is climbed: there the regressions mislead."""
TIE = 1e-6
"""Gain of evidence under which two models are the same up to rounding."""


@dataclass(frozen=True)
class Task:
    """What does not change during a search.

    Parameters
    ----------
    recording : Recording
    sample : callable
        `sample(moments, final, stream)` returns the posterior `Equation` of moments; `final` asks for full chains.
    drift_terms, gamma_terms : sequences of str
        How the terms of the drift and of the diffusion library are shown.
    """

    recording: Recording
    sample: Sample
    drift_terms: Sequence[str]
    gamma_terms: Sequence[str]

    @cached_property
    def n(self) -> int:
        """Samples that are there, of all channels."""
        return int(sum(np.count_nonzero(~np.isnan(y)) for y in self.recording.paths))

    @cached_property
    def upper(self) -> Scales:
        """Upper bounds of the noise variances and of Gamma."""
        return scales(self.recording)

    @property
    def short(self) -> bool:
        """Whether the recording is so short that its models can all be climbed, and so short that they must be."""
        return self.n <= SHORT

    # -- how models are judged -------------------------------------------------------------------------------
    def evidence(self, model: Model, loglik: float) -> float:
        """Laplace evidence of a model: log-likelihood less log(n)/2 + log(K) per coefficient, and 2 more per kink.

        The first is what a slab of unit information costs, the second what it costs to have picked one of K terms. The
        third is a preference, seven to one, for smooth terms: on a short recording `sgn(x)` with `x|x|` fits as well as
        `x` with `x^3`, and the data do not decide.
        """
        among = self.recording.candidates
        drift = len(model.drift_columns()) * self.cost(among.all_drift)
        gamma = len(model.gamma_columns()) * self.cost(among.all_gamma)
        kinks = sum(k in among.kinked for _, k in model.drift_columns() + model.gamma_columns())
        return loglik - drift - gamma - KINK * kinks

    def cost(self, candidates: Columns) -> float:
        """Log evidence that a coefficient costs which is picked from `candidates`."""
        return 0.5 * math.log(max(self.n, 2)) + math.log(max(len(candidates), 1))

    # -- how things are named --------------------------------------------------------------------------------
    def drift_names(self) -> list[str]:
        """Names of the drift candidates, with their row where there are several."""
        rows = [self.recording.candidates.states[i] for i in self.recording.candidates.rows]
        return _named(rows, self.drift_terms)

    def gamma_names(self) -> list[str]:
        """Names of the candidates of Gamma, with their element where there are several."""
        return _named(self.recording.candidates.pair_names, self.gamma_terms)

    def shown(self, model: Model) -> tuple[dict[str, float], dict[str, float]]:
        """The coefficients of drift and Gamma that are not zero, by name."""
        among = self.recording.candidates
        return (
            _shown(model.drift, among.states, among.expressions),
            _shown(model.gamma, among.pair_names, among.expressions),
        )


def _named(parts: Sequence[str], terms: Sequence[str]) -> list[str]:
    return list(terms) if len(parts) == 1 else [f"{part}: {term}" for part in parts for term in terms]


def _shown(coefficients: Array, rows: Sequence[str], terms: Sequence[str]) -> dict[str, float]:
    return {f"{rows[i]}: {terms[k]}": float(coefficients[i, k]) for i, k in np.argwhere(coefficients != 0.0)}


@dataclass(frozen=True)
class State:
    """Where a search stands.

    Attributes
    ----------
    model : Model
    loglik : float
        Its log-likelihood.
    overflowed : frozenset of str
        Terms whose sensitivity left the finite range at some model; they were not tried there.
    """

    model: Model
    loglik: float
    overflowed: frozenset[str] = frozenset()

    def at(self, model: Model, loglik: float) -> State:
        """The same with another model."""
        return replace(self, model=model, loglik=loglik)

    def without(self, terms: Sequence[str]) -> State:
        """The same with more terms that left the finite range."""
        return replace(self, overflowed=self.overflowed | set(terms))

    def better(self, task: Task, model: Model, loglik: float) -> bool:
        """Whether the evidence of a model is above that of this one."""
        return task.evidence(model, loglik) > task.evidence(self.model, self.loglik) + TIE

    def refitted(self, recording: Recording, sweeps: int, tries: int = 8) -> State:
        """The same with Gamma and the noise climbed to their best for the drift."""
        return self.at(*maximise_noise(recording, self.model, sweeps, self.loglik, tries=tries))

    def reopened(self, task: Task) -> State:
        """The same from other levels of the noise, where those end higher."""
        upper = task.upper
        return self.at(*reopened(task.recording, self.model, self.loglik, upper.noise, upper.gamma))


@dataclass(frozen=True)
class Round:
    """What one round did.

    Attributes
    ----------
    stage : {"start", "drift", "diffusion", "likelihood"}
    chosen : tuple of int
        Columns that were selected, as numbers among all candidates.
    terms : tuple of str
        Their names.
    step : float
        Share of the way to them that was gone, 0 for none.
    moved : float
        How far the coefficients were to move, in standard errors; 0 where no step along the regression was better.
    state : State
        That of the end.
    """

    stage: str
    state: State
    chosen: tuple[int, ...] = ()
    terms: tuple[str, ...] = ()
    step: float = 1.0
    moved: float = 0.0

    def as_dict(self, task: Task) -> FilterRound:
        """For the record, ready for JSON."""
        drift, diffusion = task.shown(self.state.model)
        return {
            "stage": self.stage,
            "chosen": list(self.terms),
            "step": self.step,
            "loglik": self.state.loglik,
            "drift": drift,
            "diffusion": diffusion,
            "noise": np.sqrt(self.state.model.noise).tolist(),
        }
