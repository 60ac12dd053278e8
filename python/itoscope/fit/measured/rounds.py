"""The weight rounds of a fully measured state: drift, diffusion of what is left, and both again with weights.

Round 0 regresses the drift and then the diffusion without weights. Every later round weighs the drift by
`1 / Gamma_ii` and the diffusion by `1 / (Gamma_ii Gamma_jj + Gamma_ij^2)` of the round before, until the selected terms
stay the same and no coefficient moves by more than a tenth of its standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itoscope.backends.protocol import Backend
from itoscope.backends.records import Fitted, Program, Target, Variance, Weights
from itoscope.common.progress import Reporter
from itoscope.common.types import Array
from itoscope.fit.streams import Stream
from itoscope.library.library import BoundLibrary
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments

__all__ = ["DIFFUSIONS", "MeasuredFit", "Problem", "RoundSettings", "fit_measured"]

DIFFUSIONS = ("full", "diagonal", "constant", "none")
#: A round is the last when no coefficient moves by more than this many standard deviations.
STABLE_SHIFT = 0.1
#: The weights of a diffusion entry are those of this quantile for all samples whose predicted variance is below it.
#: Where the variance nearly vanishes, the squared increment over a finite step is not yet proportional to it; without
#: this
#: bound, a fifth of the samples with the smallest variance decides about the terms, and false ones enter.
FLOOR_QUANTILE = 0.2
#: Samples from which that quantile is read, spread evenly over the data.
QUANTILE_SAMPLES = 20_000


@dataclass(frozen=True)
class RoundSettings:
    """How the rounds are run.

    Parameters
    ----------
    scheme : {"trapezoid", "euler"}
    weighted : bool
        Without weights there is one round only.
    ensemble : {"pool", "mean"}
    floor : float
        A predicted variance is held above this share of its mean over the data.
    max_rounds : int
        Rounds after which the search for stable terms ends with a warning.
    """

    scheme: str = "trapezoid"
    weighted: bool = True
    ensemble: str = "pool"
    floor: float = 1e-2
    max_rounds: int = 8


@dataclass(frozen=True)
class Problem:
    """What is regressed on what: data, libraries and which rows are unknown.

    `rows` are the numbers of the states whose drift is unknown, `pairs` the entries of the diffusion covariance, as
    pairs of state numbers, the diagonal first.
    """

    paths: Sequence[Array]
    times: Sequence[float | Array]
    drift_library: BoundLibrary
    diffusion_library: BoundLibrary
    drift_program: Program
    diffusion_program: Program
    rows: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    backend: Backend
    reporter: Reporter = field(default_factory=Reporter)


@dataclass
class MeasuredFit:
    """The equations of the last round, the moments they come from, and what happened on the way."""

    drift: dict[int, Equation]
    diffusion: dict[tuple[int, int], Equation]
    moments: dict[str, Moments] = field(default_factory=dict)
    floors: Array = field(default_factory=lambda: np.zeros(0))
    diffusion_floors: Array = field(default_factory=lambda: np.zeros(0))
    record: list[dict[str, Any]] = field(default_factory=list)
    converged: bool = True


Sample = Callable[[Moments, bool, Stream], Equation]


def coefficients(equation: Equation) -> Array:
    """Mean coefficients `(K,)` of the selected model, zero elsewhere."""
    return np.where(equation.selected, equation.mean, 0.0)


def fit_measured(problem: Problem, settings: RoundSettings, sample: Sample) -> MeasuredFit:
    """Run the rounds, then the full chains on the moments of the last one.

    Parameters
    ----------
    problem : Problem
    settings : RoundSettings
    sample : callable
        `sample(moments, final, stream)` returns the `Equation` of some moments; `final` asks for the full chains.

    Returns
    -------
    MeasuredFit
    """
    fit = _round(problem, settings, None, sample, final=not settings.weighted)
    if not (settings.weighted and problem.pairs):
        return fit if not settings.weighted else _finish(problem, fit, sample)
    fit.converged = False
    for number in range(1, settings.max_rounds + 1):
        former = fit
        fit = _round(problem, settings, former, sample, final=False)
        same, shift = _movement(former, fit)
        fit.record = [*former.record, {**fit.record[0], "round": number, "same_terms": same, "shift": shift}]
        fit.converged = same and shift < STABLE_SHIFT
        if fit.converged:
            break
    return _finish(problem, fit, sample)


def _finish(problem: Problem, fit: MeasuredFit, sample: Sample) -> MeasuredFit:
    """Run the full chains on the moments of the last round."""
    drift = {
        row: sample(fit.moments[_key(row)], True, Stream.equation(q)) for q, row in enumerate(problem.rows)
    }
    shift = len(problem.rows)
    diffusion = {
        pair: sample(fit.moments[_key(*pair)], True, Stream.equation(shift + q))
        for q, pair in enumerate(problem.pairs)
    }
    return replace(fit, drift=drift, diffusion=diffusion)


def _key(*states: int) -> str:
    return ",".join(str(state) for state in states)


def _round(
    problem: Problem, settings: RoundSettings, former: MeasuredFit | None, sample: Sample, *, final: bool
) -> MeasuredFit:
    """Regress every drift row, then every entry of the covariance, weighted by the model of the round before."""
    moments: dict[str, Moments] = {}
    drift: dict[int, Equation] = {}
    for q, row in enumerate(problem.rows):
        weights = _weights(problem, former, (row,))
        found = _regress(problem, settings, Target((row, row)), weights)[0]
        moments[_key(row)] = found
        drift[row] = sample(found, final, Stream.equation(q))
    diffusion: dict[tuple[int, int], Equation] = {}
    floors = np.zeros(len(problem.rows)) if former is None else former.floors
    means: dict[tuple[int, int], float] = {}
    for q, (i, j) in enumerate(problem.pairs):
        raw = settings.scheme == "euler" and not settings.weighted
        fitted = None if raw else _fitted(problem.drift_program, [drift[i], drift[j]])
        target = Target((i, j), is_diffusion=True, drift=fitted)
        weights = _weights(problem, former, (i, j))
        found, means[i, j] = _regress(problem, settings, target, weights)
        moments[_key(i, j)] = found
        diffusion[i, j] = sample(found, final, Stream.equation(len(problem.rows) + q))
    if former is None and problem.pairs:
        floors = np.array([settings.floor * means[row, row] for row in problem.rows])
    diffusion_floors = np.maximum(floors, _low_variance(problem, diffusion)) if problem.pairs else floors
    record = {
        "round": 0,
        "weighted": former is not None,
        "drift": {row: _selected(equation) for row, equation in drift.items()},
        "diffusion": {pair: _selected(equation) for pair, equation in diffusion.items()},
    }
    return MeasuredFit(drift, diffusion, moments, floors, diffusion_floors, [record])


def _low_variance(problem: Problem, diffusion: Mapping[tuple[int, int], Equation]) -> Array:
    """The quantile `FLOOR_QUANTILE` of each predicted variance on the data, `(r,)`."""
    total = sum(len(x) for x in problem.paths)
    stride = max(1, total // QUANTILE_SAMPLES)
    rows = np.concatenate([x[number % stride :: stride] for number, x in enumerate(problem.paths)])
    rows = np.ascontiguousarray(rows[~np.isnan(rows).any(axis=1)])
    if not len(rows):
        return np.zeros(len(problem.rows))
    values = problem.diffusion_program.evaluate(rows)
    predicted = [values @ coefficients(diffusion[row, row]) for row in problem.rows]
    return np.array([np.quantile(gamma, FLOOR_QUANTILE) for gamma in predicted])


def _selected(equation: Equation) -> list[str]:
    return [term for term, inside in zip(equation.terms, equation.selected) if inside]


def _fitted(program: Program, equations: Sequence[Equation]) -> Fitted:
    return Fitted(program, np.array([coefficients(equation) for equation in equations]))


def _weights(problem: Problem, former: MeasuredFit | None, states: tuple[int, ...]) -> Weights:
    """Weights of a drift row (one state) or of an entry of the diffusion (two), from the model of the round before."""
    if former is None:
        return None
    bounds = former.floors if len(states) == 1 else former.diffusion_floors
    floors = {row: bounds[q] for q, row in enumerate(problem.rows)}
    if len(states) == 1:
        entries = [former.diffusion[states[0], states[0]]]
    else:
        i, j = states
        entries = [former.diffusion[i, i], former.diffusion[j, j], former.diffusion[i, j]]
    fitted = _fitted(problem.diffusion_program, entries)
    return Variance(fitted.program, fitted.coef, np.array([floors[state] for state in states]))


def _regress(
    problem: Problem, settings: RoundSettings, target: Target, weights: Weights
) -> tuple[Moments, float]:
    """Moments of one regression, and the mean of its target."""
    library = problem.diffusion_library if target.is_diffusion else problem.drift_library
    program = problem.diffusion_program if target.is_diffusion else problem.drift_program
    what = "diffusion" if target.is_diffusion else "drift"
    steps = sum(len(x) - 1 for x in problem.paths)
    with problem.reporter.stage(f"sums of the {what}", steps) as count:
        sums = problem.backend.regression_sums(
            problem.paths,
            problem.times,
            program,
            target,
            scheme=settings.scheme,
            weights=weights,
            ensemble=settings.ensemble,
            progress=count,
        )
    return Moments.from_sums(sums, library.names, problem.backend), sums.total / max(sums.n, 1)


def _movement(former: MeasuredFit, fit: MeasuredFit) -> tuple[bool, float]:
    """Whether the selected terms are those of the round before, and the largest shift in standard deviations."""
    same, shift = True, 0.0
    before: dict[Any, Equation] = {**former.drift, **former.diffusion}
    now: dict[Any, Equation] = {**fit.drift, **fit.diffusion}
    for key, equation in now.items():
        inside: NDArray[np.bool_] = np.asarray(equation.selected)
        if not np.array_equal(inside, before[key].selected):
            same = False
        elif inside.any():
            moved = np.abs(equation.mean - before[key].mean)[inside] / np.maximum(equation.sd[inside], 1e-300)
            shift = max(shift, float(moved.max()))
    return same, shift
