"""How noisy each column is: a level that is given, one that is sought, or one for every sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.errors import argument_error
from itoscope.fit.sensors.classes import EACH, check_classes
from itoscope.fit.sensors.columns import check_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array, Level
    from itoscope.data.precision import SampleErrors
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["as_given", "check_noise", "check_told_apart", "levels"]

ONE = "'estimate', or a standard deviation of at least 0, or None"


def check_noise(asked: Any) -> None:
    """Raise `ArgumentError` unless `measurement_noise` is a level, or a mapping of columns to levels or arrays.

    A word in a mapping may be a column of the data, which is not known here.
    """
    if not isinstance(asked, Mapping):
        _check_level("measurement_noise", asked, ONE)
        return
    for name, value in asked.items():
        if isinstance(value, Mapping):
            check_classes(f"measurement_noise[{name!r}]", value)
        elif not (isinstance(value, str) or checks.is_list(value) or np.ndim(value)):
            _check_level(f"measurement_noise[{name!r}]", value, EACH)


def _check_level(name: str, value: Any, allowed: str) -> None:
    if value is not None and not (isinstance(value, str) and value == "estimate"):
        checks.not_negative(name, value, allowed)


def levels(names: Sequence[str], asked: Any, hidden: bool, errors: SampleErrors | None) -> tuple[Level, ...]:
    """The level of each column, the root mean square of those whose samples have their own.

    Parameters
    ----------
    names : sequence of q str
    asked : number, "estimate", None, or a mapping of columns
        Columns that a mapping does not name are as if nothing was said.
    hidden : bool
        Whether a filter is needed anyway: then what nobody said is estimated, otherwise it is 0.
    errors : SampleErrors, optional

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    usual: Level = "estimate" if hidden or isinstance(asked, Mapping) else 0.0
    told = asked if isinstance(asked, Mapping) else dict.fromkeys(names, asked)
    check_columns("measurement_noise", told, names)
    own = {} if errors is None else dict(zip(errors.names, errors.level.tolist()))

    def level(name: str) -> Level:
        value = told.get(name)
        if name in own:
            return float(own[name])
        return usual if value is None else value

    return tuple(level(name) for name in names)


def check_told_apart(
    names: Sequence[str], observation: Array, noise: Sequence[Level], gathered: Mapping[int, Gathered]
) -> None:
    """Raise `ArgumentError` where columns that are exact would have to agree, one following from others.

    What is `gathered` over a time follows from what is gathered over the same time alone.
    """
    for window in (None, *dict.fromkeys(what.window for what in gathered.values())):
        exact = [
            c
            for c, level in enumerate(noise)
            if level == 0.0 and (gathered[c].window if c in gathered else None) == window
        ]
        if exact and np.linalg.matrix_rank(observation[exact]) < len(exact):
            raise argument_error(
                "observed",
                [names[c] for c in exact],
                "columns of which none follows from the others, where all of them have measurement_noise=0",
            )


def as_given(asked: Any) -> Any:
    """What was asked, ready for JSON."""
    if not isinstance(asked, Mapping):
        return asked

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, str):
            return value
        if checks.is_list(value):
            return [plain(one) for one in value]
        return np.nan_to_num(value).tolist() if isinstance(value, np.ndarray) else value

    return {name: plain(value) for name, value in asked.items()}
