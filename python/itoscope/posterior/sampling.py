"""From a regression to an `Equation`: aliases, chains or all models, the coefficients of the selected model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Chains, Sweeps
from itoscope.common import checks
from itoscope.posterior.equation import Equation
from itoscope.stats.convergence import mcse_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from itoscope.backends.protocol import Backend
    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Progress, Sampler
    from itoscope.stats.quadratic import Quadratic

__all__ = ["ALIAS", "Sampling", "find_aliases", "sample"]

Scalar = TypeVar("Scalar", bound=np.generic)

#: Columns whose correlation exceeds this in size coincide on the data.
ALIAS = 1 - 1e-9
#: Condition number of the scaled Gram matrix above which the answer may hang on rounding: its square root
#: is what the data lose in accuracy, here half of the sixteen digits.
CONDITION = 1e12
#: Monte Carlo error of a PIP that "auto" is content with, where it starts and where it gives up.
AUTO_ERROR, AUTO_START, AUTO_END = 0.01, 2000, 128_000
#: Spread of a PIP between chains that is called a disagreement: ten times the error that "auto" aims at.
DISAGREEMENT = 0.1
BYTES_PER_ENTRY = 17  # two floats and a flag


@dataclass(frozen=True)
class Sampling:
    """How a posterior is sampled; `Moments.sample` says what each setting means.

    Raises
    ------
    ArgumentError
        For a setting outside its range.
    """

    sampler: Sampler = "gibbs"
    n_chains: int = 4
    n_samples: int | Literal["auto"] = 2000
    n_burn: int = 1000
    seed: int | None = None
    threshold: float = 0.5
    thin: int | None = None
    exchanges: int = 1
    max_memory: float = 1e9
    backend: str | None = None

    def __post_init__(self) -> None:
        checks.choice("sampler", self.sampler, ("gibbs", "exact"))
        checks.count("n_chains", self.n_chains)
        checks.count("n_burn", self.n_burn, 0)
        checks.count("exchanges", self.exchanges, 0)
        if self.thin is not None:
            checks.count("thin", self.thin)
        if self.n_samples != "auto":
            checks.count("n_samples", self.n_samples, also=" or 'auto'")
        checks.share("threshold", self.threshold)
        checks.positive("max_memory", self.max_memory, "a positive number of bytes")
        object.__setattr__(self, "seed", checks.seed(self.seed))
        get_backend(self.backend)

    @property
    def draws(self) -> int:
        """Sweeps of each chain after the burn-in, the first of them where their number is sought."""
        return AUTO_START if self.n_samples == "auto" else int(self.n_samples)

    @property
    def work(self) -> tuple[int | None, str]:
        """Units of work of all chains, if that is known, and their name."""
        if self.sampler == "exact":
            return None, "models"
        total = None if self.n_samples == "auto" else int(self.n_chains) * (self.draws + int(self.n_burn))
        return total, "sweeps"


@dataclass(frozen=True)
class _Drawn:
    """What chains or all models say of the columns that were tried: inclusion, its error, and what to tell."""

    chains: Chains
    pip: Array
    mcse: Array
    notes: list[str]
    log_mass: Array | None = None


def find_aliases(quadratic: Quadratic, terms: Sequence[str]) -> tuple[list[int], dict[str, list[str]]]:
    """Return the columns to keep, and for each that stands for others the names of those.

    Columns coincide if their correlation exceeds `ALIAS` in size. The first of a group is kept: libraries
    put simple terms first.
    """
    same = np.abs(quadratic.correlation()) > ALIAS
    keep: list[int] = []
    aliases: dict[str, list[str]] = {}
    gone = np.zeros(len(terms), dtype=bool)
    for k in range(len(terms)):
        if gone[k]:
            continue
        keep.append(k)
        others = [int(j) for j in np.flatnonzero(same[k]) if j > k and not gone[j]]
        if others:
            aliases[terms[k]] = [terms[j] for j in others]
            gone[others] = True
    return keep, aliases


def sample(
    quadratic: Quadratic,
    terms: Sequence[str],
    prior: Prior,
    settings: Sampling,
    progress: Progress = None,
) -> Equation:
    """The posterior over which of the K `terms` are in the equation, and with what coefficients.

    Parameters
    ----------
    quadratic : Quadratic
        The regression; the equation keeps it.
    terms : K names, simple ones first
    prior : Prior
    settings : Sampling
    progress : callable, optional
        Receives the sweeps (models, where all are enumerated) done.
    """
    stages = get_backend(settings.backend)
    keep, aliases = find_aliases(quadratic, terms)
    reduced, names = quadratic.subset(keep), [terms[k] for k in keep]
    draw = _exact if settings.sampler == "exact" else _gibbs
    drawn = draw(stages, reduced, prior, settings, names, len(terms), progress)
    selected = drawn.pip > settings.threshold
    _, mean, cov = stages.model_posterior(reduced, prior, np.ascontiguousarray(selected))

    def widen(values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Put the kept columns where they belong among all; the others are zero."""
        wide = np.zeros((*values.shape[:-1], len(terms)), dtype=values.dtype)
        wide[..., keep] = values
        return wide

    full_cov = np.zeros((len(terms), len(terms)))
    full_cov[np.ix_(keep, keep)] = cov
    chains = drawn.chains
    return Equation(
        terms=list(terms),
        pip=widen(drawn.pip),
        pip_mcse=widen(drawn.mcse),
        mean=widen(mean),
        cov=full_cov,
        selected=widen(selected),
        samples=widen(chains.samples),
        included=widen(chains.included),
        inclusion=widen(chains.inclusion),
        noise_var=chains.noise_var,
        slab_var=chains.slab_var,
        p0=chains.p0,
        work=chains.work,
        aliases=aliases,
        warnings=[*_notes(reduced, names, aliases), *drawn.notes],
        threshold=float(settings.threshold),
        sampler=settings.sampler,
        seed=int(settings.seed or 0),
        degrees=2 * prior.a_s + quadratic.n,
        log_mass=drawn.log_mass,
        moments=quadratic,
        prior=prior,
        backend=settings.backend,
    )


