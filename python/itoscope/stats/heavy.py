"""The width of noise of Student's law: half the interval that holds 68 % of it."""

from __future__ import annotations

import math

from itoscope.stats.student import student_quantile

__all__ = ["width"]

INSIDE = 0.5 * (1.0 + math.erf(math.sqrt(0.5)))
"""Probability below one standard deviation of a normal law."""


def width(nu: float) -> float:
    """Half the interval that holds 68 % of Student's law of unit scale and `nu` degrees of freedom.

    Examples
    --------
    >>> round(width(1e6), 4), round(width(2.0), 4)
    (1.0, 1.3213)
    """
    return student_quantile(INSIDE, nu)
