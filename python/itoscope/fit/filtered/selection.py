"""Which terms a round takes: those of the sampler, or those of another model that it visited often."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from itoscope.posterior.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.posterior.equation import Equation
    from itoscope.stats.quadratic import Quadratic

__all__ = ["MAX_RIVALS", "RIVAL_MASS", "best_rival", "moments_of"]

MAX_RIVALS = 4
"""How many of the models that the chains visited most are compared by their likelihood."""
RIVAL_MASS = 0.05
"""Share of the draws that each of them must have."""
CLEAR_MASS = 0.9
"""Share of the draws above which a model has no rival."""


def moments_of(sums: Quadratic, names: Sequence[str]) -> Moments:
    """The moments of a filter as those of a regression, whose columns have names."""
    return Moments(0.5 * (sums.gram + sums.gram.T), sums.moment, sums.yy, sums.n, list(names))


def best_rival(
    chosen: list[int],
    found: Equation,
    evidence: Callable[[list[int], float], float],
    others: Sequence[list[int]],
) -> list[int]:
    """Of `chosen`, the models that the chains visited often and `others`, the one of largest evidence.

    Where one model has nearly all draws, nothing is tried.

    Parameters
    ----------
    chosen : list of int
        Selected columns.
    found : Equation
        The posterior they were selected from.
    evidence : callable
        `evidence(columns, most)` may fall short of the truth where that is below `most`, the largest so far.
    others : sequence of lists of int
        Tried first: the evidence of the current model is known, and what cannot reach it is soon given up.
    """
    visited = found.models(MAX_RIVALS)
    place = {name: c for c, name in enumerate(found.terms)}
    rivals = [*others, chosen]
    rivals += [sorted(place[name] for name in m.terms) for m in visited if m.mass > RIVAL_MASS]
    different = [rival for n, rival in enumerate(rivals) if rival not in rivals[:n]]
    if visited[0].mass > CLEAR_MASS or len(different) == 1:
        return chosen
    best, most = chosen, -math.inf
    for rival in different:
        value = evidence(rival, most)
        if value > most:
            best, most = rival, value
    return best
