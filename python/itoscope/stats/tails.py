"""Tails of the normal and the chi-square law."""

from __future__ import annotations

import math

__all__ = ["chi_square_cdf", "chi_square_tail", "normal_tails"]

TERMS = 100_000
"""Terms of the series at most; the number that is needed grows with the square root of the degrees of freedom."""


def normal_tails(z: float) -> float:
    """Probability that a standard normal number is further from zero than `z`."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def chi_square_tail(x: float, dof: float) -> float:
    r"""Probability of more than `x` with `dof` degrees of freedom, :math:`Q(d/2, x/2)`; 1 for no degree."""
    return 1.0 if dof <= 0 or x <= 0 else _gamma_tails(dof / 2, x / 2)[1]


def chi_square_cdf(x: float, dof: float) -> float:
    r"""Probability of less than `x` with `dof` degrees of freedom, :math:`P(d/2, x/2)`."""
    return 0.0 if dof <= 0 or x <= 0 else _gamma_tails(dof / 2, x / 2)[0]


def _gamma_tails(a: float, x: float) -> tuple[float, float]:
    """Regularised incomplete gamma functions: a series below the mean, Lentz's continued fraction above."""
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1.0 / a
        for k in range(1, TERMS):
            term *= x / (a + k)
            total += term
            if term < 1e-16 * total:
                break
        low = min(front * total, 1.0)
        return low, 1.0 - low
    b = x + 1.0 - a
    c, d = 1e300, 1.0 / b
    value = d
    for k in range(1, TERMS):
        step = -k * (k - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    high = min(front * value, 1.0)
    return 1.0 - high, high
