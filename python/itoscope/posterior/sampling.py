"""From a regression to an `Equation`: chains or all models, the selected model and its coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Chains, Sweeps
from itoscope.common import checks
from itoscope.errors import NumericalError
from itoscope.posterior.columns import find_aliases, notes_of, sound
from itoscope.posterior.equation import Equation
from itoscope.posterior.said import Always, Said
from itoscope.posterior.visited import visited
from itoscope.posterior.widened import Widened
from itoscope.stats.convergence import mcse_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools, Progress, Sampler
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Sampling", "groups", "sample"]

#: Monte Carlo error of a PIP that "auto" is content with, where it starts and where it gives up.
AUTO_ERROR, AUTO_START, AUTO_END = 0.01, 2000, 128_000
#: Spread of a PIP between chains that is called a disagreement: ten times the error that "auto" aims at.
DISAGREEMENT = 0.1
#: "auto" enumerates up to so many models, and more where the sweeps of the chains are more than so many a model.
AUTO_MODELS, SWEEPS_PER_MODEL = 4096, 2
#: The median model is held against so many of the most visited ones; its threshold is the one where that is asked.
RIVALS, MEDIAN = 20, 0.5
#: Columns of a larger correlation in size are a group where none is certain and one of them is: more than `SURE`.
GROUP, SURE = 0.98, 0.9
#: The most columns whose models are enumerated.
MAX_COLUMNS = 20
BYTES_PER_ENTRY = 17  # two floats and a flag
NOTHING = Said()
#: Chains, sweeps of all of them, exchanges of a sweep: days of work, and less than what counts them can hold.
MOST_CHAINS, MOST_SWEEPS, MOST_EXCHANGES = 10_000, 2**40, 10_000


@dataclass(frozen=True)
class Sampling:
    """How a posterior is sampled; `Moments.sample` says what each setting means.

    Raises
    ------
    ArgumentError
        For a setting outside its range.
    """

    sampler: Sampler = "auto"
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
        checks.choice("sampler", self.sampler, ("auto", "gibbs", "exact"))
        n_chains = checks.count("n_chains", self.n_chains, most=MOST_CHAINS)
        each = MOST_SWEEPS // n_chains
        checks.count("n_burn", self.n_burn, 0, most=each)
        checks.count("exchanges", self.exchanges, 0, most=MOST_EXCHANGES)
        if self.thin is not None:
            checks.count("thin", self.thin, most=each)
        if not isinstance(self.n_samples, str) or self.n_samples != "auto":
            checks.count("n_samples", self.n_samples, most=each, also=" or 'auto'")
        checks.share("threshold", self.threshold)
        checks.positive("max_memory", self.max_memory, "a positive number of bytes")
        object.__setattr__(self, "seed", checks.seed(self.seed))
        get_backend(self.backend)

    @property
    def draws(self) -> int:
        """Sweeps of each chain after the burn-in, the first of them where their number is sought."""
        return AUTO_START if self.n_samples == "auto" else int(self.n_samples)

    def thinning(self, count: int, n_terms: int) -> int:
        """Of how many of `count` draws of each chain one is kept, so that they fit into the memory."""
        size = BYTES_PER_ENTRY * int(self.n_chains) * count * n_terms
        return self.thin or max(1, int(np.ceil(size / self.max_memory)))

    def enumerates(self, n_columns: int) -> bool:
        """Whether all models of so many columns are looked at: where asked, or where it costs no more than chains."""
        if self.sampler != "auto":
            return self.sampler == "exact"
        sweeps = int(self.n_chains) * (self.draws + int(self.n_burn))
        return n_columns <= MAX_COLUMNS and 2**n_columns <= max(AUTO_MODELS, sweeps // SWEEPS_PER_MODEL)

    @property
    def work(self) -> tuple[int | None, str]:
        """Units of work of all chains, if that is known, and their name."""
        if self.sampler != "gibbs":
            return None, "models" if self.sampler == "exact" else "sweeps"
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


def sample(
    quadratic: Quadratic,
    terms: Sequence[str],
    prior: Prior,
    settings: Sampling,
    progress: Progress = None,
    said: Said = NOTHING,
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
    said : Said, optional
        Terms that are in no model, of whose columns the equation keeps nothing; in every one; bounds of coefficients.
        An equation of more than excluded terms keeps no regression: its models are those of the draws.
    """
    stages, seed = get_backend(settings.backend), int(settings.seed or 0)
    always, left = Always.of(quadratic, terms, said)
    left, keep, aliases = _tried(left, terms, said, always)
    reduced, names = sound(left.subset(keep)), [terms[k] for k in keep]
    exact = settings.enumerates(int((np.diag(reduced.gram) > 0).sum()))
    drawn = (_exact if exact else _gibbs)(stages, reduced, prior, settings, names, len(terms), progress)
    wide = Widened(terms, keep, always, said.limits(terms), reduced)
    draws = wide.draws(drawn.chains, drawn.pip, seed)
    broken = wide.broken(draws)
    if broken is not None:
        return sample(quadratic, terms, prior, settings, progress, said.without(terms[broken]))
    draws = wide.within(draws, seed)
    if draws.bounded:
        drawn = replace(drawn, chains=draws.chains, pip=draws.pip[keep], log_mass=None)
    chosen, mean, cov = _select(stages, prior, drawn, settings.threshold, wide)
    selected = wide.widen(chosen)
    selected[always.columns] = True
    degrees = 2 * prior.a_s + left.n
    _require_finite(drawn, mean, cov if degrees > 2.0 else np.zeros(1))
    return Equation(
        terms=list(terms),
        pip=draws.pip,
        pip_mcse=wide.widen(drawn.mcse),
        mean=mean,
        cov=cov,
        selected=selected,
        samples=draws.samples,
        included=draws.included,
        inclusion=draws.inclusion,
        noise_var=drawn.chains.noise_var,
        slab_var=drawn.chains.slab_var,
        p0=drawn.chains.p0,
        work=drawn.chains.work,
        aliases=aliases,
        warnings=[
            *(notes_of(reduced, names, aliases) if said.weighed or reduced.gram.any() else []),
            *wide.coinciding(),
            *wide.against(draws),
            *drawn.notes,
            *groups(reduced, names, drawn.pip, drawn.chains.included),
            *_spread(degrees, selected),
        ],
        threshold=float(settings.threshold),
        sampler="exact" if exact else "gibbs",
        seed=seed,
        degrees=degrees,
        log_mass=drawn.log_mass if said.weighed else None,
        moments=left if said.weighed else None,
        prior=prior,
        backend=settings.backend,
        limits=said.shown(terms),
    )


