"""States that sensors have of their own: what they gather over an exposure, and their zeros."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from itoscope.common import checks
from itoscope.common.types import Offset
from itoscope.errors import argument_error
from itoscope.fit.sensors.columns import check_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["Hidden", "check_offsets", "hidden_of", "offsets_of"]

KINDS = get_args(Offset)


@dataclass(frozen=True)
class Hidden:
    """The observation of the m states of a motion and of what sensors add to them.

    Attributes
    ----------
    drift : dict of str to str
        The e states of the sensors, in the order in which they follow the others, and how they go.
    observation : (q, m + e) array
    shown : (q, m + e) array
        The same as if averages showed a moment.
    resets : tuple of (m + e, m + e) arrays
        What becomes of the states where an exposure starts, for each window in turn.
    zeros : dict of int to int
        The channels with an offset, and the number of the state that it is.
    drifting : dict of int to int
        Those whose offset moves, and the state that noise moves: the offset, or its rate where it is slow.
    """

    drift: dict[str, str]
    observation: Array
    shown: Array
    resets: tuple[Array, ...]
    zeros: dict[int, int]
    drifting: dict[int, int]


def check_offsets(asked: Mapping[str, Offset] | None) -> None:
    """Raise `ArgumentError` unless `offset` is a mapping of columns to kinds."""
    if asked is None:
        return
    if not isinstance(asked, Mapping):
        raise argument_error("offset", asked, "columns and the kind of their offset, as {'gauge': 'drift'}")
    for name, kind in asked.items():
        checks.choice(f"offset[{name!r}]", kind, KINDS)


def offsets_of(names: Sequence[str], asked: Mapping[str, Offset] | None) -> dict[int, Offset]:
    """The columns with an offset, by number.

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    check_columns("offset", asked or {}, names)
    return {c: asked[name] for c, name in enumerate(names) if asked and name in asked}


def hidden_of(
    names: Sequence[str],
    observation: Array,
    gathered: Mapping[int, Gathered],
    offsets: Mapping[int, Offset],
    step: float,
) -> Hidden:
    """What the sensors of some columns add to the states.

    Parameters
    ----------
    names : sequence of q str
    observation : (q, m) array
        What the columns show of the states in a moment.
    gathered : mapping of int to Gathered
        Those that show averages and accelerations over the step, and of what.
    offsets : mapping of int to str
        Those whose zero is not known: what a sensor gathers it gathers with its offset.
    step : float
        The step over which an average is taken.
    """
    m = observation.shape[1]
    places = {c: m + len(gathered) + place for place, c in enumerate(offsets)}
    drift = dict(_gathering(names[c], what, c in offsets) for c, what in gathered.items())
    drift |= {
        f"offset_of_{names[c]}": f"rate_of_offset_of_{names[c]}" if kind == "slow" else "0"
        for c, kind in offsets.items()
    }
    slow = [c for c, kind in offsets.items() if kind == "slow"]
    moved = {c: place for c, place in places.items() if offsets[c] == "drift"}
    moved |= {c: m + len(drift) + place for place, c in enumerate(slow)}
    drift |= {f"rate_of_offset_of_{names[c]}": "0" for c in slow}
    wide = np.pad(observation, ((0, 0), (0, len(drift))))
    for c, place in places.items():
        wide[c, place] = 1.0
    shown = wide.copy()
    resets = {what.window: np.eye(wide.shape[1]) for what in gathered.values()}
    for place, (c, what) in enumerate(gathered.items(), m):
        wide[c], length = 0.0, what.window.exposure or step
        kept = resets[what.window]
        kept[place] = 0.0
        if what.kind == "average":
            wide[c, place] = 1.0 / length
        else:
            wide[c, :m] = observation[c] / length
            wide[c, place] = -1.0 / length
            shown[c, :m] = 0.0
            kept[place, :m] = observation[c]
    return Hidden(drift, wide, shown, tuple(resets.values()), places, moved)


def _gathering(name: str, what: Gathered, off: bool) -> tuple[str, str]:
    """The state of a sensor that gathers, and how it goes: an integral, or a velocity that was kept."""
    if what.kind == "average":
        return f"sum_of_{name}", f"{what.text} + offset_of_{name}" if off else what.text
    return f"before_{name}", f"-offset_of_{name}" if off else "0"
