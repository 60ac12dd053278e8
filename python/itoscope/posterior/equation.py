"""`Equation`: which terms are in one equation, with what coefficients, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.common.pickles import filled
from itoscope.posterior import words
from itoscope.posterior.columns import sound
from itoscope.posterior.visited import visited
from itoscope.stats.convergence import Convergence, convergence
from itoscope.stats.positive import positive_interval
from itoscope.stats.student import student_quantile

if TYPE_CHECKING:
    from itoscope.common.prior import Prior
    from itoscope.common.types import Array, Bools
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Equation", "Model", "Table"]

#: There is doubt between models where the most probable one has less of the probability.
DOUBT = 0.8
#: So many of the most probable models are averaged over.
AVERAGED = 20


@dataclass(frozen=True)
class Model:
    """One model among those visited: its `terms`, its posterior `mass`, its coefficients given the model."""

    terms: tuple[str, ...]
    mass: float
    mean: dict[str, float]
    sd: dict[str, float]


class Table(list[dict[str, Any]]):
    """Rows as dictionaries (so ``pandas.DataFrame(table)`` works) that print as aligned columns."""

    def __str__(self) -> str:
        if not self:
            return "(empty)"
        head = list(self[0])
        cells = [head] + [[_cell(row[name]) for name in head] for row in self]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        lines = []
        for row in cells:
            first, *rest = (
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
            )
            lines.append("  ".join([first, *rest]).rstrip())
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class Equation:
    """The posterior of one equation ``y = sum_k theta_k term_k``.

    Attributes
    ----------
    terms : list of K str
    pip : (K,) array
        Inclusion probabilities: the average of ``p(Z_k = 1 | rest)`` over all sweeps (Rao-Blackwell), or
        the exact ones with ``sampler="exact"``.
    pip_mcse : (K,) array
        Monte Carlo standard error of `pip`, ArviZ's definition.
    mean, cov : (K,) and (K, K) array
        Coefficients given the selected model, noise and slab variance integrated out; no Monte Carlo error.
        Zero for terms that are not selected.
    selected : (K,) bool array
        The model that is shown: ``pip > threshold``; at a threshold of one half, this median model, or the most
        probable model where that is another.
    samples : (chain, draw, K) array
        Raw draws of the coefficients, zero where the term is not in the model.
    included : (chain, draw, K) bool array
    inclusion : (chain, draw, K) array
        ``p(Z_k = 1 | rest)`` behind each draw.
    noise_var, slab_var, p0 : (chain, draw) array
        Draws of the variance of the noise (squared units of the target), of the slab (scaled coordinates),
        and of the inclusion rate.
    aliases : dict
        Name of a kept term -> names of those that coincide with it on the data and were not tried.
    warnings : list of str
        What a reader should know before trusting the answer.
    work : list of dict
        Work counters of each chain.
    degrees : float
        Degrees of freedom of the coefficients' distribution, ``2 a_s + n``.
    moments : Quadratic or None
        The regression behind it, if it was kept.
    positive : (K,) bool array or None
        Coefficients that keep their sign, such as that of a variance of one term: their intervals are on the scale of
        the logarithm, or start at zero.
    limits : (K, 2) array or None
        Bounds between which the coefficients are; their intervals end there. Equal bounds are a coefficient that was
        given.
    differs : dict of str to (str, float)
        Terms that hold what each recording has of its own, with the coefficient 1: each with the term whose coefficient
        it adds to, and the standard deviation of that over recordings.
    log_mass : (2^k,) array or None
        Where all models were enumerated, the log joint mass of each model of the k columns that were tried.

    Examples
    --------
    >>> import itoscope as ito
    >>> data = ito.problems.ornstein_uhlenbeck().simulate(duration=50.0, dt=0.01, n_paths=20, substeps=5, seed=1)
    >>> equation = ito.discover(data, ito.Library.polynomials(2), seed=1).drift["x1"]
    >>> equation.terms, equation.selected.tolist(), equation.text()
    (['1', 'x1', 'x1^2'], [False, True, False], '-(1.01 ± 0.05) x1')
    """

    terms: list[str]
    pip: Array
    pip_mcse: Array
    mean: Array
    cov: Array
    selected: Bools
    samples: Array
    included: Bools
    inclusion: Array
    noise_var: Array
    slab_var: Array
    p0: Array
    work: list[dict[str, int]]
    aliases: dict[str, list[str]]
    warnings: list[str]
    threshold: float
    sampler: str
    seed: int
    degrees: float
    log_mass: Array | None = None
    moments: Quadratic | None = None
    prior: Prior | None = None
    backend: str | None = field(default=None)
    positive: Bools | None = None
    limits: Array | None = None
    differs: dict[str, tuple[str, float]] = field(default_factory=dict)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(filled(type(self), state))

    @property
    def given(self) -> Bools:
        """Which coefficients were given ``(K,)``."""
        if self.limits is None:
            return np.zeros(len(self.terms), dtype=bool)
        return np.asarray(self.limits[:, 0] == self.limits[:, 1])

    @property
    def sd(self) -> Array:
        """Standard deviations of the coefficients given the selected model ``(K,)``."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.cov), 0)))

    @property
    def averaged(self) -> Array:
        """Coefficients averaged over the most probable models, by their masses ``(K,)``."""
        models = self.models(AVERAGED)
        total = sum(model.mass for model in models)
        return np.array(
            [sum(model.mass * model.mean.get(term, 0.0) for model in models) / total for term in self.terms]
        )

    @property
    def pip_frequency(self) -> Array:
        """Share of draws whose model has the term ``(K,)``."""
        return np.asarray(self.included.mean(axis=(0, 1)))

    @cached_property
    def pip_convergence(self) -> Convergence:
        """Monte Carlo error, R-hat and effective sample sizes of the inclusion probabilities."""
        return convergence(self.inclusion)

    @cached_property
    def coefficient_convergence(self) -> Convergence:
        """Monte Carlo error, R-hat and effective sample sizes of the raw coefficient draws."""
        return convergence(self.samples)

    @property
    def rhat(self) -> Array:
        """Rank-normalised split R-hat ``(K,)``: the larger of inclusion probability and coefficient."""
        return np.maximum(self.pip_convergence.rhat, self.coefficient_convergence.rhat)

    @property
    def ess(self) -> Array:
        """Bulk effective sample size ``(K,)``: the smaller of inclusion probability and coefficient."""
        return np.minimum(self.pip_convergence.ess_bulk, self.coefficient_convergence.ess_bulk)

    @property
    def ess_tail(self) -> Array:
        """Tail effective sample size ``(K,)``: the smaller of inclusion probability and coefficient."""
        return np.minimum(self.pip_convergence.ess_tail, self.coefficient_convergence.ess_tail)

    @cached_property
    def doubtful(self) -> bool:
        """Whether no model has most of the probability (`DOUBT`)."""
        return bool(self._masses(1)[1][0] < DOUBT)

    def interval(self, probability: float = 0.95, kind: Literal["model", "averaged"] | None = None) -> Array:
        """Return central intervals of the coefficients ``(K, 2)``.

        Given the selected model they are ``mean -+ t sd sqrt((nu - 2) / nu)`` with the quantile t of Student's
        distribution of ``nu = 2 a_s + n`` degrees of freedom: exact given the slab variance, whose own spread is in
        `sd`. Zero for terms that are not selected. Averaged over models they are quantiles of the draws of all
        models, in which a coefficient is 0 where its term is out.

        Parameters
        ----------
        probability : float
            Between 0 and 1, both excluded.
        kind : {"model", "averaged"}, optional
            None is what is printed: averaged where no model has 0.8 of the probability, and given the model elsewhere.
        """
        probability = checks.share("probability", probability)
        checks.choice("kind", kind, (None, "model", "averaged"))
        if kind == "averaged" or (kind is None and self.doubtful):
            tails = 0.5 * (1 - probability), 0.5 * (1 + probability)
            draws = self.samples.reshape(-1, len(self.terms))
            averaged = np.asarray(np.quantile(draws, tails, axis=0).T)
            if (
                self.positive is not None
            ):  # one term of a variance, whose coefficient has other signs beside others
                keeps = self.positive & self.selected
                averaged = np.where((keeps & (self.mean >= 0))[:, None], np.maximum(averaged, 0.0), averaged)
                averaged = np.where((keeps & (self.mean < 0))[:, None], np.minimum(averaged, 0.0), averaged)
            flat = self.selected & ~(averaged[:, 1] > averaged[:, 0])  # no draw of a few has the term
            if flat.any():
                averaged[flat] = self.interval(probability, "model")[flat]
            return self._limited(averaged)
        quantile = student_quantile(0.5 * (1 + probability), self.degrees)
        shrink = np.sqrt((self.degrees - 2) / self.degrees) if self.degrees > 2 else 1.0
        half = quantile * shrink * self.sd
        out = np.stack([self.mean - half, self.mean + half], axis=-1)
        if self.positive is not None:
            upper = student_quantile(probability, self.degrees)
            for k in np.flatnonzero(self.positive & self.selected):
                size = positive_interval(
                    abs(float(self.mean[k])), float(shrink * self.sd[k]), quantile, upper
                )
                out[k] = size if self.mean[k] >= 0.0 else -size[::-1]
        return self._limited(out)

    def _limited(self, intervals: Array) -> Array:
        """Intervals `(K, 2)` that end at the bounds of their coefficients."""
        if self.limits is None:
            return intervals
        inside = np.clip(intervals, self.limits[:, :1], self.limits[:, 1:])
        return np.where(self.selected[:, None], inside, intervals)

    def _drawn(self, row: Bools) -> tuple[dict[str, float], dict[str, float]]:
        """Mean and standard deviation of the coefficients over the draws of a model."""
        flat, inside = self.samples.reshape(-1, len(self.terms)), np.flatnonzero(row)
        draws = flat[np.all(self.included.reshape(flat.shape) == row, axis=1)]
        mean, sd = draws.mean(axis=0), draws.std(axis=0)
        return {self.terms[k]: float(mean[k]) for k in inside}, {self.terms[k]: float(sd[k]) for k in inside}

    def models(self, count: int = 10) -> list[Model]:
        """Return the `count` most probable models with their mass and their coefficients.

        The mass is the share of draws, or the exact one with ``sampler="exact"``. Coefficients are given
        that model, over its draws where the equation has no moments of its own.
        """
        rows, masses = self._masses(count)
        moments = None if self.moments is None else sound(self.moments)
        out = []
        for row, mass in zip(rows, masses):
            names = [self.terms[k] for k in np.flatnonzero(row)]
            mean: dict[str, float] = {}
            sd: dict[str, float] = {}
            if moments is not None and self.prior is not None:
                _, centre, cov = get_backend(self.backend).model_posterior(
                    moments, self.prior, np.ascontiguousarray(row)
                )
                mean = {self.terms[k]: float(centre[k]) for k in np.flatnonzero(row)}
                sd = {self.terms[k]: float(np.sqrt(max(cov[k, k], 0))) for k in np.flatnonzero(row)}
            elif self.moments is None:
                mean, sd = self._drawn(row)
            out.append(Model(tuple(names), float(mass), mean, sd))
        return out

    def _masses(self, count: int) -> tuple[Bools, Array]:
        """The most probable models as flags `(count, K)`, and their masses."""
        checks.count("count", count)
        return self._exact_models(count) if self.log_mass is not None else self._visited_models(count)

    def leading(self, count: int = 5) -> list[tuple[tuple[str, ...], float]]:
        """Return the terms of the most probable models with their masses, without coefficients."""
        rows, masses = self._masses(count)
        return [
            (tuple(self.terms[k] for k in np.flatnonzero(row)), float(mass))
            for row, mass in zip(rows, masses)
        ]

    def _visited_models(self, count: int) -> tuple[Bools, Array]:
        return visited(self.included.reshape(-1, len(self.terms)), count)

    def _exact_models(self, count: int) -> tuple[Bools, Array]:
        assert self.log_mass is not None
        dropped = {name for others in self.aliases.values() for name in others}
        diagonal = np.diag(self.moments.gram) if self.moments is not None else np.ones(len(self.terms))
        tried = [k for k, name in enumerate(self.terms) if name not in dropped and diagonal[k] > 0]
        mass = np.exp(self.log_mass - self.log_mass.max())
        mass /= mass.sum()
        order = np.argsort(-mass, kind="stable")[:count]
        rows = np.zeros((order.size, len(self.terms)), dtype=bool)
        rows[:, tried] = order[:, None] >> np.arange(len(tried)) & 1 == 1
        return rows, mass[order]

    def table(self, *, all_terms: bool = False) -> Table:
        """Return one row per term: inclusion probability, coefficient, interval, convergence.

        Parameters
        ----------
        all_terms : bool
            Also those with an inclusion probability below 0.01.
        """
        interval, sd = self.interval(0.95), self.sd
        rows = Table()
        for k in np.argsort(-self.pip, kind="stable"):
            if self.pip[k] < 0.01 and not all_terms:
                continue
            rows.append(
                {
                    "term": self.terms[k],
                    "pip": float(self.pip[k]),
                    "pip_mcse": float(self.pip_mcse[k]),
                    "selected": bool(self.selected[k]),
                    "mean": float(self.mean[k]),
                    "sd": float(sd[k]),
                    "low": float(interval[k, 0]),
                    "high": float(interval[k, 1]),
                    "rhat": float(self.rhat[k]),
                    "ess": float(self.ess[k]),
                }
            )
        return rows

    def text(self) -> str:
        """Return the right-hand side: ``-(1000.6 ± 1.7) x1 + (2.0 ± 0.1)``, one standard deviation each."""
        return words.sum_text(self)

    def __repr__(self) -> str:
        return "\n".join(words.equation_text(self))

    def _repr_html_(self) -> str:
        from itoscope.posterior.fragments import equation_html

        return equation_html(self)

    def _repr_latex_(self) -> str:
        from itoscope.posterior.fragments import latex_sum

        return f"$\\displaystyle {latex_sum(self)}$"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
