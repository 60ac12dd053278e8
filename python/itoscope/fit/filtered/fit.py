"""From noisy or partly seen recordings to equations: rounds of filter moments, then models weighed by their likelihood.

The state is never differenced. A filter follows it with the model of the moment; what the filter did not foresee, the
innovations, is regressed on how each candidate term would have moved the forecast. The terms of largest evidence make
the next model, which is taken only if it raises the evidence, until nothing changes. The likely models around the last
one are climbed by their likelihood, and their probabilities are those of the answer.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.common.progress import Reporter
from itoscope.errors import ArgumentError
from itoscope.fit.filtered.course import family_along
from itoscope.fit.filtered.doubt import doubt
from itoscope.fit.filtered.equations import Asked, equations
from itoscope.fit.filtered.family import Family, Member, climbed, with_member
from itoscope.fit.filtered.kicks import kicked
from itoscope.fit.filtered.likelihood import Maximum, maximise
from itoscope.fit.filtered.search import Found, search
from itoscope.fit.filtered.selection import chosen
from itoscope.fit.filtered.slab import sizes_of
from itoscope.fit.filtered.start import first_states
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.filtered.tails import tailed
from itoscope.stats.heavy import width
from itoscope.stats.positive import EDGE, positive_interval
from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Model
    from itoscope.fit.filtered.ranking import Set
    from itoscope.fit.filtered.recording import Recording
    from itoscope.posterior.equation import Equation
    from itoscope.result.diagnostics import FilterRound, Tried

__all__ = ["FilteredFit", "fit_filtered"]

WEAK = 2.0
"""Standard errors from zero under which a noise variance is said not to be told from it."""
SEARCHED = 20_000
"""Samples of a long recording among which the search looks for a first model; the models are weighed on all of it."""
CHANGES = 3
"""How often the shown model is climbed and weighed, which may change what is shown."""
MOST_LISTED = 50
"""Models that are kept in the record."""


@dataclass(frozen=True)
class FilteredFit:
    """What the rounds found.

    Attributes
    ----------
    recording : Recording
        The recording and its observation.
    model : Model
        The fitted model, by maximum likelihood of the filter.
    drift, diffusion : dict
        An `Equation` per unknown row, and per pair of Gamma.
    maximum : Maximum
        Parameters, their covariance, the log-likelihood.
    record : list of dict
        What happened, round by round.
    converged : bool
    warnings : list of str
    log_evidence : float
        Of all models together.
    alternatives : list of dict
        Models of the recording by falling mass: terms, mass, log evidence, and the log-likelihood of those climbed.
    slab_scales : dict
        A step over the correlation time of the state, by row: the unit of the slab of its drift.
    """

    recording: Recording
    model: Model
    drift: dict[int, Equation]
    diffusion: dict[tuple[int, int], Equation]
    maximum: Maximum
    record: list[FilterRound] = field(default_factory=list)
    converged: bool = True
    warnings: list[str] = field(default_factory=list)
    log_evidence: float = 0.0
    alternatives: list[Tried] = field(default_factory=list)
    slab_scales: dict[int, float] = field(default_factory=dict)

    @property
    def widths(self) -> Array:
        """The noise level of each channel over the scale of its law `(q,)`: 1 but of Student's, see `heavy.width`."""
        return np.array([width(law) for law in self.model.tails or [()] * len(self.model.noise)])

    def law_interval(self, parameter: Parameter, probability: float = 0.95) -> tuple[float, float]:
        """Interval of a number that shapes a law, of the noise of a channel or of steps."""
        central, upper = student_quantile(0.5 + probability / 2, 1e6), student_quantile(probability, 1e6)
        low, high = positive_interval(parameter.of(self.model), self.maximum.sd_of(parameter), central, upper)
        return float(low), float(high)

    @property
    def noise(self) -> Array:
        """Standard deviation of the measurement noise of each channel `(q,)`, see `widths`."""
        found: Array = self.widths * np.sqrt(self.model.noise)
        return found

    def noise_interval(self, probability: float = 0.95) -> Array:
        """Interval of the noise level of each channel `(q, 2)`; a given level has no width."""
        out = np.stack([self.noise, self.noise], axis=1)
        central, upper = student_quantile(0.5 + probability / 2, 1e6), student_quantile(probability, 1e6)
        for channel in np.flatnonzero(self.recording.free_noise):
            sd = self.maximum.sd_of(Parameter("noise", int(channel)))
            interval = positive_interval(float(self.model.noise[channel]), sd, central, upper)
            out[channel] = self.widths[channel] * np.sqrt(interval)
        return out

    def correlation_interval(self, probability: float = 0.95) -> Array:
        """Interval of the correlation of each pair of noises `(P, 2)`, on the scale of Fisher's z; a given one has no
        width.
        """
        links, free = self.recording.links, self.recording.links.free
        found = links.correlations(self.model.links)
        out = np.stack([found, found], axis=1)
        asked = [Parameter("link", int(k)) for k in free]
        cov = np.array([[self.maximum.cov_of(a, b) for b in asked] for a in asked]).reshape(
            len(free), len(free)
        )
        slopes = links.slopes(self.model.links)[:, free] / (1.0 - found[:, None] ** 2)
        central = student_quantile(0.5 + probability / 2, 1e6)
        for p in np.flatnonzero(slopes.any(axis=1)):
            moved = np.flatnonzero(slopes[p])
            variance = float(slopes[p, moved] @ cov[np.ix_(moved, moved)] @ slopes[p, moved])
            reach = central * np.sqrt(max(variance, 0.0))
            out[p] = np.tanh(np.arctanh(found[p]) + np.array([-reach, reach]))
        return out


