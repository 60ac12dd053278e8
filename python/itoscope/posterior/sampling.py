"""From moments to an `Equation`: aliases, chains, the coefficients of the selected model."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from itoscope.backends import get_backend
from itoscope.backends.protocol import Backend
from itoscope.backends.records import Chains
from itoscope.common.types import Array, Progress
from itoscope.errors import argument_error
from itoscope.posterior.equation import Equation
from itoscope.stats.convergence import mcse_mean

if TYPE_CHECKING:
    from itoscope.common.prior import Prior
    from itoscope.posterior.moments import Moments

__all__ = ["ALIAS", "find_aliases", "sample"]

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


def find_aliases(moments: Moments) -> tuple[list[int], dict[str, list[str]]]:
    """Return the columns to keep, and for each that stands for others the names of those.

    Columns coincide if their correlation exceeds `ALIAS` in size. The first of a group is kept: libraries
    put simple terms first.
    """
    names = moments.terms or ()
    same = np.abs(moments.correlation()) > ALIAS
    keep: list[int] = []
    aliases: dict[str, list[str]] = {}
    gone = np.zeros(len(names), dtype=bool)
    for k in range(len(names)):
        if gone[k]:
            continue
        keep.append(k)
        others = [int(j) for j in np.flatnonzero(same[k]) if j > k and not gone[j]]
        if others:
            aliases[names[k]] = [names[j] for j in others]
            gone[others] = True
    return keep, aliases


def sample(
    moments: Moments,
    prior: Prior,
    *,
    sampler: str,
    n_chains: int,
    n_samples: int | str,
    n_burn: int,
    seed: int | None,
    threshold: float,
    thin: int | None,
    exchanges: int,
    max_memory: float,
    backend: str | None,
    progress: Progress,
) -> Equation:
    """Sample the posterior; see `Moments.sample`."""
    if sampler not in ("gibbs", "exact"):
        raise argument_error("sampler", sampler, "one of 'gibbs', 'exact'")
    _whole("n_chains", n_chains, 1)
    _whole("n_burn", n_burn, 0)
    _whole("exchanges", exchanges, 0)
    if thin is not None:
        _whole("thin", thin, 1)
    if n_samples != "auto":
        _whole("n_samples", n_samples, 1, " or 'auto'")
    if not 0 < threshold < 1:
        raise argument_error("threshold", threshold, "a number between 0 and 1, both excluded")
    if not max_memory > 0:
        raise argument_error("max_memory", max_memory, "a positive number of bytes")
    if seed is None:
        seed = secrets.randbits(63)
    elif not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**64):
        raise argument_error("seed", seed, "a whole number from 0 to 2^64 - 1, or None")
    stages = get_backend(backend)

    keep, aliases = find_aliases(moments)
    reduced = moments.subset(keep)
    notes = _notes(reduced, aliases)
    log_mass: Array | None = None
    if sampler == "exact":
        count = AUTO_START if n_samples == "auto" else int(n_samples)
        chains, log_mass = _exact(stages, reduced, prior, n_chains, count, int(seed), progress)
        usable = np.flatnonzero(np.diag(reduced.gram) > 0)
        pip = np.zeros(len(keep))
        pip[usable] = _exact_pip(log_mass, usable.size)
        mcse = np.zeros(len(keep))
    else:

        def run(count: int) -> Chains:
            step = thin or max(
                1, int(np.ceil(BYTES_PER_ENTRY * n_chains * count * len(moments.terms or ()) / max_memory))
            )
            return stages.sample_chains(
                reduced.gram,
                reduced.moment,
                reduced.yy,
                reduced.n,
                prior,
                n_chains=n_chains,
                n_samples=max(1, count // step),
                n_burn=n_burn,
                thin=step,
                exchanges=exchanges,
                seed=int(seed),
                progress=progress,
            )

        count = AUTO_START if n_samples == "auto" else int(n_samples)
        chains = run(count)
        mcse = mcse_mean(chains.inclusion)
        while n_samples == "auto" and not np.nanmax(mcse) < AUTO_ERROR and count < AUTO_END:
            count *= 2
            chains = run(count)
            mcse = mcse_mean(chains.inclusion)
        pip = chains.inclusion.mean(axis=(0, 1))
        notes += _disagreement(reduced, chains, mcse, n_samples == "auto")

    selected = pip > threshold
    _, mean, cov = stages.model_posterior(
        reduced.gram, reduced.moment, reduced.yy, reduced.n, prior, np.ascontiguousarray(selected)
    )
    k = len(moments.terms or ())

    def widen(values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Put the kept columns where they belong among all; the others are zero."""
        wide = np.zeros((*values.shape[:-1], k), dtype=values.dtype)
        wide[..., keep] = values
        return wide

    full_cov = np.zeros((k, k))
    full_cov[np.ix_(keep, keep)] = cov
    return Equation(
        terms=list(moments.terms or ()),
        pip=widen(pip),
        pip_mcse=widen(mcse),
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
        warnings=notes,
        threshold=float(threshold),
        sampler=sampler,
        seed=int(seed),
        degrees=2 * prior.a_s + moments.n,
        log_mass=log_mass,
        moments=moments,
        prior=prior,
        backend=backend,
    )


