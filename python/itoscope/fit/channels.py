"""Which states a recording is of, and how its columns come from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.common.numbers import exact
from itoscope.data.timeline import Window
from itoscope.errors import DataError, argument_error, naming
from itoscope.fit.sensors.angles import Angle
from itoscope.fit.sensors.kinds import Acceleration, Average
from itoscope.library.bound import names_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.sensors.kinds import Gathered
    from itoscope.fit.sensors.listed import Sensor

__all__ = ["at_once", "check_moves", "observation_matrix", "observed_texts", "state_names", "velocities"]

FEWEST = 4
"""Samples of a channel: three differences, of which the level of the noise is read; of a path, for a constant."""
INSTANT = 0.01
"""Share of the shortest step over which the change of a velocity is its derivative at a moment."""
LINEAR = 1e-12
"""Relative difference within which an observation counts as the linear map of its own slopes."""


def observed_texts(
    names: Sequence[str], observed: Mapping[str, str | Sensor] | Sequence[str | Sensor] | None
) -> list[str] | str | None:
    """What each column shows: `observed` as given, or by column, where columns that are not named show their state.

    Raises
    ------
    ArgumentError
        For a name that no column has, and for more or fewer than the columns.
    """
    if observed is None or isinstance(observed, str):
        return observed
    if not isinstance(observed, Mapping):
        if not checks.is_list(observed):
            raise argument_error("observed", observed, "one expression of the states for each column")
        texts = [_text(what) for what in observed]
        if len(texts) != len(names):
            raise argument_error(
                "observed", observed, f"one expression for each of the columns {list(names)}"
            )
        return texts
    for name in observed:
        if name not in names:
            raise argument_error("observed", name, f"a column of the data: {', '.join(names)}")
    return [_text(observed.get(name, name)) for name in names]


def _text(what: str | Sensor) -> str:
    return what.text if isinstance(what, (Acceleration, Angle, Average)) else what


def state_names(
    names: Sequence[str], order: int, states: Sequence[str] | None, observed: Sequence[str] | None = None
) -> tuple[list[str], list[str]]:
    """Names of all states, and of those among them that are no velocities: the columns, or what they show.

    Of order 2 the velocities `v1, ...` come after them.

    Parameters
    ----------
    names : sequence of str
        Names of the recorded columns.
    order : {1, 2}
    states : sequence of str, optional
        All states; those in `names` were recorded, unless `observed` says what the columns show.
    observed : sequence of str, optional
        What the columns show. States that nobody named are those in it, in the order of their numbers where they have
        some; of order 2 its names `v1, ...` are velocities.
    """
    if states is not None:
        every = list(states)
        missing = [] if observed is not None else [name for name in names if name not in every]
        if order == 2 or missing or len(set(every)) != len(every):
            among = "" if observed is not None else f", among them those of the data: {list(names)}"
            raise argument_error("states", states, f"with order=1, different names{among}")
        return every, every
    if observed is not None:
        names = _shown(observed, order)
    if order == 1:
        return list(names), list(names)
    velocities = [f"v{i + 1}" for i in range(len(names))]
    for name in names:
        if name in velocities:
            raise argument_error(
                "names", name, "with order=2 a name other than those of the velocities, v1, v2, ..."
            )
    return [*names, *velocities], list(names)


def _shown(observed: Sequence[str], order: int) -> list[str]:
    """The states that columns show."""
    texts = [text for text in observed if isinstance(text, str)]
    found = set().union(*(names_in(text) for text in texts))
    if order == 2:
        found -= {f"v{i + 1}" for i in range(len(found))}
    if not found:
        raise argument_error("observed", list(observed), "expressions of the states, as {'laser': 'x1'}")
    return sorted(found, key=lambda name: (len(name), name))


def observation_matrix(
    names: Sequence[str], states: Sequence[str], observed: Sequence[str] | None, backend: Backend
) -> Array:
    """How the recorded columns come from the states, `(q, m)`.

    Parameters
    ----------
    names, states : sequence of str
        The columns of the data and the states.
    observed : sequence of str, optional
        A linear expression of the states for each column. Default: the state of the same name.
    backend : Backend
        Of whose programs the slopes are read.
    """
    if observed is None:
        return np.array([[float(state == name) for state in states] for name in names])
    texts = list(observed)
    if len(texts) != len(names) or not all(isinstance(text, str) for text in texts):
        raise argument_error("observed", observed, f"one expression for each of the columns {list(names)}")
    with naming("observed"):
        program = backend.compile(texts, list(states))
    places = np.vstack([np.zeros(len(states)), np.ones(len(states)), 1.0 + np.arange(len(states)) ** 2])
    slopes = program.gradient(places)
    matrix: Array = np.ascontiguousarray(slopes[0], dtype=float)
    values = program.evaluate(places)
    if not np.allclose(values, places @ matrix.T, rtol=LINEAR, atol=LINEAR) or not np.all(
        np.isfinite(matrix)
    ):
        sensors = "average(x1), acceleration(x1), angle(x1)"
        allowed = f"linear combinations of the states, such as 'x2 - x1', or {sensors} of one"
        raise argument_error("observed", texts, allowed)
    return matrix


def velocities(
    names: Sequence[str],
    states: Sequence[str],
    observation: Array,
    gathered: Mapping[int, Gathered],
    known: Mapping[str, str],
    backend: Backend,
) -> tuple[Array, Array]:
    """The observation with the velocities of what accelerometers show in the place of the positions `(q, m)`.

    And a matrix that is not zero where a column tells of a state: an acceleration of both.

    Raises
    ------
    ArgumentError
        For a state that has no given velocity.
    """
    found = observation.copy()
    for c, what in gathered.items():
        if what.kind != "acceleration":
            continue
        terms = []
        for i in np.flatnonzero(observation[c]).tolist():
            if states[i] not in known:
                allowed = "an expression of positions, whose rows are given velocities, as with order=2"
                raise argument_error(f"observed[{names[c]!r}]", f"acceleration({what.text})", allowed)
            terms.append(f"({exact(float(observation[c, i]))})*({known[states[i]]})")
        found[c] = observation_matrix([names[c]], states, [" + ".join(terms)], backend)[0]
    return found, np.abs(found) + np.abs(observation)


def at_once(
    data: Trajectories, observation: Array, gathered: Mapping[int, Gathered], noisy: Collection[int]
) -> dict[int, Gathered]:
    """What columns gather, accelerations of velocities that no white noise drives at a moment: they have a value there.

    Parameters
    ----------
    data : Trajectories
    observation : (q, m) array
        Of accelerations the velocities.
    gathered : mapping of int to Gathered
    noisy : collection of int
        The states that white noise drives.
    """
    smooth = {
        c for c, what in gathered.items()
        if what.kind == "acceleration" and not set(np.flatnonzero(observation[c]).tolist()) & set(noisy)
    }  # fmt: skip
    if not smooth:
        return dict(gathered)
    step = min((float(np.diff(stamps).min()) for stamps in data.times if len(stamps) > 1), default=1.0)
    moment = Window(INSTANT * step)
    return {c: what._replace(window=moment) if c in smooth else what for c, what in gathered.items()}


def check_moves(name: str, values: Sequence[Array], least: float) -> None:
    """Whether a column moves, and by `least` in all, given its samples on each path, NaN where one is missing.

    A column of which a path shows a few samples alone, where the path starts for instance, need not move.

    Raises
    ------
    DataError
        Naming the column and its value.
    """
    ends = [(float(np.fmin.reduce(one)), float(np.fmax.reduce(one))) for one in values if len(one)]
    moved = max((high - low for low, high in ends if low <= high), default=0.0)
    many = max((int(np.isfinite(one).sum()) for one in values), default=0) if moved == 0.0 else 0
    if many >= FEWEST and moved == 0.0:
        shown = next(low for low, high in ends if low <= high)
        raise DataError(
            f"{name} never changes, it is {shown:.6g} throughout a path: a constant shows nothing of a motion; "
            "leave the column out, or name it in inputs=[...]"
        )
    if 0.0 < moved < least:
        raise DataError(
            f"{name} moves by {moved:.3g} at most, whose squares leave the range of floating point: give it in a "
            "smaller unit"
        )
