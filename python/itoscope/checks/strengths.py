"""Looks at the drift behind innovations, by how each of its coefficients would move them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.checks.check import Check
from itoscope.checks.scores import BOUND, EACH, FEWEST, INFORMED, PATHS
from itoscope.expressions.sums import expression_of
from itoscope.stats.scores import Score, agreement, rarer, score
from itoscope.stats.tails import normal_tails

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.common.types import Array, Times
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings
    from itoscope.result.observer import Observer
    from itoscope.stats.quadratic import Quadratic

__all__ = ["strength_checks"]

WAVES, COLUMNS = 8, 24
"""Waves over the range of each state that other shapes of the drift are made of, and most of all states."""
WIDE = 160
"""Terms of several rows that are regressed on in one pass."""
SEGMENTS = 4
"""Parts of each path whose strengths are compared."""
MOST_PATHS = 200
"""Paths that are looked at."""


class Row(NamedTuple):
    """A row of the drift: its name, number, selected and other terms, and the fitted sum as text, empty for none."""

    name: str
    number: int
    held: list[str]
    outside: list[str]
    force: str


def strength_checks(
    result: Findings, data: Trajectories, smoothed: Sequence[Array], alpha: float
) -> list[Check]:
    r"""What the innovations r say of coefficients that are zero, and of parts of the data that differ.

    With the sensitivity D of the forecast to a coefficient, :math:`\sum (H D)^T S^{-1} r` has mean zero and the
    covariance :math:`\sum (H D)^T S^{-1} H D` if the model is right.

    Parameters
    ----------
    result : Findings
        Of a filter's fit.
    data : Trajectories
    smoothed : sequence of (n_i, m) arrays
        The states behind it.
    alpha : float
        Significance of each look.
    """
    observer = result.observer
    assert observer is not None
    rows = [
        _row(result, observer, i) for i, j in observer.pairs if i == j and observer.states[i] in result.drift
    ]
    some = np.unique(np.linspace(0, data.n_paths - 1, min(data.n_paths, MOST_PATHS)).round().astype(int))
    steps = observer.times(data)
    every = observer.columns(data)
    paths = [every[k] for k in some]
    times = [steps[k] for k in some]
    if not rows or sum(len(path) for path in paths) < FEWEST:
        return []
    with np.errstate(all="ignore"):
        waves = _waves(observer.states[: observer.own], [smoothed[k] for k in some])
        found = _whole(observer, rows, waves, paths, times, alpha)
        return found + _parts(observer, rows, paths, times, alpha, whole=bool(result.standing))


def _row(result: Findings, observer: Observer, number: int) -> Row:
    name = observer.states[number]
    equation = result.drift[name]
    own = {
        observer.expressions[k]: float(observer.drift[number, k])
        for k in np.flatnonzero(observer.drift[number])
    }
    outside = [term for term, inside in zip(equation.terms, equation.selected) if not inside]
    return Row(name, number, list(own), outside, expression_of(own) if own else "")


def _waves(states: Sequence[str], smoothed: Sequence[Array]) -> list[str]:
    """Cosines of half a period and more over the range of each state."""
    joined = np.concatenate(smoothed)
    many = max(2, min(WAVES, COLUMNS // len(states)))
    found = []
    for name, column in zip(states, joined.T):
        low, high = float(np.nanmin(column)), float(np.nanmax(column))
        if high > low:
            found += [f"cos({math.pi * k / (high - low)!r}*({name} - ({low!r})))" for k in range(1, many + 1)]
    return found


def _whole(
    observer: Observer, rows: Sequence[Row], waves: list[str], paths: Sequence[Array], times: Sequence[Times],
    alpha: float,
) -> list[Check]:  # fmt: skip
    """Scores of the terms that were left out, and of waves, of all data."""
    checks = []
    for row, whole in zip(rows, _wholes(observer, rows, waves, paths, times)):
        terms = _terms(row, waves)
        h, t = len(row.held), len(row.outside)
        held, outside = list(range(h)), list(range(h, h + 1 + t))
        total = _total(observer, row, whole)
        found = score(whole, held, outside)
        named = ("a constant", *row.outside)[found.column]
        what = (
            f"terms of the library that were not selected, most on {named} ({found.z:+.1f} standard errors)"
        )
        checks.append(_check("drift terms", row, found, total, alpha, f"depend on {what}"))
        shape = score(whole, [*held, h], range(h + 1 + t, len(terms)), named=False)
        what = "depend on where the state is: the library of the drift lacks a term"
        checks.append(_check("drift form", row, shape, total, alpha, what))
    return checks


def _terms(row: Row, waves: list[str]) -> list[str]:
    return [*row.held, "1", *row.outside, *waves]


def _wholes(
    observer: Observer, rows: Sequence[Row], waves: list[str], paths: Sequence[Array], times: Sequence[Times]
) -> Iterator[Quadratic]:
    """The regression of each row: of several in one pass, up to `WIDE` terms, since the filter is the same."""
    left = list(rows)
    while left:
        many = 1
        while many < len(left) and sum(len(_terms(row, waves)) for row in left[: many + 1]) <= WIDE:
            many += 1
        columns = [[(row.number, term) for term in _terms(row, waves)] for row in left[:many]]
        both = observer.drift_scores(paths, times, [column for own in columns for column in own])
        ends = np.cumsum([0, *map(len, columns)]).tolist()
        yield from (both.subset(range(start, end)) for start, end in pairwise(ends))
        left = left[many:]


def _total(observer: Observer, row: Row, whole: Quadratic) -> float:
    """Squared standard errors of the fitted drift from zero."""
    held = [observer.expressions.index(term) for term in row.held]
    strengths = observer.drift[row.number, held]
    return float(strengths @ whole.gram[: len(held), : len(held)] @ strengths)


def _parts(
    observer: Observer,
    rows: Sequence[Row],
    paths: Sequence[Array],
    times: Sequence[Times],
    alpha: float,
    *,
    whole: bool = False,
) -> list[Check]:
    """Whether parts of the data agree on the mean and the strength of the fitted drift, and on its coefficients.

    Of a model whose recordings differ these are `whole` paths: the parts of one have something in common.
    """
    wanted = [["1", row.force or "0", *(row.held if len(row.held) > 1 else ())] for row in rows]
    columns = [(row.number, term) for row, terms in zip(rows, wanted) for term in terms]
    ends = np.cumsum([0, *map(len, wanted)]).tolist()
    cut = [[(path, time)] if whole else _cut(path, time) for path, time in zip(paths, times)]
    scores = [[observer.drift_scores([x], [t], columns) for x, t in segments] for segments in cut]
    checks = []
    for place, row in enumerate(rows):
        mine = range(ends[place], ends[place + 1])
        pieces = [[one.subset(mine) for one in path] for path in scores]
        total = sum(float(one.gram[1, 1]) for path in pieces for one in path)
        late = [
            _added([one for path in pieces for one in path[len(path) // 2 :]]),
            _added([one for path in pieces for one in path[: len(path) // 2]]),
        ]
        parts = {} if whole else {"halves": (late, "the first and the second half of the time")}
        if len(pieces) > 1:
            parts["paths"] = ([_added(path) for path in pieces], "recordings")
        for name, (compared, between) in parts.items():
            there = [part for part in compared if part is not None]
            what = f"differ in their mean, or with the drift or its coefficients, between {between}"
            checks.append(_check(f"strength of {name}", row, _compared(there, total), total, alpha, what))
        if len(pieces) >= PATHS and not whole:
            what = "depend on what the path did before: recordings that differ in centre or drift, or a slow state"
            checks.append(_check("strength before", row, _learned(pieces), total, alpha, what))
    return checks


def _compared(parts: Sequence[Quadratic], total: float) -> Score:
    """Whether parts agree on the mean and the strength of the drift, or on the mean and each coefficient."""
    if total / max(len(parts), 1) < INFORMED:
        return agreement([part.subset([0]) for part in parts])
    both, each = agreement([part.subset([0, 1]) for part in parts]), [0, *range(2, len(parts[0].moment))]
    if len(each) < 2 or min(part.n for part in parts) < EACH * len(each):
        return both
    return rarer(both, agreement([part.subset(each) for part in parts]))


def _learned(pieces: Sequence[Sequence[Quadratic]]) -> Score:
    r"""What the past of each path says of its own mean and strength, held against its next segment.

    :math:`\sum a_s b_{s+1} / (\sum a_s^2 G_{s+1})^{1/2}` with :math:`a_s = B_s / (c + G_s)` of all segments before: a
    martingale, normal for many paths however short they are.
    """
    z = []
    for column in (0, 1):
        average = float(np.mean([sum(one.gram[column, column] for one in path) for path in pieces]))
        top = bottom = 0.0
        for path in pieces:
            moment = information = 0.0
            for one in path:
                learned = moment / max(average + information, 1e-300)
                top += learned * float(one.moment[column])
                bottom += learned**2 * float(one.gram[column, column])
                moment += float(one.moment[column])
                information += float(one.gram[column, column])
        z.append(top / math.sqrt(bottom) if bottom > 0 else 0.0)
    most = max(z, key=abs)
    return Score(most**2, 1, min(1.0, 2 * normal_tails(most)))


def _added(parts: Sequence[Quadratic]) -> Quadratic | None:
    whole = parts[0] if parts else None
    for part in parts[1:]:
        whole = part if whole is None else whole + part
    return whole


def _cut(path: Array, time: Times) -> list[tuple[Array, Times]]:
    """Segments of a path, or the whole of a short one."""
    many = SEGMENTS if len(path) >= SEGMENTS * FEWEST else 1
    ends = np.linspace(0, len(path), many + 1).round().astype(int)
    return [
        (
            np.ascontiguousarray(path[a:b]),
            time if np.ndim(time) == 0 else np.ascontiguousarray(np.asarray(time)[a:b]),
        )
        for a, b in pairwise(ends)
    ]


def _check(name: str, row: Row, found: Score, total: float, alpha: float, what: str) -> Check:
    excess = max(found.chi_square - found.dof, 0.0)
    size = f"{100 * math.sqrt(excess / max(total + excess, 1e-300)):.0f} % of the drift"
    return Check(
        name, row.name, found.p_value, alpha, found.p_value < alpha,
        f"the innovations behind {row.name} {what}; this is {size} as far as the filter sees it",
        f"{BOUND}; chi-square with {found.dof} degrees of freedom",
    )  # fmt: skip
