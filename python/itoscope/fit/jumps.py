"""Which law the noise of a step has in each row, and which rows have the size of a step in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import DiffusionLaw
    from itoscope.fit.forcing import Pair

__all__ = ["SharedSteps", "check_beside", "shared_steps", "step_laws"]


class SharedSteps(NamedTuple):
    """Rows whose steps have their sizes in common, and the kind of their law."""

    rows: tuple[int, ...]
    kind: str


def step_laws(
    asked: DiffusionLaw | Mapping[str, DiffusionLaw], states: Sequence[str], pairs: Sequence[Pair]
) -> dict[int, DiffusionLaw]:
    """The rows whose law is not normal, by number.

    Parameters
    ----------
    asked : str or mapping of str to str
    states : sequence of str
    pairs : sequence of (int, int)
        Entries of Gamma that are sought.

    Raises
    ------
    ArgumentError
        For a name that no noisy row has, and for rows of different laws whose covariance is sought.
    """
    noisy = [states[i] for i, j in pairs if i == j]
    told = asked if isinstance(asked, Mapping) else dict.fromkeys(noisy, asked)
    for name in told:
        if name not in noisy:
            known = ", ".join(noisy) or "none here"
            raise argument_error("diffusion_law", name, f"a row whose noise is sought: {known}")
    laws: dict[int, DiffusionLaw] = {states.index(name): law for name, law in told.items() if law != "normal"}
    for i, j in pairs:
        if laws.get(i) != laws.get(j):
            raise argument_error(
                "diffusion_law", dict(told), f"one law for {states[i]} and {states[j]}, or no covariance of them, "
                "diffusion='diagonal'",
            )  # fmt: skip
    return laws


def check_beside(laws: Mapping[int, DiffusionLaw], options: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` for what no law of steps is asked beside.

    Parameters
    ----------
    laws : mapping of int to str
        By row.
    options : mapping
        All that was asked, by name.
    """
    asked = options["diffusion_law"]
    usual: dict[str, object] = {"weights": "auto", "ensemble": "pool", "vary": None}
    for name, wanted in usual.items():
        if laws and (options[name] or None) != wanted:
            raise argument_error(name, options[name], f"{wanted!r} beside diffusion_law={asked!r}")


def shared_steps(laws: Mapping[int, DiffusionLaw], pairs: Sequence[Pair]) -> tuple[SharedSteps, ...]:
    """The rows with a law in groups, rows of which a covariance is sought together."""
    left, groups = set(laws), []
    while left:
        rows, grows = {min(left)}, True
        while grows:
            more = {k for pair in pairs for k in pair if rows & {*pair}} - rows
            rows, grows = rows | more, bool(more)
        groups.append(SharedSteps(tuple(sorted(rows)), laws[min(rows)]))
        left -= rows
    return tuple(groups)
