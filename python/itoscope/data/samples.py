"""From whatever holds numbers to checked paths, times and names: one rule, one error message."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from itoscope.common.types import Array

__all__ = [
    "EVEN",
    "MIN_SAMPLES",
    "Finite",
    "agreeing_dt",
    "all_finite",
    "as_dt",
    "as_names",
    "as_paths",
    "as_times",
    "check_samples",
    "even_step",
]

EVEN = 1e-3
"""Stamps that stray from an even grid by at most this share of a step are even: a rounded time column is."""

MIN_SAMPLES = 3
"""Fewest samples of a path: two steps, so that a step has a neighbour to be compared with."""

_BLOCK = 1 << 16


class Finite(np.ndarray[Any, Any]):
    """A float64 array whose maker knows that it is finite, so that nobody looks through it again."""


def as_dt(dt: Any, name: str = "dt") -> float:
    """Return a step length as a float; `name` is the argument, where it is a rate.

    Raises
    ------
    ArgumentError
        Unless it is one finite number above zero.
    """
    what = "the time between two samples" if name == "dt" else "samples in that time"
    return checks.positive(name, dt, f"one finite number above 0, {what}")


def as_names(names: Iterable[str] | None, n_states: int, what: str = "names") -> tuple[str, ...]:
    """Return one valid name per state; None gives ``x1 .. xm``.

    Raises
    ------
    ArgumentError
        For a wrong count, a repeated name, or one that an equation could not contain.
    """
    if names is None:
        return tuple(f"x{i + 1}" for i in range(n_states))
    return checks.names(names, what, number=n_states)


def as_paths(data: Any) -> list[Array]:
    """Return the samples of every path as a read-only, C-contiguous float64 array ``(n_i, n_states)``.

    Nothing is copied that is float64 and C-contiguous already, so a memory-mapped file stays on disk.

    Parameters
    ----------
    data : array_like
        ``(n_times,)``, ``(n_times, n_states)``, ``(n_paths, n_times, n_states)``, or a list of arrays
        ``(n_i, n_states)`` or ``(n_i,)``.

    Raises
    ------
    DataError
        For anything that is not real numbers in one of these shapes.
    """
    if _is_list_of_arrays(data):
        paths = [_floats(path, f"path {i}") for i, path in enumerate(data)]
        for i, path in enumerate(paths):
            if path.ndim not in (1, 2):
                raise DataError(
                    f"path {i} has shape {path.shape}: arrays of a list are (n_times,) or (n_times, n_states)"
                )
        paths = [path[:, None] if path.ndim == 1 else path for path in paths]
        in_rows = all(np.ndim(path) == 1 for path in data)
    else:
        array = _floats(data, "data")
        if array.ndim not in (1, 2, 3):
            raise DataError(
                f"data has shape {array.shape}: allowed are (n_times,), (n_times, n_states), "
                "(n_paths, n_times, n_states) and a list of arrays"
            )
        stack = array[:, None] if array.ndim == 1 else array
        stack = _read_only(stack if array.ndim == 3 else stack[None])
        # Paths of one array have one shape.
        _check_shapes(stack[:1], in_rows=False)
        _check_count(stack)
        return list(stack)
    _check_shapes(paths, in_rows)
    _check_count(paths)
    return [_read_only(path) for path in paths]


def _read_only(array: Array) -> Array:
    view: Array = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _is_list_of_arrays(data: Any) -> bool:
    return isinstance(data, list | tuple) and any(getattr(item, "ndim", 0) > 0 for item in data)


def _floats(data: Any, where: str) -> Array:
    """Return `data` as float64, masked values as NaN."""
    try:
        array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    except ValueError:
        raise DataError(
            f"{where} is a nested list whose rows differ in length: rows have one number per state; "
            "paths of different lengths are a list of arrays"
        ) from None
    if array.dtype == object or isinstance(array, np.ma.MaskedArray):
        return checks.reals(where, array, missing=True, error=DataError)
    if array.dtype.kind not in "iuf":
        kind = "complex numbers" if array.dtype.kind == "c" else f"dtype {array.dtype}"
        hint = "; dates are read by from_dataframe and from_csv" if array.dtype.kind == "M" else ""
        raise DataError(
            f"{where} holds {kind}: allowed are real numbers, NaN where a sample is missing{hint}"
        )
    return np.asarray(array, dtype=np.float64)


def _check_shapes(paths: Sequence[Array] | Array, in_rows: bool) -> None:
    if not len(paths):
        raise DataError("data holds no path: at least one is needed")
    n_states = paths[0].shape[1]
    for i, path in enumerate(paths):
        if path.shape[1] != n_states:
            raise DataError(
                f"path {i} has {path.shape[1]} states, path 0 has {n_states}: all paths have the same states"
            )
        if len(path) < MIN_SAMPLES:
            hint = ""
            if path.shape[1] > len(path):
                hint = "; rows are times and columns are states, so perhaps the array wants transposing"
            elif in_rows:
                hint = "; a list of one-dimensional arrays is one path of one state each, rows want np.stack"
            raise DataError(f"path {i} has {len(path)} samples: at least {MIN_SAMPLES} are needed{hint}")
    if n_states == 0:
        raise DataError(f"path 0 has shape {paths[0].shape}: at least one state is needed")


def _check_count(paths: Sequence[Array] | Array) -> None:
    """Raise for more states than samples, which no regression can tell apart."""
    count, n_states = sum(len(path) for path in paths), paths[0].shape[1]
    if n_states > count:
        raise DataError(
            f"{n_states} states and {count} samples: more samples than states are wanted; transposed? Rows are times "
            "and columns are states"
        )


def all_finite(data: Any) -> bool:
    """Whether data is a float64 array that one quick pass finds to be finite; False leaves the question open."""
    if isinstance(data, Finite):
        return True
    if not isinstance(data, np.ndarray) or data.dtype != np.float64 or not data.size:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(data.sum()))


def check_samples(paths: Sequence[Array], names: Sequence[str]) -> None:
    """Raise DataError at the first infinite sample, and for a state of which no sample is there."""
    seen = np.zeros(len(names), dtype=bool)
    for i, path in enumerate(paths):
        for start in range(0, len(path), _BLOCK):
            block = path[start : start + _BLOCK]
            if np.isinf(block).any():
                row, column = np.argwhere(np.isinf(block))[0]
                raise DataError(
                    f"path {i}, sample {start + row}, {names[column]} = {block[row, column]}: "
                    "samples are finite, or NaN where one is missing"
                )
            if not seen.all():
                seen |= ~np.isnan(block).all(axis=0)
    if not seen.all():
        raise DataError(f"{names[int(np.argmin(seen))]} has no sample but NaN: leave that state out")


def as_times(t: Any, lengths: Sequence[int]) -> list[Array]:
    """Return checked stamps per path; stamps that all paths share are one array.

    Parameters
    ----------
    t : array_like
        ``(n_times,)`` for all paths, ``(n_paths, n_times)``, or a list of arrays, one per path.
    lengths : sequence of int
        Number of samples of each path.

    Raises
    ------
    DataError
        Unless there is one finite stamp per sample, strictly increasing.
    ArgumentError
        For a single number, which is a step length and belongs into `dt`.
    """
    if isinstance(t, Real):
        raise argument_error("t", t, "one time stamp per sample; a step length goes into dt")
    if _is_list_of_arrays(t):
        stamps = [_floats(item, f"t of path {i}") for i, item in enumerate(t)]
    else:
        array = _floats(t, "t")
        if array.ndim == 1:
            stamps = [array] * len(lengths)
        elif array.ndim == 2:
            stamps = list(array)
        else:
            raise DataError(
                f"t has shape {array.shape}: allowed are (n_times,), (n_paths, n_times) and a list"
            )
    if len(stamps) != len(lengths):
        raise DataError(f"t has stamps for {len(stamps)} paths and data has {len(lengths)} paths")
    checked: dict[int, Array] = {}
    for i, (stamp, length) in enumerate(zip(stamps, lengths)):
        if stamp.shape != (length,):
            raise DataError(
                f"path {i} has {length} samples and its t has shape {stamp.shape}: one stamp per sample"
            )
        if id(stamp) not in checked:
            _check_increasing(stamp, i)
            checked[id(stamp)] = np.ascontiguousarray(stamp).view()
    return [checked[id(stamp)] for stamp in stamps]


def _check_increasing(stamps: Array, path: int) -> None:
    if not np.isfinite(stamps).all():
        k = int(np.argmin(np.isfinite(stamps)))
        raise DataError(f"path {path}, t[{k}] = {stamps[k]}: every sample has a finite time")
    bad = np.diff(stamps) <= 0
    if bad.any():
        k = int(np.argmax(bad))
        problem = "is repeated" if stamps[k + 1] == stamps[k] else f"comes after t[{k}] = {stamps[k]}"
        raise DataError(f"path {path}, t[{k + 1}] = {stamps[k + 1]} {problem}: times increase strictly")


def even_step(stamps: Array) -> float | None:
    """Return the step length of stamps that lie on an even grid to within `EVEN` of a step, else None.

    It is rounded to 12 digits, so that a column 0, 0.001, 0.002, ... gives 0.001 and not its neighbour.

    Examples
    --------
    >>> even_step(0.001 * np.arange(1000))
    0.001
    >>> even_step(np.array([0.0, 1.0, 3.0])) is None
    True
    """
    if len(stamps) < 2:
        return None
    span = float(stamps[-1]) - float(stamps[0])
    step = float(f"{span / (len(stamps) - 1):.12g}")
    grid = stamps[0] + step * np.arange(len(stamps))
    return step if float(np.max(np.abs(stamps - grid))) <= EVEN * step else None


def agreeing_dt(dt: float, times: Sequence[Array], where: str) -> None:
    """Raise ArgumentError when a given `dt` contradicts the time stamps that the data carry themselves."""
    for i, stamps in enumerate(times):
        found = even_step(stamps)
        if found is None or abs(found - dt) > EVEN * dt:
            seen = "uneven times" if found is None else f"the step {found:g}"
            raise ArgumentError(
                f"dt = {dt!r}: {where} gives path {i} {seen}; leave dt out, or name the state columns"
            )
