"""The answer to a question about a noisy or partly seen recording: the filter's fit, the checks, the record of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.filtered import check_steps, looked_at
from itoscope.checks.kinks import looked_for_kinks
from itoscope.checks.measured import check_differing
from itoscope.data.driving import carried, carried_columns
from itoscope.data.sight import Sight
from itoscope.data.timeline import STEP
from itoscope.errors import ArgumentError, argument_error
from itoscope.fit.filtered.admission import check_channels, check_noise, check_steps_followed, check_tied
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.common import common_equation, in_common, same_terms
from itoscope.fit.filtered.correlated import correlations_found, links_sought
from itoscope.fit.filtered.deviations import differing, shown_apart, spread_starts, varied, with_constants
from itoscope.fit.filtered.equations import Asked
from itoscope.fit.filtered.fit import FilteredFit, fit_filtered
from itoscope.fit.filtered.forces import forces_of, kernels_of, log_bayes_factor
from itoscope.fit.filtered.jumps import jumps_found, steps_found
from itoscope.fit.filtered.kicks import START as START_OF_STEPS
from itoscope.fit.filtered.laws import laws_found, outliers_found
from itoscope.fit.filtered.origin import fitted_about
from itoscope.fit.filtered.pace import gaps_of, longest_step
from itoscope.fit.filtered.recording import Looked, Recording
from itoscope.fit.filtered.state import Task
from itoscope.fit.filtered.tails import START
from itoscope.fit.filtered.told import told
from itoscope.fit.measured.tied import of_rows
from itoscope.fit.origin import with_origin
from itoscope.fit.sensors.hidden import Hidden, hidden_of
from itoscope.fit.sensors.motion import swing, swings_from
from itoscope.fit.sensors.resolution import rounding_of, said_of_rounding
from itoscope.fit.shapers import starts_of
from itoscope.fit.size import check_carried, check_size
from itoscope.fit.symmetry import against, orbits_listed
from itoscope.library.bound import readable_means
from itoscope.library.library import Library
from itoscope.posterior.words import grouped_warnings
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.given import with_given_noise
from itoscope.result.observer import Observer
from itoscope.result.units import summary_of

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.data.inputs import Between
    from itoscope.fit.question import Question
    from itoscope.library.bound import BoundLibrary
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import NoiseLevel, Zero

__all__ = ["answer_filtered", "recorded"]

MAX_STATES = 20
"""States that the filter can hold."""
DRAWS = 2000
"""Draws of each chain where their number is left to us."""
DECISIVE = 5.0
"""Log Bayes factor, over a hundred to one, from which white forces are not just simpler but better."""


def answer_filtered(question: Question) -> Findings:
    """Fit by the filter and put the answer into words."""
    if question.library.customs or question.diffusion_library.customs:
        raise ArgumentError(
            "library: a custom function has no derivative, which the filter needs; write it with Library.expressions"
        )
    if question.deviations and question.numbers:
        raise argument_error("vary", question.options.vary, "no parameters beside it")
    question = differing(question)
    every = [*question.states, *_hidden(question, 1.0).drift, *_carried(question)]
    if len(every) > MAX_STATES:
        raise argument_error("states", every, f"at most {MAX_STATES} when the filter is needed")
    data = question.data
    for name, level in zip(data.names, question.noise):
        check_noise(level, name)
    check_channels(data.paths, data.names)
    check_steps_followed(question)
    check_carried(question)
    check_size(question)
    middle = np.linalg.pinv(question.observation) @ np.array(readable_means(data.paths))
    known = with_constants(question, {**question.given.parts, **question.known_drift})
    check_tied(question.states, question.ties, known, question.backend, middle, question.inputs)
    with np.errstate(all="ignore"):  # what overflows is not taken; nobody needs to hear of the attempt
        return _answered(question)


def _answered(question: Question) -> Findings:
    if question.orbits is not None:
        return _answered_in_common(question)
    standard = question.options.library is None
    question, fit, origin, gain = fitted_about(question, _fitted)
    findings = _findings(question, fit)
    findings = with_origin(findings, origin, gain)
    if question.shapers or question.memories:
        factor = log_bayes_factor(question, fit, _fitted(_white(question)))
        if question.shapers:
            findings.diagnostics["forces"] = forces_of(question, fit, factor)
        if question.memories:
            findings.diagnostics["memory"] = kernels_of(question, fit, factor)
        findings.warnings += _for_white(factor)
    if question.deviations:
        findings = shown_apart(findings, question)
        findings.diagnostics["varying"] = found = varied(question, fit)
        checks = [
            check_differing(row, term, one["gain"], len(one["values"]))
            for row, terms in found.items()
            for term, one in terms.items()
        ]
        findings.diagnostics["checks"] += [check.as_dict() for check in checks]
        findings.warnings += [check.sentence for check in checks if check.fired]
    findings = looked_at(findings)
    return looked_for_kinks(findings) if standard else findings


def _for_white(factor: float) -> list[str]:
    """What is said where white forces are the more probable."""
    if not factor < 0.0:
        return []
    if factor > -DECISIVE:
        return [
            f"white forcing describes the recording as well (log Bayes factor of a memory {factor:.2g}): "
            "forcing='white' needs fewer states"
        ]
    return [
        f"the data are far more probable without a memory (log Bayes factor of a memory {factor:.3g}): what is shown "
        "is not to be used; ask with forcing='white'"
    ]


def _answered_in_common(plain: Question) -> Findings:
    """The answer with coefficients that rows have in common, and the evidence for that."""
    orbits = plain.orbits
    assert orbits is not None
    question, named = in_common(plain)
    fit = _fitted(question)
    common = common_equation(question, fit, named)
    terms = {key: list(plain.own.names) for key in orbits.maps}
    rows = {key[0]: equation for key, equation in of_rows(common, orbits, terms).items()}
    apart = replace(plain, orbits=None)
    findings = _findings(plain, replace(fit, drift=rows))
    gains = (
        fit.log_evidence - _fitted(apart).log_evidence,
        same_terms(_task(question), _task(apart), fit),
    )
    findings.diagnostics["symmetry"] = {
        "log_evidence": float(min(gains)),
        "orbits": orbits_listed(common, "drift"),
    }
    findings.warnings += against(min(gains))
    return looked_at(findings)


def _white(question: Question) -> Question:
    """The same question with white forces of constant strength where it has others."""
    rows = [question.states[row] for row in question.rows if question.states[row] in question.own.states]
    asked = question.options.diffusion
    words = dict(asked) if isinstance(asked, Mapping) else dict.fromkeys(rows, asked)
    forced = [*(one.row for one in question.shapers), *(one.row for one in question.memories)]
    words |= dict.fromkeys(forced, "constant")
    options = replace(question.options, forcing="white", diffusion=words, inputs=None)
    return differing(type(question).of(question.data, options))


def _fitted(question: Question) -> FilteredFit:
    asked = question.options
    noise = [0.0 if level == "estimate" else level for level in question.noise]
    return fit_filtered(
        _task(question),
        np.array(noise, dtype=np.float64) ** 2,
        Asked(
            threshold=asked.threshold,
            n_chains=asked.n_chains,
            n_draws=DRAWS if asked.n_samples == "auto" else int(asked.n_samples),
            seed=int(question.sampling.seed or 0),
            prior=question.prior,
            backend=asked.backend,
        ),
        select_gamma=not {"constant", "none"}.issuperset(question.words.values()),
        max_rounds=asked.max_rounds,
        reporter=question.reporter,
    )


def _task(question: Question) -> Task:
    return Task(recorded(question), question.prior, question.library.names, _gamma_library(question).names)


def _gamma_library(question: Question) -> BoundLibrary:
    """The candidates of Gamma: constants where the answer has no diffusion, for a filter needs some."""
    if not question.pairs:
        return Library.polynomials(0).bind(list(question.states))
    return question.diffusion_library


def _modes(question: Question) -> dict[str, Between]:
    """How each input goes between samples."""
    return {} if question.data.driving is None else question.data.driving.modes


def _carried(question: Question) -> dict[str, str]:
    """What drives the states, as the filter carries it along."""
    return carried(question.inputs, _modes(question), question.states)


def _candidates(question: Question, sensors: Hidden, driven: dict[str, str]) -> Candidates:
    """The terms that a model may hold, and from which rates of forces the search starts."""
    pairs = question.pairs or (() if question.given.noise else tuple((i, i) for i in question.rows))
    walks = tuple((place, place) for place in sensors.drifting.values())
    among = Candidates.of(
        question.library,
        _gamma_library(question),
        {question.states.index(name): text for name, text in question.known_drift.items()},
        (*pairs, *walks),
        {*question.constant_pairs, *walks},
        sensors.drift | driven,
        {question.states.index(row): said for row, said in question.said.items()},
        {
            (question.states.index(i), question.states.index(j)): text
            for (i, j), text in question.given.noise.items()
        },
    )
    number = dict(zip(question.library.names, among.drift_terms))
    if question.numbers:
        place, asked = question.states.index, question.asked
        among = among.with_numbers(
            question.numbers,
            {place(row): text for row, text in (asked.drift | asked.parts).items()},
            {(place(i), place(j)): text for (i, j), text in asked.noise.items()},
        )
    if question.orbits is not None:
        place = question.states.index
        columns = [[(place(row), number[name]) for row, name in one] for one in in_common(question)[1]]
        among = replace(among, echoes={one[0]: tuple(one[1:]) for one in columns if len(one) > 1})
    return replace(
        among,
        starts=tuple(
            {(question.states.index(row), number[term]): value for (row, term), value in start.items()}
            for start in [
                *starts_of(question.shapers, question.data),
                *spread_starts(question),
                *swings_from(question.data, question.gathered, question.known_drift, question.library.names),
            ]
        ),
        spare=not question.pairs and not question.given.noise,
        constants_of_one=tuple(
            question.states.index(name) for terms in question.deviations.values() for name in terms.values()
        ),
    )


def recorded(question: Question) -> Recording:
    """The data as the filter sees them."""
    data, gaps = question.data, gaps_of(question.data)
    driven, sight = _carried(question), _sight(question)
    sensors = _hidden(question, sight.step)
    own, wide = sensors.observation.shape[1], ((0, 0), (0, len(driven)))
    return Recording(
        paths=sight.columns(data, carried_columns(sight.spread(data), question.inputs, _modes(question))),
        times=sight.times(data),
        candidates=_candidates(question, sensors, driven),
        observation=np.pad(sensors.observation, wide),
        given=tuple(range(own, own + len(driven))),
        scaled=sight.scaled,
        tails=tuple(START.get(question.laws.get(c, "normal"), ()) for c in range(len(question.noise)))
        if question.laws
        else (),
        kicks=START_OF_STEPS.get(next(iter(question.step_laws.values()), "normal"), ()),
        rounding=rounding_of(data, question.resolution),
        links=links_sought(question.groups),
        resets=tuple(_beside(kept, len(driven)) for kept in sensors.resets),
        shown=np.pad(sensors.shown, wide),
        zeros=sensors.zeros,
        walks=sensors.drifting,
        periods=tuple(question.periods.get(name, 0.0) for name in data.names) if question.periods else (),
        derived=_derived(question),
        free_noise=np.array([level == "estimate" for level in question.noise]),
        max_step=longest_step(question, gaps),
        stages=question.backend,
        looked=Looked(tuple(sight.readings(data)), float(np.median(gaps)), float(np.mean(gaps)))
        if sight.windows
        else None,
    )


def _hidden(question: Question, step: float) -> Hidden:
    """What the sensors add to the states."""
    return hidden_of(question.data.names, question.observation, question.gathered, question.offsets, step)


def _beside(kept: Array, more: int) -> Array:
    """A map of the states beside `more` of them that stay."""
    found: Array = np.eye(len(kept) + more)
    found[: len(kept), : len(kept)] = kept
    return found


def _derived(question: Question) -> dict[int, tuple[int, float]]:
    """States of which an accelerometer alone tells: the channel, and by which factor they move less than that."""
    found: dict[int, tuple[int, float]] = {}
    for c, what in question.gathered.items():
        if what.kind == "acceleration":
            rate = swing(question.data, c)
            velocity = question.observation[c] != 0.0
            found |= dict.fromkeys(np.flatnonzero(question.ties[c]).tolist(), (c, 1.0 / rate**2))
            found |= dict.fromkeys(np.flatnonzero(velocity).tolist(), (c, 1.0 / rate))
    return found


def _sight(question: Question) -> Sight:
    """How the filter is shown the recording."""
    data, gathered = question.data, tuple(question.gathered)
    steps = [np.atleast_1d(t) if np.ndim(t) == 0 else np.diff(t) for t in data.steps()]
    whole = tuple(c for c, what in question.gathered.items() if what.window.exposure is None)
    uneven = whole if any(np.ndim(t) for t in data.steps()) else ()
    own = () if data.errors is None else tuple(data.names.index(name) for name in data.errors.names)
    return Sight(
        tuple(data.names),
        tuple(sorted({*own, *uneven})),
        gathered,
        float(np.median(np.concatenate(steps))),
        tuple(c for c, what in question.gathered.items() if what.kind == "acceleration"),
        tuple((c, *what.window) for c, what in question.gathered.items() if what.window != STEP),
    )


def _findings(question: Question, fit: FilteredFit) -> Findings:
    """The fit as a record, with the check of its step."""
    data, states = question.data, question.states
    means, covs = fit.recording.smooth(fit.model)
    space, _ = fit.recording.space(fit.model)
    steps = check_steps(states, space, np.concatenate(means))
    known = question.known_at(fit.model.numbers) if question.numbers else question.given
    parameters, notes = told(question, fit)
    drift = {
        states[row]: _renamed(equation, question.given.parts.get(states[row]), known.parts.get(states[row]))
        for row, equation in fit.drift.items()
    }
    diffusion = {
        (states[i], states[j]): equation for (i, j), equation in fit.diffusion.items() if j < len(states)
    }
    scales = {states[row]: scale for row, scale in fit.slab_scales.items()}
    findings = Findings(
        states=states,
        inputs=question.inputs,
        drift=Drift(drift),
        diffusion=Diffusion(diffusion),
        known_drift=known.drift,
        parameters=parameters,
        measurement_noise=float(np.sqrt(np.mean(fit.noise**2))),
        settings=question.settings() | {"slab_scale": scales},
        diagnostics={
            "rounds": fit.record,
            "converged": fit.converged,
            "measurement_noise": _levels(fit, data.names),
            "loglik": fit.maximum.loglik,
            "models": fit.alternatives,
            "checks": [steps.as_dict()],
            "observed_information": fit.maximum.observed,
        },
        warnings=[
            *fit.warnings,
            *notes,
            *said_of_rounding(data, question.resolution),
            *([steps.sentence] if steps.fired else []),
        ],
        data_summary=summary_of(data, question.observed),
        data=data,
        library=question.recipe,
        diffusion_library=question.options.diffusion_library,
        observer=_observer(fit, question),
    )
    if question.laws:
        findings.diagnostics["noise_law"] = laws_found(question, fit)
        findings.diagnostics["outliers"] = outliers_found(question, fit, _sight(question), (means, covs))
    if question.step_laws:
        findings.diagnostics["diffusion_law"] = laws = steps_found(question, fit)
        certain = next(iter(laws.values()))["log_bayes_factor"] > 0.0
        findings.diagnostics["jumps"] = jumps_found(question, fit, means) if certain else []
    if question.groups:
        findings.diagnostics["noise_correlation"] = correlations_found(fit, data.names)
    if question.offsets:
        findings.diagnostics["offsets"] = _offsets(question, fit)
    findings.warnings += grouped_warnings(findings.labelled())
    if not question.pairs and not question.given.noise:
        findings.diffusion = Diffusion({})
    return with_given_noise(findings, known.noise)


def _renamed(equation: Equation, term: str | None, name: str | None) -> Equation:
    """An equation of which a term is called by another name."""
    if term == name:
        return equation
    return replace(equation, terms=[str(name) if one == term else one for one in equation.terms])


def _offsets(question: Question, fit: FilteredFit) -> dict[str, Zero]:
    """What was found of the zero of each column."""
    means, covs = fit.recording.smooth(fit.model)
    found: dict[str, Zero] = {}
    for c, place in fit.recording.zeros.items():
        mean = [path[:, place] for path in means]
        every = np.concatenate(mean)
        sd = np.sqrt(max(float(np.mean([cov[:, place, place].mean() for cov in covs])), 0.0))
        moved = fit.recording.walks.get(c, place)
        walk = fit.diffusion.get((moved, moved))
        rate = None if walk is None else float(np.sqrt(walk.mean[0]))
        ends = None if walk is None else np.sqrt(np.maximum(walk.interval(0.95)[0], 0.0)).tolist()
        found[question.data.names[c]] = {
            "kind": question.offsets[c],
            "mean": float(np.mean([path.mean() for path in mean])),
            "sd": float(sd),
            "lowest": float(every.min()),
            "highest": float(every.max()),
            "rate": rate,
            "rate_interval": ends,
        }
    return found


def _levels(fit: FilteredFit, channels: tuple[str, ...]) -> dict[str, NoiseLevel]:
    """The noise of each channel with its interval."""
    interval = fit.noise_interval()
    return {
        name: {"sd": float(fit.noise[c]), "low": float(interval[c, 0]), "high": float(interval[c, 1])}
        for c, name in enumerate(channels)
    }


def _observer(fit: FilteredFit, question: Question) -> Observer:
    """The fitted model, freed of its fit."""
    channels, backend = question.data.names, question.options.backend
    among = fit.recording.candidates
    space, place = fit.recording.space(fit.model)
    texts = tuple(among.text(k, fit.model.numbers) for k in sorted(place, key=place.__getitem__))
    driven = dict.fromkeys(question.inputs, "time") | _modes(question)
    zeros = {channels[c]: kind for c, kind in question.offsets.items()}
    return Observer.of(space, among.states, channels, texts, backend, driven, _sight(question), zeros)
