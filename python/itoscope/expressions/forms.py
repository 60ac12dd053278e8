"""Canonical forms: which operations are one function in another spelling.

A form is a sum of numbers times products of powers of atoms. Atoms are the nodes that no sum or product makes: inputs,
functions, quotients, and sums that are factors. With `|a| = a sgn(a)`, which holds at 0 too, `x1 x2` is `x2*x1`,
`x1 x1` is `x1^2`, `x1|x1|` is `|x1|x1` and `x1^2 sgn(x1)`, and `1 + x1` is `x1 + 1`. Brackets are not multiplied out:
`2(x1 + 1)` is not `2 x1 + 2`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Form", "Powers", "Product", "atom", "number", "power", "product", "root", "single", "total"]

Powers = tuple[tuple[int, int], ...]
"""Atoms with their exponents, in order of the atoms; empty for 1."""
Form = tuple[tuple[Powers, float], ...]
"""Products with their coefficients, in order; coefficients that cancelled stay, as 0."""

#: Longer sums are left as they were written.
MAX_TERMS = 128


class Product(NamedTuple):
    """A number that is not 0 times powers of atoms."""

    coefficient: float
    powers: Powers

    @property
    def form(self) -> Form:
        """As a sum of one term."""
        return ((self.powers, self.coefficient),)


def number(value: float) -> Form:
    """The form of a number."""
    return (((), value),)


def atom(node: int) -> Form:
    """The form of a node that is no sum and no product."""
    return ((((node, 1),), 1.0),)


def single(form: Form) -> Product | None:
    """A form that is one product; None for sums, for 0 and for what is not finite."""
    ((powers, coefficient), *others) = form
    return (
        None if others or not (math.isfinite(coefficient) and coefficient) else Product(coefficient, powers)
    )


def total(a: Form, b: Form) -> Form | None:
    """The form of `a + b`; None where it is too long to keep, or where only a number would be left of it."""
    terms = dict(a)
    for powers, coefficient in b:
        terms[powers] = terms.get(powers, 0.0) + coefficient
    if len(terms) > MAX_TERMS or not any(powers and coefficient for powers, coefficient in terms.items()):
        return None
    return tuple(sorted(terms.items()))


def product(factors: list[Product], signs: Mapping[int, int]) -> Product | None:
    """The product of factors; None where its coefficient leaves the range of numbers.

    Parameters
    ----------
    factors : list of Product
    signs : mapping of int to int
        The atom `a` behind each atom that is `sgn(a)`.
    """
    coefficient = math.prod(factor.coefficient for factor in factors)
    powers: dict[int, int] = {}
    for factor in factors:
        for node, exponent in factor.powers:
            powers[node] = powers.get(node, 0) + exponent
    for node in powers.keys() & signs.keys():
        # sgn(a)^3 is sgn(a), and sgn(a)^2 is 1 beside a.
        odd, beside = powers[node] % 2, signs[node] in powers
        powers[node] = odd if odd or beside else 2
    kept = tuple(sorted((node, exponent) for node, exponent in powers.items() if exponent))
    return Product(coefficient, kept) if math.isfinite(coefficient) and coefficient else None


def power(base: Product, n: int, signs: Mapping[int, int]) -> Product | None:
    """A product raised to a whole number n > 0; see `product`."""
    try:
        coefficient = base.coefficient**n
    except OverflowError:
        return None
    raised = Product(coefficient, tuple((node, exponent * n) for node, exponent in base.powers))
    return product([raised], signs)


def root(square: Product) -> Product | None:
    """What a product is the square of, apart from its sign; None unless all exponents are even."""
    if square.coefficient < 0 or any(exponent % 2 for _, exponent in square.powers):
        return None
    return Product(math.sqrt(square.coefficient), tuple((node, n // 2) for node, n in square.powers))
