"""Randomness of the sampler: a stream per chain, a recorder of its draws, and a tape that replays them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import NumericalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Draw

__all__ = ["Draws", "Stream", "Tape"]


class Draws:
    """The kinds of draw that the sampler needs, each through `take`."""

    def take(self, kind: str, a: float = 0.0, b: float = 0.0) -> float:
        """Return one draw of this kind and these shapes."""
        raise NotImplementedError

    def uniform(self) -> float:
        """Return a uniform on [0, 1)."""
        return self.take("uniform")

    def normal(self) -> float:
        """Return a standard normal."""
        return self.take("normal")

    def normals(self, n: int) -> Array:
        """Return `n` standard normals ``(n,)``."""
        return np.array([self.normal() for _ in range(n)])

    def gamma(self, shape: float) -> float:
        """Return a gamma of this shape and unit scale."""
        return self.take("gamma", shape)

    def beta(self, a: float, b: float) -> float:
        """Return a beta of these shapes."""
        return self.take("beta", a, b)


class Stream(Draws):
    """The counter-based stream of chain `index` under `seed`; keeps a `record` of its draws if asked to."""

    def __init__(self, seed: int, index: int, *, keep: bool = False) -> None:
        self._generator = np.random.Generator(np.random.Philox(key=[seed, index]))
        self.record: list[Draw] | None = [] if keep else None

    def take(self, kind: str, a: float = 0.0, b: float = 0.0) -> float:
        """Return one draw."""
        generator = self._generator
        if kind == "uniform":
            value = generator.random()
        elif kind == "normal":
            value = float(generator.standard_normal())
        elif kind == "gamma":
            value = float(generator.standard_gamma(a))
        else:
            value = float(generator.beta(a, b))
        if self.record is not None:
            self.record.append((kind, a, b, value))
        return value


class Tape(Draws):
    """Recorded draws, replayed in order."""

    def __init__(self, draws: Sequence[Draw]) -> None:
        self._draws = draws
        self._next = 0

    def take(self, kind: str, a: float = 0.0, b: float = 0.0) -> float:
        """Return the next draw.

        Raises
        ------
        NumericalError
            If it is of another kind or shape, or if there is none.
        """
        found = self._draws[self._next] if self._next < len(self._draws) else None
        if (
            found is None
            or found[0] != kind
            or not (math.isclose(a, found[1], rel_tol=1e-9) and math.isclose(b, found[2], rel_tol=1e-9))
        ):
            raise NumericalError(f"draw {self._next}: wanted {kind} ({a}, {b}), the tape has {found}")
        self._next += 1
        return found[3]