def _gibbs(
    stages: Backend,
    quadratic: Quadratic,
    prior: Prior,
    settings: Sampling,
    names: Sequence[str],
    n_terms: int,
    progress: Progress,
) -> _Drawn:
    """Chains; with "auto", longer and longer ones until the error of every inclusion probability is small."""
    n_chains, auto = int(settings.n_chains), settings.n_samples == "auto"

    def run(count: int) -> tuple[Chains, Array]:
        """Chains that keep `count` draws, or as many as fit into the memory; and their errors."""
        fits = max(1, int(np.ceil(BYTES_PER_ENTRY * n_chains * count * n_terms / settings.max_memory)))
        thin = settings.thin or fits
        sweeps = Sweeps(max(1, count // thin), int(settings.n_burn), thin, int(settings.exchanges))
        chains = stages.sample_chains(
            quadratic, prior, sweeps, n_chains=n_chains, seed=int(settings.seed or 0), progress=progress
        )
        return chains, mcse_mean(chains.inclusion)

    count = settings.draws
    chains, mcse = run(count)
    while auto and not np.nanmax(mcse) < AUTO_ERROR and count < AUTO_END:
        count *= 2
        chains, mcse = run(count)
    pip: Array = chains.inclusion.mean(axis=(0, 1))
    return _Drawn(chains, pip, mcse, _disagreement(names, chains, mcse, auto))


def _exact(
    stages: Backend,
    quadratic: Quadratic,
    prior: Prior,
    settings: Sampling,
    names: Sequence[str],
    n_terms: int,
    progress: Progress,
) -> _Drawn:
    """All models, and as many draws from them as chains would give."""
    log_mass = stages.enumerate_models(quadratic, prior, progress=progress)
    shape = (int(settings.n_chains), settings.draws)
    one = stages.exact_draws(
        quadratic,
        prior,
        log_mass=log_mass,
        n_draws=shape[0] * shape[1],
        seed=int(settings.seed or 0),
        draws=None,
    )
    folded = {name: getattr(one, name) for name in Chains._fields if name != "work"}
    chains = one._replace(**{k: values.reshape(*shape, *values.shape[2:]) for k, values in folded.items()})
    usable = np.flatnonzero(np.diag(quadratic.gram) > 0)
    pip = np.zeros(len(names))
    pip[usable] = _exact_pip(log_mass, usable.size)
    return _Drawn(chains, pip, np.zeros(len(names)), [], log_mass)


def _exact_pip(log_mass: Array, n_usable: int) -> Array:
    """Return the share of the mass in the models that have each usable column."""
    mass = np.exp(log_mass - log_mass.max())
    model = np.arange(mass.size)
    pip: Array = np.array([mass[model >> k & 1 == 1].sum() for k in range(n_usable)]) / mass.sum()
    return pip


def _notes(quadratic: Quadratic, names: Sequence[str], aliases: dict[str, list[str]]) -> list[str]:
    """Return what a reader should know about the columns before trusting the answer."""
    notes = []
    if aliases:
        groups = "; ".join(" = ".join((kept, *others)) for kept, others in aliases.items())
        notes.append(
            f"on these data some terms cannot be told apart, and only the first of each was tried: {groups}"
        )
    zero = [name for name, square in zip(names, np.diag(quadratic.gram)) if square == 0]
    if zero:
        notes.append(f"zero everywhere on these data and never selected: {', '.join(zero)}")
    cosine = quadratic.correlation()
    used = np.diag(cosine) > 0
    if used.any():
        eigenvalues = np.linalg.eigvalsh(cosine[np.ix_(used, used)])
        condition = eigenvalues[-1] / max(eigenvalues[0], 1e-300)
        if condition > CONDITION:
            notes.append(
                f"the terms are nearly dependent on these data (condition number {min(condition, 1e16):.0e} "
                f"of their scaled Gram matrix, over {CONDITION:.0e}): other sets of terms may fit as well"
            )
    return notes


def _disagreement(names: Sequence[str], chains: Chains, mcse: Array, auto: bool) -> list[str]:
    """Return a sentence if the chains tell different stories, or if "auto" gave up."""
    notes = []
    by_chain = chains.inclusion.mean(axis=1)
    apart = np.flatnonzero(np.ptp(by_chain, axis=0) > DISAGREEMENT)
    if apart.size:
        which = ", ".join(
            f"{names[k]} ({by_chain[:, k].min():.2f} to {by_chain[:, k].max():.2f})" for k in apart[:5]
        )
        notes.append(f"the chains disagree on the inclusion of {which}: take more samples")
    if auto and not np.nanmax(mcse) < AUTO_ERROR:
        notes.append(
            f"after {AUTO_END} sweeps of each chain the largest error of an inclusion probability "
            f"is still {np.nanmax(mcse):.3f}, more than {AUTO_ERROR}"
        )
    return notes