def _whole(name: str, value: object, least: int, also: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise argument_error(name, value, f"a whole number, at least {least}{also}")


def _exact(
    stages: Backend,
    moments: Moments,
    prior: Prior,
    n_chains: int,
    n_samples: int,
    seed: int,
    progress: Progress,
) -> tuple[Chains, Array]:
    """Enumerate all models and draw from them as many as chains would."""
    data = (moments.gram, moments.moment, moments.yy, moments.n, prior)
    log_mass = stages.enumerate_models(*data, progress=progress)
    drawn = stages.exact_draws(*data, log_mass=log_mass, n_draws=n_chains * n_samples, seed=seed, draws=None)
    shape = (n_chains, n_samples)
    arrays = {
        name: getattr(drawn, name).reshape(*shape, *getattr(drawn, name).shape[2:])
        for name in Chains._fields
        if name != "work"
    }
    return Chains(**arrays, work=drawn.work), log_mass


def _exact_pip(log_mass: Array, n_usable: int) -> Array:
    """Return the share of the mass in the models that have each usable column."""
    mass = np.exp(log_mass - log_mass.max())
    model = np.arange(mass.size)
    pip: Array = np.array([mass[model >> k & 1 == 1].sum() for k in range(n_usable)]) / mass.sum()
    return pip


def _notes(moments: Moments, aliases: dict[str, list[str]]) -> list[str]:
    """Return what a reader should know about the columns before trusting the answer."""
    notes = []
    if aliases:
        groups = "; ".join(" = ".join((kept, *others)) for kept, others in aliases.items())
        notes.append(
            f"on these data some terms cannot be told apart, and only the first of each was tried: {groups}"
        )
    zero = [name for name, square in zip(moments.terms or (), np.diag(moments.gram)) if square == 0]
    if zero:
        notes.append(f"zero everywhere on these data and never selected: {', '.join(zero)}")
    cosine = moments.correlation()
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


def _disagreement(moments: Moments, chains: Chains, mcse: Array, auto: bool) -> list[str]:
    """Return a sentence if the chains tell different stories, or if "auto" gave up."""
    notes = []
    by_chain = chains.inclusion.mean(axis=1)
    apart = np.flatnonzero(np.ptp(by_chain, axis=0) > DISAGREEMENT)
    if apart.size:
        which = ", ".join(
            f"{(moments.terms or ())[k]} ({by_chain[:, k].min():.2f} to {by_chain[:, k].max():.2f})"
            for k in apart[:5]
        )
        notes.append(f"the chains disagree on the inclusion of {which}: take more samples")
    if auto and not np.nanmax(mcse) < AUTO_ERROR:
        notes.append(
            f"after {AUTO_END} sweeps of each chain the largest error of an inclusion probability "
            f"is still {np.nanmax(mcse):.3f}, more than {AUTO_ERROR}"
        )
    return notes
