"""What a backend module must provide: the list of stages, one section per stage, records and plain arrays in and out.

Conventions. `paths` is a sequence of C-contiguous float64 arrays `(n_i, n_inputs)`, NaN where a sample is missing;
`times` a sequence of the same length holding the step length of an even path (a float) or its time stamps (`(n_i,)`
float64). Lengths of time are in the unit of the caller, and so is everything else: no stage scales what it returns.
A stage does not keep or change its arguments. Same arguments, same bits, on any number of threads.

Errors. Both backends raise the same class for the same fault and name the same argument: `ArgumentError` for a value
outside its range, `ExpressionError` for an expression, `DataError` for data that break a rule, with path and sample,
`NumericalError` where arithmetic fails. `progress` may raise; the stage then ends with its exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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
from itoscope.common.prior import Prior
from itoscope.common.types import Array, Bools, Draw, Integers, Progress, Times
from itoscope.stats.quadratic import Quadratic

__all__ = ["Backend"]


class Backend(Protocol):
    """The stages."""

    # -- library ---------------------------------------------------------------------------------------------
    def compile(self, expressions: Sequence[str], inputs: Sequence[str]) -> Program:
        """Compile expressions over the named inputs.

        Returns
        -------
        Program of this backend; other stages of this backend take no other

        Raises
        ------
        ExpressionError
            With the character at fault.
        ArgumentError
            For a name of an input that is no name, or is there twice.
        """

    # -- simulation ------------------------------------------------------------------------------------------
    def simulate(
        self,
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
        """Simulate paths of an SDE.

        Parameters
        ----------
        dynamics : m states, n noises
        x0 : (n_paths, m)
        stepping : how time goes
        seed : one stream per path; per fine step it gives n normals for dW, then for "taylor15" n for dZ
        noise : increments dW (n_paths, n_steps * substeps, n) in place of the stream's, or None. For
            "taylor15" it may have 2 n columns, dW and then dZ; with n columns dZ is drawn given dW.
        values : of the parameters of `dynamics` on each path (n_paths, n_parameters), or None where it has none
        inputs : of the inputs of `dynamics` in each step of the scheme (n_steps * substeps, n_inputs), or None
        progress : is called with the number of path-steps done

        Returns
        -------
        samples : (n_paths, n_steps // keep_every + 1, m), first `x0`; NaN once a path left the finite range
        lengths : (n_paths,) number of finite samples of each path

        Raises
        ------
        ArgumentError
            For a scheme that does not take this noise, or `noise` of another width.
        """

    # -- regression ------------------------------------------------------------------------------------------
    def regression_sums(
        self,
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
        """Additive sums of one regression over all steps of all paths.

        The target is a rate: an increment over its step, `dx / dt`, or `dr_i dr_j / dt`. A step that touches a missing
        sample is left out. With `ensemble="mean"` rows are averaged over the paths at each time first; those have one
        length then. `progress` is called with the number of steps done.

        Raises
        ------
        DataError
            For a term that is not finite on a sample.
        """

    def project(self, sums: Sums) -> Quadratic:
        """The regression projected on its instruments; `n` are the steps of the sums.

        Its minimum over the coefficients is the residual sum of squares of the sums at the same coefficients. Columns
        that are zero stay zero; directions that the instruments do not excite are projected out.
        """

    def residual_sums(
        self,
        paths: Sequence[Array],
        times: Sequence[Times],
        row: int,
        drift: Fitted,
        variance: Variance,
        *,
        lags: int = 10,
    ) -> tuple[ResidualSums, Array]:
        """Sums over the standardised residuals of one row, `(dx - f dt) / sqrt(Gamma dt)`, and the residuals.

        f is the mean of the drift at both ends of the step, Gamma is that at its start. `drift` and `variance` have one
        row of coefficients. Products are of residuals of one path. The residuals `(N,)` are of all steps of all paths,
        NaN where one touches a missing sample.
        """

    def survey(
        self, paths: Sequence[Array], gamma: Fitted, pairs: Sequence[tuple[int, int]], floors: Array
    ) -> Survey:
        """Look at the predicted covariance matrix on every sample.

        `gamma` has a row of coefficients for each of `pairs`; `floors` `(r,)` are lower bounds of the r variances.
        """

    # -- sampler ---------------------------------------------------------------------------------------------
    # Every stage takes a regression in the caller's units, K columns, and scales it as the prior says; columns whose
    # diagonal is zero are in no model. ArgumentError for shapes that do not fit, values that are not finite, n <= 0
    # and yy < 0; NumericalError for a Gram matrix that is not positive semidefinite.
    def log_evidence(self, quadratic: Quadratic, prior: Prior, included: Bools, slab_var: float) -> float:
        """Log evidence of a model `(K,)` given the slab variance, of the scaled target.

        ``-n/2 log 2 pi + a_s log b_s + log Gamma(a_s + n/2) - log Gamma(a_s) - r/2 log v
        - 1/2 log det(G_rr + I/v) - (a_s + n/2) log(b_s + (yy - b_r.mu)/2)``
        """

    def sample_chains(
        self,
        quadratic: Quadratic,
        prior: Prior,
        sweeps: Sweeps,
        *,
        n_chains: int,
        seed: int,
        progress: Progress,
    ) -> Chains:
        """Run chains.

        The first starts from a greedy search, the second from the empty model, the others at random; each has its own
        stream of random numbers. `progress` is called with the number of sweeps done by all chains.
        """

    def replay_chain(
        self, quadratic: Quadratic, prior: Prior, sweeps: Sweeps, *, start: str, draws: Sequence[Draw]
    ) -> Chains:
        """Run one chain from `start` ("search", "empty", "random") on recorded random draws.

        Raises
        ------
        NumericalError
            At the first draw whose kind or shape is not that of the record.
        """

    def enumerate_models(self, quadratic: Quadratic, prior: Prior, *, progress: Progress) -> Array:
        """Log joint mass of the data and each model: (2^k,) for k <= 20 usable columns.

        Bit j of the index says whether usable column j is in the model. The inclusion rate is integrated
        analytically, the slab variance by quadrature.
        """

    def exact_draws(
        self,
        quadratic: Quadratic,
        prior: Prior,
        *,
        log_mass: Array,
        n_draws: int,
        seed: int,
        draws: Sequence[Draw] | None,
    ) -> Chains:
        """Draw independently from the enumerated posterior: one chain; from recorded `draws` if given."""

    def model_posterior(
        self, quadratic: Quadratic, prior: Prior, included: Bools
    ) -> tuple[float, Array, Array]:
        """Log joint mass, mean (K,) and covariance (K, K) of the coefficients given a model `(K,)`.

        Noise variance and slab variance are integrated out; zero outside the model.
        """

    # -- filter ----------------------------------------------------------------------------------------------
    # `paths` hold the observed channels and then the given states `(n_i, q + g)`. A filter that leaves the finite range
    # raises nothing: its log-likelihood is minus infinity and its other numbers are not finite. The first sample of a
    # path has no part in the regressions. What a path gives does not depend on the others. Sums over paths are made
    # batch by batch, and those added in their order: where a part of the paths is a batch of the whole, its sums,
    # `batch` being its length, are what the whole adds.
    def filter_batch(self, n_paths: int) -> int:
        """How many paths, that follow each other, are summed together where there are `n_paths`."""
        ...

    def filter_loglik(self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> Array:
        """Log-likelihood of each path `(P,)`."""

    def filter_drift_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        columns: Sequence[tuple[int, int]],
        *,
        batch: int | None = None,
    ) -> tuple[Quadratic, Array]:
        """Joint regression of the drift coefficients (row, term), whitened, and the log-likelihoods `(P,)`.

        Its solution is the next iterate of a Gauss-Newton ascent of the likelihood, not a step from the present one.
        """

    def filter_noise_moments(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        columns: Sequence[tuple[int, int]],
        *,
        batch: int | None = None,
    ) -> tuple[Quadratic, Array]:
        """Regression of the Gamma coefficients (pair, term), then of all of `model.noise`; and the log-likelihoods.

        These are the q noise variances and the covariances of the noises of `shared` channels.
        """

    def filter_information(
        self,
        model: StateSpace,
        paths: Sequence[Array],
        times: Sequence[Times],
        parameters: Sequence[Parameter],
        steps: Sequence[float],
        *,
        batch: int | None = None,
    ) -> tuple[Quadratic, Array]:
        """Fisher information (`gram`) and gradient (`moment`) of the log-likelihood, and its values `(P,)`.

        `steps` are those of the central differences over each parameter.
        """

    def filter_innovations(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> list[Array]:
        """Whitened innovations `S^(-1/2) r` `(n_i, q)` of every path; NaN where missing and at the first sample."""
        ...

    def filter_kicks(self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]) -> list[Array]:
        """What the readings tell of sizes of steps, of a model with a law of these.

        Of the step to each sample its mean size given all readings, and the probability that it was a jump `(n_i, 2)`.
        """
        ...

    def filter_densities(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> list[Array]:
        """Log density of every sample given those before it `(n_i,)`; NaN where all is missing and at the first one."""
        ...

    def filter_smooth(
        self, model: StateSpace, paths: Sequence[Array], times: Sequence[Times]
    ) -> tuple[list[Array], list[Array]]:
        """Smoothed means `(n_i, m)` and covariances `(n_i, m, m)` of every path."""
