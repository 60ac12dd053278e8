"""Expressions for people and for SymPy: sums of terms as text, LaTeX, symbolic form."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from itoscope.backends.reference.expr import parse
from itoscope.backends.reference.graph import FUNCTIONS, Graph
from itoscope.extras import require
from itoscope.terms import number

__all__ = ["expression_of", "in_brackets", "latex", "latex_in_brackets", "latex_name", "symbolic"]


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
    text = ""
    for term, value in coefficients.items():
        if value == 0:
            continue
        size = number(abs(value)) if digits is None else f"{abs(value):.{digits}g}"
        if term == "1":
            product = size
        elif size == "1":
            product = _factor(term)
        else:
            product = f"{size} {_factor(term)}"
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += sign + product
    return text or "0"


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


# -- LaTeX ---------------------------------------------------------------------------------------------------
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi "
    "omega"
).split()


class _Piece(NamedTuple):
    """A product in LaTeX: a number, and factors with brackets where they need them. A sum is kept apart."""

    coefficient: float = 1.0
    factors: tuple[str, ...] = ()
    terms: str = ""  # of a sum, which is then neither number nor factors
    simple: bool = False  # may carry an exponent without brackets

    def text(self, digits: int) -> str:
        if self.terms:
            return self.terms
        size = _latex_number(abs(self.coefficient), digits)
        shown = self.factors if size == "1" and self.factors else (size, *self.factors)
        return ("-" if self.coefficient < 0 else "") + " ".join(shown)

    def as_product(self) -> _Piece:
        return _Piece(1.0, (rf"\left({self.terms}\right)",)) if self.terms else self


def latex_name(name: str) -> str:
    """A name as LaTeX: `x_{1}` for `x1`, a Greek letter for its name, upright letters for a word."""
    stem, digits = re.fullmatch(r"(.*?)_?(\d*)", name).groups()  # type: ignore[union-attr]
    if not stem:
        stem, digits = name, ""
    stem = stem.replace("_", r"\_")
    if stem in _GREEK:
        stem = rf"\{stem}"
    elif len(stem) > 1:
        stem = rf"\mathrm{{{stem}}}"
    return f"{stem}_{{{digits}}}" if digits else stem


def _latex_number(size: float, digits: int) -> str:
    mantissa, _, exponent = f"{size:.{digits}g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"


def latex(text: str, inputs: Sequence[str], digits: int = 6) -> str:
    """An expression over named inputs as LaTeX, numbers to `digits` significant digits.

    Examples
    --------
    >>> latex("-1000 x1 - 1e5 x1^3 + |x2|", ["x1", "x2"])
    '-1000 x_{1} - 100000 x_{1}^{3} + \\\\left|x_{2}\\\\right|'
    """
    graph = Graph(inputs)
    root = parse(text, graph)
    pieces: dict[int, _Piece] = {}
    for node in graph.below([root]):
        operation, arguments, value = graph.nodes[node]
        parts = [pieces[argument] for argument in arguments]
        texts = [part.text(digits) for part in parts]
        if operation == "number":
            piece = _Piece(value, simple=value >= 0 and "times" not in _latex_number(value, digits))
        elif operation == "input":
            piece = _Piece(1.0, (latex_name(inputs[int(value)]),), simple=True)
        elif operation == "add":
            negative = texts[1].startswith("-")
            joined = f"{texts[0]} - {texts[1][1:]}" if negative else f"{texts[0]} + {texts[1]}"
            piece = _Piece(terms=joined)
        elif operation == "multiply":
            a, b = (part.as_product() for part in parts)
            piece = _Piece(a.coefficient * b.coefficient, a.factors + b.factors)
        elif operation == "divide":
            piece = _Piece(1.0, (rf"\frac{{{texts[0]}}}{{{texts[1]}}}",))
        elif operation == "power":
            base = texts[0] if parts[0].simple else rf"\left({texts[0]}\right)"
            piece = _Piece(1.0, (f"{base}^{{{texts[1]}}}",))
        elif operation == "abs":
            piece = _Piece(1.0, (rf"\left|{texts[0]}\right|",), simple=True)
        elif operation == "sqrt":
            piece = _Piece(1.0, (rf"\sqrt{{{texts[0]}}}",))
        else:
            function = r"\operatorname{sgn}" if operation == "sgn" else rf"\{operation}"
            piece = _Piece(1.0, (rf"{function}\left({texts[0]}\right)",))
        pieces[node] = piece
    return pieces[root].text(digits)


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
