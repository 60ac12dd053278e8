"""Checks of a fit to measured states: its residuals, its covariance on the data, its step, its given rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check, Residuals, Words, alpha_of, residual_checks, statistics
from itoscope.checks.scores import step_checks
from itoscope.checks.steps import of_measured
from itoscope.stats.tails import chi_square_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.backends.records import Fitted, Program, Sums, Survey, Variance
    from itoscope.checks.steps import Steps
    from itoscope.common.types import Array, Times
    from itoscope.posterior.equation import Equation

__all__ = [
    "check_bias",
    "check_differing",
    "check_given",
    "check_quiet",
    "check_residuals",
    "check_slight",
    "check_step",
    "check_survey",
    "no_noise",
    "quiet_sentence",
    "unstable_rounds",
]

STEP_CHANGE = 0.2
"""Share of the drift that differs between Euler and trapezoid; its square is what is left over."""
STEP_ERRORS = 3.0
"""Standard errors that such a difference must exceed."""
BIASED = 0.65
"""Standard errors by which the step leads a coefficient off: its 95 % interval then holds in 90 %."""
QUIET = 2.0
"""Variance of a row over what the step leaves of one without noise, under which it is reported as deterministic."""
ALIKE = 1.353
"""Log likelihood that coefficients of each recording must gain over one for all."""
SHARE = 0.05
"""How often recordings that are alike are taken for ones that differ."""
BELOW_FLOOR = 0.2
"""Share of the samples whose predicted variance may be under its floor."""
GIVEN_RESIDUAL = 0.05
"""Share of the squared increments that a given row, or one without noise, may leave over."""

RESIDUALS = Words(
    kind="residual",
    mean="the residuals of {name} have a mean of {mean:.3f} standard deviations: a constant or a trend is missing from "
    "its drift",
    jumps="the residuals of {name} have kurtosis {kurtosis:.1f} where a diffusion has 3 (largest: {largest:.1f} "
    "standard deviations, path {path}, step {step}): the path jumps, or the noise strength varies in a way that the "
    "diffusion library does not hold",
    colour="the residuals of {name} are not independent (autocorrelation {worst:.2f} at {lag} {steps}): a term is "
    "missing, the forcing is not white, or a state was not measured",
    alternating="the residuals of {name} alternate (autocorrelation {first:.2f} at one step)",
)


def check_residuals(
    backend: Backend,
    paths: Sequence[Array],
    times: Sequence[Times],
    row: tuple[int, str],
    drift: Fitted,
    variance: Variance,
    rows: int = 1,
    law: Sequence[float] = (),
) -> tuple[Residuals, Steps, list[Check]]:
    """Statistics of the residuals of a row, by number and name, of so many `rows`, its steps and checks.

    Under a `law` of its steps that is not normal, of normal scores of the residuals.
    """
    alpha = alpha_of(rows)
    name = row[1]
    steps, sums = of_measured(backend, paths, times, *row, drift, variance, law)
    found = statistics(sums)
    return (
        found,
        steps,
        residual_checks(name, found, RESIDUALS, alpha) + step_checks("residual", steps, alpha),
    )


def check_survey(states: Sequence[str], survey: Survey, floors: Array) -> list[Check]:
    """Checks of the predicted covariance on the data.

    Parameters
    ----------
    states : sequence of str
        Names of the noisy rows.
    survey : Survey
    floors : (r,) array
    """
    share = survey.indefinite / max(survey.n, 1)
    checks = [
        Check(
            "positive covariance", ", ".join(states), share, 0.0, survey.indefinite > 0,
            f"the fitted diffusion covariance is not positive on {survey.indefinite} of {survey.n} samples "
            f"({100 * share:.3g} %; the worst is sample {survey.sample} of path {survey.path}, eigenvalue "
            f"{survey.worst:.3g}); it is projected to the nearest positive one for simulation only",
            "a covariance has no negative eigenvalue anywhere",
        )
    ]  # fmt: skip
    for state, count in zip(states, survey.below):
        part = int(count) / max(survey.n, 1)
        checks.append(
            Check(
                "variance floor", state, part, BELOW_FLOOR, part > BELOW_FLOOR,
                f"the predicted noise variance of {state} is under its floor on {100 * part:.0f} % of the samples: "
                "their weights are held back, and the intervals are a little wider or narrower than they should be",
                "weights of a fifth of the data are then not the optimal ones",
            )
        )  # fmt: skip
    return checks


def check_step(state: str, equation: Equation, sums: Sums) -> list[Check]:
    r"""Compare the Euler and the trapezoid drift of the selected terms.

    The value is the size of their difference on the data over that of the drift,
    :math:`(\delta^T \Omega \delta / \theta^T \Omega \theta)^{1/2}`: the first-order error that the trapezoid removes.
    What remains is of the order of its square.

    Parameters
    ----------
    state : str
    equation : Equation
        From trapezoid moments.
    sums : Sums
        Those behind the moments; `omega theta = c` on the selected terms is the Euler regression.
    """
    inside = np.flatnonzero(equation.selected)
    if not len(inside):
        return []
    block, mean = sums.omega[np.ix_(inside, inside)], equation.mean[inside]
    change = np.linalg.lstsq(block, sums.c[inside], rcond=None)[0] - mean
    total = float(mean @ block @ mean)
    value = float(np.sqrt(change @ block @ change / total)) if total > 0 else 0.0
    spread = (
        float(np.sqrt(np.trace(block @ equation.cov[np.ix_(inside, inside)]) / total)) if total > 0 else 0.0
    )
    return [
        Check(
            "time step", state, value, STEP_CHANGE, value > STEP_CHANGE and value > STEP_ERRORS * spread,
            f"the time step is coarse for {state}: its drift changes by {100 * value:.0f} % between a first-order and "
            f"a second-order regression, so errors of about {100 * value**2:.0f} % may be left; sample faster if you "
            "can",
            "the error left over is of the order of the square, here 4 %",
        )
    ]  # fmt: skip


def check_bias(state: str, bias: float) -> Check:
    """Whether the length of the step leads the coefficients of a row off, beside their standard errors.

    Parameters
    ----------
    state : str
    bias : float
        The largest of the row's drift and variance, in standard errors.
    """
    return Check(
        "step size", state, bias, BIASED, bias > BIASED,
        f"the time step leads a coefficient of {state} off by {bias:.2g} of its standard errors, and 95 % intervals "
        'hold less often than they say: scheme="filter" follows the states between samples',
        "at two thirds of a standard error an interval of 95 % holds in 90 %",
    )  # fmt: skip


def check_differing(state: str, term: str, gain: float, count: int, starts: int = 0) -> Check:
    """Whether the recordings differ in a coefficient that was let differ.

    Parameters
    ----------
    state, term : str
    gain : float
        Of the log likelihood over one value for all.
    count : int
        Recordings.
    starts : int
        First values with which the coefficient may go, each at a rate that was fitted.
    """
    least = chance(starts)
    return Check(
        "recordings differ", state, gain, least, gain < least,
        f"the coefficient of {term} in d{state} differs over the {count} recordings no more than by chance (log "
        f"likelihood {gain:+.2g} against one value for all): without vary the other coefficients are known better",
        "half of chi-square over two: recordings that are alike reach it in 5 %",
    )  # fmt: skip


def chance(starts: int) -> float:
    """Gain of log-likelihood that recordings which are alike reach in 5 %: by a variance, and rates of the starts.

    Half of chi-square with a degree of freedom for each, which a variance at its bound reaches less often.
    """
    if not starts:
        return ALIKE
    low, high = ALIKE, ALIKE + 10.0 * starts
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if chi_square_tail(2.0 * middle, starts + 1.0) > SHARE else (low, middle)
    return high


def unstable_rounds(max_rounds: int, same_terms: bool, shift: float) -> Check:
    """The check that fires when the weight rounds do not settle.

    Parameters
    ----------
    max_rounds : int
    same_terms : bool
        Whether the last two rounds selected the same.
    shift : float
        How far a coefficient still moved, in standard deviations.
    """
    what = (
        f"a coefficient still moved by {shift:.2f} standard deviations"
        if same_terms
        else "the selected terms still changed"
    )
    return Check(
        "rounds", "all", float(max_rounds), float(max_rounds), True,
        f"after {max_rounds} weight rounds {what}: the terms of the last round are reported; look at "
        "diagnostics['rounds'], and at libraries with fewer terms that resemble each other",
        "two or three rounds are usual",
    )  # fmt: skip


def no_noise(state: str) -> Check:
    """The check that fires when no diffusion term was selected for a row."""
    return Check(
        "diffusion found", state, 0.0, 1.0, True,
        f"no diffusion term was selected for {state}: its noise is too weak or too short to be described by "
        "this library",
        "a row that is not given carries noise",
    )  # fmt: skip


def check_quiet(state: str, gamma: float, left: float, moved: float) -> Check:
    """Whether the noise of a row is more than what a step leaves of a row without any.

    Parameters
    ----------
    state : str
    gamma : float
        Mean of its variance along the data.
    left : float
        What the trapezoid leaves of a row without noise, ``h mean((f[n+2] - 2 f[n+1] + f[n])^2) / 24`` with its drift
        `f` where other rows move that as noise does; of a smooth one it leaves less.
    moved : float
        Mean of the squared steps of the state over their length: a row without noise explains them as a given one does.
    """
    ratio = gamma / left if left > 0.0 else math.inf
    return Check(
        "row noise", state, ratio, QUIET, ratio < QUIET and gamma < GIVEN_RESIDUAL * moved,
        quiet_sentence([state]), "a row without noise has a ratio of 1 at most",
    )  # fmt: skip


def quiet_sentence(states: Sequence[str], *, every: bool = False) -> str:
    """What is said of states without noise; `every`: no other row has any.

    Examples
    --------
    >>> quiet_sentence(["x", "y"], every=True)[:56]
    'x and y have no noise that can be seen at this step: wha'
    """
    one = len(states) == 1
    named = states[0] if one else f"{', '.join(states[:-1])} and {states[-1]}"
    words = "'none'" if every else "{" + ", ".join(f"{state!r}: 'none'" for state in states) + "}"
    has, its, rows = ("has", "its", "row is") if one else ("have", "their", "rows are")
    return (
        f"{named} {has} no noise that can be seen at this step: what {its} drift leaves over is the error of the "
        f"step, and the {rows} reported as deterministic; diffusion={words} says so beforehand"
    )


def check_slight(states: Sequence[str], count: int) -> Check:
    """Say that terms of rows without noise were taken out since the error of the step brings in such.

    Parameters
    ----------
    states : sequence of str
        Whose rows had them.
    count : int
        How many they were.
    """
    return Check(
        "slight terms", ", ".join(states), float(count), 0.0, True,
        f"{count} term{'s' if count > 1 else ''} of {', '.join(states)} that the error of the step would bring in, or "
        "that cannot be told from such, were left out; sample faster to see terms as small",
        "the error of the step is a function of the states, which terms of a library follow",
    )  # fmt: skip


def check_given(paths: Sequence[Array], times: Sequence[Times], row: int, name: str, given: Program) -> Check:
    """Whether a given row of the drift explains the increments of its state.

    Parameters
    ----------
    paths, times : sequences
        The recording, as a backend takes it.
    row : int
    name : str
        Of the state.
    given : Program
        The one expression of the row.
    """
    left, total = 0.0, 0.0
    for x, steps in zip(paths, times):
        dt = np.diff(steps) if np.ndim(steps) else steps
        f = given.evaluate(x)[:, 0]
        moved = np.diff(x[:, row])
        left += float(np.nansum((moved - dt * (f[:-1] + f[1:]) / 2) ** 2))
        total += float(np.nansum(moved**2))
    share = left / total if total > 0 else 0.0
    return Check(
        "given row", name, share, GIVEN_RESIDUAL, share > GIVEN_RESIDUAL,
        f"the given drift d{name} = {given.expressions[0]} leaves {100 * share:.0f} % of the squared increments of "
        f"{name} unexplained: check the units, the time step and the names, or leave the row to be discovered",
        "a row without noise is followed by the trapezoid rule up to the square of the time step",
    )  # fmt: skip
