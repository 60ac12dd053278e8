"""What residuals or innovations that are not independent are caused by, told apart by tests of each cause."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.checks.scores import beside
from itoscope.checks.steps import roots_of
from itoscope.stats.blocks import block_ratios
from itoscope.stats.lines import line, periodogram
from itoscope.stats.scores import of_rows
from itoscope.stats.tails import normal_tails

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.checks.steps import Steps
    from itoscope.common.types import Array
    from itoscope.stats.lines import Line
    from itoscope.stats.quadratic import Quadratic

__all__ = [
    "Change",
    "Colour",
    "change_in_time",
    "colour",
    "deflated",
    "inflation",
    "missing_terms",
    "period_of",
    "persistent",
    "wide_terms",
]

RARE = 1e-4
"""How rare a line is by chance, in a row where something else is seen already."""
CYCLES = 4
"""Cycles that the recording holds of a period: fewer are a trend."""
SUDDEN = 1.03
"""How much more a change at one moment explains than a straight line: 4/3 if it is one, 3/4 if it is a line."""
BINS = 64
"""Stretches of time that a change is sought in."""
AGREES = 0.4
"""Correlation of two halves over the recordings, from which what they differ in lasts."""
RINGS = 0.4
"""Excess of the power an octave off the strongest band, over that there, below which the missing state rings."""
SLOWEST = 10
"""Cycles that the recording holds of the slowest band that is looked at."""
SIMPLE = 0.97
"""Score of a term over the largest, from which the simpler term is named."""
NEW, QUIET = 1e-5, 20.0
"""Share of a column that others do not tell, from which it is a term of its own; steps whose fitted variance is that
many times smaller than usual do not count, for they would rule all scores."""
REAL = 3.5
"""Standard errors from which a second term is worth adding."""
LEAST = 1e-300
"""The smallest p-value that has a number of standard errors."""
FREQUENCIES = 28
"""Frequencies of sines that are tried, in quarters of one over the spread of a state."""


def series_of(steps: Steps) -> list[Array]:
    """The residuals, one array a path or stretch."""
    edges = np.flatnonzero(np.diff(steps.piece)) + 1
    return list(np.split(steps.z, edges))


def period_of(steps: Steps) -> Line | None:
    """A line of the periodogram that is rare by chance."""
    found = line(series_of(steps))
    longest = max(len(z) for z in series_of(steps))
    if found is None or found.p_value > RARE or found.frequency * longest < CYCLES:
        return None
    return found


class Change(NamedTuple):
    """The share of the time at which residuals change most, and whether they do so at once."""

    at: float
    sudden: bool


def change_in_time(steps: Steps, size: bool = False) -> Change:
    """Hold a step at the best moment against a straight line, over the time since the start.

    Parameters
    ----------
    steps : Steps
    size : bool
        Of the sizes of the residuals in place of their means.
    """
    z = steps.sizes[0] if size else steps.residual
    place = np.clip(((steps.time + 1.0) / 2.0 * BINS).astype(int), 0, BINS - 1)
    good = np.isfinite(z)
    counts = np.bincount(place[good], minlength=BINS).astype(float)
    sums = np.bincount(place[good], weights=z[good], minlength=BINS)
    total, n = sums.sum(), counts.sum()
    before, many = np.cumsum(sums)[:-1], np.cumsum(counts)[:-1]
    gain = (before - many * total / n) ** 2 * n / np.maximum(many * (n - many), 1e-300)
    t = (np.arange(BINS) + 0.5) / BINS
    centred = t - (counts @ t) / n
    straight = (sums @ centred) ** 2 / max(float(counts @ centred**2), 1e-300)
    best = int(np.argmax(gain))
    return Change((best + 1.0) / BINS, bool(gain[best] > SUDDEN * straight))


class Colour(NamedTuple):
    """The time of a memory in steps, or the period in steps of a state that rings."""

    memory: float
    period: float | None


def colour(steps: Steps) -> Colour:
    """Where the residuals have more power than white ones: a band of one octave rings, a broad one has a memory."""
    frequencies, power, _ = periodogram(series_of(steps))
    longest = 2 * (len(frequencies) - 1)
    grid = 0.4 * 2.0 ** (-np.arange(0.0, max(math.log2(0.4 * longest / SLOWEST), 1.0), 0.25))[::-1]
    excess = np.array([_band(frequencies, power, middle) for middle in grid])
    white = min(float(np.mean(excess[-4:])), 1.0)
    excess = excess - white
    top = int(np.argmax(excess))
    octave = excess[[k for k in (top - 4, top + 4) if 0 <= k < len(grid)]]
    if len(octave) == 2 and (octave < RINGS * excess[top]).all():
        return Colour(math.inf, float(1.0 / grid[top]))
    above = np.flatnonzero(excess > excess[top] / 2)
    return Colour(float(1.0 / (2.0 * math.pi * grid[above[-1]])), None)


def inflation(steps: Steps, size: bool = False) -> float:
    """How many times the sums of residuals, or of their sizes, vary more than those of independent ones: at least 1."""
    z = steps.z
    if size:
        z = np.abs(z) - np.nanmean(np.abs(z))
    return max([1.0, *(found.ratio for found in block_ratios(z, steps.piece))])


def deflated(p_value: float, ratio: float) -> float:
    r"""What a p-value is of residuals whose sums vary `ratio` times as much as those of independent ones.

    What moves once over the whole recording adds its own :math:`z^2/20` to the ratio at most, of blocks of a twentieth,
    and stays beyond :math:`\sqrt{20}` standard errors; what is only the correlation of neighbours does not.
    """
    errors = -NormalDist().inv_cdf(max(p_value, LEAST) / 2.0)
    return normal_tails(errors / math.sqrt(ratio))


def _band(frequencies: Array, power: Array, middle: float) -> float:
    """Mean power within an eighth of an octave to either side, or of the nearest frequency."""
    inside = (frequencies > middle / 2**0.125) & (frequencies <= middle * 2**0.125)
    return float(power[inside].mean() if inside.any() else np.interp(middle, frequencies, power))


def persistent(series: Sequence[Array]) -> float:
    """Correlation over recordings of the means of their two halves, and of the sizes of their steps."""
    kept = [x[np.isfinite(x)] for x in series]
    kept = [x for x in kept if len(x) > 8]
    if len(kept) < 4:
        return 0.0
    halves = [(x[: len(x) // 2], x[len(x) // 2 :]) for x in kept]
    found = 0.0
    for of in (np.mean, np.std):
        pair = np.array([[of(a), of(b)] for a, b in halves])
        if (pair.std(axis=0) > 0).all():
            found = max(found, float(np.corrcoef(pair.T)[0, 1]))
    return found


def wide_terms(names: Sequence[str], states: Array) -> list[str]:
    """Candidates that nobody asked for, at the scale of the data: powers, kinks, sines, saturations, products."""
    terms: list[str] = []
    for k, name in enumerate(names):
        size = float(f"{max(float(np.nanstd(states[:, k])), 1e-300):.2g}")
        terms += [name, *(f"{name}^{power}" for power in range(2, 7))]
        terms += [f"abs({name})", f"{name}*abs({name})", f"sgn({name})", f"tanh({name}/{size!r})"]
        terms += [
            f"1/(1 + ({name}/{size!r})^2)",
            f"{name}/(1 + ({name}/{size!r})^2)",
            f"exp(-({name}/{size!r})^2)",
        ]
        for j in range(1, FREQUENCIES + 1):
            rate = float(f"{0.25 * j / size:.3g}")
            terms += [f"sin({rate!r}*{name})", f"cos({rate!r}*{name})"]
    for a, one in enumerate(names):
        for other in names[a + 1 :]:
            terms += [f"{one}*{other}", f"{one}^2*{other}", f"{one}*{other}^2"]
    return terms


def missing_terms(
    steps: Steps, names: Sequence[str], evaluate: Callable[[Sequence[str], Array], Array], of_noise: bool
) -> list[tuple[str, float]]:
    """The two terms of largest score beside those that are held, with their z values; the second beside the first.

    Parameters
    ----------
    steps : Steps
    names : sequence of str
        Of the columns of `steps.states`.
    evaluate : callable
        Values `(s, k)` of terms at states.
    of_noise : bool
        Of the variance in place of the drift: the sizes of the residuals are told.
    """
    asked = list(steps.noise_names if of_noise else steps.outside_names)
    wide = [term for term in wide_terms(names, steps.states) if term not in asked]
    table, terms, first = _regression(steps, [*asked, *wide], len(asked), evaluate, of_noise)
    held, tested = list(range(first)), list(range(first, first + len(terms)))
    found: list[tuple[str, float]] = []
    for _ in range(2):
        z = _scores(table, held, tested)
        if not len(z) or not np.abs(z).max() > 0:
            break
        best = int(np.flatnonzero(np.abs(z) >= SIMPLE * np.abs(z).max())[0])
        found.append((terms[tested[best] - first], float(z[best])))
        held.append(tested.pop(best))
    return found


def finer(
    steps: Steps,
    term: str,
    names: Sequence[str],
    evaluate: Callable[[Sequence[str], Array], Array],
    of_noise: bool,
) -> str:
    """A sine or cosine with the rate of largest score around its own; any other term as it is."""
    kind, _, rest = term.partition("(")
    rate, _, name = rest.rstrip(")").partition("*")
    if kind not in ("sin", "cos") or name not in names:
        return term
    state = steps.states[:, list(names).index(name)]
    width = 0.5 / max(float(np.nanstd(state)), 1e-300)
    rates = [float(f"{float(rate) + width * share:.3g}") for share in np.linspace(-0.6, 0.6, 25)]
    tried = [f"{kind}({r!r}*{name})" for r in rates if r > 0]
    table, terms, first = _regression(steps, tried, 0, evaluate, of_noise)
    z = _scores(table, list(range(first)), list(range(first, first + len(terms))))
    return terms[int(np.argmax(np.abs(z)))] if len(z) else term


def _scores(table: Quadratic, held: list[int], tested: list[int]) -> Array:
    """The z value of each tested column beside the held ones."""
    if not tested:
        return np.zeros(0)
    alone = table.subset([*tested, *held]).profile(len(tested))
    own, left = np.diag(table.gram)[tested], np.diag(alone.gram)
    new = left > NEW * own
    return np.asarray(np.where(new, alone.moment / np.sqrt(np.where(new, left, 1.0)), 0.0))


def _regression(
    steps: Steps,
    terms: Sequence[str],
    asked: int,
    evaluate: Callable[[Sequence[str], Array], Array],
    of_noise: bool,
) -> tuple[Quadratic, list[str], int]:
    """Residuals, or their sizes, on what is held and on terms of which the first `asked` are known by their values.

    Returns the regression, the terms that are finite, and the number of columns that are held.
    """
    z, scale = steps.residual, steps.scale[:, None]
    ones = np.ones((len(z), 1))
    with np.errstate(all="ignore"):
        columns = evaluate(terms[asked:], np.ascontiguousarray(steps.states))
        if of_noise:
            z, roots, _ = steps.sizes
            # over the fitted variance, of which the scale of a step is one over the root
            inverse = (scale / roots_of(steps.parts)[1][:, None]) ** 2
            z = np.where(inverse[:, 0] < QUIET * np.nanmedian(inverse), z, np.nan)
            held = beside([steps.noise_held, ones], roots[:, None])
            columns = beside([steps.noise_outside[:, :asked], columns * inverse], roots[:, None])
        else:
            held = beside([steps.held, ones], scale)
            columns = beside([steps.outside[:, :asked], columns], scale)
    rows = np.isfinite(z) & np.isfinite(held).all(axis=1)
    good = np.asarray(np.isfinite(columns[rows]).all(axis=0))
    held, columns, z = held[rows], columns[rows], z[rows]
    held, columns = (part / np.sqrt(np.maximum(np.mean(part**2, axis=0), 1e-300)) for part in (held, columns))
    kept = [term for term, there in zip(terms, good) if there]
    return of_rows(np.hstack([held, columns[:, good]]), z), kept, held.shape[1]
