"""Expressions for people and for SymPy: sums of terms as text, LaTeX, MathML, symbolic form."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from itoscope.common.extras import require
from itoscope.common.numbers import exact
from itoscope.errors import ExpressionError
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import FUNCTIONS, Graph
from itoscope.expressions.notation import LATEX, Notation

__all__ = [
    "expression_of",
    "in_brackets",
    "latex",
    "latex_in_brackets",
    "latex_name",
    "sum_of",
    "symbolic",
    "typeset",
    "typeset_term",
]


def expression_of(coefficients: Mapping[str, float], digits: int | None = None) -> str:
    """The sum of terms with coefficients as one expression; "0" if all are zero.

    Parameters
    ----------
    coefficients : mapping of str to float
        Coefficient of each term, the term being an expression such as `x1^2 x2`.
    digits : int, optional
        Significant digits of the coefficients; all that matter unless given.

    Examples
    --------
    >>> expression_of({"x1": -1000.0, "1": 1.0, "x1^3": -1e5, "x2": 1.0})
    '-1000 x1 + 1 - 100000 x1^3 + x2'
    """
    parts = [
        (value < 0, exact(abs(value)) if digits is None else f"{abs(value):.{digits}g}", term)
        for term, value in coefficients.items()
        if value != 0
    ]
    return sum_of(parts) or "0"


def sum_of(parts: Iterable[tuple[bool, str, str]]) -> str:
    """The sum of terms, each given as whether it is negative, its size as text, and the term; empty for none."""
    text = ""
    for negative, size, term in parts:
        if term == "1":
            product = size
        elif size == "1":
            product = _factor(term)
        else:
            product = f"{size} {_factor(term)}"
        sign = ("-" if negative else "") if not text else (" - " if negative else " + ")
        text += sign + product
    return text


def in_brackets(text: str) -> str:
    """An expression so that it can be a factor: in brackets if it is a sum."""
    outside, inside = text, ""
    while outside != inside:  # what is within brackets and bars does not matter
        inside, outside = outside, re.sub(r"\([^()]*\)", "", outside)
    outside = re.sub(r"\|[^|]*\|", "", outside)
    return f"({text})" if re.search(r"[-+]", outside) else text


def _factor(term: str) -> str:
    """A term so that a number can stand before it."""
    return f"({term})" if re.match(r"[0-9.]", term) else in_brackets(term)


# -- typeset -------------------------------------------------------------------------------------------------
class _Piece(NamedTuple):
    """A product: a number, and factors with brackets where they need them. The terms of a sum are kept apart."""

    coefficient: float = 1.0
    factors: tuple[str, ...] = ()
    terms: tuple[tuple[bool, str], ...] = ()  # of a sum, each with its sign
    simple: bool = False  # may carry an exponent without brackets

    def signed(self, notation: Notation, digits: int) -> tuple[tuple[bool, str], ...]:
        """The terms of a sum, or the one term of a product: whether negative, and what follows the sign."""
        if self.terms:
            return self.terms
        size = _digits(abs(self.coefficient), digits)
        shown = self.factors if size == "1" and self.factors else (notation.number(size), *self.factors)
        return ((self.coefficient < 0, notation.product(shown)),)

    def text(self, notation: Notation, digits: int) -> str:
        (negative, first), *others = self.signed(notation, digits)
        text = notation.signed(negative, first)
        for sign, body in others:
            text = notation.follow(text, sign, body)
        return text

    def as_product(self, notation: Notation, digits: int) -> _Piece:
        return _Piece(1.0, (notation.brackets(self.text(notation, digits)),)) if self.terms else self


def _digits(size: float, digits: int) -> str:
    return f"{size:.{digits}g}"


def latex_name(name: str) -> str:
    """A name as LaTeX: `x_{1}` for `x1`, a Greek letter for its name, upright letters for a word."""
    return LATEX.name(name)


def latex(text: str, inputs: Sequence[str], digits: int = 6) -> str:
    """An expression over named inputs as LaTeX, numbers to `digits` significant digits.

    Examples
    --------
    >>> latex("-1000 x1 - 1e5 x1^3 + |x2|", ["x1", "x2"])
    '-1000 x_{1} - 100000 x_{1}^{3} + \\\\left|x_{2}\\\\right|'
    """
    return typeset(text, inputs, LATEX, digits)


def typeset(text: str, inputs: Sequence[str], notation: Notation, digits: int = 6) -> str:
    """An expression over named inputs in a notation, numbers to `digits` significant digits."""
    graph = Graph(inputs)
    root = parse(text, graph)
    pieces: dict[int, _Piece] = {}
    for node in graph.below([root]):
        operation, arguments, value = graph.nodes[node]
        parts = [pieces[argument] for argument in arguments]
        texts = [part.text(notation, digits) for part in parts]
        if operation == "number":
            piece = _Piece(value, simple=value >= 0 and "e" not in _digits(value, digits))
        elif operation == "input":
            piece = _Piece(1.0, (notation.name(inputs[int(value)]),), simple=True)
        elif operation == "add":
            piece = _Piece(terms=parts[0].signed(notation, digits) + parts[1].signed(notation, digits))
        elif operation == "multiply":
            a, b = (part.as_product(notation, digits) for part in parts)
            piece = _Piece(a.coefficient * b.coefficient, a.factors + b.factors)
        elif operation == "divide":
            piece = _Piece(1.0, (notation.fraction(*texts),))
        elif operation == "power":
            base = texts[0] if parts[0].simple else notation.brackets(texts[0])
            piece = _Piece(1.0, (notation.power(base, texts[1]),))
        elif operation == "abs":
            piece = _Piece(1.0, (notation.modulus(texts[0]),), simple=True)
        elif operation == "sqrt":
            piece = _Piece(1.0, (notation.root(texts[0]),))
        else:
            piece = _Piece(1.0, (notation.function(operation, texts[0]),))
        pieces[node] = piece
    return pieces[root].text(notation, digits)


def typeset_term(term: str, inputs: Sequence[str], notation: Notation) -> str:
    """A term of a library so that a coefficient can stand before it; a custom function by its name."""
    try:
        shown = typeset(term, inputs, notation)
    except ExpressionError:
        return notation.word(term)
    return shown if in_brackets(term) == term else notation.brackets(shown)


def latex_in_brackets(text: str, inputs: Sequence[str]) -> str:
    """An expression as LaTeX that can be a factor: in brackets if it is a sum."""
    shown = latex(text, inputs)
    return shown if in_brackets(text) == text else rf"\left({shown}\right)"


# -- SymPy ---------------------------------------------------------------------------------------------------
def symbolic(text: str, inputs: Sequence[str]) -> Any:
    """An expression over named inputs as a SymPy expression in real symbols of these names.

    Raises
    ------
    MissingExtraError
        If SymPy is not installed.
    """
    sympy = require("sympy", "symbolic", "A symbolic expression")
    graph = Graph(inputs)
    root = parse(text, graph)
    functions = {name: getattr(sympy, {"abs": "Abs", "sgn": "sign"}.get(name, name)) for name in FUNCTIONS}
    values: dict[int, Any] = {}
    for node in graph.below([root]):
        operation, arguments, value = graph.nodes[node]
        parts = [values[argument] for argument in arguments]
        if operation == "number":
            exact = sympy.pi if value == math.pi else sympy.Float(value)
            values[node] = sympy.Integer(int(value)) if value.is_integer() else exact
        elif operation == "input":
            values[node] = sympy.Symbol(inputs[int(value)], real=True)
        elif operation == "add":
            values[node] = parts[0] + parts[1]
        elif operation == "multiply":
            values[node] = parts[0] * parts[1]
        elif operation == "divide":
            values[node] = parts[0] / parts[1]
        elif operation == "power":
            values[node] = parts[0] ** parts[1]
        else:
            values[node] = functions[operation](parts[0])
    return values[root]
