"""What drives a simulation from outside: the values of its inputs in every step of a scheme."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.data.inputs import Course, Input, asked_of, check_known, per_path, usual
from itoscope.errors import ArgumentError, argument_error
from itoscope.library.bound import TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["along"]


def along(
    names: Sequence[str],
    inputs: Mapping[str, Any] | None,
    start: float,
    step: float,
    grid: tuple[int, int],
) -> Array | None:
    """Values of inputs in every step of a scheme, `(n_steps * substeps, g)`; None where there are no names.

    In the middle of the step where the input goes straight, so that a step of second order stays one; at its start
    where it is held.

    Parameters
    ----------
    names : sequence of str
    inputs : mapping of str, optional
        What each is, beside the time: a function of time, `(times, values)`, one value for each of `n_steps + 1` times,
        a number, an `Input`, or a `Course`.
    start, step : float
        Time at the start, and length of a step that has `substeps`.
    grid : (n_steps, substeps)
    """
    given = {} if inputs is None else dict(checks.instance("inputs", inputs, Mapping, "a mapping by name"))
    for name in given:
        if name not in names or name == TIME:
            allowed = ", ".join(one for one in names if one != TIME) or "none, for the model has no input"
            raise argument_error("inputs", name, f"an input of the model: {allowed}")
    if not names:
        return None
    n_steps, substeps = grid
    fine = step / substeps
    begins: Array = start + fine * np.arange(n_steps * substeps, dtype=np.float64)
    columns = []
    for name in names:
        if name == TIME and name not in given:
            columns.append(begins + fine / 2)
            continue
        if name not in given:
            raise ArgumentError(
                f"inputs: the model is driven by {name}: say what it is, for instance inputs={{{name!r}: np.cos}}"
            )
        course = _given_course(name, given[name], start + step * np.arange(n_steps + 1, dtype=np.float64))
        columns.append(course.at(begins + fine / 2 if course.between == "linear" else begins))
        check_known(name, 0, columns[-1], begins)
    return np.ascontiguousarray(np.column_stack(columns))


def _given_course(name: str, what: Any, times: Array) -> Course:
    """An input of a simulation, whose coarse steps begin and end at `times`."""
    if isinstance(what, Course):
        course = what
    else:
        if np.ndim(what) == 0 and not callable(what) and not isinstance(what, str | Input):
            what = np.full(len(times), float(checks.reals(f"inputs[{name!r}]", what)))
        asked = asked_of(name, what)
        if asked.source is None:
            raise argument_error(f"inputs[{name!r}]", what, "a function, samples or a number")
        none = np.zeros(0)
        if callable(asked.source):
            return Course(asked.between or "linear", none, none, asked.source)
        (values,) = per_path(name, asked.source, 1)
        stamps = times if asked.t is None else per_path(name, asked.t, 1)[0]
        if len(values) != len(stamps):
            allowed = f"{len(stamps)}, one for each time"
            raise argument_error(f"inputs[{name!r}]", f"{len(values)} values", allowed)
        course = Course(asked.between or usual([(stamps, values)]), values, stamps)
    if course.function is None and not (
        course.times[0] <= times[0] + 1e-9 * abs(times[0])
        and (course.between == "held" or course.times[-1] >= times[-1] - 1e-9 * abs(times[-1]))
    ):
        raise ArgumentError(
            f"inputs[{name!r}]: known from {course.times[0]:.6g} to {course.times[-1]:.6g}, but the simulation goes "
            f"from {times[0]:.6g} to {times[-1]:.6g}"
        )
    return course
