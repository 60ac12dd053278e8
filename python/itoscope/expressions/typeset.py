"""Expressions typeset: the syntax tree of a text in a notation, with brackets where the notation needs them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from itoscope.common.numbers import exact
from itoscope.errors import ExpressionError
from itoscope.expressions.grammar import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.expressions.notation import Notation

__all__ = ["typeset", "typeset_factor", "typeset_term"]


class _Piece(NamedTuple):
    """A number times factors in print, or a sum of such products; the terms of a sum are kept apart."""

    coefficient: float = 1.0
    factors: tuple[str, ...] = ()
    terms: tuple[_Piece, ...] = ()
    simple: bool = False  # may carry an exponent without brackets
    digit: bool = False  # begins with a digit after its coefficient

    @property
    def apart(self) -> tuple[_Piece, ...]:
        """The terms of a sum, or the one term of a product."""
        return self.terms or (self,)

    @property
    def signed(self) -> bool:
        """Whether it is a sum or begins with a minus."""
        return bool(self.terms) or self.coefficient < 0

    def body(self, notation: Notation, digits: int | None) -> str:
        """A product without its sign."""
        size = exact(abs(self.coefficient))
        if digits is not None:
            size = f"{abs(self.coefficient):.{digits}g}"
        if size == "1" and self.factors:
            return notation.product(self.factors)
        first, *others = self.factors or ("",)
        first = notation.brackets(first) if self.digit else first
        return notation.product([notation.number(size), *filter(None, (first, *others))])

    def text(self, notation: Notation, digits: int | None = None) -> str:
        """All of it, the numbers before its terms to so many significant digits."""
        first, *others = self.apart
        text = notation.signed(first.coefficient < 0, first.body(notation, digits))
        for term in others:
            text = notation.follow(text, term.coefficient < 0, term.body(notation, digits))
        return text

    def in_brackets(self, notation: Notation) -> _Piece:
        """As a factor, whatever it is."""
        return _Piece(factors=(notation.brackets(self.text(notation)),), simple=True)

    def times(self, other: _Piece, notation: Notation) -> _Piece:
        """The product with another."""
        a, b = (part.in_brackets(notation) if part.terms else part for part in (self, other))
        return _Piece(
            a.coefficient * b.coefficient, a.factors + b.factors, digit=(a if a.factors else b).digit
        )


def typeset(text: str, inputs: Sequence[str], notation: Notation, digits: int | None = None) -> str:
    """An expression over named inputs in a notation.

    Parameters
    ----------
    text : str
    inputs : sequence of str
    notation : Notation
    digits : int, optional
        Significant digits of the numbers before the terms; all that matter unless given. Numbers within terms have all.

    Examples
    --------
    >>> from itoscope.expressions.notation import LATEX
    >>> typeset("-1000 x1 - 1e5 (x1 - 0.5)^3 + |x2|", ["x1", "x2"], LATEX)
    '-1000 x_{1} - 100000 \\\\left(x_{1} - 0.5\\\\right)^{3} + \\\\left|x_{2}\\\\right|'
    """
    return _read(text, inputs, notation).text(notation, digits)


def typeset_factor(text: str, inputs: Sequence[str], notation: Notation, digits: int | None = None) -> str:
    """The same so that it can be a factor: in brackets if it is a sum or has a sign."""
    piece = _read(text, inputs, notation)
    shown = piece.text(notation, digits)
    return notation.brackets(shown) if piece.signed else shown


def typeset_term(term: str, inputs: Sequence[str], notation: Notation) -> str:
    """A term of a library so that a coefficient can stand before it; a custom function by its name."""
    try:
        return typeset_factor(term, inputs, notation)
    except ExpressionError:
        return notation.word(term)


def _read(text: str, inputs: Sequence[str], notation: Notation) -> _Piece:
    pieces: list[_Piece] = []
    nodes = read(text, inputs).nodes
    for operation, arguments, value in nodes:
        parts = [pieces[argument] for argument in arguments]
        if operation == "number" and value == math.pi:
            piece = _Piece(factors=(notation.name("pi"),), simple=True)
        elif operation == "number":
            piece = _Piece(value, simple="e" not in exact(value))
        elif operation == "input":
            piece = _Piece(factors=(notation.name(inputs[int(value)]),), simple=True)
        elif operation == "negate":
            piece = _negative(parts[0], notation)
        elif operation == "add":
            piece = _Piece(terms=parts[0].apart + parts[1].apart)
        elif operation == "multiply":
            piece = parts[0].times(parts[1], notation)
        elif operation == "power" and nodes[arguments[0]].operation == "input":
            base, exponent = inputs[int(nodes[arguments[0]].value)], parts[1].text(notation)
            piece = _Piece(factors=(notation.raised_name(base, exponent),))
        else:
            texts = [part.text(notation) for part in parts]
            piece = _operation(operation, parts, texts, notation)
        pieces.append(piece)
    return pieces[-1]


def _negative(piece: _Piece, notation: Notation) -> _Piece:
    product = piece.in_brackets(notation) if piece.terms else piece
    return product._replace(coefficient=-product.coefficient, simple=False)


def _operation(operation: str, parts: Sequence[_Piece], texts: Sequence[str], notation: Notation) -> _Piece:
    """What is neither sum nor product: one factor."""
    numbers = [not part.factors and not part.terms for part in parts]
    if operation == "divide":
        return _Piece(factors=(notation.fraction(*texts),), digit=all(numbers))
    if operation == "power":
        base = texts[0] if parts[0].simple else notation.brackets(texts[0])
        return _Piece(factors=(notation.power(base, texts[1]),), digit=numbers[0] and parts[0].simple)
    if operation == "abs":
        return _Piece(factors=(notation.modulus(texts[0]),), simple=True)
    if operation == "sqrt":
        return _Piece(factors=(notation.root(texts[0]),))
    return _Piece(factors=(notation.function(operation, texts[0]),))
