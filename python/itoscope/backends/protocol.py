"""What a backend module must provide: the list of stages, one section per stage, plain arrays in and out.

Conventions: `paths` is a sequence of C-contiguous float64 arrays `(n_i, n_inputs)`; `times` a sequence of
the same length holding the step length of an even path (a float) or its time stamps (`(n_i,)` float64).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itoscope.common.types import Array, Draw, Progress

if TYPE_CHECKING:
    from itoscope.backends.statespace import FilterMoments, StateSpace
    from itoscope.common.prior import Prior

__all__ = [
    "Backend",
    "Chains",
    "Fitted",
    "Program",
    "ResidualSums",
    "Sums",
    "Survey",
    "Target",
    "Variance",
    "Weights",
]


class Program(Protocol):
    """Expressions compiled over named inputs: the terms of a library, or the coefficients of an SDE."""

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs: the states, then one per custom column."""

    @property
    def expressions(self) -> list[str]:
        """The expressions as given, one per output."""

    def evaluate(self, x: Array) -> Array:
        """Values `(n, K)` at the rows of `x` `(n, n_inputs)`."""

    def gradient(self, x: Array) -> Array:
        """Derivatives `(n, K, n_inputs)` at the rows of `x` `(n, n_inputs)`."""


@dataclass(frozen=True)
class Fitted:
    """A fitted linear model over a library: `coef @ u(x)`, one row of `coef` `(q, K)` per quantity."""

    program: Program
    coef: Array


@dataclass(frozen=True)
class Variance:
    """Predicted covariances as the source of weights.

    `coef` holds one row `Gamma_ii` (drift target) or the rows `Gamma_ii, Gamma_jj, Gamma_ij` (diffusion target);
    `floors` holds the lower bound of each variance, one or two numbers.
    """

    program: Program
    coef: Array
    floors: Array


Weights = Variance | Sequence[Array] | None


@dataclass(frozen=True)
class Target:
    """What is regressed: the increments of state `pair[0]`, or the products of two residual increments.

    `drift` holds the fitted drift of the two rows of a diffusion target, removed from the increments before they
    are multiplied; None leaves them raw.
    """

    pair: tuple[int, int]
    is_diffusion: bool = False
    drift: Fitted | None = None


@dataclass(frozen=True)
class Sums:
    """Additive sums of a regression; two of them add to those of the joint data.

    `omega = sum w L L^T`, `cross = sum w L Lt^T`, `inner = sum w Lt Lt^T` `(K, K)`; `c = sum w L y`,
    `d = sum w Lt y` `(K,)`; `s = sum w y^2`; `total = sum y`; `n` steps.
    """

    omega: Array
    cross: Array
    inner: Array
    c: Array
    d: Array
    s: float
    total: float
    n: int

    @classmethod
    def zeros(cls, k: int) -> Sums:
        """Sums over no step of a library of `k` terms."""
        square, line = np.zeros((k, k)), np.zeros(k)
        return cls(square, square, square, line, line, 0.0, 0.0, 0)

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class ResidualSums:
    """Sums over the standardised residuals `z` of one row.

    `powers = sum z, z^2, z^3, z^4` `(4,)`; `lagged = sum z[n] z[n + l]` and `pairs`, the number of such products, for
    `l = 1, 2, ...`; the largest `|z|` and the path and step where it is.
    """

    n: int
    powers: Array
    lagged: Array
    pairs: Array
    largest: float
    path: int
    step: int


@dataclass(frozen=True)
class Survey:
    """A predicted covariance matrix looked at on every sample.

    `mean`, `low` `(q,)`: mean and smallest value of each predicted entry; `below` `(r,)`: how many samples have a
    variance under its floor; `indefinite`: how many samples have a matrix with a negative eigenvalue, `worst` the most
    negative one, at sample `sample` of path `path`.
    """

    n: int
    mean: Array
    low: Array
    below: NDArray[np.int64]
    indefinite: int
    worst: float
    path: int
    sample: int


