"""Rows of measured states with coefficients that differ by recording: sums, moments, and what each has of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Fitted, Sums, Target
from itoscope.posterior.effects import Differing
from itoscope.posterior.holding import holding
from itoscope.posterior.moments import Moments
from itoscope.posterior.path_sums import PathSums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.backends.records import Weights
    from itoscope.common.types import Array, Times
    from itoscope.fit.measured.regressions import Measured
    from itoscope.fit.sampler import Sample
    from itoscope.fit.streams import Stream
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.said import Said

__all__ = ["Own", "regress_differing", "regress_products", "sampled_differing"]

RIVAL = 3.0
"""Log odds, twenty to one, from which a term is kept that what differs could take the place of."""


@dataclass(frozen=True)
class Own:
    """What the recordings have of their own in one row, in the last round.

    Attributes
    ----------
    differing : Differing
    ratio : (q,) array
        Variances over recordings in those of the residuals.
    terms : tuple of int
        Of the model that is shown, with the varying ones.
    kept : frozenset of str
        Those without which the ratios would be others and the likelihood far less.
    deviations : (R, q) array
        Beside the coefficients of the row, averaged over its models.
    held : (R,) array
        The share of the squares of the residuals that goes into them.
    """

    differing: Differing
    ratio: Array
    terms: tuple[int, ...]
    kept: frozenset[str]
    deviations: Array
    held: Array


def regress_differing(
    measured: Measured,
    row: int,
    weights: Weights,
    sample: Sample,
    former: Own | None,
    stream: Stream,
    final: bool,
) -> tuple[Moments, Equation, Own]:
    """Moments of one row and its equation, given how much its coefficients differ; then how much they do in this one.

    Parameters
    ----------
    measured : Measured
    row : int
    weights : Weights
    sample : Sample
    former : Own or None
        Of the round before; without it the terms are all candidates at first.
    stream : Stream
    final : bool
        Whether the full chains are asked for.
    """
    said, names = measured.said_of(row), list(measured.drift_terms)
    held = [k for k, name in enumerate(names) if name in said.held]
    sums = _path_sums(measured, Target((row, row)), weights)
    sums = sums.given(held, np.array([said.held[names[k]] for k in held]))
    states = None if measured.library is None else len(measured.library.states)
    starts = np.array([_first(x[:, :states]) for x in measured.paths])
    differing = Differing.of(sums, measured.varying[row], starts, measured.backend)
    unsaid = without_held(said)
    tried = [k for k, name in enumerate(names) if name not in unsaid.excluded]
    terms, ratio = (tried, None) if former is None else (list(former.terms), former.ratio)
    ratio = differing.typical(differing.best(terms, ratio), terms)
    moments = _moments(measured, row, differing, ratio, terms)
    equation = sample(moments, final, stream, unsaid)
    shown = _shown(equation, measured.varying[row])
    if former is None and set(shown) != set(terms):  # the candidates were all in: again with those that are
        terms = shown
        ratio = differing.typical(differing.best(terms, ratio), terms)
        moments = _moments(measured, row, differing, ratio, terms)
        equation = sample(moments, final, stream, unsaid)
        shown = _shown(equation, measured.varying[row])
    needed = _needed(moments, differing, terms, np.flatnonzero(equation.selected).tolist())
    if needed:
        more = frozenset(names[k] for k in needed)
        equation = sample(moments, final, stream, replace(unsaid, included=unsaid.included | more))
        shown = _shown(equation, measured.varying[row])
    theta = equation.averaged
    kept = frozenset(names[k] for k in needed)
    own = Own(differing, ratio, tuple(shown), kept, differing.deviations(ratio, theta), differing.held(ratio))
    return moments, holding(equation, [names[k] for k in held]), own


def _needed(
    moments: Moments, differing: Differing, terms: Sequence[int], selected: Sequence[int]
) -> list[int]:
    """Terms that fell out though the likelihood, at ratios of its own without them, is far less.

    Moments are those about one set of ratios: where what differs can take the place of a term, they know it badly.
    """
    lost = sorted(set(terms) - set(selected))
    if not lost:
        return []
    price = 0.5 * len(lost) * math.log(max(moments.n * moments.slab_scale, 1.0))
    gain = differing.height(sorted({*terms, *selected})) - differing.height(selected)
    return lost if gain - price > RIVAL else []


def without_held(said: Said) -> Said:
    """The same for a regression from which the terms with given coefficients were taken."""
    return replace(said, held={}, excluded=said.excluded | set(said.held))


def sampled_differing(
    measured: Measured, row: int, moments: Moments, own: Own, sample: Sample, stream: Stream
) -> Equation:
    """The equation of a row by the full chains."""
    said = measured.said_of(row)
    asked = without_held(said)
    asked = replace(asked, included=asked.included | own.kept)
    return holding(sample(moments, True, stream, asked), list(said.held))


def _shown(equation: Equation, varying: Sequence[int]) -> list[int]:
    return sorted({*np.flatnonzero(equation.selected).tolist(), *varying})


def _moments(
    measured: Measured, row: int, differing: Differing, ratio: Array, terms: Sequence[int]
) -> Moments:
    found = differing.moments(ratio, terms)
    names = list(measured.drift_terms)
    return Moments(found.gram, found.moment, found.yy, found.n, names, slab_scale=measured.slab_scales[row])


def _first(states: Array) -> Array:
    """The first sample of a recording with all states."""
    there = np.flatnonzero(np.isfinite(states).all(axis=1))
    return states[there[0]] if len(there) else np.full(states.shape[1], np.nan)


def regress_products(
    measured: Measured, target: Target, weights: Weights, theta: Mapping[int, Array], own: Mapping[int, Own]
) -> Sums:
    """Sums of an entry of Gamma whose residuals are those of drifts that differ by recording.

    A residual is smaller by what the coefficients of its recording took: its squares are larger by that share.

    Parameters
    ----------
    measured : Measured
    target : Target
        With the drift that is common to all.
    weights : Weights
    theta : mapping of int to (K,) array
        Coefficients of the rows.
    own : mapping of int to Own
    """
    i, j = target.pair
    drifts = []
    for number in range(len(measured.paths)):
        coef = np.array([theta[i], theta[j]])
        for place, row in enumerate((i, j)):
            if row in own:
                coef[place, list(measured.varying[row])] += own[row].deviations[number]
        drifts.append(Fitted(measured.drift_program, coef))
    taken = np.max([own[row].held for row in {i, j} if row in own], axis=0)
    return _path_sums(measured, target, weights, drifts).scaled(1.0 / (1.0 - taken)).added()


def _path_sums(
    measured: Measured, target: Target, weights: Weights, drifts: Sequence[Fitted] | None = None
) -> PathSums:
    """Sums of every recording; those of a drift whose steps weigh the same are made once."""
    level = None if drifts is not None else measured.level(weights)
    key = (*target.pair, "by recording")
    if level is not None and key in measured.by_path:
        return measured.by_path[key].weighed(level)
    _, program = measured.candidates(target)
    groups = _groups(measured)
    usual = _mean_step(
        [one for _, times in groups for one in times], [x for paths, _ in groups for x in paths]
    )
    parts = []
    steps = sum(len(x) - 1 for paths, _ in groups for x in paths)
    what = "diffusion" if target.is_diffusion else "drift"
    with measured.reporter.stage(f"sums of the {what} by recording", steps) as count:
        done = 0
        for number, (paths, times) in enumerate(groups):
            one = target if drifts is None else replace(target, drift=drifts[number])
            part = measured.backend.regression_sums(
                paths, times, program, one, scheme=measured.scheme, weights=None if level else weights
            )
            # Steps of a drift weigh by their length in that of the recording they are summed with.
            factor = 1.0 if target.is_diffusion else _mean_step(times, paths) / usual
            parts.append(part.weighed(factor))
            done += sum(len(x) - 1 for x in paths)
            if count is not None:
                count(done)
    found = PathSums.of(parts)
    if level is None:
        return found
    measured.by_path[key] = found
    return found.weighed(level)


def _groups(measured: Measured) -> list[tuple[list[Array], list[Times]]]:
    """The pieces of each recording, cut where a held input changes, with their times."""
    pieces = iter(zip(*measured.summed))
    found = []
    for x in measured.paths:
        paths: list[Array] = []
        times: list[Times] = []
        while sum(len(piece) - 1 for piece in paths) < len(x) - 1:
            piece, time = next(pieces)
            paths.append(piece)
            times.append(time)
        found.append((paths, times))
    return found


def _mean_step(times: Sequence[Times], paths: Sequence[Array]) -> float:
    spans = [
        float(time) * (len(x) - 1)
        if np.ndim(time) == 0
        else float(np.asarray(time)[-1] - np.asarray(time)[0])
        for time, x in zip(times, paths)
    ]
    return sum(spans) / sum(len(x) - 1 for x in paths)
