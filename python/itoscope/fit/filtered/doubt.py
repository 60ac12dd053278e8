"""Doubt about the terms, said aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itoscope.fit.filtered.family import Family
    from itoscope.fit.filtered.state import Task

__all__ = ["doubt"]

SURE = 0.8
"""Mass of the most probable model above which there is no doubt."""
MOST_NAMED = 6
"""Models in doubt that are named."""
LEAST_NAMED = 0.02
"""Mass of a model that is named."""


def doubt(family: Family, task: Task) -> list[str]:
    """A sentence if no model has most of the mass."""
    mass = family.mass
    if mass[0] > SURE:
        return []
    named = []
    for member, share in list(zip(family.members, mass.tolist()))[:MOST_NAMED]:
        if share > LEAST_NAMED:
            entry = member.as_dict(task, share)
            terms = entry["drift"] + [f"Gamma {name}" for name in entry["diffusion"]]
            named.append(f"{', '.join(terms) or 'no term'} ({share:.2f})")
    return [f"several sets of terms may be true: {'; '.join(named)}; the intervals are averaged over them"]
