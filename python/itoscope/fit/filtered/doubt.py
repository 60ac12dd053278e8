"""Doubt about the terms: said aloud, and counted in the errors of the coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.fit.filtered.family import Family, Member
    from itoscope.fit.filtered.likelihood import Maximum
    from itoscope.fit.filtered.ranking import Set
    from itoscope.fit.filtered.state import Task

__all__ = ["SURE", "between", "doubt"]

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
    return [
        f"no set of terms has most of the probability: {'; '.join(named)}; the intervals count how far a coefficient "
        "differs between those that have its term"
    ]


def between(family: Family, task: Task, shown_key: tuple[Set, Set], found: Maximum) -> Array:
    """Covariance `(p, p)` that doubt about the terms adds to that of the estimates in `found`.

    Weighted by mass, over the models that hold a parameter: the mean square of the difference of its estimates, and
    what their own variances exceed that of the model shown, `shown_key`.
    """
    parameters = found.parameters
    p = len(parameters)
    extra = np.zeros((p, p))
    members = [(m, w) for m, w in zip(family.members, family.mass.tolist()) if m.model is not None]
    weight = np.array([w for _, w in members])
    if len(members) < 2:
        return extra
    now = found.model.values(parameters)
    gap, held, var = np.zeros((len(members), p)), np.zeros((len(members), p)), np.zeros((len(members), p))
    for n, (member, _) in enumerate(members):
        own = _variances(member, task)
        for a, parameter in enumerate(parameters):
            if parameter in own:
                assert member.model is not None
                gap[n, a] = parameter.of(member.model) - now[a]
                held[n, a], var[n, a] = 1.0, own[parameter]
    for a in range(p):
        for b in range(a + 1):
            both = weight * held[:, a] * held[:, b]
            extra[a, b] = extra[b, a] = np.sum(both * gap[:, a] * gap[:, b]) / max(np.sum(both), 1e-300)
    shown = _variances(family.known[shown_key], task) if shown_key in family.known else {}
    alone = np.array([shown.get(parameter, np.inf) for parameter in parameters])
    own = np.sum(weight[:, None] * held * var, axis=0) / np.maximum(weight @ held, 1e-300)
    extra[np.diag_indices(p)] += np.maximum(own - alone, 0.0)
    return extra


def _variances(member: Member, task: Task) -> dict[Parameter, float]:
    """Variances of the coefficients of a model by parameter."""
    among = task.recording.candidates
    out: dict[Parameter, float] = {}
    if member.cov is not None and member.gamma_cov is not None:
        for a, c in enumerate(member.drift):
            out[Parameter("drift", *among.all_drift[c])] = float(member.cov[a, a])
        for a, c in enumerate(member.gamma):
            out[Parameter("gamma", *among.all_gamma[c])] = float(member.gamma_cov[a, a])
    return out