class Chains(NamedTuple):
    """Draws of one or more chains of the sampler; columns and units as the caller has them."""

    samples: Array
    """Coefficients (chain, draw, K), zero outside the model."""
    included: NDArray[np.bool_]
    """Whether each column is in the model (chain, draw, K)."""
    inclusion: Array
    """p(Z_k = 1 | rest), averaged over the sweeps of the draw (chain, draw, K)."""
    noise_var: Array
    """Noise variance (chain, draw)."""
    slab_var: Array
    """Slab variance (chain, draw), in the prior's scaled coordinates."""
    p0: Array
    """Inclusion rate (chain, draw)."""
    work: list[dict[str, int]]
    """Per chain: sweeps, flips, exchanges tried and made, rows of the factor computed."""


class Backend(Protocol):
    """The stages."""

    # -- library ---------------------------------------------------------------------------------------------
    def compile(self, expressions: Sequence[str], inputs: Sequence[str]) -> Program:
        """Compile expressions over the named inputs.

        Raises
        ------
        ExpressionError
            With the character at fault.
        """

    # -- integrate -------------------------------------------------------------------------------------------
    def simulate(
        self,
        drift: Sequence[str],
        diffusion: Sequence[Sequence[str]] | None,
        gamma: Sequence[Sequence[str]] | None,
        states: Sequence[str],
        x0: Array,
        *,
        dt: float,
        n_steps: int,
        scheme: str,
        substeps: int,
        keep_every: int,
        seed: int,
        noise: Array | None,
        parameters: tuple[Sequence[str], Array] | None,
        progress: Progress,
    ) -> tuple[Array, NDArray[np.int64]]:
        """Simulate paths of an SDE.

        Parameters
        ----------
        drift : m expressions over `states`
        diffusion : m x n expressions, or None when `gamma` is given
        gamma : m x m expressions of the covariance, or None; takes "euler-maruyama" and n = m noises, which
            a Cholesky factor mixes at every step (the lower triangle is read, semidefinite is allowed)
        states : m names
        x0 : (n_paths, m)
        dt : time between two steps, each made of `substeps` steps of the scheme of length dt / substeps
        n_steps : every `keep_every`-th of them is kept
        scheme : "euler-maruyama", "milstein" or "taylor15"
        seed : one stream per path; per fine step it gives n normals for dW, then for "taylor15" n for dZ
        noise : increments dW (n_paths, n_steps * substeps, n) in place of the stream's, or None. For
            "taylor15" it may have 2 n columns, dW and then dZ; with n columns dZ is drawn given dW.
        parameters : names that stand for numbers in the expressions, and their values of each path
            (n_paths, n_parameters), or None
        progress : is called with the number of path-steps done

        Returns
        -------
        samples : (n_paths, n_steps // keep_every + 1, m), first `x0`; NaN once a path left the finite range
        lengths : (n_paths,) number of finite samples of each path
        """

    # -- moments ---------------------------------------------------------------------------------------------
    def regression_sums(
        self,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        program: Program,
        target: Target,
        *,
        scheme: str = "trapezoid",
        weights: Weights = None,
        ensemble: str = "pool",
        progress: Progress = None,
    ) -> Sums:
        """Additive sums of one regression over all steps of all paths."""

    def project(self, sums: Sums) -> tuple[Array, Array, float]:
        """Moments `(gram, moment, yy)` of the sums, projected on the instruments."""

    def residual_sums(
        self,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        row: int,
        drift: Fitted,
        variance: Variance,
        *,
        lags: int = 10,
    ) -> ResidualSums:
        """Sums over the standardised residuals of one row."""

    def survey(
        self, paths: Sequence[Array], gamma: Fitted, pairs: Sequence[tuple[int, int]], floors: Array
    ) -> Survey:
        """Look at the predicted covariance matrix on every sample."""

    # -- sampler ---------------------------------------------------------------------------------------------
    # Every stage takes the moments `(gram (K, K), moment (K,), yy, n)` in the caller's units and scales
    # them as the prior says; columns whose diagonal is zero are in no model.
    def log_evidence(
        self,
        gram: Array,
        moment: Array,
        yy: float,
        n: float,
        prior: Prior,
        included: NDArray[np.bool_],
        slab_var: float,
    ) -> float:
        """Log evidence of a model given the slab variance, of the scaled target.

        ``-n/2 log 2 pi + a_s log b_s + log Gamma(a_s + n/2) - log Gamma(a_s) - r/2 log v
        - 1/2 log det(G_rr + I/v) - (a_s + n/2) log(b_s + (yy - b_r.mu)/2)``
        """

    def sample_chains(
        self,
        gram: Array,
        moment: Array,
        yy: float,
        n: float,
        prior: Prior,
        *,
        n_chains: int,
        n_samples: int,
        n_burn: int,
        thin: int,
        exchanges: int,
        seed: int,
        progress: Progress,
    ) -> Chains:
        """Run chains of `n_burn + n_samples * thin` sweeps and keep every `thin`-th after the burn-in.

        The first chain starts from a greedy search, the second from the empty model, the others at random.
        Each sweep makes so many `exchanges`. `progress` is called with the number of sweeps done by all
        chains.
        """

    def replay_chain(
        self,
        gram: Array,
        moment: Array,
        yy: float,
        n: float,
        prior: Prior,
        *,
        start: str,
        n_samples: int,
        n_burn: int,
        thin: int,
        exchanges: int,
        draws: Sequence[Draw],
    ) -> Chains:
        """Run one chain from `start` ("search", "empty", "random") on recorded random draws.

        Raises
        ------
        NumericalError
            At the first draw whose kind or shape is not that of the record.
        """

    def enumerate_models(
        self, gram: Array, moment: Array, yy: float, n: float, prior: Prior, *, progress: Progress
    ) -> Array:
        """Log joint mass of the data and each model: (2^k,) for k <= 20 usable columns.

        Bit j of the index says whether usable column j is in the model. The inclusion rate is integrated
        analytically, the slab variance by quadrature.
        """

    def exact_draws(
        self,
        gram: Array,
        moment: Array,
        yy: float,
        n: float,
        prior: Prior,
        *,
        log_mass: Array,
        n_draws: int,
        seed: int,
        draws: Sequence[Draw] | None,
    ) -> Chains:
        """Draw independently from the enumerated posterior: one chain; from recorded `draws` if given."""

    def model_posterior(
        self, gram: Array, moment: Array, yy: float, n: float, prior: Prior, included: NDArray[np.bool_]
    ) -> tuple[float, Array, Array]:
        """Log joint mass, mean (K,) and covariance (K, K) of the coefficients given a model.

        Noise variance and slab variance are integrated out; zero outside the model.
        """

    # -- filter ----------------------------------------------------------------------------------------------
    # `paths` hold the observed channels `(n_i, q)`, NaN where missing.
    def filter_loglik(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[float | Array]
    ) -> Array:
        """Log-likelihood of each path `(P,)`; minus infinity where the filter leaves the finite range."""

    def filter_drift_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        columns: Sequence[tuple[int, int]],
    ) -> tuple[FilterMoments, Array]:
        """Moments of the joint regression of the drift coefficients (row, term), and the log-likelihoods."""

    def filter_noise_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        columns: Sequence[tuple[int, int]],
    ) -> tuple[FilterMoments, Array]:
        """Moments of the regression of the Gamma coefficients (pair, term), then the noise variances."""

    def filter_information(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        parameters: Sequence[tuple[str, int, int]],
        steps: Sequence[float],
    ) -> tuple[FilterMoments, Array]:
        """Fisher information (`gram`) and gradient (`moment`) of the log-likelihood, and its values.

        Parameters are ("drift", row, term), ("gamma", pair, term) or ("noise", channel, 0), each with the step
        of its central difference.
        """

    def filter_innovations(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[float | Array]
    ) -> list[Array]:
        """Whitened innovations `S^(-1/2) r` `(n_i, q)` of every path; NaN where missing and at the first sample."""
        ...

    def filter_smooth(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[float | Array]
    ) -> tuple[list[Array], list[Array]]:
        """Smoothed means `(n_i, m)` and covariances `(n_i, m, m)` of every path."""
