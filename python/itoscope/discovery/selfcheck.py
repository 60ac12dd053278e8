"""The self-check: simulate a fitted model, discover from the simulation with the same settings, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.prior import Prior
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError
from itoscope.fit.options import Options
from itoscope.fit.question import Question
from itoscope.fit.solve import solve
from itoscope.library.library import Library
from itoscope.result.ensemble import EULER_SUBSTEPS, Asked, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.common.types import Array
    from itoscope.result.findings import Findings

__all__ = ["self_check"]

#: Difference in standard deviations that no chance explains.
FAR = 4.0
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
    again = _simulated(result, data, known_seed)
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
        "seed": known_seed,
        "progress": progress,
    }
    refit = solve(Question.of(again, Options.of(settings)))
    rows, worst = _compared(result, refit)
    before, after = data.sd(), again.sd()
    return {
        "terms": rows,
        "spread": {name: (float(before[i]), float(after[i])) for i, name in enumerate(data.names)},
        "largest": worst,
        "consistent": all(row["both selected"] for row in rows) and worst < FAR,
        "seed": known_seed,
    }


def _simulated(result: Findings, data: Trajectories, seed: int) -> Trajectories:
    """A recording as the fitted model would make it: the same starts, times, channels, gaps and noise."""
    step = data.dt or float(np.mean([np.diff(t).mean() for t in data.times]))
    count = int(max(len(path) for path in data.paths)) - 1
    if result.observer is None:
        starts = np.stack([path[np.flatnonzero(~np.isnan(path).any(axis=1))[0]] for path in data.paths])
    else:
        starts = np.stack([mean[0] for mean in result.smoothed(data).mean])
    asked = Asked(
        n_steps=count, dt=step, n_paths=len(starts), posterior=False, substeps=EULER_SUBSTEPS, seed=seed
    )
    whole = simulate(result, starts, asked)
    if result.observer is None:
        return whole
    rng = np.random.default_rng([seed, 1])
    noise = np.sqrt(result.observer.noise)
    paths: list[Array] = []
    for simulated, recorded in zip(whole.paths, data.paths):
        seen = simulated[: len(recorded)] @ result.observer.observation.T
        seen = seen + noise * rng.standard_normal(seen.shape)
        paths.append(np.where(np.isnan(recorded[: len(seen)]), np.nan, seen))
    return Trajectories(paths, dt=step, names=data.names)


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
    """Each term that either has selected, and the largest difference in standard deviations."""
    rows: list[dict[str, Any]] = []
    worst = 0.0
    others = dict(refit.labelled())
    for label, equation in result.labelled():
        other = others[label]
        for k, term in enumerate(equation.terms):
            if equation.selected[k] or other.selected[k]:
                sd = float(np.hypot(equation.sd[k], other.sd[k]))
                change = float(other.mean[k] - equation.mean[k]) / sd if sd > 0 else float("inf")
                worst = max(worst, abs(change))
                rows.append(
                    {
                        "equation": label,
                        "term": term,
                        "fitted": float(equation.mean[k]),
                        "from simulation": float(other.mean[k]),
                        "difference in sd": change,
                        "both selected": bool(equation.selected[k] and other.selected[k]),
                    }
                )
    return rows, worst
