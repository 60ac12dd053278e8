"""Doubt about the terms: said aloud, and counted in the errors of the coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.fit.filtered.likelihood import Maximum
    from itoscope.fit.filtered.neighbours import Trial
    from itoscope.fit.filtered.state import Task

__all__ = ["between", "doubt"]

NEAR = 3.0
"""Difference of log evidence, twenty to one, within which two models are said to be in doubt."""
NEGLIGIBLE = 12.0
"""Difference of log evidence above which a model has no weight."""
MOST_NAMED = 6
"""Models in doubt that are named."""


def doubt(tried: Sequence[Trial], task: Task) -> list[str]:
    """A sentence if another set of terms has nearly the evidence of the best."""
    ranked = sorted(tried, key=lambda trial: -trial.evidence)
    near = [trial.as_dict(task) for trial in ranked[1:] if ranked[0].evidence - trial.evidence < NEAR]
    if not near:
        return []
    others = "; ".join(
        ", ".join(entry["drift"] + [f"Gamma {name}" for name in entry["diffusion"]])
        for entry in near[:MOST_NAMED]
    )
    more = f" and {len(near) - MOST_NAMED} more" if len(near) > MOST_NAMED else ""
    width = (
        "the intervals count how far a coefficient differs between those that have its term"
        if ranked[0].fit is not None
        else "the intervals hold given the terms shown"
    )
    return [
        f"other sets of terms explain the recording nearly as well (log evidence within {NEAR:g}): {others}{more}; "
        + width
    ]


def between(tried: Sequence[Trial], found: Maximum) -> Array:
    """Covariance `(p, p)` that doubt about the terms adds to that of the estimates in `found`.

    Weighted by evidence, over the models that hold a parameter: the mean square of the difference of its estimates, and
    what their own variances exceed that of the model shown. Zero for a recording whose models were not climbed.
    """
    parameters = found.parameters
    p = len(parameters)
    extra = np.zeros((p, p))
    known = [(trial.evidence, trial.fit) for trial in tried if trial.fit is not None]
    if not known:
        return extra
    best = max(evidence for evidence, _ in known)
    known = [(evidence, fit) for evidence, fit in known if best - evidence < NEGLIGIBLE]
    weight = np.exp([evidence - best for evidence, _ in known])
    now = found.model.values(parameters)
    gap, held, var = np.zeros((len(known), p)), np.zeros((len(known), p)), np.zeros((len(known), p))
    for n, (_, fit) in enumerate(known):
        for a, parameter in enumerate(parameters):
            if parameter in fit.parameters:
                gap[n, a] = parameter.of(fit.model) - now[a]
                held[n, a], var[n, a] = 1.0, fit.cov_of(parameter, parameter)
    for a in range(p):
        for b in range(a + 1):
            both = weight * held[:, a] * held[:, b]
            extra[a, b] = extra[b, a] = np.sum(both * gap[:, a] * gap[:, b]) / max(np.sum(both), 1e-300)
    own = np.sum(weight[:, None] * held * var, axis=0) / np.maximum(weight @ held, 1e-300)
    extra[np.diag_indices(p)] += np.maximum(own - np.diag(found.cov), 0.0)
    return extra
