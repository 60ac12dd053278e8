"""Whether the recordings of a set are alike: which of them differ, in what, and what to let differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from itoscope.data.advice import Advice
from itoscope.data.pace import on_grid
from itoscope.stats.groups import differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.groups import Difference
    from itoscope.stats.pace import Pace

__all__ = ["Likeness", "likeness"]

FEWEST = 3
"""Recordings of which a spread can be told."""
NAMED = 4
"""Recordings that are named one by one."""

WORDS = {"mean": "mean", "spread": "spread", "time": "time scale"}


class Likeness(NamedTuple):
    """Columns of which it could be asked, and what differs in them."""

    asked: tuple[str, ...]
    differing: tuple[Advice, ...]


def likeness(
    data: Trajectories, paces: Mapping[str, Pace | None], rates: Mapping[str, str], positions: bool
) -> Likeness:
    """Hold recordings against each other, those that are long beside the memory of their motion.

    Parameters
    ----------
    data : Trajectories
    paces : mapping of str to Pace or None
        By column.
    rates : mapping of str to str
        Columns whose rate of change is another column.
    positions : bool
        Whether the columns are positions whose velocities were not measured.
    """
    if data.n_paths < 2:
        return Likeness((), ())
    settled = {name: pace for name, pace in paces.items() if pace is not None}
    series, asked, found = on_grid(data), [], []
    for name, pace in settled.items():
        place = data.names.index(name)
        seen = differences([path[:, place] for path in series], pace.memory, pace.samples, 3 * len(settled))
        if seen is None:
            continue
        asked.append(name)
        if seen:
            row = f"v{place + 1}" if positions else rates.get(name, name)
            found.append(_advice(data, name, row, seen))
    return Likeness(tuple(asked), tuple(found))


def _advice(data: Trajectories, name: str, row: str, seen: Sequence[Difference]) -> Advice:
    kinds = [one.what for one in seen]
    terms = [
        term for kind, term in (("mean", "1"), ("time", name)) if kind in kinds and data.n_paths >= FEWEST
    ]
    arguments: dict[str, Any] = {"vary": {row: terms}} if terms else {}
    apart = sorted({number for one in seen for number in one.apart})
    some = 0 < len(apart) <= min(NAMED, (data.n_paths - 1) // 2)
    which = f"{_listed(data, apart)} from the others" if some else "from one recording to the next"
    what = _and([WORDS[kind] for kind in kinds])
    remedy = f"vary={arguments['vary']!r}, or " if terms else ""
    return Advice(
        "recordings that differ", name,
        f"{name} differs in its {what} {which}, by more than chance: {remedy}each by itself, "
        "itoscope.discover_many(data)",
        {"p_value": min(one.p_value for one in seen)}, arguments,
    )  # fmt: skip


def _listed(data: Trajectories, apart: Iterable[int]) -> str:
    """Labels of recordings, or their numbers from zero."""
    return "in " + _and([f"recording {k if data.ids is None else data.ids[k]}" for k in apart])


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
