"""Columns whose noises are correlated at a sample: groups of them, with a correlation that is given or sought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.common import checks
from itoscope.errors import argument_error
from itoscope.fit.sensors.columns import check_columns
from itoscope.stats.linked import MOST_CORRELATED, correlations, links_of, pairs_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from itoscope.common.types import Array, Level, NoiseGroups
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["Group", "check_grouped", "check_groups", "grouped_settings", "groups_of"]

ESTIMATE = "estimate"
ALLOWED = "groups of columns, as [('a', 'b')], or with their correlation, as {('a', 'b'): 0.5}"
ALIKE = 1e-9
"""How near a given matrix is to one that is possible; rounding moves it by far less, a bound by far more."""


class Group(NamedTuple):
    """Channels with correlated noises, and the matrix of their correlations, None where that is sought."""

    channels: tuple[int, ...]
    correlation: Array | None


def _listed(asked: NoiseGroups | None) -> list[tuple[tuple[str, ...], Any]]:
    """Names and correlation of each group."""
    if asked is None:
        return []
    if isinstance(asked, Mapping):
        pairs = list(asked.items())
    elif checks.is_list(asked):
        pairs = [(one, ESTIMATE) for one in asked]
    else:
        raise argument_error("noise_groups", asked, ALLOWED)
    found = []
    for names, value in pairs:
        several = names.split(",") if isinstance(names, str) else names
        if not checks.is_list(several) or not all(isinstance(name, str) for name in several):
            raise argument_error("noise_groups", asked, ALLOWED)
        found.append((tuple(name.strip() for name in several), value))
    return found


def _matrix(names: tuple[str, ...], value: Any) -> Array | None:
    """The correlation matrix of a group, None where it is sought."""
    if value is None or (isinstance(value, str) and value == ESTIMATE):
        return None
    size, argument = len(names), f"noise_groups[{','.join(names)!r}]"
    allowed = (
        f"'estimate', one correlation of all pairs, or a {size} x {size} matrix of correlations, positive definite and "
        f"within +-{MOST_CORRELATED}"
    )
    try:
        matrix = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise argument_error(argument, value, allowed) from None
    if isinstance(value, bool | str) or matrix.shape not in ((), (size, size)):
        raise argument_error(argument, value, allowed)
    if matrix.ndim == 0:
        matrix = np.where(np.eye(size, dtype=bool), 1.0, matrix)
    usual = np.array_equal(matrix, matrix.T) and bool(np.all(np.diag(matrix) == 1.0))
    if not usual or not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise argument_error(argument, value, allowed)
    asked = np.array([matrix[pair] for pair in pairs_of(size)])
    if not np.allclose(correlations(links_of(matrix), size), asked, rtol=0.0, atol=ALIKE):
        raise argument_error(argument, value, allowed)
    return matrix


def check_groups(asked: NoiseGroups | None) -> None:
    """Raise `ArgumentError` unless `noise_groups` are groups of columns, each in one of them, with correlations."""
    taken: set[str] = set()
    for names, value in _listed(asked):
        if len(names) < 2 or len(set(names)) < len(names) or taken & set(names):
            raise argument_error(
                "noise_groups", asked, "two columns or more in each group, each in one group"
            )
        taken |= set(names)
        _matrix(names, value)


def groups_of(names: Sequence[str], asked: NoiseGroups | None) -> tuple[Group, ...]:
    """The groups by the numbers of their columns.

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    found = []
    for group, value in _listed(asked):
        check_columns("noise_groups", group, names)
        found.append(Group(tuple(names.index(name) for name in group), _matrix(group, value)))
    return tuple(found)


def grouped_settings(names: Sequence[str], groups: Sequence[Group]) -> dict[str, Any]:
    """The groups ready for JSON, as `noise_groups` takes them."""
    return {",".join(names[c] for c in one.channels): _plain(one.correlation) for one in groups}


def _plain(matrix: Array | None) -> Any:
    """A correlation as it was asked: the number of a pair, the matrix of more."""
    if matrix is None:
        return ESTIMATE
    return float(matrix[0, 1]) if len(matrix) == 2 else matrix.tolist()


def check_grouped(
    names: Sequence[str],
    groups: Sequence[Group],
    noise: Sequence[Level],
    heavy: Collection[int],
    gathered: Mapping[int, Gathered],
) -> None:
    """Raise `ArgumentError` where a grouped column has no noise, or any a law, or two are not read at one moment.

    Parameters
    ----------
    names : sequence of q str
    groups : sequence of Group
    noise : sequence of q float or "estimate"
    heavy : collection of int
        Columns whose noise is not normal.
    gathered : mapping of int to Gathered
        Columns that show something over a time.
    """
    for one in groups:
        own = [names[c] for c in one.channels]
        for c in one.channels:
            if noise[c] == 0.0:
                raise argument_error(
                    "noise_groups", own, f"columns with noise, and {names[c]} has measurement_noise=0"
                )
        windows = {gathered[c].window if c in gathered else None for c in one.channels}
        if len(windows) > 1:
            raise argument_error("noise_groups", own, "columns that are read over the same time")
        if heavy:
            laws = ", ".join(names[c] for c in sorted(heavy))
            raise argument_error(
                "noise_groups", own, f"noise_law='normal' of all columns beside it, not of {laws} another"
            )
