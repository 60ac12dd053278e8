"""The weight rounds of a fully measured state: drift, diffusion of what is left, and both again with weights.

Round 0 regresses the drift and then the diffusion without weights. Every later round weighs the drift by
`1 / Gamma_ii` and the diffusion by `1 / (Gamma_ii Gamma_jj + Gamma_ij^2)` of the round before, until the selected terms
stay the same and no coefficient moves by more than a tenth of its standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted, Target, Variance, Weights
from itoscope.checks.steps import compact
from itoscope.fit.measured.kicks import kicked, widened_by_law
from itoscope.fit.measured.regressions import regress
from itoscope.fit.measured.tied import tied
from itoscope.fit.measured.varying import regress_differing, regress_products, sampled_differing
from itoscope.fit.sampler import STABLE_SHIFT
from itoscope.fit.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.fit.measured.kicks import Kicks
    from itoscope.fit.measured.regressions import Measured, Pair
    from itoscope.fit.measured.varying import Own
    from itoscope.fit.sampler import Sample
    from itoscope.fit.symmetry import Orbits
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.moments import Moments
    from itoscope.result.diagnostics import WeightRound

__all__ = ["MeasuredFit", "Round", "fit_measured"]

FLOOR_QUANTILE = 0.2
"""The weights of a diffusion entry are those of this quantile for all samples whose predicted variance is below it.

