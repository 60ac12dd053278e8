"""What a backend module must provide: the list of stages, one section per stage, plain arrays in and out.

Conventions: `paths` is a sequence of C-contiguous float64 arrays `(n_i, n_inputs)`; `times` a sequence of
the same length holding the step length of an even path (a float) or its time stamps (`(n_i,)` float64).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from itoscope.backends.records import (
    Chains,
    Fitted,
    Parameter,
    Program,
    ResidualSums,
    StateSpace,
    Sums,
    Survey,
    Target,
    Variance,
    Weights,
)
from itoscope.common.prior import Prior
from itoscope.common.types import Array, Draw, Progress
from itoscope.stats.quadratic import Quadratic

__all__ = ["Backend"]


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
    ) -> tuple[Quadratic, Array]:
        """Moments of the joint regression of the drift coefficients (row, term), and the log-likelihoods."""

    def filter_noise_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        columns: Sequence[tuple[int, int]],
    ) -> tuple[Quadratic, Array]:
        """Moments of the regression of the Gamma coefficients (pair, term), then the noise variances."""

    def filter_information(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        parameters: Sequence[Parameter],
        steps: Sequence[float],
    ) -> tuple[Quadratic, Array]:
        """Fisher information (`gram`) and gradient (`moment`) of the log-likelihood, and its values.

        `steps` are those of the central differences over each parameter.
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
