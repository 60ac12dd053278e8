"""A recording seen through the filter: coefficients over a library become state-space models, likelihoods, moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Parameter, Program, StateSpace
from itoscope.common.types import Array
from itoscope.expressions.kinks import closed_kinks, distinct, kinked
from itoscope.library.library import BoundLibrary
from itoscope.stats.quadratic import Quadratic

__all__ = ["Coefficients", "Columns", "Filtering", "Work"]

Columns = list[tuple[int, int]]


@dataclass
class Work:
    """Samples that were filtered so far, and who wants to know."""

    done: int = 0
    count: Callable[[int], Any] | None = None

    def add(self, samples: int) -> None:
        """Count a pass over `samples` samples."""
        self.done += samples
        if self.count is not None:
            self.count(self.done)


@dataclass(frozen=True)
class Coefficients:
    """Coefficients over all terms of a library: drift `(m, K)`, Gamma `(n_pairs, K)`, noise variances `(q,)`."""

    drift: Array
    gamma: Array
    noise: Array

    def drift_columns(self) -> Columns:
        """The (row, term) pairs of the drift that are in the model."""
        return [(int(i), int(k)) for i, k in np.argwhere(self.drift != 0.0)]

    def gamma_columns(self) -> Columns:
        """The (pair, term) pairs of Gamma that are in the model."""
        return [(int(i), int(k)) for i, k in np.argwhere(self.gamma != 0.0)]


class Filtering:
    """Everything about a recording that does not change while its model is sought.

    Parameters
    ----------
    paths : sequence of (n_i, q) arrays
        Observed channels, NaN where missing.
    times : sequence of float or (n_i,) arrays
        Step length of an even path, or its time stamps.
    library : BoundLibrary
        K candidate terms over the m states.
    observation : (q, m) array
        `y = observation @ x + e`.
    known : mapping from row to expression
        Drift rows that are not regressed and carry no noise.
    free_noise : (q,) array of bool
        Channels whose noise variance is estimated.
    max_step : float
        Longer steps are predicted in several pieces.
    """

    def __init__(
        self,
        paths: Sequence[Array],
        times: Sequence[float | Array],
        library: BoundLibrary,
        observation: Array,
        known: Mapping[int, str],
        free_noise: Array,
        max_step: float,
        *,
        diffusion_library: BoundLibrary | None = None,
        pairs: Sequence[tuple[int, int]] | None = None,
        backend: str | None = None,
        second_order: bool = True,
    ) -> None:
        self.paths, self.times = list(paths), list(times)
        self.states, self.backend = list(library.states), backend
        self.stages = get_backend(backend)
        self.known = dict(known)
        drift_terms, gamma_terms = library.expressions, (diffusion_library or library).expressions
        self.expressions, where = distinct([*drift_terms, *gamma_terms, "1"], self.states)
        self.n_terms = len(self.expressions)
        self.drift_terms, self.constant = where[: len(drift_terms)], where[-1]
        self.gamma_terms = where[len(drift_terms) : -1]
        self.fixed = np.zeros((len(self.states), 0))
        for row, text in self.known.items():
            self.expressions.append(text)
            column = np.zeros((len(self.states), 1))
            column[row] = 1.0
            self.fixed = np.hstack([self.fixed, column])
        self.rows = [i for i in range(len(self.states)) if i not in self.known]
        if pairs is None:
            pairs = [(i, j) for i in self.rows for j in self.rows if j >= i]
        self.pairs = tuple(pairs)
        self.observation = np.asarray(observation, dtype=float)
        self.free_noise = np.asarray(free_noise, dtype=bool)
        self.max_step, self.second_order = float(max_step), second_order
        m = len(self.states)
        self.mean0, self.cov0, self.floor = np.zeros(m), np.eye(m), np.zeros(m)
        self.kinked = kinked(self.expressions, self.states)
        self._kinks = {kink.term: kink for kink in closed_kinks(self.expressions, self.states)}
        self.work = Work()
        self._programs: dict[tuple[int, ...], Program] = {}

    @property
    def all_drift(self) -> Columns:
        """Every candidate (row, term) of the drift."""
        return [(i, k) for i in self.rows for k in self.drift_terms]

    @property
    def all_gamma(self) -> Columns:
        """Every candidate (pair, term) of Gamma."""
        return [(p, k) for p in range(len(self.pairs)) for k in self.gamma_terms]

    @property
    def samples(self) -> int:
        """Samples of all paths."""
        return sum(len(y) for y in self.paths)

    def subset(self, which: Sequence[int]) -> Filtering:
        """The same with some of the paths."""
        other = object.__new__(Filtering)
        other.__dict__.update(self.__dict__)
        other.paths, other.times = [self.paths[i] for i in which], [self.times[i] for i in which]
        return other

    def space(self, model: Coefficients, columns: Columns | None = None) -> tuple[StateSpace, dict[int, int]]:
        """The state-space model over the terms that `model` and `columns` need, and where each term went."""
        drift = np.hstack([model.drift, self.fixed])
        used = np.flatnonzero((drift != 0.0).any(axis=0)).tolist()
        used += np.flatnonzero((model.gamma != 0.0).any(axis=0)).tolist()
        used += [k for _, k in columns or []]
        terms = tuple(sorted(set(used)))
        if terms not in self._programs:
            chosen = [self.expressions[k] for k in terms]
            self._programs[terms] = self.stages.compile(chosen, self.states)
        gamma = np.hstack([model.gamma, np.zeros((len(self.pairs), len(self.known)))])
        index = np.array(terms, dtype=int)
        space = StateSpace(
            program=self._programs[terms],
            drift=np.ascontiguousarray(drift[:, index]),
            gamma=np.ascontiguousarray(gamma[:, index]),
            pairs=self.pairs,
            observation=self.observation,
            noise=model.noise,
            mean0=self.mean0,
            cov0=self.cov0,
            floor=self.floor,
            max_step=self.max_step,
            kinks=tuple(
                self._kinks[k]._replace(term=place) for place, k in enumerate(terms) if k in self._kinks
            ),
            second_order=self.second_order,
        )
        return space, {k: place for place, k in enumerate(terms)}

    def loglik(self, model: Coefficients) -> float:
        """Log-likelihood of the recording."""
        space, _ = self.space(model)
        value = float(np.sum(self.stages.filter_loglik(space, self.paths, self.times)))
        self.work.add(self.samples)
        return value

    def drift_moments(self, model: Coefficients, columns: Columns) -> Quadratic:
        """The regression on the drift columns."""
        space, place = self.space(model, columns)
        found = self.stages.filter_drift_moments(
            space, self.paths, self.times, [(i, place[k]) for i, k in columns]
        )[0]
        self.work.add(self.samples)
        return found

    def information(
        self, model: Coefficients, parameters: Sequence[Parameter], steps: Sequence[float]
    ) -> Quadratic:
        """Gradient and Fisher information over coefficients of the model."""
        space, place = self.space(model)
        asked = [Parameter(kind, i, 0 if kind == "noise" else place[k]) for kind, i, k in parameters]
        found, _ = self.stages.filter_information(space, self.paths, self.times, asked, list(steps))
        self.work.add((1 + 2 * len(asked)) * self.samples)
        return found

    def innovations(self, model: Coefficients) -> list[Array]:
        """Whitened innovations `(n_i, q)` of every path."""
        return self.stages.filter_innovations(self.space(model)[0], self.paths, self.times)

    def noise_moments(self, model: Coefficients, columns: Columns) -> Quadratic:
        """The regression on the Gamma columns and then the free noise variances."""
        space, place = self.space(model, columns)
        moments, _ = self.stages.filter_noise_moments(
            space, self.paths, self.times, [(p, place[k]) for p, k in columns]
        )
        self.work.add(self.samples)
        held = np.flatnonzero(~self.free_noise)
        return moments.given((len(columns) + held).tolist(), model.noise[held])

    def with_noise(self, model: Coefficients, free: Array) -> Coefficients:
        """`model` with the free noise variances replaced."""
        noise = model.noise.copy()
        noise[self.free_noise] = free
        return replace(model, noise=noise)

    def smooth(self, model: Coefficients) -> tuple[list[Array], list[Array]]:
        """Smoothed states and covariances of every path."""
        return self.stages.filter_smooth(self.space(model)[0], self.paths, self.times)
