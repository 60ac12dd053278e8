"""From noisy or partly seen recordings to equations: rounds of filter moments, selection and likelihood.

The state is never differenced. A filter follows it with the model of the moment; what the filter did not foresee, the
innovations, is regressed on how each candidate term would have moved the forecast. Selected terms make the next model,
which is taken only if it raises the likelihood, until nothing changes.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.common.progress import Reporter
from itoscope.fit.filtered.doubt import between, doubt
from itoscope.fit.filtered.drift import drift_moments
from itoscope.fit.filtered.gamma import gamma_moments
from itoscope.fit.filtered.likelihood import Maximum, maximise
from itoscope.fit.filtered.neighbours import Compared, Trial, compare, explore
from itoscope.fit.filtered.search import Found, search
from itoscope.fit.filtered.state import Round, State, Task
from itoscope.fit.streams import Stream
from itoscope.posterior.equation import Equation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from itoscope.common.types import Array
    from itoscope.fit.filtered.model import Columns, Model, Table
    from itoscope.fit.filtered.recording import Recording
    from itoscope.result.diagnostics import FilterRound, Tried

__all__ = ["FilteredFit", "fit_filtered"]

WIDE = 0.5
"""Standard error of a noise variance, over the variance, from which its interval is no longer that of its logarithm."""
WEAK = 2.0
"""Standard errors from zero under which a noise variance is said not to be told from it."""


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
    alternatives : list of dict
        Models that were compared by their evidence: terms, log-likelihood, log evidence.
    """

    recording: Recording
    model: Model
    drift: dict[int, Equation]
    diffusion: dict[tuple[int, int], Equation]
    maximum: Maximum
    record: list[FilterRound] = field(default_factory=list)
    converged: bool = True
    warnings: list[str] = field(default_factory=list)
    alternatives: list[Tried] = field(default_factory=list)

    @property
    def noise(self) -> Array:
        """Standard deviation of the measurement noise of each channel `(q,)`."""
        return np.sqrt(self.model.noise)

    def noise_interval(self, z: float = 1.959964) -> Array:
        """Interval of the noise level of each channel `(q, 2)`; a given level has no width."""
        out = np.stack([self.noise, self.noise], axis=1)
        for channel in np.flatnonzero(self.recording.free_noise):
            var, sd = self.model.noise[channel], self.maximum.sd_of(Parameter("noise", int(channel)))
            if sd < WIDE * var:
                out[channel] = np.sqrt(var) * np.exp([-z * sd / (2 * var), z * sd / (2 * var)])
            else:
                out[channel] = math.sqrt(max(var - z * sd, 0.0)), math.sqrt(var + z * sd)
        return out


def fit_filtered(
    task: Task, noise: Array, *, select_gamma: bool = True, max_rounds: int, reporter: Reporter | None = None
) -> FilteredFit:
    """Find drift, diffusion and noise level behind a recording.

    Parameters
    ----------
    task : Task
        The recording, its libraries and how it was observed.
    noise : (q,) array
        Noise variances; those that are free in the recording are found.
    select_gamma : bool
        Whether Gamma may depend on the state.
    max_rounds : int
        Drift rounds after which the search ends with a warning.
    reporter : Reporter, optional
        Is told the samples filtered.
    """
    reporter = reporter or Reporter()
    with _telling(task, reporter, "filter rounds") as told:
        found = search(told, noise, select_gamma=select_gamma, max_rounds=max_rounds)
    with _telling(task, reporter, "last moments") as told:
        state = found.state.refitted(told.recording, 4)
        state, drift = drift_moments(told, state)
        state, gamma = gamma_moments(told, state)[:2] if select_gamma else (state, None)
    drift_all = task.sample(drift, True, Stream.final_drift())
    gamma_all = None if gamma is None else task.sample(gamma, True, Stream.final_gamma())
    with _telling(task, reporter, "likelihood") as told:
        if task.short:
            best = explore(told, state, drift_all, gamma_all)
        else:
            best = replace(compare(told, state, drift_all, gamma_all), settled=found.settled)
        best = replace(best, state=best.state.reopened(told))
        maximum = maximise(told.recording, best.state.model)
    maximum = replace(maximum, cov=maximum.cov + between(best.tried, maximum))
    return _answer(task, found, best, maximum, drift_all, gamma_all)


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


