"""Noise told by another column: errors of samples, or their classes of error, in a column or an array beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.data.frames import is_frame, with_numbers
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories

__all__ = ["CLASS", "EACH", "check_classes", "numbered", "without_classes"]

CLASS = "class"
"""The key of what holds the labels; all others are labels."""
EACH = "'estimate', a standard deviation of at least 0, or an array of them, one for each sample"
"""What the noise of a column may be."""
ALLOWED = (
    "what holds the classes and the standard deviation of each, as {'class': 'quality', 'A': 20, 'B': 300}"
)


def check_classes(argument: str, asked: Mapping[Any, Any]) -> None:
    """Raise `ArgumentError` unless a mapping has a `class` and positive standard deviations."""
    if CLASS not in asked or len(asked) < 2:
        raise argument_error(argument, dict(asked), ALLOWED)
    if not isinstance(asked[CLASS], str) and not checks.is_list(asked[CLASS]):
        raise argument_error(
            f"{argument}['class']", asked[CLASS], "a column of the data, or labels like the column"
        )
    for label in _labels(asked):
        checks.positive(f"{argument}[{label!r}]", asked[label])


def numbered(data: Any, asked: Any) -> tuple[Any, Any]:
    """Data whose columns of classes hold numbers in the place of words, and the question with the same numbers.

    Parameters
    ----------
    data : Any
        Frames and mappings of columns are changed, each label being its place among those of the mapping.
    asked : Any
        The `measurement_noise`.
    """
    if not isinstance(asked, Mapping):
        return data, asked
    found = dict(asked)
    for name, value in asked.items():
        if isinstance(value, Mapping) and isinstance(value.get(CLASS), str):
            check_classes(f"measurement_noise[{name!r}]", value)
            labels = _labels(value)
            changed = _coded(data, value[CLASS], labels, f"measurement_noise[{name!r}]")
            if changed is not None:
                data = changed
                sizes = {float(code): value[label] for code, label in enumerate(labels)}
                found[name] = {CLASS: value[CLASS]} | sizes
    return data, found


def without_classes(data: Trajectories, asked: Any) -> tuple[Trajectories, Any]:
    """The data without columns of errors and classes, and the question with the errors of each sample in their place.

    Raises
    ------
    ArgumentError
        For a column that is not there, and for labels without a standard deviation.
    """
    if not isinstance(asked, Mapping):
        return data, asked
    found, gone = dict(asked), []
    for name, value in asked.items():
        argument = f"measurement_noise[{name!r}]"
        if isinstance(value, str) and value != "estimate":
            found[name] = _column(data, name, value, argument, f"{EACH}, or another column of the data")
            found[name] = found[name][0] if data.n_paths == 1 else found[name]
            gone.append(value)
        if not isinstance(value, Mapping):
            continue
        where = value[CLASS]
        if isinstance(where, str):
            places: Sequence[Any] = _column(
                data, name, where, f"{argument}['class']", "another column of the data"
            )
            gone.append(where)
        else:
            several = data.n_paths > 1 or np.ndim(next(iter(where))) == 1
            places = list(where) if several else [where]
        found[name] = [_sizes(argument, labels, value) for labels in places]
        if data.n_paths == 1:
            found[name] = found[name][0]
    left = [name for name in data.names if name not in gone]
    return data.select(left) if gone else data, found


def _column(data: Trajectories, name: str, where: str, argument: str, allowed: str) -> list[Array]:
    """What a column beside `name` holds, path by path."""
    if where not in data.names or where == name:
        others = ", ".join(one for one in data.names if one != name) or "none"
        raise argument_error(argument, where, f"{allowed}: {others}")
    return [path[:, data.names.index(where)] for path in data.paths]


def _labels(asked: Mapping[Any, Any]) -> list[Any]:
    return [label for label in asked if not (isinstance(label, str) and label == CLASS)]


def _sizes(argument: str, labels: Any, asked: Mapping[Any, Any]) -> Array:
    """The standard deviation of each sample, NaN where it has no label."""
    known = {label: float(asked[label]) for label in _labels(asked)}
    found = np.full(len(labels), np.nan)
    for n, label in enumerate(np.asarray(labels, dtype=object).tolist()):
        if label in known:
            found[n] = known[label]
        elif not _is_missing(label):
            raise argument_error(argument, f"the class {label!r} at sample {n}", f"one of {list(known)}")
    return found


def _is_missing(label: Any) -> bool:
    return label is None or bool(label != label)


def _coded(data: Any, column: str, labels: Sequence[Any], argument: str) -> Any:
    """The data with numbers for the labels of a column, or None where they are no table."""
    if isinstance(data, (list, tuple)) and len(data) and is_frame(data[0]):
        return [_coded(one, column, labels, argument) for one in data]
    if is_frame(data):
        return with_numbers(data, column, lambda words: _codes(words, labels, argument))
    if isinstance(data, dict) and column in data:
        return {**data, column: _codes(np.asarray(data[column], dtype=object).tolist(), labels, argument)}
    return None


def _codes(words: Sequence[Any], labels: Sequence[Any], argument: str) -> Array:
    codes = {label: float(code) for code, label in enumerate(labels)}
    for n, word in enumerate(words):
        if word not in codes and not _is_missing(word):
            raise argument_error(argument, f"the class {word!r} at row {n}", f"one of {list(labels)}")
    return np.array([codes.get(word, np.nan) for word in words])
