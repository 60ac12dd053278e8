"""The self-check: does the fitted model make recordings like the data, and does the same fit find it in one of them?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.checks.again import looks_again
from itoscope.checks.simulated import compare, simulation_checks
from itoscope.common import checks
from itoscope.data.samples import MIN_SAMPLES
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.asking import asked_again
from itoscope.errors import ArgumentError
from itoscope.fit.solve import solve
from itoscope.result.likeness import likenesses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.checks.simulated import Compared
    from itoscope.result.findings import Findings

__all__ = ["self_check"]

#: Difference in standard deviations that no chance explains.
FAR = 4.0
#: Probability from which a term is one that both fits must have.
SURE = 0.9


def self_check(
    result: Findings, seed: int | None, progress: bool | Callable[[int], Any] | None
) -> dict[str, Any]:
    """See `Discovery.self_check`."""
    data = result.data
    if data is None:
        raise ArgumentError(
            "self_check: this result was loaded from a file and has no data to compare with: self_check(data=...)"
        )
    known_seed = checks.seed(seed)
    comparison = compare(result, data, known_seed)
    looks = looks_again(result, data) + simulation_checks(comparison)
    rows, worst = _found_again(result, data, known_seed, progress)
    return {
        "terms": rows,
        "spread": {
            name: (math.sqrt(kinds["spread"][0].value), math.sqrt(kinds["spread"][0].mean))
            for name, kinds in comparison.columns.items()
        },
        "extremes": {name: _pairs(kinds["extremes"]) for name, kinds in comparison.columns.items()},
        "spectrum": {name: _pairs(kinds["spectrum"]) for name, kinds in comparison.columns.items()},
        "exploded": comparison.lost / comparison.replicas,
        "checks": [look.as_dict() for look in looks],
        "largest": worst,
        "consistent": worst < FAR and not any(look.fired for look in looks),
        "seed": known_seed,
    }


def _pairs(statistics: Sequence[Compared]) -> dict[str, tuple[float, float]]:
    """Value in the data and mean over the simulations of each statistic."""
    return {one.what: (one.value, one.mean) for one in statistics}


def _found_again(
    result: Findings, data: Trajectories, seed: int, progress: bool | Callable[[int], Any] | None
) -> tuple[list[dict[str, Any]], float]:
    """Terms of the same fit to a recording of the mean model, and their largest difference; none where it exploded."""
    (made,) = likenesses(result, data, 1, seed, posterior=False)
    kept = [k for k, path in enumerate(made.paths) if len(path) >= MIN_SAMPLES]
    if not kept:
        return [], math.inf
    again = Trajectories(
        [made.paths[k] for k in kept],
        dt=data.dt,
        t=None if data.dt is not None else [data.times[k][: len(made.paths[k])] for k in kept],
        names=data.names,
    )
    again.driving = None if data.driving is None else data.driving.kept(kept)
    again.errors = None if data.errors is None else data.errors.kept(kept)
    return _compared(result, solve(asked_again(result, again, seed, progress)))


def _compared(result: Findings, refit: Findings) -> tuple[list[dict[str, Any]], float]:
    """Each term that either has selected, and the largest difference of those that both have or one is sure of."""
    rows: list[dict[str, Any]] = []
    worst = 0.0
    others = dict(refit.labelled())
    for label, equation in result.labelled():
        other = others[label]
        for k, term in enumerate(equation.terms):
            if (equation.selected[k] or other.selected[k]) and not equation.given[k]:
                sd = float(np.hypot(equation.sd[k], other.sd[k]))
                change = float(other.mean[k] - equation.mean[k]) / sd if sd > 0 else float("inf")
                both = bool(equation.selected[k] and other.selected[k])
                if both or max(equation.pip[k], other.pip[k]) > SURE:
                    worst = max(worst, abs(change))
                rows.append(
                    {
                        "equation": label,
                        "term": term,
                        "fitted": float(equation.mean[k]),
                        "from simulation": float(other.mean[k]),
                        "difference in sd": change,
                        "both selected": both,
                    }
                )
    return rows, worst
