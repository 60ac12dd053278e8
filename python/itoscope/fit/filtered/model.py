"""A model over all candidate terms of a recording, its parameters one by one, and tables of some of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.stats.linked import FURTHEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.common.types import Array

__all__ = ["Columns", "Model", "Table", "support", "table"]

#: Entries of a table of coefficients: (row or pair, term) each.
Columns = list[tuple[int, int]]
Table = Literal["drift", "gamma"]
LEAST, HEAVIEST = 1e-9, 2.0
"""One over the degrees of freedom of a law that is normal, and over half a one, beyond which it has no width that a
recording could tell; the first also the least share of outliers."""
MOST, NARROWEST, WIDEST = 0.5, 1.0, 1e6
"""Largest share of outliers, which are the fewer, and between which their width lies."""
BOUNDS = {1: ((LEAST, HEAVIEST),), 2: ((LEAST, MOST), (NARROWEST, WIDEST))}
LIGHTEST_STEPS, HEAVIEST_STEPS = 1e-3, 1.0
"""One over the degrees of freedom of steps that are normal, and over one, below which their sizes are too far apart."""
MOST_JUMPS, NARROWEST_JUMP = 0.3, 3.0
"""Largest share of jumps, which are the fewer, and smallest width."""
KICK_BOUNDS = {
    1: ((LIGHTEST_STEPS, HEAVIEST_STEPS),),
    2: ((LEAST, MOST_JUMPS), (NARROWEST_JUMP, WIDEST)),
}


@dataclass(frozen=True)
class Model:
    """A state-space model: coefficients over the K candidate terms, noise, and what holds the filter in bounds.

    Parameters
    ----------
    drift : (m, K) array
    gamma : (n_pairs, K) array
    noise : (q,) array
        Variances of the measurement noise.
    mean0, cov0 : (m,) and (m, m) array
        Normal law of the first state.
    floor : (m,) array
        Smallest Gamma_ii.
    numbers : (P,) array
        What the names in given expressions stand for.
    tails : tuple of q tuples of float
        What shapes the law of the noise of each channel, see `StateSpace`; nothing where all are normal.
    links : (P,) array
        What makes the correlations of noises, see `Links`.
    kicks : tuple of float
        What shapes the law of the sizes of steps, see `StateSpace`; nothing where they are normal.
    """

    drift: Array
    gamma: Array
    noise: Array
    mean0: Array
    cov0: Array
    floor: Array
    numbers: Array = field(default_factory=lambda: np.zeros(0))
    tails: tuple[tuple[float, ...], ...] = ()
    links: Array = field(default_factory=lambda: np.zeros(0))
    kicks: tuple[float, ...] = ()

    @property
    def heavy(self) -> bool:
        """Whether noise or steps have a law that is not normal, which scores tell of and no regression."""
        return bool(self.tails or self.kicks)

    @cached_property
    def key(self) -> bytes:
        """What tells this model from others of the same candidates, to the last bit."""
        parts = self.drift, self.gamma, self.noise, self.mean0, self.cov0, self.floor, self.numbers
        laws = np.array([*(v for law in self.tails for v in law), *self.kicks])
        return b"".join(part.tobytes() for part in (*parts, laws, self.links))

    def drift_columns(self) -> Columns:
        """The (row, term) pairs of the drift that are in the model."""
        return _entries(self.drift)

    def gamma_columns(self) -> Columns:
        """The (pair, term) pairs of Gamma that are in the model."""
        return _entries(self.gamma)

    def parameters(
        self, free_noise: NDArray[np.bool_], free_links: Sequence[int] = ()
    ) -> tuple[Parameter, ...]:
        """All that a fit may move: drift, Gamma, variances of `free_noise` channels, `free_links`, laws, numbers."""
        return (
            *(Parameter("drift", i, k) for i, k in self.drift_columns()),
            *(Parameter("gamma", p, k) for p, k in self.gamma_columns()),
            *(Parameter("noise", int(c)) for c in np.flatnonzero(free_noise)),
            *(Parameter("link", int(k)) for k in free_links),
            *(Parameter("tails", c, k) for c, law in enumerate(self.tails) for k in range(len(law))),
            *(Parameter("kicks", 0, k) for k in range(len(self.kicks))),
            *(Parameter("number", a) for a in range(len(self.numbers))),
        )

    def values(self, parameters: Sequence[Parameter]) -> Array:
        """The numbers that parameters have in this model `(p,)`."""
        return np.array([parameter.of(self) for parameter in parameters])

    def with_values(self, parameters: Sequence[Parameter], values: Array) -> Model:
        """The same model with other numbers for some parameters."""
        found = {
            "drift": self.drift.copy(), "gamma": self.gamma.copy(), "noise": self.noise.copy(),
            "number": self.numbers.copy(), "link": self.links.copy(),
        }  # fmt: skip
        tails, kicks = [list(law) for law in self.tails], list(self.kicks)
        for (kind, at, term), value in zip(parameters, values):
            if kind == "tails":
                low, high = BOUNDS[len(tails[at])][term]
                tails[at][term] = min(max(float(value), low), high)
            elif kind == "kicks":
                low, high = KICK_BOUNDS[len(kicks)][term]
                kicks[term] = min(max(float(value), low), high)
            elif kind == "link":
                found[kind][at] = min(max(float(value), -FURTHEST), FURTHEST)
            else:
                found[kind][(at, term) if kind in ("drift", "gamma") else at] = value
        laws = tuple(tuple(law) for law in tails)
        return replace(
            self,
            numbers=found.pop("number"),
            links=found.pop("link"),
            tails=laws,
            kicks=tuple(kicks),
            **found,
        )


def _entries(coefficients: Array) -> Columns:
    return [(int(i), int(k)) for i, k in np.argwhere(coefficients != 0.0)]


def support(coefficients: Array, columns: Columns) -> list[int]:
    """Which of `columns` are not zero, as their numbers."""
    return [c for c, column in enumerate(columns) if coefficients[column] != 0.0]


def table(shape: tuple[int, ...], columns: Columns, chosen: Sequence[int], values: Array) -> Array:
    """Coefficients of a `shape` with `values` at the chosen columns and zero elsewhere."""
    out = np.zeros(shape)
    for c, value in zip(chosen, values):
        out[columns[c]] = value
    return out
