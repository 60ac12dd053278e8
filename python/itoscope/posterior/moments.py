"""Moments: everything that a regression leaves behind for the sampler, with names; anybody's regression will do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Sums
from itoscope.common import checks
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.errors import DataError, NumericalError, argument_error
from itoscope.posterior.sampling import Sampling, sample
from itoscope.stats.exact import Exact
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Progress, Sampler
    from itoscope.posterior.equation import Equation

__all__ = ["Moments"]

#: How far rounding may take moments from being those of any data, relative to their size.
TOLERANCE = 1e-6
#: Samples that moments may be of: fewer leave a noise variance that no double can draw.
LEAST, MOST = 1e-3, 1e15
#: The array that marks a file of `Moments.save`; it holds the version of the layout.
OWN, VERSION = "itoscope_moments", 1


@dataclass(frozen=True, eq=False)
class Moments(Quadratic):
    """Sufficient statistics of a linear regression, with the names of its columns.

    ``yy - 2 moment.theta + theta.gram.theta`` is the residual sum of squares of the coefficients theta.

    Moments of disjoint data add: ``a + b`` are those of both, with the same bits in whatever order and groups they
    are added, on however many machines: the sums are kept without rounding.

    Parameters
    ----------
    gram : (K, K) array
        ``sum w u u^T`` over the samples, symmetric and positive semidefinite.
    moment : (K,) array
        ``sum w u y``.
    yy : float
        ``sum w y^2``.
    n : float
        Number of samples, positive.
    terms : sequence of K str, optional
        Names of the columns; `c1`, `c2`, ... if not given. Put simple terms first: of two columns that
        coincide, the first is kept.
    slab_scale : float
        Scale c of the slab, ``theta ~ N(0, s2 v c)``: a step over the correlation time where rows are steps of a drift,
        1 where a row is the natural unit; see `Prior`. Of a sum, the mean over the rows.
    sums : optional
        The additive sums that the moments were projected from; where both sides of a ``+`` have them, they are
        added and projected again, which is exact.
    exact : optional
        Of a sum, what was added without rounding.

    Raises
    ------
    ArgumentError
        For shapes that do not fit, values that are not finite, `n <= 0`, names that do not fit.
    DataError
        If no data could have these moments: a Gram matrix that is not symmetric or has a negative
        eigenvalue, a `yy` smaller than the columns explain.

    Examples
    --------
    Those of any regression, here of ``y = 2 c1`` with little noise beside a column that has no part in it:

    >>> import numpy as np, itoscope as ito
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(500, 2))
    >>> y = 2 * x[:, 0] + 0.1 * rng.normal(size=500)
    >>> sums = ito.Moments(x.T @ x, x.T @ y, float(y @ y), 500.0)
    >>> (sums + sums).n, sums.sample(seed=1).selected.tolist()
    (1000.0, [True, False])
    """

    terms: Sequence[str] | None = None
    slab_scale: float = field(default=1.0, kw_only=True)
    sums: Sums | None = field(default=None, repr=False)
    exact: Exact | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.terms is not None and not checks.is_list(self.terms):
            raise argument_error("terms", self.terms, "a list of names, one per column")
        gram = _array("gram", self.gram, 2)
        moment = _array("moment", self.moment, 1)
        k = moment.size
        if k == 0:
            raise argument_error("moment", self.moment, "one entry per column, at least one")
        if gram.shape != (k, k):
            raise argument_error("gram", f"an array of shape {gram.shape}", f"shape ({k}, {k}), as moment")
        terms = [f"c{i + 1}" for i in range(k)] if self.terms is None else [str(term) for term in self.terms]
        if len(terms) != k or len(set(terms)) != k:
            raise argument_error("terms", list(terms), f"{k} different names, one per column")
        n, yy = _count(self.n), checks.not_negative("yy", self.yy)
        checked = {
            "gram": _checked(gram, moment, yy),
            "moment": moment,
            "yy": yy,
            "n": n,
            "terms": tuple(terms),
            "slab_scale": checks.positive("slab_scale", self.slab_scale),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_sums(
        cls, sums: Sums, terms: Sequence[str], backend: Backend | None = None, *, slab_scale: float = 1.0
    ) -> Moments:
        """Project sums and keep them beside the moments, so that two `Moments` add exactly."""
        if sums.n == 0:
            raise DataError(
                "no step of the paths has a sample of every state at both of its ends: the regression has no row "
                "(every second sample missing? thin keeps those that are there)"
            )
        found = (backend or get_backend()).project(sums)
        return cls(found.gram, found.moment, found.yy, found.n, list(terms), sums, slab_scale=slab_scale)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.terms or ())

    def __add__(self, other: Quadratic) -> Moments:
        """Return the moments of both sets of data."""
        if not isinstance(other, Moments):
            return NotImplemented
        if self.terms != other.terms:
            raise argument_error("terms", list(other.names), f"the same terms as on the left, {self.terms}")
        by_sums = self.sums is not None and other.sums is not None
        return Moments._of_exact(self._exactly(by_sums) + other._exactly(by_sums), self.names)

    def _exactly(self, by_sums: bool) -> Exact:
        """The additive numbers: those of the sums or of the regression, then the slab's scale of all rows."""
        if self.exact is not None and by_sums == (self.sums is not None):
            return self.exact
        numbers = [self.gram.ravel(), self.moment, [self.yy, self.n]]
        if by_sums and self.sums is not None:
            numbers = [self.sums.flat()]
        return Exact.of(np.concatenate([*numbers, [self.n * self.slab_scale]]))

    @classmethod
    def _of_exact(cls, exact: Exact, terms: Sequence[str]) -> Moments:
        """Moments of what `_exactly` says of each part, added without rounding."""
        numbers, k = exact.rounded(), len(terms)
        if len(numbers) == k * k + k + 3:
            gram, moment, (yy, n, scale) = numbers[: k * k].reshape(k, k), numbers[k * k : -3], numbers[-3:]
            return cls(gram, moment, yy, n, terms, exact=exact, slab_scale=scale / n)
        sums = Sums.of_flat(numbers[:-1], k)
        made = cls.from_sums(sums, terms, slab_scale=numbers[-1] / max(sums.n, 1))
        return replace(made, exact=exact)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to an NPZ file, without pickle: `Moments.load` gives back the same bits, and so do its sums.

        Parameters
        ----------
        path : path-like
            Written whole or not at all.
        """
        from itoscope.common.writing import path_of, replacing

        by_sums = self.sums is not None
        arrays: dict[str, Any] = {
            OWN: VERSION,
            "gram": self.gram,
            "moment": self.moment,
            "numbers": np.array([self.yy, self.n, self.slab_scale]),
            "terms": np.array(self.names),
            "exact": self._exactly(by_sums).to_bytes(),
        }
        if self.sums is not None:
            arrays["sums"] = self.sums.flat()
        with replacing(path_of(path)) as beside, open(beside, "wb") as handle:
            np.savez_compressed(handle, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Moments:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        DataError
            For a file that is damaged, no file of moments, or of a newer version.
        """
        from itoscope.common.archives import read_archive
        from itoscope.common.reading import reading
        from itoscope.common.writing import path_of

        arrays = read_archive(path_of(path), "moments")
        with reading(path, "moments"):
            if OWN not in arrays:
                raise DataError(f"{path} holds no moments: Moments.save writes them")
            if arrays[OWN] > VERSION:
                raise DataError(f"{path} was written by a newer version of itoscope: update to read it")
            yy, n, scale = arrays["numbers"].tolist()
            terms = arrays["terms"].tolist()
            sums = Sums.of_flat(arrays["sums"], len(terms)) if "sums" in arrays else None
            exact = Exact.from_bytes(arrays["exact"])
            k = len(terms)
            if len(exact.units) != (k * k + k + 3 if sums is None else 3 * k * k + 2 * k + 4):
                raise ValueError("its numbers do not agree in their count")
            return cls(arrays["gram"], arrays["moment"], yy, n, terms, sums, slab_scale=scale, exact=exact)

    def subset(self, columns: Sequence[int]) -> Moments:
        """Return the moments with these columns only, in this order."""
        part = Quadratic.subset(self, columns)
        terms = [self.names[i] for i in columns]
        return replace(self, gram=part.gram, moment=part.moment, terms=terms, sums=None, exact=None)

    def sample(
        self,
        prior: Prior | None = None,
        *,
        sampler: Sampler = "auto",
        n_chains: int = 4,
        n_samples: int | Literal["auto"] = 2000,
        n_burn: int = 1000,
        seed: int | None = None,
        threshold: float = 0.5,
        thin: int | None = None,
        exchanges: int = 1,
        max_memory: float = 1e9,
        backend: str | None = None,
        progress: bool | Progress = None,
    ) -> Equation:
        """Sample the posterior over which terms are in the equation, and with what coefficients.

        Parameters
        ----------
        prior : Prior, optional
        sampler : {"auto", "gibbs", "exact"}
            Markov chains, or all ``2^K`` models of at most 20 columns with independent draws from their
            posterior. "auto" enumerates up to 12 columns, and more where that costs no more than the chains.
        n_chains : int
        n_samples : int or "auto"
            Sweeps of each chain after the burn-in; "auto" doubles them from 2000 until the Monte Carlo
            error of every PIP is below 0.01 (at most 128 000).
        n_burn : int
            Sweeps of each chain that are thrown away at its start.
        seed : int, optional
            Same seed, same answer, whatever the number of threads. None draws one; `Equation.seed` keeps it.
        threshold : float
            Terms whose inclusion probability exceeds it are selected; at one half, the most probable model is
            selected where it is another.
        thin : int, optional
            Keep every `thin`-th draw (inclusion probabilities average over all sweeps all the same). None
            keeps all that fit into `max_memory`.
        exchanges : int
            Exchange moves per sweep, see the documentation of the sampler.
        max_memory : float
            Bytes that the kept draws may take: ``17 n_chains n_draws K``.
        backend : {"rust", "reference"}, optional
        progress : bool or callable, optional
            True shows a bar on a terminal; a callable receives the number of sweeps (models, for "exact") done.

        Returns
        -------
        Equation

        Raises
        ------
        ArgumentError
            For a setting outside its range, or more than 20 columns with ``sampler="exact"``.
        NumericalError
            Where the arithmetic overflows.
        """
        settings = Sampling(
            sampler, n_chains, n_samples, n_burn, seed, threshold, thin, exchanges, max_memory, backend
        )
        total, unit = settings.work
        with Reporter(progress).stage("sampling", total, unit) as count:
            asked = Prior() if prior is None else checks.instance("prior", prior, Prior, "a Prior")
            asked = asked.scaled(self.slab_scale)
            try:
                return sample(self, self.names, asked, settings, count)
            except (ArithmeticError, np.linalg.LinAlgError) as problem:
                raise NumericalError(
                    f"the numbers of these moments leave the range of floating point ({problem}): bring the target and "
                    "the columns to units in which they are nearer to one"
                ) from problem


