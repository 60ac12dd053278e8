"""`Check`: one look at a fit, and the looks at the law and the neighbours of standardised residuals."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from itoscope.stats.tails import normal_tails
from itoscope.stats.whiteness import ljung_box

if TYPE_CHECKING:
    from itoscope.backends.records import ResidualSums
    from itoscope.result import diagnostics

__all__ = ["AUTOCORRELATION", "Check", "Residuals", "Words", "alpha_of", "residual_checks", "statistics"]

RATE = 0.01
"""False alarms of a fit of the right model, all its checks of residuals together."""
LOOKS = 18
"""Looks at each row or channel that share it."""
AUTOCORRELATION = 0.03
"""Autocorrelation at few steps that their length may leave over; what is small there and lasts, block sums see."""
KURTOSIS = 4.0
"""The noise of a diffusion is Gaussian over a short step: kurtosis 3. Steps of random size or jumps give more."""
KURTOSIS_ERRORS = 5.0
"""Standard errors, of independent normal residuals, above 3 of a kurtosis that counts as real."""
VARIANCE = 0.1
"""How far from one the variance of innovations may be; that of residuals is one by construction."""


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
    # among few pairs a covariance may exceed the variance of all
    rho = np.clip((sums.lagged / np.maximum(sums.pairs, 1) - m1**2) / variance, -1.0, 1.0)
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
    """How the checks speak of one kind of residual.

    `kind` begins the names of two of them. `mean`, `variance`, `jumps` and `colour` are the sentences, with the fields
    of `Residuals`, `{name}`, `{lag}`, `{steps}` and `{worst}` to be filled in; `alternating` is said in place of
    `colour` where the worst autocorrelation is the first and negative. Without `variance` nobody asks for it.
    """

    kind: str
    mean: str
    jumps: str
    colour: str
    variance: str | None = None
    variance_reason: str = ""
    alternating: str | None = None


def alpha_of(rows: int) -> float:
    """Significance of each look at each of so many rows or channels: they share `RATE`."""
    return RATE / (LOOKS * max(rows, 1))


def residual_checks(name: str, found: Residuals, words: Words, alpha: float) -> list[Check]:
    """Mean zero, variance one, no jumps, white: what standardised residuals are if the model is right.

    Parameters
    ----------
    name : str
        Of the row or channel.
    found : Residuals
    words : Words
    alpha : float
        Significance of each.
    """
    n = max(found.n, 1)
    lag, worst = found.worst
    mean_p = normal_tails(found.mean * math.sqrt(n / max(found.variance, 1e-150)))
    kurtosis_sd = math.sqrt(96.0 / n)
    first = found.autocorrelation[0]
    colour = words.alternating if words.alternating and lag == 1 and first < 0 else words.colour
    filled = {
        **found.as_dict(),
        "name": name,
        "lag": lag,
        "steps": f"step{'s' if lag > 1 else ''}",
        "worst": worst,
        "first": first,
    }
    checks = [
        Check(
            f"{words.kind} mean", name, mean_p, alpha, mean_p < alpha, words.mean.format(**filled),
            "a false alarm rate of 1 % of a fit, shared by all its checks",
        ),
        Check(
            "jumps", name, found.pawula, KURTOSIS / 3,
            found.kurtosis > KURTOSIS and found.kurtosis - 3 > KURTOSIS_ERRORS * kurtosis_sd,
            words.jumps.format(**filled), "kurtosis 4 is a third more than Gaussian, and five standard errors away",
        ),
        Check(
            "whiteness", name, found.p_value, alpha, found.p_value < alpha and abs(worst) > AUTOCORRELATION,
            colour.format(**filled),
            "Ljung-Box over ten lags at a false alarm rate of 1 % of a fit, shared by all its checks, and an "
            "autocorrelation above 0.03: the length of a step may leave less",
        ),
    ]  # fmt: skip
    if words.variance is not None:
        checks.append(
            Check(
                f"{words.kind} variance", name, found.variance, VARIANCE, abs(found.variance - 1) > VARIANCE,
                words.variance.format(**filled), words.variance_reason,
            )
        )  # fmt: skip
    return checks
