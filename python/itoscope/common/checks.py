"""The one rule each for names, seeds, counts, choices and numbers that a caller gives; errors name what is allowed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from itoscope.errors import ArgumentError, argument_error

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = [
    "choice",
    "choices",
    "count",
    "finite",
    "instance",
    "is_list",
    "is_name",
    "names",
    "not_negative",
    "positive",
    "reals",
    "seed",
    "share",
]

T = TypeVar("T")

NAME = "a name of letters, digits and underscores, no digit first"
SEED = "a whole number from 0 to 2^64 - 1, or None"


def is_name(text: Any) -> bool:
    """Whether expressions can use `text` as a name: letters, digits and underscores, no digit first."""
    if not isinstance(text, str) or not text:
        return False
    return (text[0].isalpha() or text[0] == "_") and all(c.isalnum() or c == "_" for c in text)


def is_list(value: Any) -> bool:
    """Whether a value has members one after the other; a text is one value, and so is an array of no axis."""
    return (
        isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0
    )


def instance(name: str, value: T, kind: Any, allowed: str) -> T:
    """A value of a class of this package, or a mapping; `allowed` says which."""
    if not isinstance(value, kind):
        raise argument_error(name, value, allowed)
    return value


def names(values: Iterable[str], what: str = "names", *, number: int | None = None) -> tuple[str, ...]:
    """Names that expressions can use, none twice; `number` of them, or at least one.

    Raises
    ------
    ArgumentError
        Names the first at fault, as `what[i]`.
    """
    wanted = "a list of one or more names" if number is None else f"a list of {number} names, one per state"
    if not is_list(values):
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
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 2**64:
        raise argument_error(name, value, SEED)
    return int(value)


def count(name: str, value: Any, least: int = 1, *, most: int | None = None, also: str = "") -> int:
    """A whole number, at least `least`; `also` says in the message what else the caller takes."""
    allowed = f"a whole number, at least {least}"
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        if most is None or int(value) <= most:
            return int(value)
        allowed = f"a whole number from {least} to {most}"
    raise argument_error(name, value, allowed + also)


def choice(name: str, value: Any, allowed: Sequence[T]) -> T:
    """One of a few values; True is not 1 here, and an array is none of them."""
    single = isinstance(value, (str, Real))
    for one in allowed:
        if value is one or (single and isinstance(value, bool) == isinstance(one, bool) and value == one):
            return one
    raise argument_error(name, value, f"one of {', '.join(map(repr, allowed))}")


def choices(name: str, asked: Any, allowed: Sequence[Any]) -> None:
    """Raise unless `asked` is one of a few values, or a mapping of names to them."""
    if not isinstance(asked, Mapping):
        choice(name, asked, allowed)
        return
    for key, value in asked.items():
        choice(f"{name}[{key!r}]", value, allowed)


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


def reals(
    name: str, value: Any, *, missing: bool = False, error: Callable[[str], Exception] = ArgumentError
) -> Array:
    """An array of real numbers as float64, and nothing of it lost: the one way from what a caller gives to an array.

    Masked entries and None are NaN, which is a missing number; an array that holds none is not copied.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    value : array_like
    missing : bool
        Whether NaN is allowed; infinite numbers are the caller's to judge.
    error : type of exception

    Raises
    ------
    ArgumentError
        Or `error`, for ragged lists, texts, truth values, dates, complex numbers, and missing ones unless allowed.
    """
    try:
        array = np.ma.asanyarray(value) if _masked(value) else np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise error(
            f"{name}: rows that differ in length, or no numbers; wanted is an array of real numbers"
        ) from None
    if array.dtype == object:
        array = _of_objects(name, array, error)
    if array.dtype.kind not in "iuf":
        kind = "complex numbers" if array.dtype.kind == "c" else f"dtype {array.dtype}"
        raise error(f"{name} holds {kind}: real numbers are wanted")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    numbers = np.asarray(array, dtype=np.float64)
    if not missing and np.isnan(numbers).any():
        at = [int(k) for k in np.argwhere(np.isnan(numbers))[0]]
        raise error(f"{name}{at if at else ''} is missing (NaN, None or masked): finite numbers are wanted")
    return numbers


def _masked(value: Any) -> bool:
    """Whether an array is masked, or a list holds arrays that are."""
    return isinstance(value, np.ma.MaskedArray) or (
        isinstance(value, list | tuple)
        and any(isinstance(row, np.ma.MaskedArray) and row.ndim for row in value)
    )


def _of_objects(name: str, array: np.ndarray[Any, Any], error: Callable[[str], Exception]) -> Array:
    """An object array as float64; None and what is masked as NaN."""
    out = np.full(array.shape, np.nan)
    mask = np.ma.getmaskarray(array)
    for index, value in np.ndenumerate(np.ma.getdata(array)):
        if value is None or mask[index] or value is np.ma.masked:
            continue
        try:
            if not isinstance(value, Real) or isinstance(value, bool):
                raise TypeError
            out[index] = float(value)
        except (TypeError, OverflowError):
            at = ", ".join(map(str, index))
            raise error(f"{name}[{at}] = {value!r}: real numbers are wanted") from None
    return out


def share(name: str, value: Any, allowed: str = "a number between 0 and 1, both excluded") -> float:
    """A number between 0 and 1, both excluded."""
    number = finite(name, value, allowed)
    if not 0 < number < 1:
        raise argument_error(name, value, allowed)
    return number