def fit_filtered(
    task: Task,
    noise: Array,
    asked: Asked,
    *,
    select_gamma: bool = True,
    max_rounds: int,
    reporter: Reporter | None = None,
) -> FilteredFit:
    """Find drift, diffusion and noise level behind a recording.

    Parameters
    ----------
    task : Task
        The recording, its libraries and how it was observed.
    noise : (q,) array
        Noise variances; those that are free in the recording are found.
    asked : Asked
        Threshold, draws, seed.
    select_gamma : bool
        Whether Gamma may depend on the state.
    max_rounds : int
        Drift rounds after which the search ends with a warning.
    reporter : Reporter, optional
        Is told the samples filtered.
    """
    reporter = reporter or Reporter()
    with _telling(task, reporter, "filter rounds") as told:
        part = replace(told, recording=told.recording.part(SEARCHED).loosened())
        found = search(part, noise, select_gamma=select_gamma, max_rounds=max_rounds)
        found = replace(found, state=kicked(part.recording, tailed(part.recording, found.state)))
    with _telling(task, reporter, "weighing models") as told:
        state = _without_noise(told, found.state)
        state = state.refitted(told.recording, 4).reopened(told)
        told, models = family_along(told, state)
        task = replace(task, recording=replace(told.recording, passed=task.recording.passed))
    with _telling(task, reporter, "likelihood") as told:
        models, shown = _shown(told, models, asked.threshold)
        state = kicked(told.recording, tailed(told.recording, _reopened(told, shown)))
        maximum = maximise(told.recording, state.model)
    return _answer(task, asked, found, models, maximum)


def _without_noise(task: Task, state: State) -> State:
    """The end of the search on the whole recording, rows that carry no noise without any."""
    recording = task.recording
    model = first_states(recording, recording.silenced(state.model))
    loglik = recording.loglik(model)
    among = recording.candidates
    if among.silent and not np.isfinite(loglik):
        raise ArgumentError(
            f"diffusion: without noise in {', '.join(among.states[i] for i in among.silent)} nothing is left by which "
            "exact samples can differ from a model; give measurement_noise, a level or 'estimate'"
        )
    return state.at(model, loglik)


@contextmanager
def _telling(task: Task, reporter: Reporter, label: str) -> Iterator[Task]:
    """The task with a recording whose passes are counted for a stage of the reporter."""
    with reporter.stage(label, None, "samples") as count:
        yield (
            task
            if count is None
            else replace(task, recording=replace(task.recording, passed=_Counter(count)))
        )


class _Counter:
    """Adds up the samples of all passes and tells their sum."""

    def __init__(self, count: Callable[[int], Any]) -> None:
        self.done, self.count = 0, count

    def __call__(self, samples: int) -> None:
        self.done += samples
        self.count(self.done)


