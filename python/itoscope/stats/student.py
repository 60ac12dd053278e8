"""Quantiles and tails of Student's t distribution, tails of Fisher's; NumPy has none."""

from __future__ import annotations

import math

__all__ = ["student_quantile", "student_tails", "variance_ratio_tail"]


def student_quantile(p: float, df: float) -> float:
    """Return the quantile of probability `p` of Student's t with `df > 0` degrees of freedom.

    Newton's iteration on the distribution function, held inside a bracket, from the normal quantile; beyond 1e5
    degrees of freedom the Cornish-Fisher expansion, whose next term is below 1e-15.
    """
    from statistics import NormalDist  # brings decimals and fractions along, which an import can do without

    if df > 1e5:
        z = NormalDist().inv_cdf(p)
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -student_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while _distribution(high, df) < p:
        low, high = high, 2 * high
        if math.isinf(high * high):  # of a few hundredths of a degree of freedom
            return math.inf
    t = min(max(NormalDist().inv_cdf(p), low), high)
    log_density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(200):
        excess = _distribution(t, df) - p
        low, high = (low, t) if excess > 0 else (t, high)
        density = math.exp(log_density - 0.5 * (df + 1) * math.log1p(t * t / df))
        following = t - excess / density if density > 0 else math.nan
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - t) <= 1e-14 * max(1.0, t):
            return following
        t = following
    return t


def student_tails(t: float, df: float) -> float:
    """Probability that a number of Student's law with `df` degrees of freedom is further from zero than `t`."""
    return 0.0 if math.isinf(t) else _incomplete_beta(df / (df + t * t), 0.5 * df, 0.5)


def variance_ratio_tail(ratio: float, above: float, below: float) -> float:
    """Probability that a number of Fisher's law with so many degrees of freedom exceeds `ratio >= 0`."""
    return _incomplete_beta(below / (below + above * ratio), 0.5 * below, 0.5 * above)


def _distribution(t: float, df: float) -> float:
    """Return ``P(T <= t)`` for ``t >= 0``: ``1 - I_x(df/2, 1/2) / 2`` with ``x = df / (df + t^2)``."""
    x = df / (df + t * t)
    return 1 - 0.5 * _incomplete_beta(x, 0.5 * df, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (modified Lentz)."""
    if x in (0.0, 1.0):
        return x
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            fraction *= c * d
            change = c * d
        if abs(change - 1) < 1e-16:
            break
    return math.exp(log_front) * fraction / a
