r"""Laws of the sizes of steps as a filter sums over them: normal laws, and what is remembered of the last steps.

Given its size :math:`v`, a factor of its covariance, a step is normal. A filter that only keeps one normal law of the
state cannot wait for the readings that tell whether a step was a large one; one that keeps a law for every sequence of
sizes grows without end. In between, it keeps one for each *mode*: how long ago the last large step was, and which of
the large sizes it had; or that there was none of late.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.heavy import FAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Integers

__all__ = ["LAG", "Modes", "modes_of"]

NODES = 7
"""Sizes of Student's law, evenly spaced in their logarithm."""
LEFT_OUT, REACH = 6.0, 2.0
"""Exponent at which the tail of large sizes is left out; standard deviations of the logarithm that the sizes reach."""
LARGE, REMEMBERED = 3, 2
"""How many of them are large, and steps for which these are remembered."""
JUMP_REMEMBERED = 4
"""Steps for which a jump is remembered."""
LAG = 12
"""Steps after which no reading changes what is known of a size."""


class Modes(NamedTuple):
    """Sizes and modes.

    Attributes
    ----------
    variances : (K,) array
        The sizes, the largest first.
    shares : (K,) array
        Logarithms of how often a step has them.
    wide : (K,) array
        How far each counts as that of a jump.
    after : (H, K) array of int
        The mode after a step of each size from each mode; the first is that without a large step of late.
    """

    variances: Array
    shares: Array
    wide: Array
    after: Integers


def modes_of(law: Sequence[float]) -> Modes:
    r"""The modes of a law: of Student's, one over its degrees of freedom; of jumps, their share and width.

    Examples
    --------
    >>> modes_of((0.01, 20.0)).after.tolist()
    [[1, 0], [1, 2], [1, 3], [1, 4], [1, 0]]
    """
    if len(law) == 2:
        share, width = law
        variances = np.array([max(width**2, 1.0), 1.0])
        shares = np.array([math.log(share), math.log1p(-share)])
        return Modes(variances, shares, np.array([1.0, 0.0]), _after(2, 1, JUMP_REMEMBERED))
    (heaviness,) = law
    sd = math.sqrt(2.0 * heaviness)
    left = 2.0 * LEFT_OUT * heaviness + REACH * sd
    right = math.log(1.0 + REACH * sd + 2.0 * REACH * heaviness)
    spacing = (left + right) / (NODES - 1)
    u = np.arange(NODES) * spacing - left
    shares = 0.5 / heaviness * (u - np.exp(u) + 1.0)
    wide = np.clip((-u - 2.0 * math.log(FAR)) / spacing + 0.5, 0.0, 1.0)
    return Modes(np.exp(-u), shares - np.log(np.exp(shares).sum()), wide, _after(NODES, LARGE, REMEMBERED))


def _after(sizes: int, large: int, remembered: int) -> Integers:
    """The mode after each size `(1 + large remembered, sizes)`: that of the last large one, by its age."""
    after = np.zeros((1 + large * remembered, sizes), dtype=np.int64)
    for mode in range(1, len(after)):
        after[mode] = mode + 1 if mode % remembered else 0
    after[:, :large] = 1 + np.arange(large) * remembered
    return after
