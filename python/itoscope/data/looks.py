"""What a column looks like by its values alone: a clock, a count of rows, the label of a recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from itoscope.data.samples import EVEN
from itoscope.errors import DataError

__all__ = [
    "blocks",
    "codes",
    "counts_on",
    "is_clock",
    "is_count",
    "is_label",
    "refuse_clock",
    "rises",
    "rises_within",
]

ENOUGH = 8
"""Rows below which values alone say nothing: three numbers in a row are easily even."""

SHORT = 3
"""Samples that a recording has at least."""


def _numbers(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    if values.dtype.kind in "mM":
        return values.astype(np.int64)
    return values if values.dtype.kind in "iuf" else None


def rises(values: np.ndarray[Any, Any], *, falls: bool = False) -> bool:
    """Whether every value is above the one before; with `falls`, below."""
    steps = np.diff(values)
    zero = np.zeros(1, dtype=steps.dtype)[0]
    return bool((steps < zero).all() if falls else (steps > zero).all())


def codes(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return labels as numbers 0, 1, ... in the order in which they appear first."""
    if labels.dtype == object:
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(label, len(seen)) for label in labels.tolist()], dtype=np.int64)
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code.ravel()]


def rises_within(values: np.ndarray[Any, Any], code: np.ndarray[Any, Any]) -> bool:
    """Whether values rise, or fall, strictly among the rows of each recording, in their order."""
    if code.any():
        order = np.argsort(code, kind="stable")
        steps = np.diff(values[order])[np.diff(code[order]) == 0]
    else:
        steps = np.diff(values)
    zero = np.zeros(1, dtype=steps.dtype)[0]
    return bool(len(steps)) and bool((steps > zero).all() or (steps < zero).all())


def is_clock(values: np.ndarray[Any, Any]) -> bool:
    """Whether values are an even ramp, as a clock and a count of samples are and a state is not."""
    numbers = _numbers(values)
    if numbers is None or len(numbers) < ENOUGH:
        return False
    step = (float(numbers[-1]) - float(numbers[0])) / (len(numbers) - 1)
    if (
        step == 0
        or not np.isfinite(step)
        or abs(float(numbers[1]) - float(numbers[0]) - step) > 2 * EVEN * abs(step)
    ):
        return False
    if not np.isfinite(numbers).all():
        return False
    grid = numbers[0] + step * np.arange(len(numbers))
    return float(np.max(np.abs(numbers - grid))) <= EVEN * abs(step)


def refuse_clock(data: np.ndarray[Any, Any], step: float | None) -> None:
    """Raise DataError for an array whose first column rises by `step` from row to row: it is the time and no state."""
    if (
        step is None
        or data.ndim != 2
        or data.shape[1] < 2
        or len(data) < ENOUGH
        or data.dtype.kind not in "iuf"
    ):
        return
    first = np.asarray(data)[:, 0]  # that of a matrix would be a table
    if abs(first[1] - first[0] - step) > EVEN * step or np.max(np.abs(np.diff(first) - step)) > EVEN * step:
        return
    raise DataError(
        f"column 0 of data rises by dt = {step:g} from row to row, as the time does: t=data[:, 0] with data[:, 1:] "
        "if it is the time, names=[...] if it is a state"
    )


def is_count(values: np.ndarray[Any, Any]) -> bool:
    """Whether values are whole numbers, as frames and rows are counted."""
    if values.dtype.kind in "iu":
        return True
    if (
        values.dtype.kind != "f"
        or (values[:3] != np.round(values[:3])).any()
        or not np.isfinite(values).all()
    ):
        return False
    return bool((values == np.round(values)).all()) and (not len(values) or abs(values).max() < 2**53)


def counts_on(values: np.ndarray[Any, Any]) -> bool:
    """Whether most steps are the same, or stay, or begin anew, as frames do and the size of a population does not."""
    steps = np.diff(values)
    rising, often = np.unique(steps[steps > 0], return_counts=True)
    if not len(rising):
        return False
    others = (steps > 0) & (steps != rising[np.argmax(often)])
    return bool(2 * np.count_nonzero(others) <= len(steps))


def blocks(code: np.ndarray[Any, Any]) -> int:
    """How often the label changes from one row to the next, and one."""
    return int(np.count_nonzero(np.diff(code))) + 1


def is_label(values: np.ndarray[Any, Any], clock: np.ndarray[Any, Any] | None) -> bool:
    """Whether values tell recordings apart.

    With a clock: it does not rise over the rows but rises among those of one value. Without one: whole numbers or
    words, each in one run of three rows or more.
    """
    if len(values) < ENOUGH or not (values.dtype.kind in "USOb" or is_count(values)):
        return False
    code = codes(values)
    count = int(code.max()) + 1
    if count < 2 or count * SHORT > len(values):
        return False
    if clock is not None:
        return not (rises(clock) or rises(clock, falls=True)) and rises_within(clock, code)
    return blocks(code) == count and int(np.bincount(code).min()) >= SHORT
