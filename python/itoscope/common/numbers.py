"""How numbers are written: exactly, to a few digits, and a value rounded together with its standard deviation."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Rounding", "exact", "number", "rough"]


def exact(value: float) -> str:
    """The shortest text that reads back as the same number: `2`, `0.1`, `1e-05`."""
    return repr(float(value)).removesuffix(".0")


def number(value: float, digits: int = 4) -> str:
    """Write `value` with `digits` significant digits, without trailing zeros."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def rough(value: float, digits: int = 2) -> str:
    """Write `value` rounded to `digits` digits, whole up to a million: `0.049`, `120`, `4300`."""
    return number(float(f"{value:.{digits}g}"), 7)


@dataclass(frozen=True)
class Rounding:
    """How to write a coefficient and all that belongs to it: its last digit is one that its standard deviation knows.

    `exponent` is the common power of ten, zero between 1e-3 and 1e6; `decimals` counts the digits after the point.
    """

    decimals: int
    exponent: int

    @classmethod
    def of(cls, value: float, sd: float) -> Rounding:
        """Two digits of the standard deviation, or one when its first digit is 3 to 9.

        Examples
        --------
        >>> rounding = Rounding.of(-99913.2, 319.0)
        >>> rounding.write(-99913.2), rounding.write(319.0)
        ('-99900', '300')
        """
        sd = 0.01 * abs(value) if math.isinf(sd) else sd  # nobody knows: three digits of the value
        size = max(abs(value), sd)
        if not (math.isfinite(size) and size > 0):
            return cls(6, 0)
        power = math.floor(math.log10(size))
        exponent = power if power >= 6 or power < -3 else 0
        if not sd > 0:
            return cls(max(exponent - power + 5, 0), exponent)
        lead = math.floor(math.log10(sd) + 1e-12)
        digits = 1 if round(sd / 10.0**lead, 1) >= 3 else 2
        return cls(exponent - lead + digits - 1, exponent)

    def write(self, value: float) -> str:
        """Write `value` to this place, with this power of ten."""
        if not math.isfinite(value):
            return f"{value}"
        text = f"{round(value / 10.0**self.exponent, self.decimals):.{max(self.decimals, 0)}f}"
        return f"{text}e{self.exponent}" if self.exponent else text
