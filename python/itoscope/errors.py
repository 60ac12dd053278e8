"""Exceptions of itoscope: every one names the argument, its value and what was allowed.

Examples
--------
>>> import itoscope as ito
>>> try:
...     ito.Library.polynomials(-1)
... except ito.errors.ItoscopeError as problem:
...     print(problem)
degree = -1: a whole number, at least 0
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ArgumentError",
    "DataError",
    "DivergenceError",
    "ExpressionError",
    "ItoscopeError",
    "MissingExtraError",
    "NumericalError",
    "argument_error",
    "naming",
    "shown",
]

#: Characters of a value that a message shows.
LONGEST = 400


class ItoscopeError(Exception):
    """Base class of all exceptions that itoscope raises on purpose."""


class ArgumentError(ItoscopeError, ValueError):
    """An argument is outside its allowed range."""


class DataError(ItoscopeError, ValueError):
    """The recorded data break a rule; the message names path, index and what was allowed."""


class ExpressionError(ItoscopeError, ValueError):
    """An expression does not parse; the message points at the character."""


class NumericalError(ItoscopeError, ArithmeticError):
    """The numbers refuse: for instance a Gram matrix that is not positive definite."""


class DivergenceError(ItoscopeError, ArithmeticError):
    """A simulated path left the finite range."""


class MissingExtraError(ItoscopeError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""


def argument_error(name: str, value: object, allowed: str) -> ArgumentError:
    """Return the `ArgumentError` for ``name = value`` with the sentence that says what is allowed."""
    return ArgumentError(f"{name} = {shown(value)}: {allowed}")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of an `ExpressionError` from inside in which argument the expression stands."""
    try:
        yield
    except ExpressionError as problem:
        raise ExpressionError(f"{name}: {problem}") from None


def shown(value: object) -> str:
    """A value as text for a message: its `repr`, shortened where it is long, its type where it has none."""
    try:
        text = repr(value)
    except (
        Exception
    ):  # whole numbers of over 4300 digits have no text, and foreign objects may fail as they please
        return f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]}"
