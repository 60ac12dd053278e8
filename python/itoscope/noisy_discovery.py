"""`discover` for recordings that are noisy or show a part of the state: the filter's fit as a `Discovery`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.protocol import Array
from itoscope.discovery import Diffusion, Discovery, Drift
from itoscope.errors import ArgumentError, argument_error
from itoscope.filtering import Filtering
from itoscope.moments import Moments
from itoscope.noisy import NoisyFit, fit_noisy
from itoscope.posterior import Equation
from itoscope.summary import grouped_warnings

if TYPE_CHECKING:
    from itoscope.discover import Question

__all__ = ["discover_noisy", "state_names"]

MAX_STATES = 16
LONG_STEP = 1.001
"""A step longer than this share of the usual one is predicted in several pieces."""
COARSE = 0.5
"""Rate of the fitted drift times the step above which one step is too long for the filter's second-order forecast."""


def state_names(names: Sequence[str], order: int, observed: Sequence[str] | None) -> list[str]:
    """Names of all states: those recorded, then velocities `v1, ...` (order 2), or the ones that nobody measured.

    Parameters
    ----------
    names : sequence of str
        Names of the recorded columns.
    order : {1, 2}
    observed : sequence of str, optional
        All states, of which those in `names` were recorded.
    """
    if observed is not None:
        states = list(observed)
        missing = [name for name in names if name not in states]
        if order == 2 or missing or len(set(states)) != len(states):
            raise argument_error(
                "states",
                observed,
                f"with order=1, different names, among them those of the data: {list(names)}",
            )
        return states
    if order == 1:
        return list(names)
    velocities = [f"v{i + 1}" for i in range(len(names))]
    for name in names:
        if name in velocities:
            raise argument_error(
                "names", name, "with order=2 a name other than those of the velocities, v1, v2, ..."
            )
    return [*names, *velocities]


def discover_noisy(
    question: Question,
    settings: dict[str, Any],
    sample: Callable[[Moments, bool, int], Equation],
) -> Discovery:
    """Fit by the filter and put the answer into words."""
    data, states = question.data, question.library.states
    if question.library.customs or question.diffusion_library.customs:
        raise ArgumentError(
            "library: a custom function has no derivative, which the filter needs; write it with Library.expressions"
        )
    if len(states) > MAX_STATES:
        raise argument_error("states", states, f"at most {MAX_STATES} when the filter is needed")
    noise = settings["measurement_noise"]
    q = data.n_states
    observation = np.zeros((q, len(states)))
    for channel, name in enumerate(data.names):
        observation[channel, states.index(name)] = 1.0
    times = data.steps()
    gaps = np.concatenate(
        [np.full(len(x) - 1, t) if np.ndim(t) == 0 else np.diff(t) for x, t in zip(data.paths, times)]
    )
    f = Filtering(
        [np.ascontiguousarray(x, dtype=np.float64) for x in data.paths],
        times,
        question.library,
        observation,
        {states.index(name): text for name, text in question.known_drift.items()},
        np.full(q, noise == "estimate"),
        LONG_STEP * float(np.median(gaps)),
        diffusion_library=question.diffusion_library,
        pairs=question.pairs or tuple((i, i) for i in question.rows),
        backend=question.backend_name,
    )
    fit = fit_noisy(
        f,
        np.zeros(q) if noise == "estimate" else np.full(q, float(noise) ** 2),
        sample,
        (question.library.names, question.diffusion_library.names),
        select_gamma=question.diffusion not in ("constant", "none"),
        max_rounds=question.rounds.max_rounds,
    )
    return _answer(question, settings, fit)


def _answer(question: Question, settings: dict[str, Any], fit: NoisyFit) -> Discovery:
    data, states = question.data, question.library.states
    interval = fit.noise_interval()
    levels = {
        name: {"sd": float(fit.noise[c]), "low": float(interval[c, 0]), "high": float(interval[c, 1])}
        for c, name in enumerate(data.names)
    }
    warnings = [*fit.warnings, *_coarse(fit)]
    equations = {f"d{states[row]}": equation for row, equation in fit.drift.items()}
    equations |= {f"Gamma[{states[i]}, {states[j]}]": equation for (i, j), equation in fit.diffusion.items()}
    warnings += grouped_warnings(list(equations.items()))
    diffusion = fit.diffusion if question.diffusion != "none" else {}
    return Discovery(
        states=tuple(states),
        drift=Drift({states[row]: equation for row, equation in fit.drift.items()}),
        diffusion=Diffusion({(states[i], states[j]): equation for (i, j), equation in diffusion.items()}),
        known_drift=question.known_drift,
        measurement_noise=float(np.sqrt(np.mean(fit.model.noise))),
        settings=settings,
        diagnostics={
            "rounds": fit.record,
            "converged": fit.converged,
            "measurement_noise": levels,
            "loglik": fit.polished.loglik,
            "models": fit.alternatives,
            "checks": [],
        },
        warnings=warnings,
        data_summary={"n_paths": data.n_paths, "n_steps": int(data.n_steps), "dt": data.dt},
        data=data,
        library=question.recipe,
        diffusion_library=question.diffusion_recipe,
        fit=fit,
    )


def _coarse(fit: NoisyFit) -> list[str]:
    """A sentence if the fitted drift turns the state too far within one step."""
    f = fit.filtering
    means, _ = fit.states()
    some = np.concatenate(means)
    some = np.ascontiguousarray(some[:: max(1, len(some) // 2000)])
    space, _ = f.space(fit.model)
    slopes: Array = space.program.gradient(some)
    jacobians = np.einsum("ik,nkj->nij", space.drift, slopes)
    fastest = float(np.quantile(np.abs(np.linalg.eigvals(jacobians)).max(axis=1), 0.95)) * f.max_step
    if fastest <= COARSE:
        return []
    return [
        f"the fitted drift moves the state at a rate of {fastest:.1f} per step (above {COARSE}): sampled too coarsely "
        "for the filter's forecast, coefficients may be biased"
    ]
