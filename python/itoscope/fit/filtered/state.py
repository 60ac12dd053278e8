"""What is sought in a recording, where the search stands, and the evidence by which models are judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.levels import reopened
from itoscope.fit.filtered.noise import maximise_noise
from itoscope.fit.filtered.ranking import Ranking
from itoscope.fit.filtered.slab import Sizes, sizes_of
from itoscope.fit.filtered.start import Scales, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.named import Follow
    from itoscope.fit.filtered.recording import Recording
    from itoscope.result.diagnostics import FilterRound
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Round", "State", "Task"]

CONSTANT = "1"
TIE = 1e-6
"""Gain of evidence under which two models are the same up to rounding."""


@dataclass(frozen=True)
class Task:
    """What does not change during a search.

    Parameters
    ----------
    recording : Recording
    prior : Prior
        Of the slab and of the number of terms.
    drift_terms, gamma_terms : sequences of str
        How the terms of the drift and of the diffusion library are shown.
    """

    recording: Recording
    prior: Prior
    drift_terms: Sequence[str]
    gamma_terms: Sequence[str]

    @cached_property
    def n(self) -> int:
        """Samples that are there, of all channels."""
        q = len(self.recording.observation)
        return int(sum(np.count_nonzero(~np.isnan(y[:, :q])) for y in self.recording.paths))

    @cached_property
    def upper(self) -> Scales:
        """Upper bounds of the noise variances and of Gamma."""
        return scales(self.recording)

    @property
    def gamma_sought(self) -> bool:
        """Whether Gamma has more candidates than the constants of its variances."""
        among = self.recording.candidates
        return len(among.all_gamma) > len(among.variances)

    # -- the regressions whose sets of terms have an evidence ------------------------------------------------
    def drift_ranking(self, state: State) -> tuple[State, Ranking]:
        """That of all drift candidates at the current model; columns that are not finite are zero and noted."""
        among, names = self.recording.candidates, self.drift_names()
        columns = among.all_drift
        found, follow = self.recording.drift_and_numbers(state.model, columns)
        sums, bad = found.finite()
        sizes = sizes_of(self.recording, state.model, self.prior)
        ranking = Ranking(
            sums=sums,
            sizes=_at(sizes.drift, columns),
            equation=np.array([0 if among.echoes else row for row, _ in columns], dtype=int),
            full=frozenset(),
            prior=self.prior.of_drift(),
            names=names,
            always=frozenset(c for c, column in enumerate(columns) if column in among.included),
            limits=among.limits(columns),
        )
        state = state.without([names[c] for c in bad])
        return replace(state, drift=ranking, follow=follow, sizes=sizes), ranking

    def gamma_ranking(self, state: State) -> tuple[State, Ranking]:
        """That of all candidates of Gamma, the noise variances projected out; and one that has both."""
        among, names = self.recording.candidates, self.gamma_names()
        columns = among.all_gamma
        sums, bad = self.recording.noise_moments(state.model, columns).finite()
        sizes = state.sizes or sizes_of(self.recording, state.model, self.prior)
        ranking = Ranking(
            sums=sums.profile(len(columns)),
            sizes=_at(sizes.gamma, columns),
            equation=np.array([p for p, _ in columns], dtype=int),
            full=frozenset(among.variances),
            prior=self.prior,
            names=names,
            means=np.array([sizes.means[k] for _, k in columns]),
        )
        state = state.without([f"Gamma {names[c]}" for c in bad if c < len(columns)])
        return replace(state, gamma=ranking, noise_sums=sums, sizes=sizes), ranking

    # -- how things are named --------------------------------------------------------------------------------
    def drift_names(self) -> list[str]:
        """Names of the drift candidates, with their row where there are several."""
        among = self.recording.candidates
        shown = dict(zip(among.drift_terms, self.drift_terms))
        several = len(among.rows) > 1
        return [f"{among.states[i]}: {shown[k]}" if several else shown[k] for i, k in among.all_drift]

    def gamma_names(self) -> list[str]:
        """Names of the candidates of Gamma, with their element where there are several."""
        among = self.recording.candidates
        shown = dict(zip(among.gamma_terms, self.gamma_terms))
        several = len({p for p, _ in among.all_gamma}) > 1
        names, terms = among.pair_names, [shown.get(k, CONSTANT) for _, k in among.all_gamma]
        return [f"{names[p]}: {term}" if several else term for (p, _), term in zip(among.all_gamma, terms)]

    def shown(self, model: Model) -> tuple[dict[str, float], dict[str, float]]:
        """The coefficients of drift and Gamma that are not zero, by name."""
        among = self.recording.candidates
        return (
            _shown(model.drift, among.states, among.expressions),
            _shown(model.gamma, among.pair_names, among.expressions),
        )


def _at(table: Array, columns: Sequence[tuple[int, int]]) -> Array:
    return np.array([table[column] for column in columns], dtype=float)


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
    drift, gamma : Ranking or None
        The last regressions: they say what a set of terms costs.
    follow : Follow or None
        How named numbers follow the coefficients of the drift, by its last regression.
    sizes : Sizes or None
        Those of the last regression of the drift, or of Gamma where there was none.
    noise_sums : Quadratic or None
        The last regression of Gamma with the noise variances in it.
    overflowed : frozenset of str
        Terms whose sensitivity left the finite range at some model; they were not tried there.
    """

    model: Model
    loglik: float
    drift: Ranking | None = None
    gamma: Ranking | None = None
    follow: Follow | None = None
    sizes: Sizes | None = None
    noise_sums: Quadratic | None = None
    overflowed: frozenset[str] = frozenset()

    def at(self, model: Model, loglik: float) -> State:
        """The same with another model."""
        return replace(self, model=model, loglik=loglik)

    def without(self, terms: Sequence[str]) -> State:
        """The same with more terms that left the finite range."""
        return replace(self, overflowed=self.overflowed | set(terms))

    def evidence(self, task: Task, model: Model, loglik: float) -> float:
        """Log evidence of a model: its log-likelihood, and what its terms cost by the last regressions."""
        among = task.recording.candidates
        return (
            loglik
            + _cost(self.drift, among.all_drift, model.drift)
            + _cost(self.gamma, among.all_gamma, model.gamma)
        )

    def better(self, task: Task, model: Model, loglik: float) -> bool:
        """Whether the evidence of a model is above that of this one."""
        now = self.evidence(task, self.model, self.loglik)
        return self.evidence(task, model, loglik) > now + TIE

    def refitted(self, recording: Recording, sweeps: int, tries: int = 8) -> State:
        """The same with Gamma and the noise climbed to their best for the drift."""
        return self.at(*maximise_noise(recording, self.model, sweeps, self.loglik, tries=tries))

    def reopened(self, task: Task, *, apart: bool = True) -> State:
        """The same from other levels of the noise, where those end higher; of each channel where they are `apart`."""
        upper = task.upper
        found = reopened(task.recording, self.model, self.loglik, upper.noise, upper.gamma, apart=apart)
        return self.at(*found)


def _cost(ranking: Ranking | None, columns: Sequence[tuple[int, int]], table: Array) -> float:
    """What the terms of a table of coefficients cost, by a regression if there was one."""
    if ranking is None:
        return 0.0
    inside = [c for c, column in enumerate(columns) if table[column] != 0.0]
    _, inverse = ranking.sums.solve(inside)
    return ranking.cost(inside, _at(table, [columns[c] for c in inside]), inverse)


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
