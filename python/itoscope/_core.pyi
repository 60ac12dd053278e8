"""Types of the compiled module."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from itoscope.backends import records
from itoscope.backends.records import Dynamics, Fitted, Stepping, Sums, Sweeps, Target, Variance, Weights
from itoscope.common.prior import Prior
from itoscope.common.types import Array, Draw, Progress
from itoscope.stats.quadratic import Quadratic

__version__: str
__all__ = [
    "Program",
    "StateSpace",
    "__version__",
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
    "read_table",
    "regression_sums",
    "replay_chain",
    "residual_sums",
    "sample_chains",
    "set_threads",
    "simulate",
    "survey",
]

def set_threads(n_threads: int) -> None: ...

@final
class Program:
    def __new__(cls, expressions: list[str], inputs: list[str]) -> Program: ...
    @property
    def expressions(self) -> list[str]: ...
    @property
    def inputs(self) -> list[str]: ...
    def evaluate(self, x: Array) -> Array: ...
    def gradient(self, x: Array) -> Array: ...

def regression_sums(
    x: list[Array],
    times: list[float | Array],
    program: Program,
    target: Target,
    scheme: str,
    weights: Weights,
    ensemble: str,
    progress: Progress,
) -> tuple[Array, Array, Array, Array, Array, float, float, int]: ...
def project(sums: Sums) -> tuple[Array, Array, float, float]: ...
def residual_sums(
    x: list[Array], times: list[float | Array], row: int, drift: Fitted, variance: Variance, lags: int
) -> tuple[int, list[float], list[float], list[float], float, int, int, Array]: ...
def survey(
    x: list[Array], gamma: Fitted, pairs: list[tuple[int, int]], floors: Array
) -> tuple[int, list[float], list[float], list[int], int, float, int, int]: ...
def simulate(
    dynamics: Dynamics,
    x0: Array,
    stepping: Stepping,
    *,
    seed: int,
    noise: Array | None,
    values: Array | None,
    inputs: Array | None,
    progress: Progress,
    samples: Array,
) -> NDArray[np.int64]: ...
def log_evidence(
    quadratic: Quadratic, prior: Prior, included: NDArray[np.bool_], slab_var: float
) -> float: ...
def sample_chains(
    quadratic: Quadratic, prior: Prior, sweeps: Sweeps, n_chains: int, seed: int, progress: Progress
) -> list[dict[str, Any]]: ...
def replay_chain(
    quadratic: Quadratic, prior: Prior, sweeps: Sweeps, start: str, draws: list[Draw]
) -> dict[str, Any]: ...
def enumerate_models(quadratic: Quadratic, prior: Prior, progress: Progress) -> Array: ...
def exact_draws(
    quadratic: Quadratic,
    prior: Prior,
    log_mass: Array,
    n_draws: int,
    seed: int,
    draws: list[Draw] | None,
) -> dict[str, Any]: ...
def model_posterior(
    quadratic: Quadratic, prior: Prior, included: NDArray[np.bool_]
) -> tuple[float, Array, Array]: ...

@final
class StateSpace:
    def __new__(cls, model: records.StateSpace) -> StateSpace: ...

def filter_batch(n_paths: int) -> int: ...
def filter_loglik(model: StateSpace, paths: list[Array], times: list[float | Array]) -> Array: ...
def filter_drift_moments(
    model: StateSpace,
    paths: list[Array],
    times: list[float | Array],
    columns: list[tuple[int, int]],
    batch: int | None = None,
) -> tuple[Array, Array, float, float, Array]: ...
def filter_noise_moments(
    model: StateSpace,
    paths: list[Array],
    times: list[float | Array],
    columns: list[tuple[int, int]],
    batch: int | None = None,
) -> tuple[Array, Array, float, float, Array]: ...
def filter_information(
    model: StateSpace,
    paths: list[Array],
    times: list[float | Array],
    parameters: list[tuple[str, int, int]],
    steps: list[float],
    batch: int | None = None,
) -> tuple[Array, Array, float, float, Array]: ...
def filter_densities(model: StateSpace, paths: list[Array], times: list[float | Array]) -> list[Array]: ...
def filter_kicks(model: StateSpace, paths: list[Array], times: list[float | Array]) -> list[Array]: ...
def filter_innovations(model: StateSpace, paths: list[Array], times: list[float | Array]) -> list[Array]: ...
def filter_smooth(
    model: StateSpace, paths: list[Array], times: list[float | Array]
) -> list[tuple[Array, Array]]: ...
def read_table(
    text: bytes, kinds: str, delimiter: int | None = None, decimal_comma: bool = False
) -> tuple[list[Array | tuple[bytes, int] | None], tuple[int, int, str] | None]: ...
