"""Looks that see what is wrong on slow scales: block sums, terms left out, halves and recordings that differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check
from itoscope.checks.steps import Steps, sums_before
from itoscope.stats.blocks import block_ratios
from itoscope.stats.scores import Score, agreement, of_rows, rarer, score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Bools

__all__ = ["beside", "drift_looks", "learned", "step_checks"]

RATIO = 0.05
"""Excess of the variance of block sums that the length of a step may leave over at any scale."""
VARIES = 0.05
"""Share by which a variance must differ: a step of a curved drift or diffusion leaves some of it over."""
INFORMED = 10.0
"""Squared standard errors from zero of the fitted drift, in the average part, from which its strength is compared."""
EACH = 20
"""Stretches for each coefficient that a part has, from which these are compared one by one."""
PATHS = 8
"""Paths from which the past of each is regressed on: the fit to few knows their ends, and what led there."""
BINS, COLUMNS = 10, 60
"""Quantile bins of each state, and most columns that they make of all states."""
FEWEST = 50
"""Steps below which nothing of this is looked at."""
BOUND = "a false alarm rate of 1 % of a fit, shared by all its checks"


def step_checks(kind: str, steps: Steps, alpha: float) -> list[Check]:
    """All looks at one row or channel.

    Parameters
    ----------
    kind : str
        "residual" or "innovation", for the sentences.
    steps : Steps
    alpha : float
        Significance of each look.
    """
    if _too_few(steps):
        return []
    with np.errstate(all="ignore"):
        bins = _bins(steps.states)
        return [
            _blocks(kind, steps, alpha),
            *_drift_checks(kind, steps, bins, alpha),
            *_noise_checks(kind, steps, bins, alpha),
        ]


def drift_looks(kind: str, steps: Steps, alpha: float) -> list[Check]:
    """Those at the drift alone; see `step_checks`."""
    if _too_few(steps):
        return []
    with np.errstate(all="ignore"):
        return _drift_checks(kind, steps, _bins(steps.states), alpha)


def _too_few(steps: Steps) -> bool:
    return bool(np.count_nonzero(np.isfinite(steps.parts)) < FEWEST or not np.nanstd(steps.parts) > 0)


def _blocks(kind: str, steps: Steps, alpha: float) -> Check:
    """The variance of block sums of the residuals, at every scale."""
    ratios = block_ratios(steps.z, steps.piece)
    there = [found for found in ratios if abs(found.ratio - 1.0) > RATIO]
    worst = min(there or ratios, key=lambda found: (found.p_value, -abs(found.ratio - 1.0)), default=None)
    if worst is None:
        return Check("slow scales", steps.name, 1.0, alpha, False, "", BOUND)
    p_value = min(1.0, worst.p_value * len(ratios))
    moves = ""
    if steps.spread and worst.ratio > 1.0:
        size = math.sqrt((worst.ratio - 1.0) * worst.size) / steps.spread
        moves = f"; what is missing moves {steps.name} by {size:.2g} sd in that time"
    cause = (
        "a force with a memory or a period, a trend, or a drift that is wrong on slow scales"
        if worst.ratio > 1.0
        else "recordings or stretches about centres of their own, a missing restoring force, or noise of the sensor"
    )
    return Check(
        "slow scales", steps.name, p_value, alpha, p_value < alpha and abs(worst.ratio - 1.0) > RATIO,
        f"the {kind}s of {steps.name} are not independent over {worst.size} steps: their sums vary "
        f"{worst.ratio:.3g} times as much as they should{moves}: {cause}",
        f"{BOUND}; {len(ratios)} lengths of blocks are looked at",
    )  # fmt: skip


def _drift_checks(kind: str, steps: Steps, bins: Array, alpha: float) -> list[Check]:
    """Regressions of the residuals on what the drift does not hold."""
    some, scale = steps.residual, steps.scale[:, None]
    m, h, t = steps.states.shape[1], steps.held.shape[1], steps.outside.shape[1]
    many = steps.piece[-1] + 1 >= PATHS
    past = [steps.past] if many else []
    if many and steps.force is not None:
        past.append(learned(steps) / scale)
    ones = np.ones((len(some), 1))
    time = np.stack([steps.time, steps.time**2], axis=1)
    columns = beside([steps.held, ones, steps.outside, bins, steps.states, time, *past], scale)
    whole = of_rows(columns, some)
    ends = np.cumsum([h, 1, t, bins.shape[1], m, 2, columns.shape[1]])
    held, one, outside, shape, own, trend, memory = (
        list(range(a, min(b, columns.shape[1]))) for a, b in zip([0, *ends[:-1]], ends)
    )
    total = float(np.nansum(steps.force**2)) if steps.force is not None else None
    found = score(whole, held, [*one, *outside])
    named = ("a constant", *steps.outside_names)[found.column]
    checks = [
        _drift_check(
            "drift terms", kind, steps, found, total, alpha,
            f"depend on terms of the library that were not selected, most on {named} ({found.z:+.1f} standard errors)",
        )
    ] if steps.force is not None else []  # fmt: skip
    checks.append(
        _drift_check(
            "drift shape", kind, steps, score(whole, [*held, *one], shape, named=False), total, alpha,
            "depend on where the state is: the library of the drift lacks a term",
        )
    )  # fmt: skip
    what = "depend on the time since the start: a trend, or a sensor that drifts"
    found = score(whole, [*held, *one, *own], trend, named=False)
    checks.append(_drift_check("trend", kind, steps, found, total, alpha, what))
    if many:
        what = (
            "depend on what the path did before: recordings that differ in centre or drift, or a slow state"
        )
        found = score(whole, [*held, *one, *own], memory, named=False)
        checks.append(_drift_check("memory", kind, steps, found, total, alpha, what))
    for name, parts, words in _parts(steps):
        compared = _compared(steps, parts, columns[:, [*held, *one]], total)
        what = (
            f"differ in their mean, or with the drift or its coefficients, between {words[compared.column]}"
        )
        checks.append(_drift_check(f"drift of {name}", kind, steps, compared, total, alpha, what))
    return checks


def _compared(steps: Steps, parts: Sequence[Bools], each: Array, total: float | None) -> Score:
    """Whether parts agree on the mean and the strength of the drift, and on each of its coefficients.

    A drift that is one strong term and a weak one, as damping beside a spring, changes in the weak one unseen by the
    first look; all coefficients of a long sum see little of a change that is common to them.
    """
    some, scale = steps.residual, steps.scale[:, None]
    if steps.force is None or total is None or total / len(parts) < INFORMED:
        return agreement([of_rows(scale[part], some[part]) for part in parts])
    pair = np.hstack([scale, steps.force[:, None]])
    both = agreement([of_rows(pair[part], some[part]) for part in parts])
    if each.shape[1] <= 2 or min(map(np.count_nonzero, parts)) < EACH * each.shape[1]:
        return both
    return rarer(both, agreement([of_rows(each[part], some[part]) for part in parts]))


def beside(parts: Sequence[Array], scale: Array) -> Array:
    """Columns side by side, each times `scale`, in one table."""
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    table = np.empty((len(scale), int(ends[-1])), order="F")
    for part, a, b in zip(parts, ends, ends[1:]):
        np.multiply(part, scale, out=table[:, a:b])
    return table


def learned(steps: Steps) -> Array:
    r"""What the path so far says of its own strength of the drift, times the drift `(s, 1)`.

    :math:`\phi_n B_n / (c + G_n)` with :math:`B_n = \sum_{k<n} \phi_k z_k`, :math:`G_n = \sum_{k<n} \phi_k^2` over the
    path and c that of an average path. It knows the past only, so that it may be regressed on however short the paths.
    """
    assert steps.force is not None
    z, places = steps.residual, steps.places
    good = np.isfinite(z) & np.isfinite(steps.force)
    force = np.where(good, steps.force, 0.0)
    information, moment = force**2, np.where(good, force * z, 0.0)
    first = sums_before(np.ones(len(z)), places) == 0
    average = information.sum() / first.sum()
    before = sums_before(information, places)
    strength = sums_before(moment, places) / np.maximum(average + before, 1e-300)
    return np.asarray((force * strength)[:, None])


def _noise_checks(kind: str, steps: Steps, bins: Array, alpha: float) -> list[Check]:
    r"""Regressions of :math:`|z|` on what the variance does not hold.

    Like those of :math:`z^2 - 1` with 88 % of their power for normal residuals, and with tails that a few large values
    do not rule.
    """
    if np.count_nonzero(np.isfinite(steps.still)) < FEWEST or not np.nanstd(np.abs(steps.still)) > 0:
        return []
    size, roots, relative = steps.sizes
    one = np.stack([np.ones(len(size)), steps.turning], axis=1)
    h, t, b = steps.noise_held.shape[1], steps.noise_outside.shape[1], bins.shape[1]
    whole = of_rows(beside([steps.noise_held, one, steps.noise_outside, bins], roots[:, None]), size)
    held = list(range(h + 2))
    checks = []
    if t:
        found = score(whole, held, list(range(h + 2, h + 2 + t)))
        named = steps.noise_names[found.column]
        what = f"with terms of the library that were not selected, most with {named}"
        checks.append(_noise_check("noise terms", kind, steps, found, relative, alpha, what))
    shape = score(whole, held, list(range(h + 2 + t, h + 2 + t + b)), named=False)
    what = "with where the state is: the diffusion depends on the state in another way than was fitted"
    checks.append(_noise_check("noise shape", kind, steps, shape, relative, alpha, what))
    for name, parts, words in _parts(steps):
        compared = agreement([of_rows(roots[part, None], size[part]) for part in parts])
        what = f"between {words[compared.column]}"
        checks.append(_noise_check(f"noise of {name}", kind, steps, compared, relative, alpha, what))
    return checks


def _drift_check(
    name: str, kind: str, steps: Steps, found: Score, total: float | None, alpha: float, what: str
) -> Check:
    """The check of a score of the residuals; `total` is the sum of squares of the fitted drift."""
    excess = max(found.chi_square - found.dof, 0.0)
    if total is None:
        size = (
            f"{math.sqrt(excess / np.isfinite(steps.parts).sum()):.2g} standard deviations of an innovation"
        )
    else:
        size = f"{100 * math.sqrt(excess / max(total + excess, 1e-300)):.0f} % of the drift"
    return Check(
        name, steps.name, found.p_value, alpha, found.p_value < alpha,
        f"the {kind}s of {steps.name} {what}; this is {size}",
        f"{BOUND}; chi-square with {found.dof} degrees of freedom",
    )  # fmt: skip


def _noise_check(
    name: str, kind: str, steps: Steps, found: Score, relative: float, alpha: float, what: str
) -> Check:
    """The check of a score of their sizes; `relative` turns it to a share of the variance."""
    share = relative * math.sqrt(
        max(found.chi_square - found.dof, 0.0) / max(int(np.isfinite(steps.still).sum()), 1)
    )
    return Check(
        name, steps.name, found.p_value, alpha, found.p_value < alpha and share > VARIES,
        f"the variance of the {kind}s of {steps.name} differs by {100 * share:.0f} % {what}",
        f"{BOUND}; chi-square with {found.dof} degrees of freedom, and a difference of {100 * VARIES:.0f} %",
    )  # fmt: skip


def _parts(steps: Steps) -> list[tuple[str, list[Bools], Sequence[str]]]:
    """What is compared: the halves in time, and the paths where there are some."""
    halves = [steps.time < 0, steps.time >= 0]
    found: list[tuple[str, list[Bools], Sequence[str]]] = [
        ("halves", halves, ["the first and the second half of the time"] * 2)
    ]
    pieces = steps.places
    numbers = np.unique(pieces)
    if len(numbers) > 1:
        words = [f"recordings (most off: path {number})" for number in numbers]
        found.append(("paths", [pieces == number for number in numbers], words))
    return found


def _bins(states: Array) -> Array:
    """Indicators of quantile bins of each state, side by side."""
    m = states.shape[1]
    quantiles = np.linspace(0.0, 1.0, max(3, min(BINS, COLUMNS // max(m, 1))) + 1)[1:-1]
    shapes = []
    for column in states.T:
        missing = ~np.isfinite(column)
        there = column[~missing]
        edges = np.unique(np.quantile(there, quantiles)) if len(there) else np.zeros(0)
        shape = np.zeros((len(column), len(edges) + 1))
        shape[np.arange(len(column)), np.searchsorted(edges, column)] = 1.0
        shape[missing] = np.nan
        shapes.append(shape)
    return np.hstack(shapes)