def _tried(
    quadratic: Quadratic, terms: Sequence[str], said: Said, always: Always
) -> tuple[Quadratic, list[int], dict[str, list[str]]]:
    """The regression with zeros for the columns that are not weighed, those that are tried, and their aliases."""
    out = {k for k, term in enumerate(terms) if term in said.excluded} | {*always.columns, *always.coincide}
    left = _without(quadratic, sorted(out))
    keep, aliases = find_aliases(left, terms)
    return left, [k for k in keep if k not in out] or sorted(out)[:1], aliases


def _without(quadratic: Quadratic, columns: list[int]) -> Quadratic:
    """The same regression, and of the same kind, with zeros for these columns."""
    if not columns:
        return quadratic
    gram, moment = quadratic.gram.copy(), quadratic.moment.copy()
    gram[columns], gram[:, columns], moment[columns] = 0.0, 0.0, 0.0
    return replace(quadratic, gram=gram, moment=moment)


def _require_finite(drawn: _Drawn, mean: Array, cov: Array) -> None:
    """Raise unless everything that was drawn or worked out is a number."""
    found = {name: getattr(drawn.chains, name) for name in Chains._fields if name != "work"}
    found |= {"pip": drawn.pip, "mean": mean, "cov": cov}
    for name, values in found.items():
        if not np.isfinite(values).all():
            raise NumericalError(
                f"{name} of the posterior leaves the range of floating point: bring the target and the columns to "
                "units in which they are nearer to one, or choose a less extreme prior"
            )


def _spread(degrees: float, selected: Bools) -> list[str]:
    """A sentence where the coefficients have a distribution without a variance."""
    if degrees > 2.0 or not selected.any():
        return []
    return [
        f"so few rows leave {degrees:.3g} degrees of freedom, with which a coefficient has no finite variance: its "
        "standard deviation is infinite"
    ]


def _select(
    stages: Backend, prior: Prior, drawn: _Drawn, threshold: float, wide: Widened
) -> tuple[Bools, Array, Array]:
    """The tried columns of the model that is shown, and mean and covariance of the coefficients of all terms.

    That of the terms more probable than the threshold; where this is the median model (a threshold of one half), the
    most probable model in its place if it is another: the median model may be one that hardly any draw visits.
    """
    median = drawn.pip > threshold
    rivals = [median]
    if threshold == MEDIAN:
        rivals += list(
            _visited(drawn.chains) if drawn.log_mass is None else _heaviest(drawn.log_mass, wide.reduced)
        )
    found = []
    for model in rivals:
        height, mean, cov = stages.model_posterior(wide.reduced, prior, np.ascontiguousarray(model))
        share, mean, cov = wide.law(mean, cov)
        found.append((model, height + share, mean, cov))
    selected, _, mean, cov = max(found, key=lambda one: one[1])
    return selected, mean, cov


def _visited(chains: Chains) -> Bools:
    """The `RIVALS` models that most draws are of."""
    return visited(chains.included.reshape(-1, chains.included.shape[-1]), RIVALS)[0]


def _heaviest(log_mass: Array, quadratic: Quadratic) -> Bools:
    """The most probable of all models: the draws may have missed it."""
    usable = np.flatnonzero(np.diag(quadratic.gram) > 0)
    model = np.zeros((1, len(quadratic.gram)), dtype=bool)
    model[0, usable] = int(log_mass.argmax()) >> np.arange(usable.size) & 1 == 1
    return model


def groups(quadratic: Quadratic, names: Sequence[str], pip: Array, included: Bools) -> list[str]:
    """A sentence for nearly equal columns of which one is in the equation, though none of them with certainty.

    Parameters
    ----------
    quadratic : Quadratic
        The regression on the K columns.
    names : sequence of K str
    pip : (K,) array
        Inclusion probabilities.
    included : (..., K) bool array
        Models, each as often as it is probable.
    """
    near = np.abs(quadratic.correlation()) > GROUP
    open_ = (pip < SURE) & (np.diag(quadratic.gram) > 0)
    notes, told = [], np.zeros(len(names), dtype=bool)
    for k in np.argsort(-pip, kind="stable").tolist():
        group = np.flatnonzero(near[k] & open_ & ~told).tolist()
        if told[k] or not open_[k] or len(group) < 2:
            continue
        joint = float(included[..., group].any(axis=-1).mean())
        if joint > SURE:
            told[group] = True
            each = ", ".join(f"{names[j]} {pip[j]:.2f}" for j in group)
            listed = ", ".join(names[j] for j in group)
            notes.append(f"one of {listed}: {joint:.2f} (nearly equal on these data; {each})")
    return notes


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
        thin = settings.thinning(count, n_terms)
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
    shape = (int(settings.n_chains), max(1, settings.draws // settings.thinning(settings.draws, n_terms)))
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
    return np.minimum(pip, 1.0)  # two sums in another order


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