def _count(n: float) -> float:
    """A number of samples; it may be a fraction, as weights make it one."""
    allowed = "a positive, finite number from 0.001 to 1e15"
    number = checks.positive("n", n, allowed)
    if not LEAST <= number <= MOST:
        raise argument_error("n", n, allowed)
    return number


def _array(name: str, value: object, ndim: int) -> Array:
    array = checks.reals(name, value)
    if array.ndim != ndim:
        raise argument_error(name, f"an array of shape {array.shape}", f"an array with {ndim} dimension(s)")
    if not np.isfinite(array).all():
        raise argument_error(name, "an array with infinity", "finite numbers")
    return np.array(array)


def _checked(gram: Array, moment: Array, yy: float) -> Array:
    """Return the symmetric part of `gram` if some data could have these moments, up to rounding."""
    diagonal = np.diag(gram)
    if (diagonal < 0).any():
        k = int(np.argmin(diagonal))
        raise DataError(f"gram[{k}, {k}] = {diagonal[k]:g}: a sum of squares, zero or positive")
    size = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    cosine, projection = gram / np.outer(size, size), moment / size
    asymmetry = np.abs(cosine - cosine.T)
    if asymmetry.max() > TOLERANCE:
        i, j = np.unravel_index(int(np.argmax(asymmetry)), asymmetry.shape)
        raise DataError(
            f"gram[{i}, {j}] = {gram[i, j]:g}, gram[{j}, {i}] = {gram[j, i]:g}: a Gram matrix is symmetric"
        )
    symmetric = 0.5 * (cosine + cosine.T)
    eigenvalues, vectors = np.linalg.eigh(symmetric)
    if eigenvalues[0] < -TOLERANCE * max(1.0, eigenvalues[-1]):
        raise DataError(
            f"gram has the eigenvalue {eigenvalues[0]:.3g} when scaled to unit diagonal: "
            "a Gram matrix is positive semidefinite"
        )
    # What the well-determined directions explain cannot exceed the sum of squares of the target.
    solid = eigenvalues > 1e-8 * eigenvalues[-1] if eigenvalues[-1] > 0 else eigenvalues > 0
    explained = float(((vectors[:, solid].T @ projection) ** 2 / eigenvalues[solid]).sum())
    if explained > yy * (1 + TOLERANCE) + 1e-300:
        raise DataError(
            f"yy = {yy:g}: at least {explained:g}, the sum of squares that the columns explain "
            "(moment and gram are not from the same data?)"
        )
    return np.asarray(0.5 * (gram + gram.T))
