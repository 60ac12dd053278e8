"""Checks of a fit by the filter: what its standardised innovations and its covariance say of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, ResidualSums, StateSpace
from itoscope.checks.beyond import looked_beyond
from itoscope.checks.check import Check, Words, alpha_of, residual_checks, statistics
from itoscope.checks.measured import check_survey
from itoscope.checks.scores import step_checks
from itoscope.checks.steps import of_innovations
from itoscope.checks.strengths import strength_checks
from itoscope.stats.whiteness import lagged_products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.diagnostics import Diagnostics, Residuals
    from itoscope.result.findings import Findings
    from itoscope.result.observer import Innovations, Observer

__all__ = ["check_steps", "innovation_checks", "innovation_sums", "looked_at"]

LAGS = 10
"""Lags of the autocorrelation that are looked at; an even number, for the tail of the chi-square law."""
COARSE = 0.5
"""Rate of the fitted drift times the step above which one step is too long for the filter's forecast."""
FAST, RATES = 0.95, 2000
"""The quantile of the rates that is compared with it, and how many samples it is read from."""
MOST_PATHS = 200
"""Paths whose innovations are looked at, whole: what is slow shows in no stretch of them."""

INNOVATIONS = Words(
    kind="innovation",
    mean="the recording of {name} lies {mean:.3f} standard deviations from what the filter foresees: a constant or a "
    "trend is missing, or the sensor drifts",
    variance="the innovations of {name} have variance {variance:.2f} where the filter says 1: the diffusion library or "
    "the level of the measurement noise does not describe the recording",
    variance_reason="the likelihood makes it one up to its own error; a tenth is far outside that",
    jumps="the innovations of {name} have kurtosis {kurtosis:.1f} where they should have 3 (largest: {largest:.1f} "
    "standard deviations, path {path}, step {step}): the path jumps, the sensor has outliers, or the noise strength "
    "varies in a way that the library does not hold",
    colour="the innovations of {name} are not independent (autocorrelation {worst:.2f} at {lag} {steps}): a term is "
    "missing, the forcing or the measurement noise is not white, or a state is missing",
)


def looked_at(result: Findings) -> Findings:
    """The result with the checks of its innovations, and a sentence for each that fired."""
    if result.observer is None or result.data is None:
        return result
    states = result.observer.smooth(result.data)[0]
    found, checks = innovation_checks(result, result.data, states)
    diagnostics: Diagnostics = {
        **result.diagnostics,
        "residuals": found,
        "checks": [*result.diagnostics.get("checks", []), *(check.as_dict() for check in checks)],
    }
    fired = [check.sentence for check in checks if check.fired]
    return looked_beyond(
        replace(result, diagnostics=diagnostics, warnings=[*result.warnings, *fired]), states
    )


def innovation_checks(
    result: Findings, data: Trajectories, smoothed: Sequence[Array]
) -> tuple[dict[str, Residuals], list[Check]]:
    """Statistics of the standardised innovations of each channel, and all their checks."""
    observer = result.observer
    assert observer is not None
    seen = observer.innovations(data, max(len(path) for path in data.paths), MOST_PATHS)
    alpha = alpha_of(len(seen.names))
    checks: list[Check] = []
    found: dict[str, Residuals] = {}
    for channel, name in enumerate(seen.names):
        sums = innovation_sums(seen, channel)
        if sums.n > 2 * LAGS:
            residuals = statistics(sums)
            found[name] = residuals.as_dict()
            checks += residual_checks(name, residuals, INNOVATIONS, alpha)
            checks += step_checks("innovation", of_innovations(seen, channel, data), alpha)
    checks += strength_checks(result, data, smoothed, alpha_of(max(len(seen.names), len(result.drift))))
    return found, checks + _covariance(observer, smoothed)


def check_steps(names: Sequence[str], space: StateSpace, states: Array) -> Check:
    """Whether the fitted drift turns the state too far within one step of the filter.

    Parameters
    ----------
    names : sequence of m str
    space : StateSpace
        The fitted model.
    states : (n, m) array
        Smoothed states.
    """
    some = np.ascontiguousarray(states[:: max(1, len(states) // RATES)])
    slopes: Array = space.program.gradient(some)
    jacobians = np.einsum("ik,nkj->nij", space.drift, slopes)
    rates = np.abs(np.linalg.eigvals(np.where(np.isfinite(jacobians), jacobians, 0.0))).max(axis=1)
    # a linear model is exact at any step, and its steps have no bound
    fastest = float(np.quantile(rates, FAST)) * space.max_step if np.isfinite(space.max_step) else 0.0
    return Check(
        "time step", ", ".join(names), fastest, COARSE, fastest > COARSE,
        f"the fitted drift moves the state at a rate of {fastest:.1f} per step (above {COARSE}), "
        "too fast for the filter's forecast: coefficients may be biased",
        "the forecast leaves out terms of the fourth order in rate times step",
    )  # fmt: skip


def innovation_sums(seen: Innovations, channel: int) -> ResidualSums:
    """Sums over the standardised innovations of one channel."""
    z = seen.z[:, channel]
    there = ~np.isnan(z)
    known = np.where(there, z, 0.0)
    lagged, pairs = lagged_products(z, seen.piece, LAGS)
    largest = int(np.argmax(np.abs(known)))
    return ResidualSums(
        n=int(there.sum()),
        powers=np.array([float((known[there] ** power).sum()) for power in (1, 2, 3, 4)]),
        lagged=lagged,
        pairs=pairs,
        largest=float(abs(known[largest])),
        path=int(seen.path[largest]),
        step=int(seen.step[largest]),
    )


def _covariance(observer: Observer, smoothed: Sequence[Array]) -> list[Check]:
    """Whether the fitted Gamma is a covariance at the smoothed states."""
    rows = [i for i, j in observer.pairs if i == j]
    pairs = [(rows.index(i), rows.index(j)) for i, j in observer.pairs if i in rows and j in rows]
    if not rows or len(pairs) != len(observer.pairs):
        return []
    stages = get_backend(observer.backend)
    means: list[Array] = [np.ascontiguousarray(mean) for mean in smoothed]
    floors = np.ascontiguousarray(observer.floor[rows])
    program = stages.compile(list(observer.expressions), list(observer.states))
    gamma = Fitted(program, np.ascontiguousarray(observer.gamma))
    return check_survey(
        [observer.states[i] for i in rows], stages.survey(means, gamma, pairs, floors), floors
    )
