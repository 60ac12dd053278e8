"""`Check`: one look at a fit, and the four looks at standardised residuals that every fit gets."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np

from itoscope.backends.records import ResidualSums
from itoscope.result import diagnostics
from itoscope.stats.whiteness import ljung_box

__all__ = ["AUTOCORRELATION", "Check", "Residuals", "Words", "residual_checks", "statistics"]

SIGNIFICANCE = 1e-4
"""Significance below which a departure counts as real: with some ten checks, false alarms stay near 1 in 1000."""
AUTOCORRELATION = 0.03
"""Mean or autocorrelation under which a significant departure is too small to matter for the coefficients."""
MEAN_ERRORS = 4.0
"""Standard errors from zero of a mean that counts as real."""
KURTOSIS = 4.0
"""The noise of a diffusion is Gaussian over a short step: kurtosis 3. Steps of random size or jumps give more."""
KURTOSIS_ERRORS = 5.0
"""Standard errors, of independent normal residuals, above 3 of a kurtosis that counts as real."""
VARIANCE = 0.1
"""Standardised residuals have variance one by construction of the weights; more than this says Gamma does not fit."""


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

    def as_dict(self) -> diagnostics.Check:
        """All fields, ready for JSON."""
        return cast("diagnostics.Check", asdict(self))


@dataclass(frozen=True)
class Residuals:
    """Statistics of standardised residuals.

    Attributes
    ----------
    n : int
    mean, variance, kurtosis : float
    pawula : float
        The jump indicator: for a diffusion the fourth moment of an increment over three times its squared second tends
        to one; a jump leaves more.
    autocorrelation : list of float
        At lags 1, 2, ...
    ljung_box, p_value : float
        The statistic of all lags together, and how often independent residuals have a larger one.
    largest : float
        The largest absolute value, at sample `step` of path `path`.
    """

    n: int
    mean: float
    variance: float
    kurtosis: float
    pawula: float
    autocorrelation: list[float]
    ljung_box: float
    p_value: float
    largest: float
    path: int
    step: int

    def as_dict(self) -> diagnostics.Residuals:
        """All fields, ready for JSON."""
        return cast("diagnostics.Residuals", asdict(self))

    @property
    def worst(self) -> tuple[int, float]:
        """The lag of the largest autocorrelation, and that."""
        worst = max(self.autocorrelation, key=abs)
        return self.autocorrelation.index(worst) + 1, worst


def statistics(sums: ResidualSums) -> Residuals:
    """Statistics of standardised residuals from the sums over them."""
    n = max(sums.n, 1)
    m1, m2, m3, m4 = sums.powers / n
    variance = max(m2 - m1**2, 1e-150)  # its square is above zero too
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    rho = (sums.lagged / np.maximum(sums.pairs, 1) - m1**2) / variance
    statistic, p_value = ljung_box(rho, sums.pairs, n)
    return Residuals(
        n=int(sums.n),
        mean=float(m1),
        variance=float(variance),
        kurtosis=float(fourth / variance**2),
        pawula=float(fourth / (3 * variance**2)),
        autocorrelation=[float(r) for r in rho],
        ljung_box=statistic,
        p_value=p_value,
        largest=float(sums.largest),
        path=int(sums.path),
        step=int(sums.step),
    )


@dataclass(frozen=True)
class Words:
    """How the four checks speak of one kind of residual.

    `kind` begins the names of two of them. `mean`, `variance`, `jumps` and `colour` are the sentences, with the fields
    of `Residuals`, `{name}`, `{lag}`, `{steps}` and `{worst}` to be filled in; `alternating` is said in place of
    `colour` where the first autocorrelation is negative. The others are what stands behind the thresholds.
    """

    kind: str
    mean: str
    mean_reason: str
    variance: str
    variance_reason: str
    jumps: str
    colour: str
    colour_reason: str
    alternating: str | None = None


def residual_checks(name: str, found: Residuals, words: Words) -> list[Check]:
    """Mean zero, variance one, no jumps, white: what standardised residuals are if the model is right.

    Parameters
    ----------
    name : str
        Of the row or channel.
    found : Residuals
    words : Words
    """
    n = max(found.n, 1)
    lag, worst = found.worst
    mean_bound = MEAN_ERRORS / math.sqrt(n)
    kurtosis_sd = math.sqrt(96.0 / n)
    first = found.autocorrelation[0]
    colour = words.alternating if words.alternating and first < 0 else words.colour
    filled = {
        **found.as_dict(),
        "name": name,
        "lag": lag,
        "steps": f"step{'s' if lag > 1 else ''}",
        "worst": worst,
        "first": first,
    }
    return [
        Check(
            f"{words.kind} mean", name, found.mean, mean_bound,
            abs(found.mean) > mean_bound and abs(found.mean) > AUTOCORRELATION,
            words.mean.format(**filled), words.mean_reason,
        ),
        Check(
            f"{words.kind} variance", name, found.variance, VARIANCE, abs(found.variance - 1) > VARIANCE,
            words.variance.format(**filled), words.variance_reason,
        ),
        Check(
            "jumps", name, found.pawula, KURTOSIS / 3,
            found.kurtosis > KURTOSIS and found.kurtosis - 3 > KURTOSIS_ERRORS * kurtosis_sd,
            words.jumps.format(**filled), "kurtosis 4 is a third more than Gaussian, and five standard errors away",
        ),
        Check(
            "whiteness", name, found.p_value, SIGNIFICANCE,
            found.p_value < SIGNIFICANCE and abs(worst) > AUTOCORRELATION,
            colour.format(**filled), words.colour_reason,
        ),
    ]  # fmt: skip
