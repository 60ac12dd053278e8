r"""Laws of noise that are not normal: Student's, and that of outliers, a normal bulk and wide readings among it.

A law is the numbers that shape it: none of the normal law, one over the degrees of freedom of Student's, the share of
wide readings and their standard deviation over that of the others of the law of outliers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.stats.student import student_quantile
from itoscope.stats.tails import chi_square_cdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["draws", "nodes", "outlying", "width"]

NODES = 40
"""Nodes of the sum over sizes of Student's law: trapezoids in the logarithm of the precision, whose error falls
exponentially."""
LEFT_OUT, WIDEST, REACH = 20.0, 40.0, 5.0
"""Exponent at which a tail of the law of sizes is left out; logarithm of the largest variance over the scale; standard
deviations of the logarithm of the precision that the nodes reach."""
INSIDE = 0.5 * (1.0 + math.erf(math.sqrt(0.5)))
"""Probability below one standard deviation of a normal law."""
FAR = 3.0
"""A reading of Student's law is an outlier where its own standard deviation is so many times the scale."""


def nodes(law: Sequence[float]) -> tuple[Array, Array]:
    """A law as a sum of normal ones: their variances over the scale, the widest first, and logarithms of their shares.

    Examples
    --------
    >>> nodes((0.02, 10.0))[0].tolist()
    [100.0, 1.0]
    """
    if len(law) == 2:
        share, ratio = law
        return np.array([max(ratio**2, 1.0), 1.0]), np.array([math.log(share), math.log1p(-share)])
    (heaviness,) = law
    nu, sd = 1.0 / heaviness, math.sqrt(2.0 * heaviness)
    left = min(2.0 * LEFT_OUT * heaviness + REACH * sd, WIDEST)
    right = math.log(1.0 + REACH * sd + 2.0 * REACH * heaviness)
    u = np.linspace(-left, right, NODES)
    shares = 0.5 * nu * (u - np.exp(u) + 1.0)
    return np.exp(-u), shares - np.log(np.exp(shares).sum())


def width(law: Sequence[float]) -> float:
    """Half the interval that holds 68 % of Student's law of unit scale; 1 of the others, whose bulk is normal.

    Examples
    --------
    >>> round(width((1e-6,)), 4), round(width((0.5,)), 4), width((0.02, 10.0))
    (1.0, 1.3213, 1.0)
    """
    return student_quantile(INSIDE, 1.0 / law[0]) if len(law) == 1 else 1.0


def draws(law: Sequence[float], n: int, rng: np.random.Generator) -> Array:
    """Standard deviations of `n` readings over the scale."""
    if len(law) == 1:
        return np.asarray(1.0 / np.sqrt(rng.gamma(0.5 / law[0], 2.0 * law[0], n)))
    if len(law) == 2:
        return np.where(rng.random(n) < law[0], max(law[1], 1.0), 1.0)
    return np.ones(n)


def outlying(law: Sequence[float], distance: Array, doubt: Array) -> Array:
    r"""Probabilities that readings are outliers: of the wide law, or of Student's with a size of `FAR` scales.

    Given its distance :math:`z` a reading of Student's law has the precision
    :math:`\lambda (\nu + z^2) \sim \chi^2_{\nu + 1}`.

    Parameters
    ----------
    law : sequence of float
    distance : (n,) array
        From the motion, in scales; NaN where nothing was read.
    doubt : (n,) array
        Variance of the place of the motion, in squared scales.
    """
    if len(law) == 2:
        variances, shares = nodes(law)
        spread = variances[:, None] + doubt
        wide, near = shares[:, None] - 0.5 * np.log(spread) - 0.5 * distance**2 / spread
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(near - wide)))
    nu = 1.0 / law[0]
    known = [chi_square_cdf((nu + z**2) / FAR**2, nu + 1.0) if z**2 > nu else 0.0 for z in distance.tolist()]
    return np.where(np.isfinite(distance), known, np.nan)
