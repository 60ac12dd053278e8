"""Exceptions of itoscope: every one names the argument, its value and what was allowed."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "DataError",
    "DivergenceError",
    "ExpressionError",
    "ItoscopeError",
    "MissingExtraError",
    "NumericalError",
    "argument_error",
]


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
    return ArgumentError(f"{name} = {value!r}: {allowed}")
