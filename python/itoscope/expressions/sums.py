"""Sums of terms with coefficients as text, which reads back as what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.common.numbers import exact
from itoscope.errors import ExpressionError
from itoscope.expressions.grammar import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["as_factor", "broken", "expression_of", "in_brackets", "lines", "names", "signed_terms", "sum_of"]


def names(*terms: str) -> list[str]:
    """The names of inputs in some terms, in order; a term that is no expression, such as "wind-load!", has none."""
    found: dict[str, None] = {}
    for term in terms:
        try:
            found.update(dict.fromkeys(read(term).inputs))
        except ExpressionError:
            continue
    return list(found)


def in_brackets(text: str) -> str:
    """An expression so that something can stand behind it: in brackets if it is a sum or has a sign.

    Examples
    --------
    >>> in_brackets("-x1"), in_brackets("x1 - 3"), in_brackets("(x1 - 3)^2"), in_brackets("1e-5 x1^-2")
    ('(-x1)', '(x1 - 3)', '(x1 - 3)^2', '1e-5 x1^-2')
    """
    return _bracketed(text, "+-")


def as_factor(term: str) -> str:
    """A term so that a number can stand before it: in brackets if it is a sum, has a sign or begins with a number."""
    return _bracketed(term, ("+", "-", "number"))


def _bracketed(text: str, beginnings: Iterable[str]) -> str:
    try:
        tree = read(text)
    except ExpressionError:  # the name of a function of Python
        return text
    return f"({text})" if tree.open or tree.first in beginnings else text


def sum_of(parts: Iterable[tuple[bool, str, str]]) -> str:
    """A sum of signed terms; empty without parts.

    Parameters
    ----------
    parts : iterable of (negative, size, term)
        The sign and the size of a coefficient as text, and its term.

    Examples
    --------
    >>> sum_of([(True, "2.05", "x - 3"), (False, "0.5", "1"), (True, "1", "x^2")])
    '-2.05 (x - 3) + 0.5 - x^2'
    """
    return " ".join(signed_terms(parts))


def signed_terms(parts: Iterable[tuple[bool, str, str]]) -> list[str]:
    """The terms of `sum_of` one by one, each with its sign: the pieces between which a line may be broken."""
    pieces: list[str] = []
    for negative, size, term in parts:
        body = size if term == "1" else as_factor(term) if size == "1" else f"{size} {as_factor(term)}"
        if pieces:
            pieces.append(f"- {body}" if negative else f"+ {body}")
        else:
            pieces.append(f"-{body}" if negative else body)
    return pieces


def expression_of(coefficients: Mapping[str, float]) -> str:
    """The sum of terms with coefficients as one expression; "0" if all are zero.

    Parameters
    ----------
    coefficients : mapping of str to float
        Coefficient of each term, the term being an expression such as `x1^2 x2`.

    Examples
    --------
    >>> expression_of({"x1": -1000.0, "1": 1.0, "x1^3": -1e5, "x2": 1.0})
    '-1000 x1 + 1 - 100000 x1^3 + x2'
    """
    parts = [(value < 0, exact(abs(value)), term) for term, value in coefficients.items() if value != 0]
    return sum_of(parts) or "0"


def lines(pieces: Iterable[str], width: int, first: str, further: str) -> list[str]:
    """Pieces side by side in lines up to a width, of which the first begins with `first`, others with `further`."""
    found: list[str] = []
    for piece in pieces:
        if found and len(found[-1]) + 1 + len(piece) <= width:
            found[-1] += f" {piece}"
        else:
            found.append((further if found else first) + piece)
    return found


def broken(text: str) -> list[str]:
    """An expression in pieces, between which a line may be broken: each sign between two terms begins one."""
    try:
        starts = [0, *read(text).signs]
    except ExpressionError:
        return [text]
    return [text[a:b].strip() for a, b in zip(starts, [*starts[1:], len(text)])]
