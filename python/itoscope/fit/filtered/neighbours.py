"""Models near the best one: tried by their likelihood, said aloud, and counted in the errors of the coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.common.types import Array
from itoscope.fit.filtered.likelihood import Polished, polish
from itoscope.fit.filtered.recording import Coefficients
from itoscope.fit.filtered.search import MAX_RIVALS, RIVAL_MASS, SHORT, Search, table
from itoscope.fit.filtered.start import maximise_noise
from itoscope.posterior.equation import Equation

__all__ = ["Trial", "between", "compare", "doubt", "explore", "is_short"]

NEAR = 3.0
"""Difference of log evidence, twenty to one, within which two models are said to be in doubt."""
MOVES, BREADTH = 6, 8
"""Steps of the exploration from model to model, and neighbours whose likelihood is maximised at each."""
NEGLIGIBLE = 12.0
"""Difference of log evidence above which a model has no weight."""


@dataclass(frozen=True)
class Trial:
    """A model that was compared: its log-likelihood and evidence, and, if it was climbed to, its maximum."""

    model: Coefficients
    loglik: float
    evidence: float
    fit: Polished | None = None

    def as_dict(self, search: Search) -> dict[str, Any]:
        """For the record."""
        return {
            "drift": list(search.show(self.model.drift, search.f.states)),
            "diffusion": list(search.show(self.model.gamma, search.pair_names())),
            "loglik": self.loglik,
            "log_evidence": self.evidence,
        }


def is_short(search: Search) -> bool:
    """Whether the recording is so short that its models can all be climbed, and so short that they must be."""
    return search.n <= SHORT


def compare(search: Search, drift_all: Equation, gamma_all: Equation | None) -> list[Trial]:
    """Maximum likelihood of the likeliest other models of the chains; the one of largest evidence stays."""
    now = Trial(search.model, search.loglik, search.evidence(search.model, search.loglik))
    tried = [now]
    for trial in _from_chains(search, now.model, drift_all, gamma_all):
        model, loglik = maximise_noise(search.f, trial, 3)
        tried.append(Trial(model, loglik, search.evidence(model, loglik)))
        if search.better(model, loglik):
            search.take(model, loglik)
    return tried


def _from_chains(
    search: Search, base: Coefficients, drift_all: Equation, gamma_all: Equation | None
) -> Iterator[Coefficients]:
    """The models that the chains visited often, other than `base`, at their least-squares values."""
    for kind, whole in (("drift", drift_all), ("gamma", gamma_all)):
        if whole is None:
            continue
        columns = search.f.all_drift if kind == "drift" else search.f.all_gamma
        now = getattr(base, kind)
        current = {c for c, column in enumerate(columns) if now[column] != 0.0}
        place = {name: c for c, name in enumerate(whole.terms)}
        for model in whole.models(MAX_RIVALS):
            other = {place[name] for name in model.terms}
            if kind == "gamma":
                other = set(search.with_every_variance(sorted(other)))
            if other == current or model.mass < RIVAL_MASS:
                continue
            assert whole.moments is not None
            value, _ = whole.moments.solve(sorted(other))
            yield replace(base, **{kind: table(now.shape, columns, sorted(other), value)})


def explore(search: Search, drift_all: Equation, gamma_all: Equation | None) -> tuple[list[Trial], bool]:
    """From model to better model by their evidence alone, until no neighbour is better; and whether that ended.

    A neighbour has one term of the drift more, less, or another, or one other term as a Gamma_ii. Of the first kind
    those are tried that the regression at the model of the moment puts highest; the likelihood of each that is tried is
    maximised over all of its coefficients.
    """
    tried: dict[tuple[Any, ...], Trial] = {}

    def add(model: Coefficients) -> None:
        key = (tuple(model.drift_columns()), tuple(model.gamma_columns()))
        if key not in tried:
            fit = polish(search.f, model, final=False)
            tried[key] = Trial(fit.model, fit.loglik, search.evidence(fit.model, fit.loglik), fit)

    add(search.model)
    for model in _from_chains(search, search.model, drift_all, gamma_all):
        add(model)
    settled = False
    for _ in range(MOVES):
        best = max(tried.values(), key=lambda trial: trial.evidence)
        search.take(best.model, best.loglik)
        for model in (*_other_drifts(search), *(_other_gammas(search) if gamma_all is not None else ())):
            add(model)
        if max(trial.evidence for trial in tried.values()) <= best.evidence:
            settled = True
            break
    best = max(tried.values(), key=lambda trial: trial.evidence)
    search.take(best.model, best.loglik)
    return sorted(tried.values(), key=lambda trial: -trial.evidence), settled


def _other_drifts(search: Search) -> list[Coefficients]:
    """The neighbours of the current drift that its regression puts highest."""
    moments, columns, now = search.drift_moments(), search.f.all_drift, search.support()
    usable = [c for c in range(len(columns)) if moments.gram[c, c] > 0.0]
    others = [c for c in usable if c not in now]
    near = [sorted([*now, c]) for c in others]
    for out in now:
        rest = [c for c in now if c != out]
        near += [rest, *(sorted([*rest, c]) for c in others)]
    cost = search.cost(columns)
    ranked = []
    for chosen in near:
        value, _ = moments.solve(chosen)
        ranked.append((0.5 * float(value @ moments.moment[chosen]) - cost * len(chosen), chosen, value))
    ranked.sort(key=lambda entry: -entry[0])
    shape = search.model.drift.shape
    return [
        replace(search.model, drift=table(shape, columns, chosen, value))
        for _, chosen, value in ranked[:BREADTH]
    ]


def _other_gammas(search: Search) -> list[Coefficients]:
    """The best of the models with another single term as a Gamma_ii."""
    sums, columns = search.gamma_moments()[1], search.f.all_gamma
    ranked = []
    for chosen in search.single_terms():
        value, _ = search.gamma_aim(sums, chosen)
        gamma = table(search.model.gamma.shape, columns, chosen, value[: len(chosen)])
        model, loglik = maximise_noise(search.f, replace(search.model, gamma=gamma), 3)
        ranked.append((search.evidence(model, loglik), model))
    ranked.sort(key=lambda entry: -entry[0])
    return [model for _, model in ranked[: BREADTH // 2]]


def doubt(tried: Sequence[Trial], search: Search) -> list[str]:
    """A sentence if another set of terms has nearly the evidence of the best."""
    ranked = sorted(tried, key=lambda trial: -trial.evidence)
    near = [trial.as_dict(search) for trial in ranked[1:] if ranked[0].evidence - trial.evidence < NEAR]
    if not near:
        return []
    others = "; ".join(
        ", ".join(entry["drift"] + [f"Gamma {name}" for name in entry["diffusion"]]) for entry in near[:6]
    )
    more = f" and {len(near) - 6} more" if len(near) > 6 else ""
    width = (
        "the intervals count how far a coefficient differs between those that have its term"
        if ranked[0].fit is not None
        else "the intervals hold given the terms shown"
    )
    return [
        f"other sets of terms explain the recording nearly as well (log evidence within {NEAR:g}): {others}{more}; "
        + width
    ]


def between(tried: Sequence[Trial], found: Polished) -> Array:
    """Covariance `(p, p)` that doubt about the terms adds to that of the estimates in `found`.

    Weighted by evidence, over the models that hold a parameter: the mean square of the difference of its estimates, and
    what their own variances exceed that of the model shown. Zero for a recording whose models were not climbed.
    """
    parameters = found.parameters
    p = len(parameters)
    extra = np.zeros((p, p))
    known = [trial for trial in tried if trial.fit is not None]
    if not known:
        return extra
    best = max(trial.evidence for trial in known)
    known = [trial for trial in known if best - trial.evidence < NEGLIGIBLE]
    weight = np.exp([trial.evidence - best for trial in known])
    now = np.array([_value(found.model, parameter) for parameter in parameters])
    gap, held, var = np.zeros((len(known), p)), np.zeros((len(known), p)), np.zeros((len(known), p))
    for n, trial in enumerate(known):
        assert trial.fit is not None
        for a, parameter in enumerate(parameters):
            if parameter in trial.fit.parameters:
                gap[n, a] = _value(trial.model, parameter) - now[a]
                held[n, a], var[n, a] = 1.0, trial.fit.cov_of(parameter, parameter)
    for a in range(p):
        for b in range(a + 1):
            both = weight * held[:, a] * held[:, b]
            extra[a, b] = extra[b, a] = np.sum(both * gap[:, a] * gap[:, b]) / max(np.sum(both), 1e-300)
    own = np.sum(weight[:, None] * held * var, axis=0) / np.maximum(weight @ held, 1e-300)
    extra[np.diag_indices(p)] += np.maximum(own - np.diag(found.cov), 0.0)
    return extra


def _value(model: Coefficients, parameter: Parameter) -> float:
    kind, i, k = parameter
    return float(model.noise[i] if kind == "noise" else getattr(model, kind)[i, k])