Where the variance nearly vanishes, the squared increment over a finite step is not yet proportional to it; without this
bound, a fifth of the samples with the smallest variance decides about the terms, and false ones enter.
"""
QUANTILE_SAMPLES = 20_000
"""Samples from which that quantile is read, spread evenly over the data."""


@dataclass(frozen=True)
class Round:
    """What one round selected, by equation.

    `same_terms` and `shift` compare it with the one before: whether that selected the same, and the largest move of a
    coefficient in standard deviations; None for the first.
    """

    number: int
    weighted: bool
    drift: dict[int, list[str]]
    diffusion: dict[Pair, list[str]]
    same_terms: bool | None = None
    shift: float | None = None

    def as_dict(self, names: Sequence[str]) -> WeightRound:
        """For the record, ready for JSON, with the names of the states."""
        record: WeightRound = {
            "round": self.number,
            "weighted": self.weighted,
            "drift": {names[row]: terms for row, terms in self.drift.items()},
            "diffusion": {f"{names[i]},{names[j]}": terms for (i, j), terms in self.diffusion.items()},
        }
        if self.shift is not None:
            record |= {"same_terms": bool(self.same_terms), "shift": self.shift}
        return record


@dataclass(frozen=True)
class MeasuredFit:
    """The equations of the last round, the moments they come from, and what happened on the way.

    `floors` `(r,)` are the smallest variances of the noisy rows that weigh the drift, `diffusion_floors` those that
    weigh the diffusion. `own` is what recordings have of their own in rows that vary,
    `common` what rows of the "drift" and entries of the "diffusion" have in common, `kicks` what the steps tell of rows
    whose noise is not normal.
    """

    drift: dict[int, Equation]
    diffusion: dict[Pair, Equation]
    drift_moments: dict[int, Moments]
    diffusion_moments: dict[Pair, Moments]
    floors: Array
    diffusion_floors: Array
    rounds: tuple[Round, ...]
    converged: bool = True
    own: dict[int, Own] = field(default_factory=dict)
    common: dict[str, Equation] = field(default_factory=dict)
    kicks: Kicks | None = None


def fit_measured(measured: Measured, sample: Sample) -> MeasuredFit:
    """Run the rounds, then the full chains on the moments of the last one.

    Parameters
    ----------
    measured : Measured
    sample : callable
        `sample(moments, final, stream, said)` returns the `Equation` of some moments by what is said of its terms;
        `final` asks for the full chains.
    """
    fit = _round(measured, None, sample, final=not measured.weighted)
    if not measured.weighted:
        return fit
    if measured.pairs:
        fit = replace(fit, converged=False)
        for number in range(1, measured.max_rounds + 1):
            former, fit = fit, _round(measured, fit, sample, final=False)
            same, shift = _movement(former, fit)
            last = replace(fit.rounds[0], number=number, same_terms=same, shift=shift)
            stable = same and shift < STABLE_SHIFT
            fit = replace(fit, rounds=(*former.rounds, last), converged=stable)
            if stable:
                break
    return _with_laws(measured, _finish(measured, fit, sample))


def _with_laws(measured: Measured, fit: MeasuredFit) -> MeasuredFit:
    """The fit with the laws of its steps, and what not knowing them leaves of Gamma."""
    if not measured.groups:
        return fit
    kicks, diffusion = kicked(measured, fit.drift, fit.diffusion, fit.floors), dict(fit.diffusion)
    for group, found in kicks.laws().items():
        for q, pair in enumerate(measured.pairs):
            if pair[0] in group.rows:
                diffusion[pair] = widened_by_law(diffusion[pair], found.spread, q)
    return replace(fit, diffusion=diffusion, kicks=kicks)


def _finish(measured: Measured, fit: MeasuredFit, sample: Sample) -> MeasuredFit:
    """Run the full chains on the moments of the last round."""
    shift = len(measured.rows)
    common = dict(fit.common)
    drift: dict[int, Equation] = {}
    if measured.orbits is not None:
        common["drift"], drift = _tied_drift(measured.orbits, fit.drift_moments, sample, final=True)
    for q, row in enumerate(measured.rows if measured.orbits is None else ()):
        moments, stream = fit.drift_moments[row], Stream.equation(q)
        if row in measured.varying:
            drift[row] = sampled_differing(measured, row, moments, fit.own[row], sample, stream)
        else:
            drift[row] = sample(moments, True, stream, measured.said_of(row))
    if measured.diffusion_orbits is not None:
        stream = Stream.equation(shift)
        found = tied(fit.diffusion_moments, measured.diffusion_orbits, sample, stream, final=True)
        common["diffusion"], diffusion = found
        return replace(fit, drift=drift, diffusion=diffusion, common=common)
    diffusion = {
        pair: sample(fit.diffusion_moments[pair], True, Stream.equation(shift + q))
        for q, pair in enumerate(measured.pairs)
    }
    return replace(fit, drift=drift, diffusion=diffusion, common=common)


def _round(measured: Measured, former: MeasuredFit | None, sample: Sample, *, final: bool) -> MeasuredFit:
    """Regress every drift row, then every entry of the covariance, weighted by the model of the round before."""
    drift: dict[int, Equation] = {}
    drift_moments: dict[int, Moments] = {}
    own: dict[int, Own] = {}
    kicks = _kicks(measured, former, None if former is None else former.drift)
    for q, row in enumerate(measured.rows):
        weights, stream = _weights(measured, former, (row,)), Stream.equation(q)
        if row in measured.varying:
            before = None if former is None else former.own[row]
            found = regress_differing(measured, row, weights, sample, before, stream, final)
            drift_moments[row], drift[row], own[row] = found
            continue
        target = Target((row, row)) if kicks is None else kicks.drift(row)
        drift_moments[row], _ = regress(measured, target, weights)
        if measured.orbits is None:
            drift[row] = sample(drift_moments[row], final, stream, measured.said_of(row))
    common: dict[str, Equation] = {}
    if measured.orbits is not None:
        common["drift"], drift = _tied_drift(measured.orbits, drift_moments, sample, final=final)
    diffusion: dict[Pair, Equation] = {}
    diffusion_moments: dict[Pair, Moments] = {}
    means: dict[Pair, float] = {}
    raw = measured.scheme == "euler" and not measured.weighted
    # Of all models, not of the one that is shown: a term that it lacks is no part of Gamma.
    averaged = {row: drift[row].averaged for row in measured.noisy if not raw or measured.varying}
    kicks = _kicks(measured, former, drift)
    for q, (i, j) in enumerate(measured.pairs):
        fitted = None if raw else Fitted(measured.drift_program, np.array([averaged[i], averaged[j]]))
        target = Target((i, j), is_diffusion=True, drift=fitted)
        target = target if kicks is None else kicks.product(target)
        weights = _weights(measured, former, (i, j))
        sums = regress_products(measured, target, weights, averaged, own) if {i, j} & {*own} else None
        diffusion_moments[i, j], means[i, j] = regress(measured, target, weights, sums)
        stream = Stream.equation(len(measured.rows) + q)
        if measured.diffusion_orbits is None:
            diffusion[i, j] = sample(diffusion_moments[i, j], final, stream)
    if measured.diffusion_orbits is not None:
        stream = Stream.equation(len(measured.rows))
        gammas = tied(diffusion_moments, measured.diffusion_orbits, sample, stream, final=final)
        common["diffusion"], diffusion = gammas
    floors = np.zeros(len(measured.rows)) if former is None else former.floors
    if former is None and measured.pairs:
        floors = np.array([measured.floor * means.get((row, row), 0.0) for row in measured.rows])
    selected = Round(
        number=0,
        weighted=former is not None,
        drift={row: _selected(equation) for row, equation in drift.items()},
        diffusion={pair: _selected(equation) for pair, equation in diffusion.items()},
    )
    return MeasuredFit(
        drift,
        diffusion,
        drift_moments,
        diffusion_moments,
        floors,
        np.maximum(floors, _low_variance(measured, diffusion)) if measured.pairs else floors,
        (selected,),
        own=own,
        common=common,
    )


def _kicks(
    measured: Measured, former: MeasuredFit | None, drift: Mapping[int, Equation] | None
) -> Kicks | None:
    """What the steps tell of a drift and the Gamma of the round before, where some row has a law."""
    if not measured.groups or drift is None:
        return None
    floors = np.zeros(len(measured.rows)) if former is None else former.floors
    return kicked(measured, drift, None if former is None else former.diffusion, floors)


def _tied_drift(
    orbits: Orbits, moments: Mapping[int, Moments], sample: Sample, *, final: bool
) -> tuple[Equation, dict[int, Equation]]:
    """What the rows of the drift have in common, and their equations."""
    of_rows = {(row,): one for row, one in moments.items()}
    common, found = tied(of_rows, orbits, sample, Stream.equation(0), final=final)
    return common, {key[0]: equation for key, equation in found.items()}


def _low_variance(measured: Measured, diffusion: Mapping[Pair, Equation]) -> Array:
    """The quantile `FLOOR_QUANTILE` of each predicted variance on the data, `(r,)`; 0 of a row without noise."""
    paths, _ = measured.recorded
    stride = max(1, sum(map(len, paths)) // QUANTILE_SAMPLES)
    rows = np.concatenate([x[number % stride :: stride] for number, x in enumerate(paths)])
    rows = np.ascontiguousarray(rows[~np.isnan(rows).any(axis=1)])
    if not len(rows):
        return np.zeros(len(measured.rows))
    coef = np.zeros((len(measured.rows), len(measured.diffusion_terms)))
    for place, row in enumerate(measured.rows):
        if row in measured.noisy:
            coef[place] = measured.gamma(diffusion[row, row])
    fitted = compact(measured.backend, Fitted(measured.diffusion_program, coef))
    lowest: Array = np.quantile(fitted.program.evaluate(rows) @ fitted.coef.T, FLOOR_QUANTILE, axis=0)
    return lowest


def _selected(equation: Equation) -> list[str]:
    return [term for term, inside in zip(equation.terms, equation.selected) if inside]


def _weights(measured: Measured, former: MeasuredFit | None, states: tuple[int, ...]) -> Weights:
    """Weights of a drift row (one state) or of an entry of the diffusion (two), from the model of the round before."""
    if former is None or states[0] not in measured.noisy:
        return None
    bounds = former.floors if len(states) == 1 else former.diffusion_floors
    floors = {row: bounds[q] for q, row in enumerate(measured.rows)}
    if len(states) == 1:
        entries = [former.diffusion[states[0], states[0]]]
    else:
        i, j = states
        entries = [former.diffusion[i, i], former.diffusion[j, j], former.diffusion[i, j]]
    coef = np.array([measured.gamma(entry) for entry in entries])
    return Variance(measured.diffusion_program, coef, np.array([floors[state] for state in states]))


def _movement(former: MeasuredFit, fit: MeasuredFit) -> tuple[bool, float]:
    """Whether the selected terms are those of the round before, and the largest shift in standard deviations."""
    pairs = [(former.drift[row], equation) for row, equation in fit.drift.items()]
    pairs += [(former.diffusion[pair], equation) for pair, equation in fit.diffusion.items()]
    same, shift = True, 0.0
    for before, now in pairs:
        inside = np.asarray(now.selected)
        if not np.array_equal(inside, before.selected):
            same = False
        elif inside.any():
            moved = np.abs(now.mean - before.mean)[inside] / np.maximum(now.sd[inside], 1e-300)
            shift = max(shift, float(moved.max()))
    return same, shift
