"""The times of every path: those that are given, those that a table holds, or an even grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.data.samples import agreeing_dt, as_dt, as_times, even_step
from itoscope.errors import ArgumentError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.parts import Parts

__all__ = ["clock"]


def clock(
    parts: Parts, lengths: Sequence[int], dt: float | None, t: Any
) -> tuple[list[Array], list[float | None]]:
    """Return the times of each path, read-only, and its step, None where they are uneven.

    A step that is given beside times has to agree with them.
    """
    times, steps = _found(parts, lengths, dt, t)
    for stamps in times:
        stamps.flags.writeable = False
    return times, steps


def _found(
    parts: Parts, lengths: Sequence[int], dt: float | None, t: Any
) -> tuple[list[Array], list[float | None]]:
    dt = None if dt is None else as_dt(dt)
    t = parts.times if t is None else t
    if t is not None:
        times = as_times(t, lengths)
        if dt is not None:
            agreeing_dt(dt, times, parts.where)
            return times, [dt] * len(lengths)
        even = {id(stamps): even_step(stamps) for stamps in times}
        return times, [even[id(stamps)] for stamps in times]
    if dt is None and parts.dt is None:
        raise ArgumentError(
            "dt and t are both missing: give dt, the time between two samples, or t, their times"
        )
    step = as_dt(parts.dt) if dt is None else dt
    if not math.isfinite(step * max(lengths, default=0)):
        raise argument_error("dt", step, f"a step of which {max(lengths)} are a finite time")
    grids = {length: step * np.arange(length, dtype=np.float64) for length in set(lengths)}
    return [grids[length] for length in lengths], [step] * len(lengths)
