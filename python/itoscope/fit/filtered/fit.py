"""From noisy or partly seen recordings to equations: rounds of filter moments, selection and likelihood.

The state is never differenced. A filter follows it with the model of the moment; what the filter did not foresee, the
innovations, is regressed on how each candidate term would have moved the forecast. Selected terms make the next model,
which is taken only if it raises the likelihood, until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.common.progress import Reporter
from itoscope.common.types import Array
from itoscope.fit.filtered.likelihood import Polished, polish
from itoscope.fit.filtered.neighbours import between, compare, doubt, explore, is_short
from itoscope.fit.filtered.recording import Coefficients, Filtering
from itoscope.fit.filtered.search import MAX_DRIFT_ROUNDS, Sample, Search
from itoscope.fit.filtered.start import maximise_noise
from itoscope.posterior.equation import Equation

__all__ = ["NoisyFit", "fit_noisy"]


@dataclass
class NoisyFit:
    """What the rounds found.

    Attributes
    ----------
    filtering : Filtering
        The recording and its observation.
    model : Coefficients
        The fitted model, by maximum likelihood of the filter.
    drift, diffusion : dict
        An `Equation` per unknown row, and per pair of Gamma.
    polished : Polished
        Parameters, their covariance, the log-likelihood.
    record : list of dict
        What happened, round by round.
    converged : bool
    warnings : list of str
    alternatives : list of dict
        Models that were compared by their evidence: terms, log-likelihood, log evidence.
    """

    filtering: Filtering
    model: Coefficients
    drift: dict[int, Equation]
    diffusion: dict[tuple[int, int], Equation]
    polished: Polished
    record: list[dict[str, Any]] = field(default_factory=list)
    converged: bool = True
    warnings: list[str] = field(default_factory=list)
    alternatives: list[dict[str, Any]] = field(default_factory=list)

    @property
    def noise(self) -> Array:
        """Standard deviation of the measurement noise of each channel `(q,)`."""
        return np.sqrt(self.model.noise)

    def noise_interval(self, z: float = 1.959964) -> Array:
        """Interval of the noise level of each channel `(q, 2)`; a given level has no width."""
        out = np.stack([self.noise, self.noise], axis=1)
        for channel in np.flatnonzero(self.filtering.free_noise):
            var, sd = self.model.noise[channel], self.polished.sd_of(Parameter("noise", int(channel)))
            if sd < 0.5 * var:
                out[channel] = np.sqrt(var) * np.exp([-z * sd / (2 * var), z * sd / (2 * var)])
            else:
                out[channel] = math.sqrt(max(var - z * sd, 0.0)), math.sqrt(var + z * sd)
        return out

    def states(self) -> tuple[list[Array], list[Array]]:
        """Smoothed states `(n_i, m)` of every path and their standard deviations."""
        means, covs = self.filtering.smooth(self.model)
        return means, [np.sqrt(np.maximum(np.einsum("nii->ni", cov), 0.0)) for cov in covs]


def fit_noisy(
    f: Filtering,
    noise: Array,
    sample: Sample,
    names: tuple[Sequence[str], Sequence[str]],
    *,
    select_gamma: bool = True,
    max_rounds: int = MAX_DRIFT_ROUNDS,
    reporter: Reporter | None = None,
) -> NoisyFit:
    """Find drift, diffusion and noise level behind a recording.

    Parameters
    ----------
    f : Filtering
        The recording, its libraries and how it was observed.
    noise : (q,) array
        Noise variances; those that are free in `f` are found.
    sample : callable
        `sample(moments, final, index)` returns the posterior `Equation` of moments; `final` asks for full chains.
    names : pair of sequences of str
        How the terms of the drift and of the diffusion library are shown.
    select_gamma : bool
        Whether Gamma may depend on the state.
    max_rounds : int
        Drift rounds after which the search ends with a warning.
    reporter : Reporter, optional
        Is told the samples filtered.
    """
    reporter = reporter or Reporter()
    search = Search(f, sample, names)
    with _telling(f, reporter, "filter rounds"):
        search.start(noise)
        settled = search.drift_rounds(max_rounds)
        if select_gamma:
            settled = search.gamma_rounds()  # the drift has rounds there too
    return _finish(search, settled, select_gamma, reporter)


@contextmanager
def _telling(f: Filtering, reporter: Reporter, label: str) -> Iterator[None]:
    with reporter.stage(label, None, "samples") as count:
        f.work.done, f.work.count = 0, count
        try:
            yield
        finally:
            f.work.count = None


def _finish(search: Search, settled: bool, select_gamma: bool, reporter: Reporter) -> NoisyFit:
    """Full chains on the last moments, the best of the few likeliest models, maximum likelihood."""
    f, warnings = search.f, []
    with _telling(f, reporter, "last moments"):
        search.take(*maximise_noise(f, search.model, 4, search.loglik))
        drift_moments = search.drift_moments()
        gamma_moments = search.gamma_moments()[0] if select_gamma else None
    drift_all = search.sample(drift_moments, True, 200)
    gamma_all = search.sample(gamma_moments, True, 201) if gamma_moments is not None else None
    with _telling(f, reporter, "likelihood"):
        if is_short(search):
            tried, settled = explore(search, drift_all, gamma_all)
        else:
            tried = compare(search, drift_all, gamma_all)
        found = polish(f, search.model)
    found = replace(found, cov=found.cov + between(tried, found))
    search.take(found.model, found.loglik)
    search.note("likelihood", [], 1.0)
    if not settled:
        warnings.append(
            "the rounds did not settle on one set of terms; the model of the largest evidence is shown"
        )
    warnings += doubt(tried, search)
    if search.overflowed:
        warnings.append(
            "the filter's answer to these terms left the finite range, and they were not tried: "
            + ", ".join(sorted(search.overflowed))
        )
    if not found.converged:
        warnings.append("the likelihood was still rising when its maximisation ended")
    channels = np.flatnonzero(f.free_noise).tolist()
    weak = [c for c in channels if found.model.noise[c] < 2 * found.sd_of(Parameter("noise", c))]
    if weak:
        warnings.append("the measurement noise cannot be told from zero on this recording")
    drift = {row: _equation(search, drift_all, "drift", n, row, found) for n, row in enumerate(f.rows)}
    diffusion = {pair: _equation(search, gamma_all, "gamma", p, p, found) for p, pair in enumerate(f.pairs)}
    return NoisyFit(
        f,
        search.model,
        drift,
        diffusion,
        found,
        search.record,
        settled and found.converged,
        warnings,
        [trial.as_dict(search) for trial in tried],
    )


def _equation(
    search: Search,
    whole: Equation | None,
    kind: Literal["drift", "gamma"],
    part: int,
    row: int,
    found: Polished,
) -> Equation:
    """The rows of a joint posterior that belong to one equation, with the coefficients of the likelihood."""
    f = search.f
    terms = f.drift_terms if kind == "drift" else f.gamma_terms
    names = list(search.names[0 if kind == "drift" else 1])
    k = len(terms)
    mean, cov = np.zeros(k), np.zeros((k, k))
    inside = [n for n, term in enumerate(terms) if Parameter(kind, row, term) in found.parameters]
    for a in inside:
        mean[a] = getattr(found.model, kind)[row, terms[a]]
        for b in inside:
            cov[a, b] = found.cov_of(Parameter(kind, row, terms[a]), Parameter(kind, row, terms[b]))
    selected = np.zeros(k, dtype=bool)
    selected[inside] = True
    if whole is None:
        return _certain(names, mean, cov, selected, float(search.n))
    own = slice(part * k, (part + 1) * k)
    single = len(whole.terms) == k
    return replace(
        whole,
        terms=names,
        pip=whole.pip[own],
        pip_mcse=whole.pip_mcse[own],
        mean=mean,
        cov=cov,
        selected=selected,
        samples=whole.samples[..., own],
        included=whole.included[..., own],
        inclusion=whole.inclusion[..., own],
        aliases=whole.aliases if single else {},
        log_mass=whole.log_mass if single else None,
        moments=whole.moments if single else None,
        degrees=float(search.n),
    )


def _certain(names: list[str], mean: Array, cov: Array, selected: Any, degrees: float) -> Equation:
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