def _shown(task: Task, models: Family, threshold: float) -> tuple[Family, Member]:
    """The model that the probabilities select by the rule of `selection.chosen`, climbed and weighed."""
    for _ in range(CHANGES):
        key = _selected(task, models, threshold)
        if key in models.known:
            return models, models.known[key]
        member = climbed(task, models.state, *key)
        if not np.isfinite(member.log_mass):
            break
        models = with_member(task, models, member)
    key = _selected(task, models, threshold)
    return models, models.known.get(key, models.best)


def _selected(task: Task, models: Family, threshold: float) -> tuple[Set, Set]:
    among = task.recording.candidates
    drift: list[int] = []
    pip = models.probabilities("drift", len(among.all_drift))
    for row in among.rows:
        own = tuple(c for c, (i, _) in enumerate(among.all_drift) if i == row)
        drift += chosen(models, "drift", own, pip, threshold, full=False)
    gamma: list[int] = []
    pip = models.probabilities("gamma", len(among.all_gamma))
    for p in range(len(among.pairs)):
        own = tuple(c for c, (q, _) in enumerate(among.all_gamma) if q == p)
        gamma += chosen(models, "gamma", own, pip, threshold, full=p in among.variances)
    return tuple(sorted(drift)), tuple(sorted(gamma))


def _reopened(task: Task, shown: Member) -> State:
    assert shown.model is not None
    assert shown.loglik is not None
    return State(shown.model, shown.loglik).reopened(task)


def _answer(task: Task, asked: Asked, found: Found, models: Family, maximum: Maximum) -> FilteredFit:
    """The equations and what is to be said of them."""
    state = models.state.at(maximum.model, maximum.loglik)
    searched = replace(task, recording=task.recording.loosened())
    drift, diffusion = equations(task, asked, models, maximum)
    among, sizes = (
        task.recording.candidates,
        state.sizes or sizes_of(task.recording, maximum.model, task.prior),
    )
    listed = list(zip(models.members, models.mass.tolist()))[:MOST_LISTED]
    return FilteredFit(
        recording=task.recording,
        model=maximum.model,
        drift=drift,
        diffusion=diffusion,
        maximum=maximum,
        record=[
            *(entry.as_dict(searched) for entry in found.rounds),
            Round("likelihood", state).as_dict(task),
        ],
        converged=models.settled and maximum.converged,
        warnings=_warnings(task, state, models, maximum),
        log_evidence=float(np.logaddexp.reduce([member.log_mass for member in models.members])),
        alternatives=[member.as_dict(task, mass) for member, mass in listed],
        slab_scales={row: float(sizes.scales[row]) for row in among.rows if row not in among.silent},
    )


def _warnings(task: Task, state: State, models: Family, maximum: Maximum) -> list[str]:
    warnings = []
    if not models.settled:
        warnings.append(
            "the search did not settle on one set of terms; the most probable of those found is shown"
        )
    warnings += doubt(models, task)
    if state.overflowed:
        warnings.append(
            "the filter's answer to these terms left the finite range, and they were not tried: "
            + ", ".join(sorted(state.overflowed))
        )
    if not maximum.converged:
        warnings.append("the likelihood was still rising when its maximisation ended")
    noises = [parameter for parameter in maximum.parameters if parameter.kind == "noise"]
    if any(noise.of(maximum.model) < WEAK * maximum.sd_of(noise) for noise in noises):
        warnings.append("the measurement noise cannot be told from zero on this recording")
    warnings += _quiet_rows(task, maximum)
    return warnings


def _quiet_rows(task: Task, maximum: Maximum) -> list[str]:
    """What is said of rows whose noise, of one term, cannot be told from zero."""
    among, out = task.recording.candidates, []
    if among.spare:
        return []
    forces = {row for start in among.starts for row, _ in start}
    for parameter in maximum.parameters:
        zeros, walks = task.recording.zeros, task.recording.walks
        own = {*zeros.values(), *walks.values()} if parameter.kind == "gamma" else set()
        if parameter.kind == "gamma" and among.pairs[parameter.at][0] in {*forces, *own}:
            continue
        value = parameter.of(maximum.model)
        if (
            parameter.kind == "gamma"
            and parameter in maximum.positive
            and maximum.sd_of(parameter) > EDGE * value
        ):
            state = among.states[among.pairs[parameter.at][0]]
            out.append(
                f"the noise of {state} cannot be told from zero on this recording: its row may be deterministic; "
                f"diffusion={{{state!r}: 'none'}} makes it so"
            )
    return out
