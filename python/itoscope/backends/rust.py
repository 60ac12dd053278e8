"""The compiled backend: each stage is one call into `itoscope._core`."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from itoscope import _core
from itoscope.backends.records import (
    Chains,
    Dynamics,
    Fitted,
    Parameter,
    Program,
    ResidualSums,
    StateSpace,
    Stepping,
    Sums,
    Survey,
    Sweeps,
    Target,
    Variance,
    Weights,
)
from itoscope.common import checks
from itoscope.expressions.grammar import check_inputs, parse
from itoscope.expressions.graph import Graph
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools, Draw, Integers, Progress, Times

__all__ = [
    "compile",
    "enumerate_models",
    "exact_draws",
    "filter_batch",
    "filter_densities",
    "filter_drift_moments",
    "filter_information",
    "filter_innovations",
    "filter_kicks",
    "filter_loglik",
    "filter_noise_moments",
    "filter_smooth",
    "log_evidence",
    "model_posterior",
    "project",
    "regression_sums",
    "replay_chain",
    "residual_sums",
    "sample_chains",
    "set_threads",
    "simulate",
    "survey",
]

#: More threads than the cores of any machine.
MOST_THREADS = 1024


# -- library -------------------------------------------------------------------------------------------------
def compile(expressions: Sequence[str], inputs: Sequence[str]) -> Program:
    """Compile expressions over the named inputs; see `itoscope.backends.protocol.Backend.compile`."""
    try:
        return _core.Program(list(expressions), list(inputs))
    except UnicodeEncodeError:  # half of a character, which no expression has: the grammar says where
        graph = Graph(check_inputs(inputs))
        for text in expressions:
            parse(text, graph)
        raise


def _parts(program: _core.Program) -> tuple[Any, ...]:
    return compile, (program.expressions, program.inputs)


copyreg.pickle(_core.Program, _parts)  # so that a regression may be sent to another process


def regression_sums(
    paths: Sequence[Array],
    times: Sequence[Times],
    program: Program,
    target: Target,
    *,
    scheme: str = "trapezoid",
    weights: Weights = None,
    ensemble: str = "pool",
    progress: Progress = None,
) -> Sums:
    """Additive sums of one regression; see `itoscope.backends.reference.gram.regression_sums`."""
    compiled = cast("_core.Program", program)
    return Sums(
        *_core.regression_sums(
            list(paths), list(times), compiled, target, scheme, weights, ensemble, progress
        )
    )


def project(sums: Sums) -> Quadratic:
    """The regression on its instruments; see `itoscope.backends.reference.moments.project`."""
    return Quadratic(*_core.project(sums))


def residual_sums(
    paths: Sequence[Array],
    times: Sequence[Times],
    row: int,
    drift: Fitted,
    variance: Variance,
    *,
    lags: int = 10,
) -> tuple[ResidualSums, Array]:
    """Standardised residuals of a row; see `itoscope.backends.reference.residuals.residual_sums`."""
    found = _core.residual_sums(list(paths), list(times), row, drift, variance, lags)
    n, powers, lagged, pairs, largest, path, step, z = found
    return ResidualSums(n, np.array(powers), np.array(lagged), np.array(pairs), largest, path, step), z


def survey(paths: Sequence[Array], gamma: Fitted, pairs: Sequence[tuple[int, int]], floors: Array) -> Survey:
    """The predicted covariance on the data; see `itoscope.backends.reference.residuals.survey`."""
    n, mean, low, below, indefinite, worst, path, sample = _core.survey(
        list(paths), gamma, list(pairs), floors
    )
    counts = np.array(below, dtype=np.int64)
    return Survey(n, np.array(mean), np.array(low), counts, indefinite, worst, path, sample)


# -- simulation ----------------------------------------------------------------------------------------------
def simulate(
    dynamics: Dynamics,
    x0: Array,
    stepping: Stepping,
    *,
    seed: int,
    noise: Array | None = None,
    values: Array | None = None,
    inputs: Array | None = None,
    progress: Progress = None,
) -> tuple[Array, Integers]:
    """Paths of an SDE from `x0`; see `itoscope.backends.protocol.Backend.simulate`."""
    # Not zeroed: every sample is written.
    samples = np.empty((len(x0), stepping.n_steps // stepping.keep_every + 1, len(dynamics.states)))
    lengths = _core.simulate(
        dynamics, x0, stepping, seed=seed, noise=noise, values=values, inputs=inputs, progress=progress,
        samples=samples,
    )  # fmt: skip
    return samples, lengths


# -- sampler -------------------------------------------------------------------------------------------------
def _stacked(chains: Sequence[dict[str, Any]]) -> Chains:
    arrays = {name: np.stack([chain[name] for chain in chains]) for name in Chains._fields if name != "work"}
    return Chains(**arrays, work=[chain["work"] for chain in chains])


def log_evidence(quadratic: Quadratic, prior: Prior, included: Bools, slab_var: float) -> float:
    """Return the log evidence of a model given the slab variance."""
    return _core.log_evidence(quadratic, prior, included, slab_var)


def sample_chains(
    quadratic: Quadratic, prior: Prior, sweeps: Sweeps, *, n_chains: int, seed: int, progress: Progress
) -> Chains:
    """Run chains in parallel."""
    return _stacked(_core.sample_chains(quadratic, prior, sweeps, n_chains, seed, progress))


def replay_chain(
    quadratic: Quadratic, prior: Prior, sweeps: Sweeps, *, start: str, draws: Sequence[Draw]
) -> Chains:
    """Run one chain on recorded random draws."""
    return _stacked([_core.replay_chain(quadratic, prior, sweeps, start, list(draws))])


def enumerate_models(quadratic: Quadratic, prior: Prior, *, progress: Progress) -> Array:
    """Return the log joint mass of each model."""
    return _core.enumerate_models(quadratic, prior, progress)


def exact_draws(
    quadratic: Quadratic,
    prior: Prior,
    *,
    log_mass: Array,
    n_draws: int,
    seed: int,
    draws: Sequence[Draw] | None,
) -> Chains:
    """Draw independently from the enumerated posterior."""
    recorded = None if draws is None else list(draws)
    return _stacked([_core.exact_draws(quadratic, prior, log_mass, n_draws, seed, recorded)])


def model_posterior(quadratic: Quadratic, prior: Prior, included: Bools) -> tuple[float, Array, Array]:
    """Return log mass, mean and covariance of the coefficients given a model."""
    return _core.model_posterior(quadratic, prior, included)


# -- filter ----------------------------------------------------------------------------------------------
def _space(model: StateSpace) -> _core.StateSpace:
    if not isinstance(model.program, _core.Program):
        raise TypeError("the program of the model was compiled by another backend")
    return _core.StateSpace(model)


def filter_batch(n_paths: int) -> int:
    """Paths that are summed together; see `itoscope.backends.protocol.Backend.filter_batch`."""
    return _core.filter_batch(n_paths)


def filter_loglik(model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> Array:
    """Log-likelihoods; see `itoscope.backends.protocol.Backend.filter_loglik`."""
    return _core.filter_loglik(_space(model), list(paths), list(times))


def filter_drift_moments(
    model: StateSpace,
    paths: Sequence[Array],
    times: Sequence[Times],
    columns: Sequence[tuple[int, int]],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """Drift moments; see `itoscope.backends.protocol.Backend.filter_drift_moments`."""
    gram, moment, yy, n, loglik = _core.filter_drift_moments(
        _space(model), list(paths), list(times), list(columns), batch
    )
    return Quadratic(gram, moment, yy, n), loglik


def filter_noise_moments(
    model: StateSpace,
    paths: Sequence[Array],
    times: Sequence[Times],
    columns: Sequence[tuple[int, int]],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """Gamma and noise moments; see `itoscope.backends.protocol.Backend.filter_noise_moments`."""
    gram, moment, yy, n, loglik = _core.filter_noise_moments(
        _space(model), list(paths), list(times), list(columns), batch
    )
    return Quadratic(gram, moment, yy, n), loglik


def filter_information(
    model: StateSpace,
    paths: Sequence[Array],
    times: Sequence[Times],
    parameters: Sequence[Parameter],
    steps: Sequence[float],
    *,
    batch: int | None = None,
) -> tuple[Quadratic, Array]:
    """Information and gradient; see `itoscope.backends.protocol.Backend.filter_information`."""
    asked: list[tuple[str, int, int]] = [(kind, at, term) for kind, at, term in parameters]
    gram, moment, yy, n, loglik = _core.filter_information(
        _space(model), list(paths), list(times), asked, [float(step) for step in steps], batch
    )
    return Quadratic(gram, moment, yy, n), loglik


def filter_innovations(model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> list[Array]:
    """Innovations; see `itoscope.backends.protocol.Backend.filter_innovations`."""
    return _core.filter_innovations(_space(model), list(paths), list(times))


def filter_kicks(model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> list[Array]:
    """What is known of sizes of steps; see `itoscope.backends.protocol.Backend.filter_kicks`."""
    return _core.filter_kicks(_space(model), list(paths), list(times))


def filter_densities(model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> list[Array]:
    """Log densities; see `itoscope.backends.protocol.Backend.filter_densities`."""
    return _core.filter_densities(_space(model), list(paths), list(times))


def filter_smooth(
    model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
) -> tuple[list[Array], list[Array]]:
    """Smoothed states; see `itoscope.backends.protocol.Backend.filter_smooth`."""
    states = _core.filter_smooth(_space(model), list(paths), list(times))
    return [mean for mean, _ in states], [cov for _, cov in states]


# -- threads -------------------------------------------------------------------------------------------------
def set_threads(n_threads: int) -> None:
    """Set how many threads later calls of the compiled backend use; the numbers do not depend on it.

    Parameters
    ----------
    n_threads : int
        From 0 to 1024; 0 is one for each available core.

    Raises
    ------
    ArgumentError
        For anything else.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.set_threads(2)
    """
    _core.set_threads(checks.count("n_threads", n_threads, 0, most=MOST_THREADS))
