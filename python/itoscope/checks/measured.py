"""What a fit says of itself: each check has a value, a threshold with its reason, and a sentence for when it fires."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from itoscope.backends.records import ResidualSums, Sums, Survey
from itoscope.common.types import Array
from itoscope.posterior.equation import Equation

__all__ = [
    "Check",
    "check_step",
    "check_survey",
    "known_row",
    "ljung_box",
    "no_noise",
    "residual_checks",
    "residual_statistics",
    "unstable_rounds",
]

#: Significance below which a departure counts as real: with some ten checks, false alarms stay near 1 in 1000.
SIGNIFICANCE = 1e-4
#: Autocorrelation under which a significant departure is too small to matter for the coefficients.
AUTOCORRELATION = 0.03
#: The noise of a diffusion is Gaussian over a short step: kurtosis 3. Steps of random size or jumps give more.
KURTOSIS = 4.0
#: Standardised residuals have variance one by construction of the weights; more than this says Gamma does not fit.
VARIANCE = 0.1
#: Share of the drift that differs between Euler and trapezoid; its square is what is left over.
STEP_CHANGE = 0.2


@dataclass(frozen=True)
class Check:
    """One look at a fit: `name` of the check, the `value` found, the `threshold`, whether it `fired`, and a sentence.

    `about` names the equation; `reason` says why the threshold is where it is.
    """

    name: str
    about: str
    value: float
    threshold: float
    fired: bool
    sentence: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return asdict(self)


def ljung_box(rho: Array, pairs: Array, n: int) -> tuple[float, float]:
    r"""Ljung-Box statistic :math:`n (n + 2) \sum_l \rho_l^2 / (n - l)` and its p-value.

    Parameters
    ----------
    rho : (L,) array
        Autocorrelations at lags 1..L; L must be even, for which the tail of the chi-square law is a finite sum.
    pairs : (L,) array
        Number of products behind each, in the place of `n - l` when there are gaps and many paths.
    n : int
        Number of residuals.

    Returns
    -------
    statistic, p_value : float
    """
    statistic = float((n + 2) * np.sum(rho**2 * pairs / n))
    half = statistic / 2
    terms = range(len(rho) // 2)
    log_sum = -half + np.logaddexp.reduce(
        [i * math.log(max(half, 1e-300)) - math.lgamma(i + 1) for i in terms]
    )
    return statistic, float(math.exp(min(log_sum, 0.0)))


def residual_statistics(sums: ResidualSums) -> dict[str, Any]:
    """Mean, variance, kurtosis, autocorrelations and jump indicator of standardised residuals.

    The jump indicator is Pawula's: for a diffusion the fourth moment of an increment over three times its squared
    second tends to one; a jump leaves more.

    Parameters
    ----------
    sums : ResidualSums

    Returns
    -------
    dict
        `n, mean, variance, kurtosis, pawula, autocorrelation (list), ljung_box, p_value, largest, path, step`.
    """
    n = max(sums.n, 1)
    m1, m2, m3, m4 = sums.powers / n
    variance = max(m2 - m1**2, 1e-300)
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    rho = (sums.lagged / np.maximum(sums.pairs, 1) - m1**2) / variance
    statistic, p_value = ljung_box(rho, sums.pairs, n)
    return {
        "n": int(sums.n),
        "mean": float(m1),
        "variance": float(variance),
        "kurtosis": float(fourth / variance**2),
        "pawula": float(fourth / (3 * variance**2)),
        "autocorrelation": [float(r) for r in rho],
        "ljung_box": statistic,
        "p_value": p_value,
        "largest": float(sums.largest),
        "path": int(sums.path),
        "step": int(sums.step),
    }


def residual_checks(state: str, found: dict[str, Any]) -> list[Check]:
    """Checks of the standardised residuals of one row.

    Parameters
    ----------
    state : str
        Name of the row.
    found : dict
        From `residual_statistics`.
    """
    n = max(found["n"], 1)
    rho = found["autocorrelation"]
    worst = max(rho, key=abs)
    lag = rho.index(worst) + 1
    colour = (
        f"the residuals of {state} alternate (autocorrelation {rho[0]:.2f} at one step), which is what "
        f"measurement noise "
        'does; try measurement_noise="estimate"'
        if rho[0] < 0
        else f"the residuals of {state} are not independent (autocorrelation {worst:.2f} at {lag} step"
        f"{'s' if lag > 1 else ''}): a term is missing, the forcing is not white, or a state was not measured"
    )
    jump_sd = math.sqrt(96.0 / n)
    return [
        Check(
            "residual mean", state, found["mean"], 4 / math.sqrt(n),
            abs(found["mean"]) > 4 / math.sqrt(n) and abs(found["mean"]) > AUTOCORRELATION,
            f"the residuals of {state} have a mean of {found['mean']:.3f} standard deviations: a constant "
            f"or a trend is "
            "missing from its drift",
            "four standard errors of a mean of independent residuals, and large enough to matter",
        ),
        Check(
            "residual variance", state, found["variance"], VARIANCE, abs(found["variance"] - 1) > VARIANCE,
            f"the residuals of {state} have variance {found['variance']:.2f} where the fitted diffusion says 1: the "
            "diffusion library does not describe the noise",
            "the fitted diffusion makes it one up to its own error; a tenth is far outside that for 1000 samples",
        ),
        Check(
            "jumps", state, found["pawula"], KURTOSIS / 3,
            found["kurtosis"] > KURTOSIS and found["kurtosis"] - 3 > 5 * jump_sd,
            f"the residuals of {state} have kurtosis {found['kurtosis']:.1f} where a diffusion has 3 (largest: "
            f"{found['largest']:.1f} standard deviations, path {found['path']}, step {found['step']}): the "
            f"path jumps, or "
            "the noise strength varies in a way that the diffusion library does not hold",
            "kurtosis 4 is a third more than Gaussian, and five standard errors away",
        ),
        Check(
            "whiteness", state, found["p_value"], SIGNIFICANCE,
            found["p_value"] < SIGNIFICANCE and abs(worst) > AUTOCORRELATION,
            colour,
            "Ljung-Box over ten lags at 1e-4, and an autocorrelation above 0.03; smaller ones move no "
            "coefficient visibly",
        ),
    ]  # fmt: skip


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
            f"({100 * share:.2g} %; the worst is sample {survey.sample} of path {survey.path}, eigenvalue "
            f"{survey.worst:.3g}); it is projected to the nearest positive one for simulation only",
            "a covariance has no negative eigenvalue anywhere",
        )
    ]  # fmt: skip
    for state, count in zip(states, survey.below):
        part = int(count) / max(survey.n, 1)
        checks.append(
            Check(
                "variance floor",
                state,
                part,
                0.2,
                part > 0.2,
                f"the predicted noise variance of {state} is under its floor on {100 * part:.0f} % of the "
                f"samples: their weights are held back, and the intervals are a little wider or narrower "
                f"than they should be",
                "weights of a fifth of the data are then not the optimal ones",
            )
        )
    return checks


def check_step(state: str, equation: Equation, sums: Sums) -> list[Check]:
    r"""Compare the Euler and the trapezoid drift of the selected terms.

    The value is the size of their difference on the data over that of the drift,
    :math:`(\delta^T \Omega \delta / \theta^T \Omega \theta)^{1/2}`: the first-order error that the trapezoid removes.
    What
    remains is of the order of its square.

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
            "time step",
            state,
            value,
            STEP_CHANGE,
            value > STEP_CHANGE and value > 3 * spread,
            f"the time step is coarse for {state}: its drift changes by {100 * value:.0f} % between a "
            f"first-order and a "
            f"second-order regression, so errors of about {100 * value**2:.0f} % may be left; sample faster if you can",
            "the error left over is of the order of the square, here 4 %",
        )
    ]


def unstable_rounds(max_rounds: int, record: Sequence[Mapping[str, Any]]) -> Check:
    """The check that fires when the weight rounds do not settle."""
    last = record[-1]
    what = (
        f"a coefficient still moved by {last['shift']:.2f} standard deviations"
        if last.get("same_terms")
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
        f"this library",
        "a row that is not given carries noise",
    )  # fmt: skip


def known_row(state: str, expression: str, left: float, total: float, threshold: float) -> Check:
    """Whether a given row of the drift explains the increments of its state.

    Parameters
    ----------
    state, expression : str
    left, total : float
        Sums of squares of the increments less `dt` times the given drift, and of the increments.
    threshold : float
        Share that may be left over.
    """
    share = left / total if total > 0 else 0.0
    return Check(
        "given row", state, share, threshold, share > threshold,
        f"the given drift d{state} = {expression} leaves {100 * share:.0f} % of the squared increments of {state} "
        "unexplained: check the units, the time step and the names, or leave the row to be discovered",
        "a row without noise is followed by the trapezoid rule up to the square of the time step",
    )  # fmt: skip
