"""The self-check: does the fitted model make recordings like the data, and does the same fit find it in one of them?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.checks.again import looks_again
from itoscope.checks.simulated import compare, simulation_checks
from itoscope.common import checks
from itoscope.common.prior import Prior
from itoscope.data.samples import MIN_SAMPLES
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.solve import solve
from itoscope.library.library import Library
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
#: What `settings` hold of the answer or in another form.
NOT_ASKED = ("prior", "library", "diffusion_library", "backend", "seed", "custom_terms", "slab_scale")


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
    settings = {key: value for key, value in result.settings.items() if key not in NOT_ASKED}
    if settings.get("order") == 2:
        settings["known_drift"] = {
            row: text for row, text in settings["known_drift"].items() if row not in data.names
        }
    prior = result.settings.get("prior")
    settings |= {
        "library": _library(result, "library"),
        "diffusion_library": _library(result, "diffusion_library"),
        "prior": None if prior is None else Prior(**prior),
        "seed": seed,
        "progress": progress,
    }
    return _compared(result, solve(Question.of(again, Options.of(settings))))


def _library(result: Findings, name: str) -> Library | None:
    """The library that was asked for; of a loaded result, its terms written out."""
    own: Library | None = getattr(result, name)
    if own is not None or (result.data is not None and result.library is not None):
        return own
    customs = result.settings.get("custom_terms", [])
    if customs:
        raise ArgumentError(
            f"self_check: the terms {', '.join(customs)} are functions of Python, which a saved result does not hold"
        )
    return Library.expressions(*result.settings[name])


def _compared(result: Findings, refit: Findings) -> tuple[list[dict[str, Any]], float]:
    """Each term that either has selected, and the largest difference of those that both have or one is sure of."""
    rows: list[dict[str, Any]] = []
    worst = 0.0
    others = dict(refit.labelled())
    for label, equation in result.labelled():
        other = others[label]
        for k, term in enumerate(equation.terms):
            if equation.selected[k] or other.selected[k]:
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