def _answer(
    task: Task,
    found: Found,
    best: Compared,
    maximum: Maximum,
    drift_all: Equation,
    gamma_all: Equation | None,
) -> FilteredFit:
    """The equations and what is to be said of them."""
    among, state = task.recording.candidates, best.state.at(maximum.model, maximum.loglik)
    rounds = (*found.rounds, Round("likelihood", state))
    drift, diffusion = {}, {}
    for part, row in enumerate(among.rows):
        columns = [(row, k) for k in among.drift_terms]
        drift[row] = _equation(task, maximum, "drift", columns, _part(drift_all, part, task.drift_terms))
    for p, pair in enumerate(among.pairs):
        columns = [(p, k) for k in among.gamma_terms]
        whole = None if gamma_all is None else _part(gamma_all, p, task.gamma_terms)
        diffusion[pair] = _equation(task, maximum, "gamma", columns, whole)
    return FilteredFit(
        recording=task.recording,
        model=maximum.model,
        drift=drift,
        diffusion=diffusion,
        maximum=maximum,
        record=[entry.as_dict(task) for entry in rounds],
        converged=best.settled and maximum.converged,
        warnings=_warnings(task, state, best.tried, best.settled, maximum),
        alternatives=[trial.as_dict(task) for trial in best.tried],
    )


def _warnings(task: Task, state: State, tried: list[Trial], settled: bool, maximum: Maximum) -> list[str]:
    warnings = []
    if not settled:
        warnings.append(
            "the rounds did not settle on one set of terms; the model of the largest evidence is shown"
        )
    warnings += doubt(tried, task)
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
    return warnings


def _part(whole: Equation, part: int, terms: Sequence[str]) -> Equation:
    """Of a joint posterior over several parts with the same terms, that of one."""
    k = len(terms)
    own = slice(part * k, (part + 1) * k)
    single = len(whole.terms) == k
    return replace(
        whole,
        terms=list(terms),
        pip=whole.pip[own],
        pip_mcse=whole.pip_mcse[own],
        mean=whole.mean[own],
        cov=whole.cov[own, own],
        selected=whole.selected[own],
        samples=whole.samples[..., own],
        included=whole.included[..., own],
        inclusion=whole.inclusion[..., own],
        aliases=whole.aliases if single else {},
        log_mass=whole.log_mass if single else None,
        moments=whole.moments if single else None,
    )


def _equation(
    task: Task, maximum: Maximum, kind: Table, columns: Columns, whole: Equation | None
) -> Equation:
    """The posterior of one equation, with terms and coefficients of the likelihood."""
    parameters = [Parameter(kind, row, k) for row, k in columns]
    mean, cov = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    inside = [n for n, parameter in enumerate(parameters) if parameter in maximum.parameters]
    for a in inside:
        mean[a] = parameters[a].of(maximum.model)
        for b in inside:
            cov[a, b] = maximum.cov_of(parameters[a], parameters[b])
    selected = np.zeros(len(columns), dtype=bool)
    selected[inside] = True
    if whole is None:
        return _certain(list(task.gamma_terms), mean, cov, selected, float(task.n))
    return replace(whole, mean=mean, cov=cov, selected=selected, degrees=float(task.n))


def _certain(
    names: list[str], mean: Array, cov: Array, selected: NDArray[np.bool_], degrees: float
) -> Equation:
    """An equation whose terms were not sought: those in it are certain."""
    k = len(names)
    inside = selected.astype(float)
    draws = np.tile(np.where(selected, mean, 0.0), (1, 1, 1))
    one = np.ones((1, 1))
    return Equation(
        terms=names, pip=inside, pip_mcse=np.zeros(k), mean=mean, cov=cov, selected=selected, samples=draws,
        included=np.tile(selected, (1, 1, 1)), inclusion=np.tile(inside, (1, 1, 1)), noise_var=one, slab_var=one,
        p0=one, work=[], aliases={}, warnings=[], threshold=0.5, sampler="given", seed=0, degrees=degrees,
    )  # fmt: skip
