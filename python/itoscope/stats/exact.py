"""Sums of doubles without rounding: the same bits in whatever order and parts they are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["Exact"]

LOWEST = 1074
"""Every double is a whole number of `2^-1074`."""
DIGITS = 53
"""Binary digits of a double."""


@dataclass(frozen=True, eq=False)
class Exact:
    """Numbers `(n,)` as whole multiples of the smallest double, which add without rounding."""

    units: np.ndarray[Any, np.dtype[np.object_]]

    @classmethod
    def of(cls, values: Array) -> Exact:
        """Finite doubles `(n,)`.

        Raises
        ------
        ArgumentError
            For a number that is not finite.
        """
        if not np.isfinite(values).all():
            raise argument_error("values", values, "finite numbers")
        fraction, exponent = np.frexp(values)
        whole = np.ldexp(fraction, DIGITS).astype(np.int64).tolist()
        shifts = (exponent.astype(int) + (LOWEST - DIGITS)).tolist()
        units = [n << shift if shift >= 0 else n >> -shift for n, shift in zip(whole, shifts)]
        return cls(_objects(units))

    def __add__(self, other: Exact) -> Exact:
        """The sums, number by number."""
        return Exact(self.units + other.units)

    def rounded(self) -> Array:
        """The nearest doubles `(n,)`; infinite beyond the largest."""
        return np.array([_rounded(units) for units in self.units.tolist()])

    def to_bytes(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The numbers as rows of bytes of one width, the least significant first, in two's complement."""
        units = self.units.tolist()
        width = max((n.bit_length() for n in units), default=0) // 8 + 1
        return np.frombuffer(
            b"".join(n.to_bytes(width, "little", signed=True) for n in units), np.uint8
        ).reshape(len(units), width)

    @classmethod
    def from_bytes(cls, rows: np.ndarray[Any, np.dtype[np.uint8]]) -> Exact:
        """What `to_bytes` wrote."""
        return cls(_objects([int.from_bytes(row.tobytes(), "little", signed=True) for row in rows]))


def _objects(units: list[int]) -> np.ndarray[Any, np.dtype[np.object_]]:
    made = np.empty(len(units), dtype=object)
    made[:] = units
    return made


def _rounded(units: int) -> float:
    try:
        return units / (1 << LOWEST)
    except OverflowError:
        return np.inf if units > 0 else -np.inf
