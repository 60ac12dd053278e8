"""Which states a recording is of, and how its columns come from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common import checks
from itoscope.errors import ArgumentError, DataError, argument_error, naming

if TYPE_CHECKING:
    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array

__all__ = ["check_moves", "observation_matrix", "observed_texts", "state_names"]

FEWEST = 4
"""Samples of a channel: three differences, of which the level of the noise is read; of a path, for a constant."""
LINEAR = 1e-12
"""Relative difference within which an observation counts as the linear map of its own slopes."""


def observed_texts(
    names: Sequence[str], observed: Mapping[str, str] | Sequence[str] | None
) -> list[str] | str | None:
    """What each column shows: `observed` as given, or by column, where columns that are not named show their state.

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    if observed is None or isinstance(observed, str):
        return observed
    if not isinstance(observed, Mapping):
        if not checks.is_list(observed):
            raise argument_error("observed", observed, "one expression of the states for each column")
        return list(observed)
    for name in observed:
        if name not in names:
            raise argument_error("observed", name, f"a column of the data: {', '.join(names)}")
    return [observed.get(name, name) for name in names]


def state_names(
    names: Sequence[str], order: int, states: Sequence[str] | None, combined: bool = False
) -> list[str]:
    """Names of all states: those recorded, then velocities `v1, ...` (order 2), or as given in `states`.

    Parameters
    ----------
    names : sequence of str
        Names of the recorded columns.
    order : {1, 2}
    states : sequence of str, optional
        All states; those in `names` were recorded, unless the columns are combinations.
    combined : bool
        The recorded columns are combinations of states.
    """
    if states is not None:
        every = list(states)
        missing = [] if combined else [name for name in names if name not in every]
        if order == 2 or missing or len(set(every)) != len(every):
            among = "" if combined else f", among them those of the data: {list(names)}"
            raise argument_error("states", states, f"with order=1, different names{among}")
        return every
    if combined:
        raise ArgumentError("observed: name all states with states=[...], for instance states=['x1', 'x2']")
    if order == 1:
        return list(names)
    velocities = [f"v{i + 1}" for i in range(len(names))]
    for name in names:
        if name in velocities:
            raise argument_error(
                "names", name, "with order=2 a name other than those of the velocities, v1, v2, ..."
            )
    return [*names, *velocities]


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
        raise argument_error("observed", texts, "linear combinations of the states, such as 'x2 - x1'")
    if np.linalg.matrix_rank(matrix) < len(names):
        raise argument_error("observed", texts, "columns of which none follows from the others")
    return matrix


def check_moves(name: str, values: Sequence[Array]) -> None:
    """Whether a column moves at all, given the samples that each path has of it.

    Raises
    ------
    DataError
        Naming the column and its value.
    """
    seen = [one for one in values if len(one)]
    if seen and max(map(len, seen)) >= FEWEST and max(float(np.ptp(one)) for one in seen) == 0.0:
        raise DataError(
            f"{name} never changes, it is {seen[0][0]:.6g} throughout a path: a constant shows nothing of a motion; "
            "leave the column out, or name it in inputs=[...]"
        )
