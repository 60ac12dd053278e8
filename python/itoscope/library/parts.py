"""The parts that a `Library` is put together from: each turns names of states into expressions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.common.types import Array
from itoscope.errors import ArgumentError, argument_error

__all__ = [
    "AbsProducts",
    "Custom",
    "Expressions",
    "Fourier",
    "Function",
    "Origin",
    "Part",
    "PerState",
    "Polynomials",
    "Trig",
    "checked_origin",
]

MOST_TERMS = 10_000
"""Most monomials of a library: the matrix of a regression with as many has 800 MB."""

Origin = float | tuple[float, ...] | Literal["mean"] | None
Function = Callable[[Array], ArrayLike]


def checked_origin(origin: Any) -> Origin:
    """The origin of polynomials: None, "mean", a float or a tuple of floats; `ArgumentError` for others."""
    if origin is None or (isinstance(origin, str) and origin == "mean"):
        return origin  # type: ignore[return-value]
    try:
        values = checks.reals("origin", origin)
    except ArgumentError:
        values = np.empty((0, 0))
    if values.ndim > 1 or not values.size or not np.isfinite(values).all():
        raise argument_error("origin", origin, "None, 'mean', a finite number or one per state")
    return float(values) if values.ndim == 0 else tuple(values.tolist())


@dataclass(frozen=True)
class Polynomials:
    """The constant and all monomials to a total degree, in combinations-with-replacement order."""

    degree: int
    origin: Origin = None

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f", origin={self.origin!r}"
        return f"polynomials({self.degree}{origin})"

    def _offsets(self, states: Sequence[str], means: Sequence[float] | None) -> Sequence[float]:
        if self.origin is None:
            return [0.0] * len(states)
        if self.origin == "mean":
            if means is None:
                raise ArgumentError("origin = 'mean': needs the data; pass origin_values, one mean per state")
            return means
        if isinstance(self.origin, tuple):
            if len(self.origin) != len(states):
                raise argument_error("origin", self.origin, f"one number per state ({', '.join(states)})")
            return self.origin
        return [float(self.origin)] * len(states)

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms for states of these names; `means` of the data matter to origin="mean" alone."""
        total = math.comb(len(states) + self.degree, len(states))
        if total > MOST_TERMS:
            allowed = f"at most {MOST_TERMS} monomials; {len(states)} states have {total}"
            raise argument_error("degree", self.degree, allowed)
        bases = [
            name if offset == 0 else f"({name} {'-' if offset > 0 else '+'} {exact(abs(offset))})"
            for name, offset in zip(states, self._offsets(states, means))
        ]
        terms = ["1"]
        for degree in range(1, self.degree + 1):
            for factors in itertools.combinations_with_replacement(bases, degree):
                powers = ((base, len(list(same))) for base, same in itertools.groupby(factors))
                terms.append(" ".join(base if n == 1 else f"{base}^{n}" for base, n in powers))
        return terms


@dataclass(frozen=True)
class PerState:
    """One term per state, from a pattern such as `sgn({x})`."""

    method: str
    pattern: str

    def __repr__(self) -> str:
        return f"{self.method}()"

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms for states of these names; `means` of the data matter to origin="mean" alone."""
        return [self.pattern.format(x=name) for name in states]


@dataclass(frozen=True)
class AbsProducts:
    """x_i |x_j|, j running faster."""

    def __repr__(self) -> str:
        return "abs_products()"

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms for states of these names; `means` of the data matter to origin="mean" alone."""
        return [f"{a}|{b}|" for a in states for b in states]


@dataclass(frozen=True)
class Trig:
    """sin(w x_i) and cos(w x_i) for each frequency w."""

    frequencies: tuple[float, ...]

    def __repr__(self) -> str:
        return f"trig([{', '.join(map(exact, self.frequencies))}])"

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms for states of these names; `means` of the data matter to origin="mean" alone."""
        return [
            f"{function}({name})" if frequency == 1 else f"{function}({exact(frequency)} {name})"
            for frequency in self.frequencies
            for function in ("sin", "cos")
            for name in states
        ]


@dataclass(frozen=True)
class Fourier:
    """sin and cos of the time, with a period and its harmonics."""

    period: float
    harmonics: int

    def __repr__(self) -> str:
        return f"fourier({exact(self.period)}, {self.harmonics})"

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms, whatever the states are."""
        over = "" if self.period == 1 else f"/{exact(self.period)}"
        return [
            f"{function}({2 * n} pi t{over})"
            for n in range(1, self.harmonics + 1)
            for function in ("sin", "cos")
        ]


@dataclass(frozen=True)
class Expressions:
    """Terms as the user wrote them."""

    texts: tuple[str, ...]

    def __repr__(self) -> str:
        return f"expressions({', '.join(map(repr, self.texts))})"

    def terms(self, states: Sequence[str], means: Sequence[float] | None) -> list[str]:
        """The terms for states of these names; `means` of the data matter to origin="mean" alone."""
        return list(self.texts)


@dataclass(frozen=True)
class Custom:
    """A term that a Python function computes."""

    function: Function
    name: str

    def __repr__(self) -> str:
        return f"custom({getattr(self.function, '__name__', self.function)}, {self.name!r})"


Part = Polynomials | PerState | AbsProducts | Trig | Fourier | Expressions | Custom
