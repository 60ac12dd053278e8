"""`discover` for recordings that are noisy or show a part of the state: the filter's fit as a `Discovery`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.checks.filtered import check_steps
from itoscope.common.progress import Reporter
from itoscope.common.types import Array
from itoscope.errors import ArgumentError, argument_error
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.fit import FilteredFit, fit_filtered
from itoscope.fit.filtered.recording import Recording
from itoscope.fit.filtered.state import Task
from itoscope.fit.streams import Stream
from itoscope.posterior.equation import Equation
from itoscope.posterior.moments import Moments
from itoscope.posterior.words import grouped_warnings
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.observer import Observer

if TYPE_CHECKING:
    from itoscope.discovery.discover import Question

__all__ = ["discover_noisy", "observation_matrix", "state_names"]

MAX_STATES = 16
LONG_STEP = 1.001
"""A step longer than this share of the usual one is predicted in several pieces."""


def state_names(
    names: Sequence[str], order: int, states: Sequence[str] | None, combined: bool = False
) -> list[str]:
    """Names of all states: those recorded, then velocities `v1, ...` (order 2), or as given in `states`.

    Parameters
    ----------
    names : sequence of str
        Names of the recorded columns.
    order : {1, 2}
    states : sequence of str, optional
        All states; those in `names` were recorded, unless the columns are combinations.
    combined : bool
        The recorded columns are combinations of states.
    """
    if states is not None:
        every = list(states)
        missing = [] if combined else [name for name in names if name not in every]
        if order == 2 or missing or len(set(every)) != len(every):
            among = "" if combined else f", among them those of the data: {list(names)}"
            raise argument_error("states", states, f"with order=1, different names{among}")
        return every
    if combined:
        raise ArgumentError("observed: name all states with states=[...], for instance states=['x1', 'x2']")
    if order == 1:
        return list(names)
    velocities = [f"v{i + 1}" for i in range(len(names))]
    for name in names:
        if name in velocities:
            raise argument_error(
                "names", name, "with order=2 a name other than those of the velocities, v1, v2, ..."
            )
    return [*names, *velocities]


def observation_matrix(
    names: Sequence[str], states: Sequence[str], observed: Sequence[str] | None, backend: str | None
) -> Array:
    """How the recorded columns come from the states, `(q, m)`.

    Parameters
    ----------
    names, states : sequence of str
        The columns of the data and the states.
    observed : sequence of str, optional
        A linear expression of the states for each column. Default: the state of the same name.
    """
    texts = list(names) if observed is None else list(observed)
    if len(texts) != len(names) or not all(isinstance(text, str) for text in texts):
        raise argument_error("observed", observed, f"one expression for each of the columns {list(names)}")
    program = get_backend(backend).compile(texts, list(states))
    places = np.vstack([np.zeros(len(states)), np.ones(len(states)), 1.0 + np.arange(len(states)) ** 2])
    slopes = program.gradient(places)
    matrix: Array = np.ascontiguousarray(slopes[0], dtype=float)
    values = program.evaluate(places)
    if not np.allclose(values, places @ matrix.T, rtol=1e-12) or not np.all(np.isfinite(matrix)):
        raise argument_error("observed", texts, "linear combinations of the states, such as 'x2 - x1'")
    if np.linalg.matrix_rank(matrix) < len(names):
        raise argument_error("observed", texts, "columns of which none follows from the others")
    return matrix


def discover_noisy(
    question: Question,
    settings: dict[str, Any],
    sampler: Callable[[Question], Callable[[Moments, bool, Stream], Equation]],
) -> Findings:
    """Fit by the filter and put the answer into words.

    `sampler(question)` gives the function that samples the posterior of moments.
    """
    data, states = question.data, question.library.states
    if question.library.customs or question.diffusion_library.customs:
        raise ArgumentError(
            "library: a custom function has no derivative, which the filter needs; write it with Library.expressions"
        )
    if len(states) > MAX_STATES:
        raise argument_error("states", states, f"at most {MAX_STATES} when the filter is needed")
    noise = settings["measurement_noise"]
    q = data.n_states
    observation = observation_matrix(data.names, states, settings.get("observed"), question.backend_name)
    times = data.steps()
    gaps = np.concatenate(
        [np.full(len(x) - 1, t) if np.ndim(t) == 0 else np.diff(t) for x, t in zip(data.paths, times)]
    )
    recording = Recording(
        paths=[np.ascontiguousarray(x, dtype=np.float64) for x in data.paths],
        times=times,
        candidates=Candidates.of(
            question.library,
            question.diffusion_library,
            {states.index(name): text for name, text in question.known_drift.items()},
            question.pairs or tuple((i, i) for i in question.rows),
        ),
        observation=observation,
        free_noise=np.full(q, noise == "estimate"),
        max_step=LONG_STEP * float(np.median(gaps)),
        stages=question.backend,
    )
    loud, quiet = sampler(question), sampler(replace(question, reporter=Reporter()))

    def sample(moments: Moments, final: bool, stream: Stream) -> Equation:
        # the short chains of the rounds are over before a bar is drawn, and bars do not nest
        return (loud if final else quiet)(moments, final, stream)

    fit = fit_filtered(
        Task(recording, sample, question.library.names, question.diffusion_library.names),
        np.zeros(q) if noise == "estimate" else np.full(q, float(noise) ** 2),
        select_gamma=question.diffusion not in ("constant", "none"),
        max_rounds=question.rounds.max_rounds,
        reporter=question.reporter,
    )
    return _answer(question, settings, fit)


def _answer(question: Question, settings: dict[str, Any], fit: FilteredFit) -> Findings:
    data, states = question.data, question.library.states
    interval = fit.noise_interval()
    levels = {
        name: {"sd": float(fit.noise[c]), "low": float(interval[c, 0]), "high": float(interval[c, 1])}
        for c, name in enumerate(data.names)
    }
    means, _ = fit.recording.smooth(fit.model)
    space, _ = fit.recording.space(fit.model)
    steps = check_steps(states, space, np.concatenate(means))
    warnings = [*fit.warnings, *([steps.sentence] if steps.fired else [])]
    equations = {f"d{states[row]}": equation for row, equation in fit.drift.items()}
    equations |= {f"Gamma[{states[i]}, {states[j]}]": equation for (i, j), equation in fit.diffusion.items()}
    warnings += grouped_warnings(list(equations.items()))
    diffusion = fit.diffusion if question.diffusion != "none" else {}
    return Findings(
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
            "loglik": fit.maximum.loglik,
            "models": fit.alternatives,
            "checks": [steps.as_dict()],
            "observed_information": fit.maximum.observed,
        },
        warnings=warnings,
        data_summary={"n_paths": data.n_paths, "n_steps": int(data.n_steps), "dt": data.dt},
        data=data,
        library=question.recipe,
        diffusion_library=question.diffusion_recipe,
        observer=_observer(fit, data.names, question.backend_name),
    )


def _observer(fit: FilteredFit, channels: Sequence[str], backend: str | None) -> Observer:
    """The fitted model, freed of its fit."""
    among = fit.recording.candidates
    space, place = fit.recording.space(fit.model)
    texts = tuple(among.expressions[k] for k in sorted(place, key=place.__getitem__))
    parts = {f.name: getattr(space, f.name) for f in fields(StateSpace) if f.name != "program"}
    return Observer(among.states, tuple(channels), texts, parts, backend)
