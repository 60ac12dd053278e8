"""Intervals of quantities that cannot be negative: on the scale of their logarithm, or from zero up at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["EDGE", "positive_interval"]

EDGE = 0.5
"""Standard error over the value from which a quantity is compatible with zero: its interval starts there."""


def positive_interval(value: float, sd: float, central: float, upper: float) -> Array:
    """Interval `(2,)` of a positive quantity.

    ``value exp(-+ central sd / value)`` where `sd` is under `EDGE` of the value, else ``0 .. value + upper sd``.

    Parameters
    ----------
    value, sd : float
    central, upper : float
        Quantiles in standard deviations: of the central interval, and of the bound that alone has its probability.
    """
    if sd < EDGE * value:
        return np.asarray(value * np.exp(np.array([-1.0, 1.0]) * central * sd / value))
    return np.array([0.0, value + upper * sd])
