"""The noise of each column: its level, its law, and with which others it is correlated, held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.fit.sensors.groups import check_grouped, groups_of
from itoscope.fit.sensors.laws import heavy_columns, laws_of
from itoscope.fit.sensors.levels import levels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.common.types import Level, NoiseGroups, NoiseLaw
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["noises_of"]


def noises_of(
    data: Trajectories,
    level: Any,
    law: NoiseLaw | Mapping[str, NoiseLaw],
    groups: NoiseGroups | None,
    hidden: bool,
    gathered: Mapping[int, Gathered],
) -> tuple[tuple[Level, ...], dict[int, NoiseLaw]]:
    """The level of the noise of each column, and the laws that are not normal.

    Parameters
    ----------
    data : Trajectories
    level, law, groups
        What was asked: `measurement_noise`, `noise_law` and `noise_groups`.
    hidden : bool
        Whether a filter is needed whatever is said of the noise.
    gathered : mapping of int to Gathered
        Columns that show something over a time.
    """
    laws, together = laws_of(data.names, law), groups_of(data.names, groups)
    told = {} if (laws or together) and level is None else level
    noise = levels(data.names, told, hidden, data.errors)
    heavy = heavy_columns(data.names, laws, noise)
    check_grouped(data.names, together, noise, heavy, gathered)
    return noise, heavy
