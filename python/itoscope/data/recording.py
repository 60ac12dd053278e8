"""`Recording`: what writers take; `Trajectories` is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from itoscope.common.types import Array

__all__ = ["Recording"]


class Recording(Protocol):
    """Paths `(n_i, n_states)` with their times `(n_i,)`; paths with the same stamps share one array.

    Writers keep `units`, `labels` and `time_unit` of a recording that has them.
    """

    paths: list[Array]
    times: list[Array]
    names: tuple[str, ...]
    position_names: tuple[str, ...] | None
    diverged: tuple[int, ...]
    seed: int | None
