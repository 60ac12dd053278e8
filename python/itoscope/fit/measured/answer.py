"""The answer to a question about measured states: the weight rounds, the checks, the record of both."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.backends.records import Fitted, Variance
from itoscope.checks.beyond import looked_beyond
from itoscope.checks.kinks import looked_for_kinks
from itoscope.checks.measured import (
    check_differing,
    check_given,
    check_residuals,
    check_step,
    check_survey,
    no_noise,
    unstable_rounds,
)
from itoscope.checks.steps import compact
from itoscope.checks.still import check_bias, still_checks, still_steps
from itoscope.data.driving import pieces, rows
from itoscope.data.looked import all_of, looks
from itoscope.fit.channels import check_moves
from itoscope.fit.jumps import shared_steps
from itoscope.fit.measured.coarse import bias_checks, can_follow
from itoscope.fit.measured.origin import settle_origin
from itoscope.fit.measured.own import varied, with_own
from itoscope.fit.measured.regressions import Measured, coefficients
from itoscope.fit.measured.rounds import MeasuredFit, fit_measured
from itoscope.fit.measured.still import fit_still
from itoscope.fit.measured.tied import joined, log_evidence, same_terms, untied
from itoscope.fit.measured.told import said_of_shared, told_of_steps
from itoscope.fit.origin import with_origin
from itoscope.fit.sampler import NOTHING, sampler_of
from itoscope.fit.streams import Stream
from itoscope.fit.symmetry import against, orbits_listed
from itoscope.library.bound import TIME
from itoscope.posterior.words import grouped_warnings
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.given import with_given_noise
from itoscope.result.units import summary_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.checks.check import Check
    from itoscope.common.types import Array, Times
    from itoscope.fit.question import Question
    from itoscope.fit.symmetry import Orbits
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.moments import Moments
    from itoscope.result.diagnostics import Common, Orbit, Residuals, Summary

__all__ = ["Answer", "answer_measured"]

SMALLEST = 1e-70
"""Of a state that moves by less in the root of a step, the squares of squared increments leave the range of floats."""


class Answer(NamedTuple):
    """What was found, and of which question, its origin chosen, with the `notes` on that; `coarse`: ask the filter."""

    findings: Findings
    question: Question
    notes: list[str]
    coarse: bool


def answer_measured(question: Question) -> Answer:
    """Run the rounds, then look at what they found."""
    standard = question.options.library is None
    data, names = question.data, question.data.names
    longest = max(float(np.max(np.diff(t) if np.ndim(t) else t)) for t in data.steps())
    for row in question.rows:
        check_moves(names[row], [x[:, row] for x in data.paths], SMALLEST * math.sqrt(longest))
    question, origin, gain = settle_origin(question, _measured, sampler_of)
    measured = _measured(question)
    fit = fit_measured(measured, sampler_of(question))
    measured, fit, quiet = fit_still(measured, fit, names, sampler_of(question))
    found = varied(question, fit)
    common, (question, fit) = question, with_own(question, fit, found)
    measured = _measured(question) if found else measured
    biased = bias_checks(question, measured, fit)
    checks = _given_checks(question, measured) + quiet + biased
    if not fit.converged:
        last = fit.rounds[-1]
        checks.append(unstable_rounds(measured.max_rounds, bool(last.same_terms), last.shift or 0.0))
    checks += [
        check_differing(state, term, one["gain"], len(one["values"]), _starts(question, fit, state))
        for state, terms in found.items()
        for term, one in terms.items()
    ]
    residuals, of_rows = _row_checks(question, measured, fit)
    checks += of_rows + _covariance_checks(measured, fit, names)
    findings = Findings(
        states=tuple(names),
        inputs=question.inputs,
        drift=Drift({names[row]: equation for row, equation in fit.drift.items()}),
        diffusion=Diffusion({(names[i], names[j]): eq for (i, j), eq in fit.diffusion.items()}),
        known_drift=question.known_drift,
        settings=common.settings() | {"slab_scale": _slab_scales(question, fit)},
        diagnostics={
            "rounds": [entry.as_dict(names) for entry in fit.rounds],
            "converged": fit.converged,
            "checks": [check.as_dict() for check in checks],
            "residuals": residuals,
            **({"varying": found} if found else {}),
            **({"symmetry": _in_common(question, fit)} if fit.common else {}),
        },
        data_summary=_summary(common, measured),
        data=data,
        library=question.recipe,
        diffusion_library=question.options.diffusion_library,
    )
    if fit.kicks is not None:
        laws, listed = told_of_steps(fit.kicks, question)
        findings.diagnostics["diffusion_law"], findings.diagnostics["jumps"] = laws, listed
        findings.warnings += said_of_shared(fit.kicks, question, fit.diffusion)
    findings = with_origin(findings, origin, gain)
    findings.warnings += against(findings.diagnostics.get("symmetry", {}).get("log_evidence", 0.0))
    findings.warnings += dict.fromkeys(check.sentence for check in checks if check.fired)
    findings = with_given_noise(_looked_at(findings, measured, standard), question.given.noise)
    findings.warnings += grouped_warnings(findings.labelled())
    coarse = question.options.scheme == "auto" and any(check.fired for check in biased)
    coarse = coarse and not found and not measured.groups
    return Answer(findings, common, origin, coarse and can_follow(question, measured))


def _looked_at(findings: Findings, measured: Measured, standard: bool) -> Findings:
    """With the looks beyond the data, and at kinks where the library is the standard one."""
    findings = looked_beyond(findings, _plain(measured, findings))
    return looked_for_kinks(findings) if standard else findings


def _starts(question: Question, fit: MeasuredFit, state: str) -> int:
    """First values with which the coefficients of a row may go."""
    return int(fit.own[question.states.index(state)].differing.starts.shape[1])


def _in_common(question: Question, fit: MeasuredFit) -> Common:
    """What rows have in common, one entry for each coefficient, and the evidence for that over rows of their own.

    The smaller of that over all models of rows with coefficients of their own, and of that over the same terms with
    such.
    """
    # Rows by themselves have more terms together than may be enumerated where that was asked for.
    auto = replace(question, sampling=replace(question.sampling, sampler="auto"))
    sample, gains = sampler_of(auto, rounds_told=False), np.zeros(2)
    of_rows: dict[str, tuple[Mapping[Any, Moments], Orbits | None]] = {
        "drift": ({(row,): one for row, one in fit.drift_moments.items()}, question.orbits),
        "diffusion": (fit.diffusion_moments, question.diffusion_orbits),
    }
    found: list[Orbit] = []
    for number, (what, equation) in enumerate(fit.common.items()):
        moments, orbits = of_rows[what]
        assert orbits is not None
        apart = sample(joined(moments, untied(moments)), True, Stream.equation(number), NOTHING)
        gains += log_evidence(equation) - log_evidence(apart), same_terms(moments, orbits, equation)
        found += orbits_listed(equation, what)
    return {"log_evidence": float(gains.min()), "orbits": found}


def _slab_scales(question: Question, fit: MeasuredFit) -> dict[str, float]:
    """The scale of the slab of each drift row, by state, as it was used."""
    per_sample = question.prior.slab_unit == "sample"
    scales = {row: moments.slab_scale for row, moments in fit.drift_moments.items()}
    return {question.states[row]: 1.0 if per_sample else scale for row, scale in scales.items()}


def _plain(measured: Measured, findings: Findings) -> list[Array]:
    """States and inputs of the paths, without the values of functions that follow them."""
    return [path[:, : len(findings.variables)] for path in measured.recorded[0]]


def _summary(question: Question, measured: Measured) -> Summary:
    """The size of the recording; of a stream, that of all of it; of a long one, how much of it was looked at."""
    found, stream = summary_of(question.data), question.stream
    if stream is not None:
        found |= {"n_paths": stream.n_paths, "n_steps": stream.n_steps, "looked_at": question.data.n_steps}
    elif measured.whole is not None:
        found["looked_at"] = sum(len(x) - 1 for x in measured.paths)
    return found


def _measured(question: Question) -> Measured:
    """The regressions that a question asks for."""
    asked, backend, library = question.options, question.backend, question.library
    diffusion_library = question.diffusion_library
    plain = rows(question.data, library.driven)
    cut, cut_times = pieces(question.data, plain)
    held = len(cut) > len(plain)
    paths, times = [library.augment(x) for x in plain], question.data.steps()
    everything = all_of(plain)
    seen = everything if question.deviations else looks(plain)
    return Measured(
        paths=[paths[look.path][look.samples] for look in seen],
        times=[_times(times[look.path], look.samples) for look in seen],
        whole=None if seen == everything else (paths, times),
        pieces=([library.augment(x) for x in cut], cut_times) if held else None,
        drift_terms=library.names,
        diffusion_terms=diffusion_library.names,
        drift_program=backend.compile(library.expressions, library.inputs),
        diffusion_program=backend.compile(diffusion_library.expressions, library.inputs),
        rows=question.rows,
        pairs=question.pairs,
        said={question.states.index(row): said for row, said in question.said.items()},
        varying={
            question.states.index(row): tuple(library.names.index(term) for term in terms)
            for row, terms in question.deviations.items()
        },
        orbits=question.orbits,
        diffusion_orbits=question.diffusion_orbits,
        groups=shared_steps(question.step_laws, question.pairs),
        driven=tuple(range(len(library.states), len(library.states) + len(library.driven))),
        constant=question.constant_pairs,
        backend=backend,
        scheme="euler" if asked.scheme == "euler" else "trapezoid",
        weighted=asked.weights == "auto" and bool(question.pairs),
        ensemble=asked.ensemble,
        floor=asked.weight_floor,
        max_rounds=asked.max_rounds,
        reporter=question.reporter,
        stream=question.stream,
        library=library,
        backend_name=asked.backend,
    )


def _times(times: Times, samples: slice) -> Times:
    """The times of a stretch of a path."""
    return times if np.ndim(times) == 0 else np.asarray(times)[samples]


def _row_checks(
    question: Question, measured: Measured, fit: MeasuredFit
) -> tuple[dict[str, Residuals], list[Check]]:
    """Statistics of the standardised residuals of each noisy row, and the checks of all unknown rows."""
    found: dict[str, Residuals] = {}
    checks: list[Check] = []
    for q, row in enumerate(measured.rows):
        state, equation = question.data.names[row], fit.drift[row]
        sums = fit.drift_moments[row].sums
        if measured.scheme == "trapezoid" and sums is not None:
            checks += check_step(state, equation, sums)
        if (row, row) not in fit.diffusion:
            checks += _still_checks(question, measured, row, equation)
            continue
        gamma = measured.gamma(fit.diffusion[row, row])[None]
        if not gamma.any():
            checks.append(no_noise(state))
            continue
        variance = Variance(measured.diffusion_program, gamma, fit.floors[q : q + 1])
        drift = Fitted(measured.drift_program, coefficients(equation)[None])
        residuals, _, more = check_residuals(
            measured.backend, measured.paths, measured.times, (row, state), drift, variance, len(measured.noisy),
            () if fit.kicks is None else fit.kicks.law_of(row),
        )  # fmt: skip
        found[state] = residuals.as_dict()
        checks += more
    return found, checks


def _still_checks(question: Question, measured: Measured, row: int, equation: Equation) -> list[Check]:
    """Those of a row without noise; inputs that are held would need samples of their own at every jump."""
    if measured.pieces is not None:
        return []
    names = (*question.states, *question.inputs)
    driven = [k for k in measured.driven if names[k] != TIME]
    drift = Fitted(measured.drift_program, coefficients(equation)[None])
    paths, times = measured.paths, measured.times
    found = still_steps(paths, times, row, names[row], drift, driven=driven)
    bias = check_bias(paths, times, names[row], drift, equation, measured.scheme, driven)
    return [*still_checks(found, len(measured.rows)), bias]


def _covariance_checks(measured: Measured, fit: MeasuredFit, names: tuple[str, ...]) -> list[Check]:
    """Whether the fitted Gamma is a covariance on the data."""
    if not measured.pairs:
        return []
    noisy = measured.noisy
    pairs = [(noisy.index(i), noisy.index(j)) for i, j in measured.pairs]
    coef = np.array([measured.gamma(fit.diffusion[pair]) for pair in measured.pairs])
    gamma = compact(measured.backend, Fitted(measured.diffusion_program, coef))
    floors = np.array([floor for row, floor in zip(measured.rows, fit.floors) if row in noisy])
    seen = measured.backend.survey(measured.recorded[0], gamma, pairs, floors)
    return check_survey([names[row] for row in noisy], seen, floors)


def _given_checks(question: Question, measured: Measured) -> list[Check]:
    """Whether each given row explains the increments of its state."""
    states, checks = question.states, []
    noisy = {state for pair in question.given.noise for state in pair}
    for state, expression in question.known_drift.items():
        if state in noisy:
            continue
        given = measured.backend.compile([expression], question.library.inputs)
        checks.append(check_given(measured.paths, measured.times, states.index(state), state, given))
    return checks
