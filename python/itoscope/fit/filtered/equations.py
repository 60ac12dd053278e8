"""The equations of a noisy fit: probabilities and draws of its models, coefficients of the one that is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.fit.filtered.draws import draw
from itoscope.posterior.bounds import CONTRADICTED, log_share, truncated
from itoscope.posterior.columns import alias_notes, find_aliases
from itoscope.posterior.equation import Equation
from itoscope.posterior.holding import among_terms, holding
from itoscope.posterior.sampling import groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array
    from itoscope.fit.filtered.family import Family
    from itoscope.fit.filtered.likelihood import Maximum
    from itoscope.fit.filtered.model import Columns, Table
    from itoscope.fit.filtered.ranking import Ranking
    from itoscope.fit.filtered.state import Task

__all__ = ["Asked", "equations"]


@dataclass(frozen=True)
class Asked:
    """What was asked of the posterior: the threshold of selection, chains and draws of each, seed, prior, backend."""

    threshold: float
    n_chains: int
    n_draws: int
    seed: int
    prior: Prior
    backend: str | None = None


def equations(
    task: Task, asked: Asked, models: Family, maximum: Maximum
) -> tuple[dict[int, Equation], dict[tuple[int, int], Equation]]:
    """An equation per unknown row of the drift, and per sought element of Gamma."""
    among = task.recording.candidates
    of = np.array(
        [p if among.pairs[p][0] == among.pairs[p][1] else -1 for p, _ in among.all_gamma], dtype=int
    )
    limits, state = among.limits(among.all_drift), models.state
    drawn = draw(models, of, asked.n_chains * asked.n_draws, asked.seed, limits)
    pips = (
        models.probabilities("drift", len(among.all_drift)),
        models.probabilities("gamma", len(among.all_gamma)),
    )
    drift, diffusion = {}, {}
    shown = dict(zip(among.drift_terms, task.drift_terms))
    for row in among.rows:
        places = [c for c, (i, _) in enumerate(among.all_drift) if i == row]
        columns = [among.all_drift[c] for c in places]
        names = [shown[k] for _, k in columns]
        found = _equation(
            task, asked, maximum, ("drift", columns), names, pips[0][places], drawn.drift[:, places]
        )
        found = _told(found, state.drift, places)
        own = among_terms(_within(found, None if limits is None else limits[places]), task.drift_terms)
        drift[row] = holding(own, [shown[k] for i, k in among.held if i == row])
    shown = {among.constant: "1"} | dict(zip(among.gamma_terms, task.gamma_terms))
    for p, pair in enumerate(among.pairs):
        places = [c for c, (q, _) in enumerate(among.all_gamma) if q == p]
        columns = [among.all_gamma[c] for c in places]
        names = [shown[k] for _, k in columns]
        found = _equation(
            task, asked, maximum, ("gamma", columns), names, pips[1][places], drawn.gamma[:, places]
        )
        diffusion[pair] = _told(found, state.gamma, places)
    return drift, diffusion


def _told(equation: Equation, ranking: Ranking | None, places: list[int]) -> Equation:
    """An equation with what is to be said of columns that coincide, or nearly so, by the last regression."""
    if ranking is None:
        return equation
    sums = ranking.scaled.subset(places)
    _, aliases = find_aliases(sums, equation.terms)
    near = groups(sums, equation.terms, equation.pip, equation.included)
    return replace(equation, aliases=aliases, warnings=[*equation.warnings, *alias_notes(aliases), *near])


def _within(equation: Equation, limits: Array | None) -> Equation:
    """An equation whose coefficients are between bounds."""
    if limits is None:
        return equation
    free = np.where(equation.selected[:, None], limits, np.array([-np.inf, np.inf]))
    mean, cov = truncated(equation.mean, equation.cov, free)
    broken = log_share(equation.mean, equation.cov, free) < math.log(CONTRADICTED)
    named = ", ".join(equation.terms[k] for k in np.flatnonzero(np.isfinite(free).any(axis=1)))
    notes = [f"the data contradict the bounds of {named}: what is shown lies at a bound"] if broken else []
    return replace(equation, mean=mean, cov=cov, limits=limits, warnings=[*equation.warnings, *notes])


def _equation(
    task: Task,
    asked: Asked,
    maximum: Maximum,
    what: tuple[Table, Columns],
    terms: Sequence[str],
    pip: Array,
    draws: Array,
) -> Equation:
    """One equation with the terms and coefficients of the model that is shown."""
    kind, columns = what
    k = len(columns)
    parameters = [Parameter(kind, row, term) for row, term in columns]
    mean, cov = np.zeros(k), np.zeros((k, k))
    positive = np.zeros(k, dtype=bool)
    inside = [n for n, parameter in enumerate(parameters) if parameter in maximum.parameters]
    for a in inside:
        mean[a] = parameters[a].of(maximum.model)
        positive[a] = parameters[a] in maximum.positive
        for b in inside:
            cov[a, b] = maximum.cov_of(parameters[a], parameters[b])
    selected = np.zeros(k, dtype=bool)
    selected[inside] = True
    open_ = [name for name, variance in zip(terms, np.diag(cov)) if not np.isfinite(variance)]
    shape = (asked.n_chains, asked.n_draws)
    samples = draws.reshape(*shape, k)
    ones = np.ones(shape)
    return Equation(
        terms=list(terms), pip=pip, pip_mcse=np.zeros(k), mean=mean, cov=cov, selected=selected, samples=samples,
        included=samples != 0.0, inclusion=(samples != 0.0).astype(float), noise_var=ones, slab_var=ones, p0=ones,
        work=[], aliases={}, warnings=_undetermined(open_), threshold=asked.threshold, sampler="likelihood",
        seed=asked.seed, degrees=float(task.n), prior=asked.prior, backend=asked.backend, positive=positive,
    )  # fmt: skip


def _undetermined(terms: list[str]) -> list[str]:
    """A sentence for coefficients on which the likelihood does not depend."""
    if not terms:
        return []
    return [
        f"the recording does not determine the coefficient of {', '.join(terms)}: its standard deviation is infinite"
    ]
