"""How recordings get their `Driving`, and the rows that stages take with it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.data.inputs import Course, Driving, Input, asked_of, check_known, per_path, usual
from itoscope.errors import ArgumentError, DataError, argument_error
from itoscope.library.bound import TIME

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = ["carried", "carried_columns", "driven", "pieces", "rows", "with_constants"]


def driven(data: Trajectories, inputs: Sequence[str] | Mapping[str, Any] | None) -> Trajectories:
    """The states of a recording alone, with what drives them as their `driving`.

    Parameters
    ----------
    data : Trajectories
    inputs : sequence of str, or mapping of str, optional
        Names of columns; or by name "linear" or "held" for a column, a function of time, samples with their times as
        `(t, values)`, or an `Input`.

    Raises
    ------
    ArgumentError
        For a name that no column has, or an input of another kind.
    DataError
        For an input that is not known at a sample, saying where.
    """
    if inputs is None or (isinstance(inputs, (list, tuple, Mapping)) and not inputs):
        return data
    wanted = {name: asked_of(name, what) for name, what in _named(inputs).items()}
    columns = [name for name, asked in wanted.items() if asked.source is None]
    own = data.driving
    for name in columns:
        if name not in data.names and (own is None or name not in own.names):
            raise argument_error("inputs", name, f"a column of the data: {', '.join(data.names)}")
    states = [name for name in data.names if name not in wanted]
    if not states:
        raise argument_error("inputs", list(wanted), "some of the columns, for the others are the states")
    starts = tuple(float(stamps[0]) for stamps in data.times) if own is None else own.starts
    courses = [
        _courses(name, asked, data, starts)
        if asked.source is not None or name in data.names or own is None
        else [own.of_path(i)[name] for i in range(data.n_paths)]
        for name, asked in wanted.items()
    ]
    motion = data if len(states) == data.n_states else data.select(states)
    motion = motion if motion is not data else data.select(data.names)
    by_path = tuple(tuple(course[i] for course in courses) for i in range(data.n_paths))
    motion.driving = Driving(tuple(wanted), by_path, starts)
    return motion


def with_constants(data: Trajectories, constants: Mapping[str, Array]) -> Trajectories:
    """A recording with more inputs, each a number for each path `(P,)` that stays what it is along it."""
    own = data.driving
    starts = tuple(float(stamps[0]) for stamps in data.times) if own is None else own.starts
    names = () if own is None else own.names
    courses = tuple(
        (
            *(() if own is None else own.courses[path]),
            *(Course("held", np.array([values[path]]), np.zeros(1)) for values in constants.values()),
        )
        for path in range(data.n_paths)
    )
    found = data.select(data.names)
    found.driving = Driving((*names, *constants), courses, starts)
    return found


def carried(names: Sequence[str], modes: Mapping[str, str], taken: Sequence[str]) -> dict[str, str]:
    """What a filter carries along as states that it knows, by name, each with its drift between samples.

    The time, which moves at the rate 1; an input that is held; one that goes straight, and after all of these its rate,
    which is held.

    Parameters
    ----------
    names : sequence of str
    modes : mapping of str to str
        How each input goes between samples.
    taken : sequence of str
        Names of the states.
    """
    found: dict[str, str] = {}
    rates: dict[str, str] = {}
    for name in names:
        if name not in modes:
            found[name] = "1"
        elif modes[name] == "held":
            found[name] = "0"
        else:
            rate = f"rate_of_{name}"
            while rate in names or rate in taken:
                rate += "_"
            found[name], rates[rate] = rate, "0"
    return found | rates


def carried_columns(data: Trajectories, names: Sequence[str], modes: Mapping[str, str]) -> list[Array]:
    """The values of what `carried` names at every sample of every path, `(n_i, g)`."""
    found = []
    for x, stamps in zip(rows(data, names), data.times):
        values = x[:, x.shape[1] - len(names) :]
        straight = [k for k, name in enumerate(names) if modes.get(name) == "linear"]
        rates = np.zeros((len(values), len(straight)))
        rates[:-1] = np.diff(values[:, straight], axis=0) / np.diff(stamps)[:, None]
        found.append(np.hstack([values, rates]))
    return found


def pieces(data: Trajectories, paths: Sequence[Array]) -> tuple[list[Array], list[float | Array]]:
    """Rows of every path as stages take them, cut where an input that is held changes, with their times.

    The sample of a change comes twice: as the end of a step under the old value, and as the start of one under the new.

    Parameters
    ----------
    data : Trajectories
    paths : sequence of (n_i, m + g) arrays
        As `rows` returns them, the columns of all inputs after the states, and whatever else.
    """
    driving, steps = data.driving, data.steps()
    held = [] if driving is None else [k for k, mode in enumerate(driving.modes.values()) if mode == "held"]
    if not held:
        return list(paths), list(steps)
    columns = [data.n_states + k for k in held]
    cut_paths: list[Array] = []
    cut_times: list[float | Array] = []
    for x, times in zip(paths, steps):
        changes = 1 + np.flatnonzero(np.any(x[1:, columns] != x[:-1, columns], axis=1))
        edges = [0, *changes.tolist(), len(x) - 1]
        for begin, end in itertools.pairwise(edges):
            if end > begin:
                piece = x[begin : end + 1].copy()
                piece[-1, columns] = piece[0, columns]
                cut_paths.append(piece)
                cut_times.append(times if np.ndim(times) == 0 else np.asarray(times)[begin : end + 1])
    return cut_paths, cut_times


def _named(inputs: Any) -> dict[str, Any]:
    """The inputs by name."""
    if isinstance(inputs, Mapping):
        found = dict(inputs)
    elif not checks.is_list(inputs):
        raise argument_error("inputs", inputs, "names of columns, as ['force'], or what each is by its name")
    else:
        found = dict.fromkeys(checks.names(inputs, "inputs"))
    for name in found:
        checks.names([name], "inputs")
        if name == TIME:
            raise argument_error("inputs", name, "another name, since t is the time")
    return found


def _courses(name: str, asked: Input, data: Trajectories, starts: Sequence[float]) -> list[Course]:
    """One input along every path, known at every sample."""
    none = np.zeros(0)
    if callable(asked.source):
        found = [Course(asked.between or "linear", none, none, asked.source) for _ in starts]
        for path, (course, stamps, start) in enumerate(zip(found, data.times, starts)):
            check_known(name, path, course.at(stamps - start), stamps)
        return found
    samples = _samples(name, asked, data)
    between = asked.between or usual(samples)
    found = []
    for path, (stamps, values) in enumerate(samples):
        reached = data.times[path]
        if stamps[0] > reached[0] + 1e-9 * abs(reached[0]) or (
            between == "linear" and stamps[-1] < reached[-1] - 1e-9 * abs(reached[-1])
        ):
            raise DataError(
                f"input {name!r} of path {path}: known from {stamps[0]:.6g} to {stamps[-1]:.6g}, but the recording "
                f"goes from {reached[0]:.6g} to {reached[-1]:.6g}; an input must be known at every sample"
            )
        check_known(name, path, values, stamps)
        found.append(Course(between, values, stamps - starts[path]))
    return found


def _samples(name: str, asked: Input, data: Trajectories) -> list[tuple[Array, Array]]:
    """Times and values of one input along every path."""
    if asked.source is None:
        column = data.names.index(name)
        return [(stamps, path[:, column]) for stamps, path in zip(data.times, data.paths)]
    values = per_path(name, asked.source, data.n_paths)
    times = list(data.times) if asked.t is None else per_path(name, asked.t, data.n_paths)
    for path, (stamps, one) in enumerate(zip(times, values)):
        if stamps.shape != one.shape:
            raise ArgumentError(
                f"input {name!r} of path {path}: {len(one)} values and {len(stamps)} times; as many of each"
            )
        if len(stamps) > 1 and not np.all(np.diff(stamps) > 0):
            raise DataError(f"input {name!r} of path {path}: times that increase are wanted")
    return list(zip(times, values))


def rows(data: Trajectories, names: Sequence[str]) -> list[Array]:
    """Samples of every path with columns of the inputs `names` after the states, `(n_i, m + g)`; `t` is the time.

    Raises
    ------
    ArgumentError
        For an input that the recording does not have.
    """
    if not names:
        return [np.ascontiguousarray(path, dtype=np.float64) for path in data.paths]
    found = []
    for i, (path, stamps) in enumerate(zip(data.paths, data.times)):
        start = float(stamps[0]) if data.driving is None else data.driving.starts[i]
        courses = {} if data.driving is None else data.driving.of_path(i)
        columns = []
        for name in names:
            if name == TIME and name not in courses:
                columns.append(stamps - start)
            elif name in courses:
                columns.append(courses[name].at(stamps - start))
            else:
                raise ArgumentError(f"inputs: {name!r} drives the model, and these data do not have it")
        found.append(np.ascontiguousarray(np.column_stack([path, *columns])))
    return found
