"""Types of the compiled module."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from itoscope.common.prior import Prior
from itoscope.common.types import Array, Draw, Progress

__version__: str
__all__ = [
    "Program",
    "StateSpace",
    "__version__",
    "enumerate_models",
    "exact_draws",
    "filter_drift_moments",
    "filter_information",
    "filter_innovations",
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
    pair: tuple[int, int],
    is_diffusion: bool,
    drift: tuple[Program, Array] | None,
    scheme: str,
    weights: object,
    ensemble: str,
    progress: Progress,
) -> tuple[Array, Array, Array, Array, Array, float, float, int]: ...
def project(
    omega: Array, cross: Array, inner: Array, c: Array, d: Array, s: float
) -> tuple[Array, Array, float]: ...
def residual_sums(
    x: list[Array],
    times: list[float | Array],
    row: int,
    drift: tuple[Program, Array],
    variance: tuple[Program, Array],
    floor: float,
    lags: int,
) -> tuple[int, list[float], list[float], list[float], float, int, int]: ...
def survey(
    x: list[Array], gamma: tuple[Program, Array], pairs: list[tuple[int, int]], floors: list[float]
) -> tuple[int, list[float], list[float], list[int], int, float, int, int]: ...
def simulate(
    drift: list[str],
    diffusion: list[list[str]] | None,
    gamma: list[list[str]] | None,
    states: list[str],
    x0: Array,
    *,
    dt: float,
    n_steps: int,
    scheme: str,
    substeps: int,
    keep_every: int,
    seed: int,
    noise: Array | None,
    parameters: tuple[list[str], Array] | None,
    progress: Progress,
    samples: Array,
) -> NDArray[np.int64]: ...
def log_evidence(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    included: NDArray[np.bool_],
    slab_var: float,
) -> float: ...
def sample_chains(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    n_chains: int,
    n_samples: int,
    n_burn: int,
    thin: int,
    exchanges: int,
    seed: int,
    progress: Progress,
) -> list[dict[str, Any]]: ...
def replay_chain(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    start: str,
    n_samples: int,
    n_burn: int,
    thin: int,
    exchanges: int,
    draws: list[Draw],
) -> dict[str, Any]: ...
def enumerate_models(
    gram: Array, moment: Array, yy: float, n: float, prior: Prior, progress: Progress
) -> Array: ...
def exact_draws(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    log_mass: Array,
    n_draws: int,
    seed: int,
    draws: list[Draw] | None,
) -> dict[str, Any]: ...
def model_posterior(
    gram: Array, moment: Array, yy: float, n: float, prior: Prior, included: NDArray[np.bool_]
) -> tuple[float, Array, Array]: ...

@final
class StateSpace:
    def __new__(
        cls,
        program: Program,
        drift: Array,
        gamma: Array,
        pairs: list[tuple[int, int]],
        observation: Array,
        noise: Array,
        mean0: Array,
        cov0: Array,
        floor: Array,
        max_step: float,
        kinks: list[tuple[int, str, int, int]],
        second_order: bool,
    ) -> StateSpace: ...

def filter_loglik(model: StateSpace, paths: list[Array], times: list[float | Array]) -> Array: ...
def filter_drift_moments(
    model: StateSpace, paths: list[Array], times: list[float | Array], columns: list[tuple[int, int]]
) -> tuple[Array, Array, float, float, Array]: ...
def filter_noise_moments(
    model: StateSpace, paths: list[Array], times: list[float | Array], columns: list[tuple[int, int]]
) -> tuple[Array, Array, float, float, Array]: ...
def filter_information(
    model: StateSpace,
    paths: list[Array],
    times: list[float | Array],
    parameters: list[tuple[str, int, int]],
    steps: list[float],
) -> tuple[Array, Array, float, float, Array]: ...
def filter_innovations(model: StateSpace, paths: list[Array], times: list[float | Array]) -> list[Array]: ...
def filter_smooth(
    model: StateSpace, paths: list[Array], times: list[float | Array]
) -> list[tuple[Array, Array]]: ...
def read_table(
    text: bytes, kinds: str, delimiter: int | None = None, decimal_comma: bool = False
) -> tuple[list[Array | tuple[bytes, int] | None], tuple[int, int, str] | None]: ...
