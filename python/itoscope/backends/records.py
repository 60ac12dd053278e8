"""What the stages take and give: programs, targets, sums, state-space models, chains, each a plain record of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np

from itoscope.common.types import Array, Bools, Integers
from itoscope.expressions.kinks import Kink

__all__ = [
    "Chains",
    "Dynamics",
    "Fitted",
    "Kink",
    "Parameter",
    "Program",
    "ResidualSums",
    "StateSpace",
    "Stepping",
    "Sums",
    "Survey",
    "Sweeps",
    "Target",
    "Variance",
    "Weights",
]


# -- library -------------------------------------------------------------------------------------------------
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


# -- simulation ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Dynamics:
    """`dX = f dt + g dB` as expressions over the states: m of the drift, and of the noise in one of two forms.

    Parameters
    ----------
    states : m names
    drift : m expressions
    diffusion : m x n expressions of g, or None
    gamma : m x m expressions of the covariance `g g^T` where `diffusion` is None: m noises, which a root of it
        mixes at every step (the lower triangle is read, semidefinite is allowed)
    parameters : names in the expressions that stand for numbers, one value a path
    inputs : names in the expressions that stand for what drives the system, one value a step of the scheme
    """

    states: Sequence[str]
    drift: Sequence[str]
    diffusion: Sequence[Sequence[str]] | None = None
    gamma: Sequence[Sequence[str]] | None = None
    parameters: Sequence[str] = ()
    inputs: Sequence[str] = ()


@dataclass(frozen=True)
class Stepping:
    """How time goes: `n_steps` steps of length `dt`, each of `substeps` steps of the scheme, some of them kept.

    A covariance takes the scheme "euler-maruyama".
    """

    dt: float
    n_steps: int
    scheme: str = "milstein"
    substeps: int = 1
    keep_every: int = 1


# -- regression ----------------------------------------------------------------------------------------------
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


#: Of the steps: from predicted variances, one array `(n_i - 1,)` per path, or all one.
Weights = Variance | Sequence[Array] | None


@dataclass(frozen=True)
class Target:
    """What is regressed: the increments of state `pair[0]`, or the products of two residual increments.

    `drift` holds the fitted drift of the two rows of a diffusion target, removed from the increments before they
    are multiplied; None leaves them raw. Without `squares` the products of terms with terms are not made, and zero:
    they are those of any target of the same steps, terms and weights. `given` holds targets `(n_i - 1,)` of the steps
    of every path that take the place of those of the increments.
    """

    pair: tuple[int, int]
    is_diffusion: bool = False
    drift: Fitted | None = None
    squares: bool = True
    given: Sequence[Array] | None = None


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

    def flat(self) -> Array:
        """All numbers one after the other; `of_flat` reads them."""
        return np.concatenate(
            [np.ravel(np.asarray(getattr(self, f.name), dtype=float)) for f in fields(self)]
        )

    @classmethod
    def of_flat(cls, numbers: Array, k: int) -> Sums:
        """What `flat` wrote, of a library of `k` terms."""
        (omega, cross, inner), (c, d) = (
            numbers[: 3 * k * k].reshape(3, k, k),
            numbers[3 * k * k : -3].reshape(2, k),
        )
        s, total, n = numbers[-3:].tolist()
        return cls(omega, cross, inner, c, d, s, total, int(n))

    def with_squares(self, other: Sums) -> Sums:
        """The same with the products of terms with terms of another."""
        return replace(self, omega=other.omega, cross=other.cross, inner=other.inner)

    def weighed(self, w: float) -> Sums:
        """Those with weights that are larger by the factor `w`."""
        weighted = {name: w * getattr(self, name) for name in ("omega", "cross", "inner", "c", "d", "s")}
        return replace(self, **weighted)

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
    below: Integers
    indefinite: int
    worst: float
    path: int
    sample: int


# -- sampler -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sweeps:
    """How long a chain is: `n_burn + n_samples * thin` sweeps, of which every `thin`-th after the burn-in is kept.

    Each sweep makes so many `exchanges`, moves that put one column in the place of another.
    """

    n_samples: int
    n_burn: int
    thin: int = 1
    exchanges: int = 1


class Chains(NamedTuple):
    """Draws of one or more chains of the sampler; columns and units as the caller has them."""

    samples: Array
    """Coefficients (chain, draw, K), zero outside the model."""
    included: Bools
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


# -- filter --------------------------------------------------------------------------------------------------
PLURALS = {"number": "numbers", "link": "links"}
"""How the tables are called that hold the parameters of a kind, where not by its name."""


class Parameter(NamedTuple):
    """One number of a state-space model.

    `kind` "drift": coefficient of `term` in the row `at`; "gamma": of `term` in the pair number `at`; "noise": variance
    of the channel `at`, `term` being 0, or of a pair of `shared` channels the covariance; "tails": the number `term` of
    those that shape its law; "kicks": the number `term` of those that shape the law of steps, `at` being 0; "number":
    one of the numbers that given expressions name, and "link": one of those that make the correlations of noises,
    neither of which a stage knows.
    """

    kind: Literal["drift", "gamma", "noise", "tails", "kicks", "number", "link"]
    at: int
    term: int = 0

    def of(self, model: HasTables) -> float:
        """Its value."""
        if self.kind == "tails":
            return model.tails[self.at][self.term]
        if self.kind == "kicks":
            return model.kicks[self.term]
        table: Array = np.asarray(getattr(model, PLURALS.get(self.kind, self.kind)))
        return float(table[self.at] if table.ndim == 1 else table[self.at, self.term])


class HasTables(Protocol):
    """Anything with the coefficients of a state-space model."""

    @property
    def drift(self) -> Array:
        """Coefficients of the drift `(m, K)`."""

    @property
    def gamma(self) -> Array:
        """Coefficients of Gamma `(n_pairs, K)`."""

    @property
    def noise(self) -> Array:
        """Variances of the noises `(q,)`."""

    @property
    def tails(self) -> tuple[tuple[float, ...], ...]:
        """What shapes the law of each `(q,)`, or nothing where all are normal."""

    @property
    def kicks(self) -> tuple[float, ...]:
        """What shapes the law of steps, or nothing where they are normal."""


@dataclass(frozen=True)
class StateSpace:
    r"""`dx = f dt + g dB` with `f = drift @ u(x)`, `(g g^T)[pair] = gamma @ u(x)`; `y = observation @ x + e`.

    Parameters
    ----------
    program : Program
        The K terms `u` over the m states, compiled by the backend that filters.
    drift : (m, K) array
    gamma : (n_pairs, K) array
    pairs : (i, j) of each row of `gamma`; other elements of Gamma are zero
    observation : (q, m) array
    noise : (q + len(shared),) array
        Variances of the noises `e`, then the covariances of those of `shared` channels; all others are independent.
    mean0, cov0 : (m,) and (m, m) array
        Normal law of the first state.
    floor : (m,) array
        Smallest Gamma_ii.
    max_step : float
        A longer step is predicted in several pieces.
    kinks : tuple of Kink
        Terms whose Gaussian expectation is taken in closed form.
    second_order : bool
        Local linearisation with averages over the state's uncertainty; False is an Euler step, the control of tests.
    given : tuple of int
        States that are known at every sample: the columns of the paths after the channels hold them, in this order.
    scaled : tuple of int
        Channels whose noise variance is multiplied at every sample: the columns after the given states hold factors.
    resets : tuple of (m, m) arrays
        Linear maps of the state after a sample, each where its column, after the factors, is not zero.
    tails : tuple of q tuples of float
        What the noise of each channel has beyond a normal law, `noise` being the variance of a scale: nothing of normal
        noise; one over the degrees of freedom of Student's law, normal of variance :math:`s^2/\lambda` with
        :math:`\lambda \sim \mathrm{Gamma}(\nu/2, \nu/2)`; or the share of wide readings and their standard deviation
        over that of the others. Empty where all are normal. Given the innovation the law of the state is taken as
        normal again, of the mean and covariance that it has, and the likelihood is the product of the densities of
        the innovations given those before.
    shared : tuple of (int, int)
        Pairs of channels whose noises at one sample have a covariance. Where a sample multiplies their variances the
        covariance is multiplied by the root of both factors: the correlation stays. None beside `tails`.
    kicks : tuple of float
        What shapes the law of the sizes of steps, factors of the covariance of the noise from sample to sample: nothing
        where all are one; one over the degrees of freedom of Student's law; or the share of jumps and the root of their
        size. The state is followed by a law for each mode, see `stats.sizes`; its modes are weighed by the readings,
        those alike put together, each normal of the mean and covariance that it has, and the likelihood is that of all
        of them. States, and regressions of the drift and the noise, are of steps each of its
        mean size given the readings. None beside `tails`, `resets` and a course.
    periods : tuple of q floats
        By how much the readings of each channel wrap, 0 of those that do not; empty where none does. Whole periods are
        added to a reading: of all but the first of a path so many that its innovation is within half a period,
        `-p/2 < r <= p/2`. Where the predicted reading has a variance of `p^2 / 4` or more, which does not tell places
        apart, as many are added as to the reading before, unless that is off by more than three standard deviations.
        The models of `filter_information` all take those of its model. None beside `kicks`.
    along : bool
        Whether each step is linearised about a normal law of the state that the paths hold, and not about the filter's
        own: the columns after all others are its mean and the lower triangle of its covariance, row by row, at the
        sample that the step leaves. A step of several pieces is linearised about it in its first piece. With the mean
        ``s`` of the law, the averages ``E u`` of the terms over it and over the noise of the step, and the Jacobian
        ``A`` at ``s``, the drift at ``x`` is ``E f + A (x - s)``. Nothing to a model whose terms are affine.
    """

    program: Program
    drift: Array
    gamma: Array
    pairs: tuple[tuple[int, int], ...]
    observation: Array
    noise: Array
    mean0: Array
    cov0: Array
    floor: Array
    max_step: float
    kinks: tuple[Kink, ...] = ()
    second_order: bool = True
    given: tuple[int, ...] = ()
    scaled: tuple[int, ...] = ()
    resets: tuple[Array, ...] = ()
    tails: tuple[tuple[float, ...], ...] = ()
    shared: tuple[tuple[int, int], ...] = ()
    kicks: tuple[float, ...] = ()
    periods: tuple[float, ...] = ()
    along: bool = False

    @property
    def course(self) -> int:
        """Columns of the paths that hold the law about which a step is linearised."""
        m = len(self.drift)
        return m * (m + 3) // 2 if self.along else 0

    def moved(self, parameter: Parameter, step: float) -> StateSpace:
        """The same with one parameter larger by `step`."""
        kind, at, term = parameter
        drift, gamma, noise = self.drift.copy(), self.gamma.copy(), self.noise.copy()
        if kind == "tails":
            law = [v + step * (k == term) for k, v in enumerate(self.tails[at])]
            return replace(self, tails=(*self.tails[:at], tuple(law), *self.tails[at + 1 :]))
        if kind == "kicks":
            return replace(self, kicks=tuple(v + step * (k == term) for k, v in enumerate(self.kicks)))
        if kind == "drift":
            drift[at, term] += step
        elif kind == "gamma":
            gamma[at, term] += step
        else:
            noise[at] += step
        return replace(self, drift=drift, gamma=gamma, noise=noise)
