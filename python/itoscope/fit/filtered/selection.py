"""Which terms are shown: those more probable than not, or the most probable model where hardly any has just those."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.family import Family
    from itoscope.fit.filtered.ranking import Set

__all__ = ["chosen"]

MEDIAN = 0.5
"""The threshold at which a model of little mass is exchanged for the most probable one."""


def chosen(family: Family, part: str, columns: Set, pip: Array, threshold: float, *, full: bool) -> Set:
    """The columns of one equation that are shown.

    Those whose probability exceeds the threshold; at a threshold of one half, the most probable set of the equation
    where the mass of those is below its mass.

    Parameters
    ----------
    family : Family
    part : {"drift", "gamma"}
    columns : tuple of int
        Those of the equation.
    pip : array
        Probabilities of all columns of the part.
    threshold : float
    full : bool
        Whether the equation has at least one term: that of a variance.
    """
    masses = family.marginal(part, columns)
    best = max(masses, key=lambda key: masses[key])
    above = tuple(c for c in columns if pip[c] > threshold)
    if full and not above:
        return best
    if threshold == MEDIAN and masses.get(above, 0.0) < masses[best]:
        return best
    return above
