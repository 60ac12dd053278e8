"""`Parts`: what a reader returns, arrays as they were found, not yet checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Parts"]


@dataclass(frozen=True)
class Parts:
    """The samples of a file or table, and what it says about them; `Trajectories` checks them.

    Attributes
    ----------
    paths, times : array_like
        As `data` and `t` of `Trajectories`; times are None where the file has none.
    names : sequence of str or None
        Of the states.
    where : str
        What carries the times, for messages.
    dt : float or None
        A step that stands beside the samples in place of times.
    units, labels : sequence of str or None
        Of the states; a unit that is not known is empty.
    time_unit : str
        Of the times, empty where it is not known.
    ids : sequence or None
        What tells the paths apart, one each.
    position_names, diverged, seed
        As in `Trajectories`, where its own file was read.
    """

    paths: Any
    times: Any = None
    names: Sequence[str] | None = None
    where: str = ""
    dt: float | None = None
    units: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    time_unit: str = ""
    ids: Sequence[Any] | None = None
    position_names: Sequence[str] | None = None
    diverged: Sequence[int] = ()
    seed: int | None = None
