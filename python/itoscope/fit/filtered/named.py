"""Numbers of given expressions in the filter: the expressions at any values, and how each number moves the motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.expressions.slopes import slope
from itoscope.fit.numbers import Numbers
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array

__all__ = ["Follow", "Named", "Slope", "followed", "joined"]

Part = Literal["drift", "gamma"]


class Slope(NamedTuple):
    """That a number moves a row of the drift, or a given element of Gamma, by an expression."""

    number: int
    kind: Part
    at: int
    term: int


@dataclass(frozen=True, eq=False)
class Named:
    """Numbers with the expressions that use them.

    Attributes
    ----------
    numbers : Numbers
    templates : mapping of int to str
        By the number of an expression of the candidates, its text with names.
    slopes : tuple of Slope
        "drift": `at` is a row. "gamma": the place among the given elements of Gamma. `term` is the number of the
        derivative among the expressions.
    """

    numbers: Numbers = field(default_factory=Numbers)
    templates: Mapping[int, str] = field(default_factory=dict)
    slopes: tuple[Slope, ...] = ()

    @classmethod
    def of(
        cls,
        numbers: Numbers,
        names: Sequence[str],
        given: Sequence[tuple[Part, int, int, str]],
        first: int,
    ) -> Named:
        """From given expressions.

        Parameters
        ----------
        numbers : Numbers
        names : sequence of str
            States and what drives them.
        given : sequence of (kind, at, term, text)
            As a `Slope`, of the expression itself.
        first : int
            The number of the first derivative among the expressions.
        """
        templates = {term: text for _, _, term, text in given}
        every = [*names, *numbers.names]
        slopes: list[Slope] = []
        for kind, at, _, text in given:
            for a, name in enumerate(numbers.names):
                derivative = slope(text, every, name)
                if derivative != "0":
                    templates[first + len(slopes)] = derivative
                    slopes.append(Slope(a, kind, at, first + len(slopes)))
        return cls(numbers, templates, tuple(slopes))

    def __bool__(self) -> bool:
        return bool(self.numbers.names)

    def of_kind(self, kind: Part) -> list[Slope]:
        """The slopes of the drift, or of Gamma."""
        return [one for one in self.slopes if one.kind == kind]

    def text(self, number: int, values: Array) -> str:
        """An expression at some values."""
        return self.numbers.filled(self.templates[number], values)

    def moving(self, kind: Part) -> list[int]:
        """The numbers that move the drift, or Gamma."""
        return sorted({one.number for one in self.of_kind(kind)})

    def parameters(self) -> tuple[Parameter, ...]:
        """They as parameters of a model."""
        return tuple(Parameter("number", a) for a in range(len(self.numbers)))


class Follow(NamedTuple):
    """How the best numbers `which` follow the coefficients of the drift: ``base - slope @ theta`` from where they are.

    `errors` are their standard errors given the coefficients.
    """

    which: list[int]
    base: Array
    slope: Array
    errors: Array

    def moved(self, values: Array, theta: Array) -> Array:
        """The numbers beside coefficients `(K,)`."""
        out: Array = values.copy()
        out[self.which] += self.base - self.slope @ theta
        return out

    def distance(self, change: Array) -> float:
        """The largest of changes of all numbers, in standard errors given the coefficients."""
        errors = np.maximum(self.errors, np.finfo(float).tiny)
        return float(np.max(np.abs(change[self.which]) / errors, initial=0.0))


def joined(sums: Quadratic, slopes: Sequence[Slope], first: int, which: Sequence[int]) -> Quadratic:
    """A regression on the numbers `which` in the place of that on their slopes, the columns from `first` on."""
    turn = np.zeros((len(sums.moment), first + len(which) + len(sums.moment) - first - len(slopes)))
    turn[:first, :first] = np.eye(first)
    for place, one in enumerate(slopes):
        turn[first + place, first + list(which).index(one.number)] = 1.0
    rest = len(sums.moment) - first - len(slopes)
    if rest:
        turn[first + len(slopes) :, first + len(which) :] = np.eye(rest)
    return Quadratic(turn.T @ sums.gram @ turn, turn.T @ sums.moment, sums.yy, sums.n)


def followed(sums: Quadratic, kept: int, which: list[int], sizes: Array) -> tuple[Quadratic, Follow]:
    """A regression with its last columns, numbers, at their best, and how these follow the others.

    The numbers are held by a normal law of their own sizes about where they are: what the data do not tell stays.
    """
    full, bad = sums.finite()
    gram = full.gram.copy()
    places = np.arange(kept, len(gram))
    gram[places, places] += 1.0 / sizes[which] ** 2
    held = Quadratic(gram, full.moment, full.yy, full.n)
    _, inverse = held.solve(places.tolist())
    follow = Follow(which, inverse @ held.moment[kept:], inverse @ gram[kept:, :kept],
                    np.sqrt(np.maximum(np.diag(inverse), 0.0)))  # fmt: skip
    left = held.profile(kept)
    lost = [k for k in bad if k < kept]
    left.moment[lost] = np.nan
    return left, follow
