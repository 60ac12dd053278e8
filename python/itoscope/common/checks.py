"""The one rule each for names, seeds, counts, choices and numbers that a caller gives; errors name what is allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import Any, TypeVar

from itoscope.errors import argument_error

__all__ = ["choice", "count", "finite", "is_name", "names", "not_negative", "positive", "seed", "share"]

T = TypeVar("T")

NAME = "a name of letters, digits and underscores, no digit first"
SEED = "a whole number from 0 to 2^64 - 1, or None"


def is_name(text: Any) -> bool:
    """Whether expressions can use `text` as a name: letters, digits and underscores, no digit first."""
    if not isinstance(text, str) or not text:
        return False
    return (text[0].isalpha() or text[0] == "_") and all(c.isalnum() or c == "_" for c in text)


def names(values: Iterable[str], what: str = "names", *, number: int | None = None) -> tuple[str, ...]:
    """Names that expressions can use, none twice; `number` of them, or at least one.

    Raises
    ------
    ArgumentError
        Names the first at fault, as `what[i]`.
    """
    wanted = "a list of one or more names" if number is None else f"a list of {number} names, one per state"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise argument_error(what, values, wanted)
    found = tuple(values)
    if number is None and not found:
        raise argument_error(what, values, wanted)
    if number is not None and len(found) != number:
        raise argument_error(what, list(found), f"{number} names, one per state; got {len(found)}")
    for i, name in enumerate(found):
        if not is_name(name):
            raise argument_error(f"{what}[{i}]", name, NAME)
        if name in found[:i]:
            raise argument_error(f"{what}[{i}]", name, "names that differ from each other")
    return found


def seed(value: int | None, name: str = "seed") -> int:
    """A seed of 64 bits; None draws one from the operating system."""
    if value is None:
        return int.from_bytes(os.urandom(8), "big") >> 1
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= value < 2**64:
        raise argument_error(name, value, SEED)
    return int(value)


def count(name: str, value: Any, least: int = 1, *, most: int | None = None, also: str = "") -> int:
    """A whole number, at least `least`; `also` says in the message what else the caller takes."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    allowed = (
        f"a whole number, at least {least}" if most is None else f"a whole number from {least} to {most}"
    )
    raise argument_error(name, value, allowed + also)


def choice(name: str, value: Any, allowed: Sequence[T]) -> T:
    """One of a few values; True is not 1 here, and an array is none of them."""
    single = isinstance(value, (str, Real))
    for one in allowed:
        if value is one or (single and isinstance(value, bool) == isinstance(one, bool) and value == one):
            return one
    raise argument_error(name, value, f"one of {', '.join(map(repr, allowed))}")


def finite(name: str, value: Any, allowed: str = "a finite number") -> float:
    """A finite real number."""
    number = math.nan
    if not isinstance(value, (bool, str, bytes)) and getattr(value, "ndim", 0) == 0:
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise argument_error(name, value, allowed)
    return number


def positive(name: str, value: Any, allowed: str = "a positive, finite number") -> float:
    """A finite number above zero."""
    number = finite(name, value, allowed)
    if not number > 0:
        raise argument_error(name, value, allowed)
    return number


def not_negative(name: str, value: Any, allowed: str = "a finite number, zero or positive") -> float:
    """A finite number, zero or above."""
    number = finite(name, value, allowed)
    if number < 0:
        raise argument_error(name, value, allowed)
    return number


def share(name: str, value: Any, allowed: str = "a number between 0 and 1, both excluded") -> float:
    """A number between 0 and 1, both excluded."""
    number = finite(name, value, allowed)
    if not 0 < number < 1:
        raise argument_error(name, value, allowed)
    return number
