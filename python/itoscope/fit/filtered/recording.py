"""A recording seen through the filter: a model becomes a state-space model, its likelihood, its moments."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from itoscope.backends.records import Parameter, Program, StateSpace
from itoscope.data.course import with_course
from itoscope.fit.filtered.links import Links
from itoscope.fit.filtered.named import followed, joined
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array
    from itoscope.fit.filtered.candidates import Candidates
    from itoscope.fit.filtered.model import Columns, Model
    from itoscope.fit.filtered.named import Follow

__all__ = ["Looked", "Recording"]

T = TypeVar("T")
KEPT = 16
"""Passes of the filter whose results are kept."""


def _unheard(samples: int) -> None:
    """Nobody counts."""


class Looked(NamedTuple):
    """The readings at the samples alone, for a first look at a recording that has moments beside them.

    Attributes
    ----------
    paths : tuple of (n_i, q) arrays
    usual, mean : float
        The median step between samples, and the mean one.
    """

    paths: tuple[Array, ...]
    usual: float
    mean: float


@dataclass(frozen=True)
class Recording:
    """Everything that does not change while a model is sought.

    Parameters
    ----------
    paths : sequence of (n_i, q + g) arrays
        Observed channels, NaN where missing; then the states that are known.
    times : sequence of float or (n_i,) arrays
        Step length of an even path, or its time stamps.
    candidates : Candidates
        K terms over the m states.
    observation : (q, m) array
        `y = observation @ x + e`.
    free_noise : (q,) array of bool
        Channels whose noise variance is estimated.
    max_step : float
        Longer steps are predicted in several pieces, unless model and candidates are linear: those take one.
    stages : Backend
        What filters.
    second_order : bool
        Keep the terms of order dt^2 and the averages over the state's uncertainty.
    passed : callable
        Is told the samples of each pass of the filter.
    given : tuple of int
        The states that are known at every sample.
    scaled : tuple of int
        Channels whose noise variances the paths multiply sample by sample, in the columns after the given states.
    resets : tuple of (m, m) arrays
        What becomes of the states after samples that the paths mark, in the columns after those.
    shown : (q, m) array, optional
        The observation as if channels that show an average showed a moment, for a first look.
    tails : tuple of q tuples of float
        What shapes the law of the noise of each channel where a search begins; nothing where all are normal.
    kicks : tuple of float
        What shapes the law of the sizes of steps where a search begins; nothing where they are normal.
    rounding : (q,) array, optional
        Variances that rounding has beside the noise of a model.
    links : Links
        Channels whose noises are correlated.
    zeros : dict of int to int
        Channels whose zero is not known, and the state that it is.
    walks : dict of int to int
        Those whose zero moves, and the state that noise moves.
    periods : tuple of q floats
        By how much the readings of channels wrap, 0 of those that do not; empty where none does.
    derived : dict of int to (int, float)
        States of which a channel shows a derivative, and their size over that of the channel, for a first look.
    along : bool
        Whether the paths have a course at the end, about which steps are linearised.
    looked : Looked, optional
        The readings at the samples alone, where the paths have more moments than these.
    compiled : dict
        Programs by their terms, with the texts that were compiled.
    kept : dict
        What the last passes found, see `_once`.
    """

    paths: Sequence[Array]
    times: Sequence[float | Array]
    candidates: Candidates
    observation: Array
    free_noise: NDArray[np.bool_]
    max_step: float
    stages: Backend
    second_order: bool = True
    passed: Callable[[int], None] = _unheard
    given: tuple[int, ...] = ()
    scaled: tuple[int, ...] = ()
    resets: tuple[Array, ...] = ()
    shown: Array | None = None
    tails: tuple[tuple[float, ...], ...] = ()
    kicks: tuple[float, ...] = ()
    rounding: Array | None = None
    links: Links = field(default_factory=Links)
    zeros: dict[int, int] = field(default_factory=dict)
    walks: dict[int, int] = field(default_factory=dict)
    periods: tuple[float, ...] = ()
    derived: dict[int, tuple[int, float]] = field(default_factory=dict)
    along: bool = False
    looked: Looked | None = None
    compiled: dict[tuple[int, ...], tuple[list[str], Program]] = field(
        default_factory=dict, repr=False, compare=False
    )
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def samples(self) -> int:
        """Samples of all paths."""
        return sum(len(y) for y in self.paths)

    def subset(self, which: Sequence[int]) -> Recording:
        """The same with some of the paths."""
        return replace(self, paths=[self.paths[i] for i in which], times=[self.times[i] for i in which])

    def part(self, most: int) -> Recording:
        """The same with about `most` samples: the first ones of paths spread over the recording."""
        if self.samples <= most:
            return self
        stride = -(-self.samples // most)
        which = range(0, len(self.paths), min(stride, len(self.paths)))
        each = most // len(which)
        return replace(
            self,
            paths=[np.ascontiguousarray(self.paths[i][:each]) for i in which],
            times=[t if np.ndim(t := self.times[i]) == 0 else np.asarray(t)[:each] for i in which],
        )

    def along_course(self, model: Model) -> Recording:
        """The same with the states that a model sees behind the recording as its course."""
        course = with_course(self.stages, self.space(model)[0], self.paths, self.times)
        return replace(self, paths=course, along=True)

    def bends(self, model: Model) -> bool:
        """Whether a model has a drift that is not affine in the state, and a Gamma that does not move with it."""
        space, place = self.space(model)
        moving = {k for k, column in place.items() if space.gamma[:, column].any()}
        return not self.candidates.affine.issuperset(place) and self.candidates.constants.issuperset(moving)

    def held(self) -> Recording:
        """The same with all noise variances and their correlations held."""
        return replace(self, free_noise=np.zeros_like(self.free_noise), links=self.links.held())

    def loosened(self) -> Recording:
        """The same with a noise in the rows that carry none: what a row is while it is unknown."""
        return replace(self, candidates=self.candidates.loosened())

    def silenced(self, model: Model) -> Model:
        """A model of the `loosened` recording without that noise."""
        floor = model.floor.copy()
        floor[list(self.candidates.silent)] = 0.0
        return replace(model, gamma=model.gamma[: len(self.candidates.pairs)], floor=floor)

    def space(self, model: Model, columns: Columns | None = None) -> tuple[StateSpace, dict[int, int]]:
        """The state-space model over the terms that `model` and `columns` need, and where each term went."""
        among, n_given = self.candidates, self.candidates.given.shape[1]
        drift = np.hstack([self.echoed(model.drift), among.given])
        gamma = np.hstack([model.gamma, np.zeros((len(model.gamma), n_given))])
        if among.given_pairs:
            beside = np.zeros((len(among.given_pairs), among.n_terms))
            gamma = np.vstack([gamma, np.hstack([beside, among.given_gamma])])
        used = np.flatnonzero((drift != 0.0).any(axis=0) | (gamma != 0.0).any(axis=0)).tolist()
        terms = tuple(sorted({*used, *(k for _, k in columns or [])}))
        texts = [among.text(k, model.numbers) for k in terms]
        if terms not in self.compiled or self.compiled[terms][0] != texts:
            self.compiled[terms] = texts, self.stages.compile(texts, list(among.states))
        index = np.array(terms, dtype=int)
        space = StateSpace(
            program=self.compiled[terms][1],
            drift=np.ascontiguousarray(drift[:, index]),
            gamma=np.ascontiguousarray(gamma[:, index]),
            pairs=(*among.pairs, *among.given_pairs),
            observation=self.observation,
            noise=self.links.with_covariances(
                model.noise if self.rounding is None else model.noise + self.rounding,
                model.noise,
                model.links,
            ),
            mean0=model.mean0,
            cov0=model.cov0,
            floor=model.floor,
            max_step=math.inf if self._linear(terms, gamma) else self.max_step,
            kinks=tuple(
                among.kinks[k]._replace(term=place) for place, k in enumerate(terms) if k in among.kinks
            ),
            second_order=self.second_order,
            given=self.given,
            scaled=self.scaled,
            resets=self.resets,
            tails=model.tails,
            shared=self.links.pairs,
            kicks=model.kicks,
            periods=() if model.kicks else self.periods,
            along=self.along,
        )
        return space, {k: place for place, k in enumerate(terms)}

    def echoed(self, drift: Array) -> Array:
        """Coefficients of the drift in all the rows that they stand in."""
        if not self.candidates.echoes:
            return drift
        out: Array = drift.copy()
        for column, others in self.candidates.echoes.items():
            for other in others:
                out[other] += drift[column]
        return out

    def _linear(self, terms: tuple[int, ...], gamma: Array) -> bool:
        """Whether one step of any length is exact: all terms are affine, and Gamma is constant."""
        among = self.candidates
        varying = np.flatnonzero((gamma != 0.0).any(axis=0)).tolist()
        return set(terms) <= among.affine and set(varying) <= among.constants

    def loglik(self, model: Model) -> float:
        """Log-likelihood of the recording."""

        def passed() -> float:
            space, _ = self.space(model)
            return float(np.sum(self.stages.filter_loglik(space, self.paths, self.times)))

        return self._once(("loglik", model.key), passed)

    def drift_moments(self, model: Model, columns: Columns) -> Quadratic:
        """The regression on the drift columns, named numbers at their best."""
        return self.drift_and_numbers(model, columns)[0]

    def drift_and_numbers(self, model: Model, columns: Columns) -> tuple[Quadratic, Follow | None]:
        """The same, and how the numbers that move the drift follow its coefficients."""
        named = self.candidates.named
        slopes = named.of_kind("drift")
        own = [[column, *self.candidates.echoes.get(column, ())] for column in columns]
        every = [*(one for each in own for one in each), *((one.at, one.term) for one in slopes)]

        def passed() -> Quadratic:
            space, place = self.space(model, every)
            asked = [(i, place[k]) for i, k in every]
            return self.stages.filter_drift_moments(space, self.paths, self.times, asked)[0]

        found = self._once(("drift", model.key, tuple(every)), passed)
        if len(every) > len(columns) + len(slopes):
            found = _added(found, [len(each) for each in own])
        if not slopes:
            return found, None
        which = named.moving("drift")
        return followed(joined(found, slopes, len(columns), which), len(columns), which, named.numbers.sizes)

    def noise_moments(self, model: Model, columns: Columns, *, numbers: bool = False) -> Quadratic:
        """The regression on the Gamma columns, changes of numbers, then the free noise variances and links."""
        slopes = self.candidates.named.of_kind("gamma") if numbers else []
        beside = len(self.candidates.pairs)
        every = [*columns, *((beside + one.at, one.term) for one in slopes)]

        def passed() -> Quadratic:
            space, place = self.space(model, every)
            asked = [(p, place[k]) for p, k in every]
            return self.stages.filter_noise_moments(space, self.paths, self.times, asked)[0]

        moments = self._without_rounding(self._once(("noise", model.key, tuple(every)), passed), len(every))
        moments = self.links.turned(moments, model.noise, model.links)
        linked = np.setdiff1d(np.arange(len(model.links)), self.links.free)
        held = np.concatenate([np.flatnonzero(~self.free_noise), len(model.noise) + linked])
        values = np.concatenate([model.noise, model.links])[held]
        found = moments.given((len(every) + held).tolist(), values)
        moving = self.candidates.named.moving("gamma")
        return joined(found, slopes, len(columns), moving) if slopes else found

    def _without_rounding(self, moments: Quadratic, first: int) -> Quadratic:
        """The regression on the noise variances from `first` on less those of rounding, which are within them."""
        if self.rounding is None:
            return moments
        known = np.concatenate([np.zeros(first), self.rounding, np.zeros(len(self.links.pairs))])
        yy = moments.yy - 2.0 * float(known @ moments.moment) + float(known @ moments.gram @ known)
        return Quadratic(moments.gram, moments.moment - moments.gram @ known, yy, moments.n)

    def _once(self, key: Hashable, passed: Callable[[], T]) -> T:
        """What a pass of the filter found, the last `KEPT` of them kept: rounds come back to where others ended."""
        if key not in self.kept:
            while len(self.kept) >= KEPT:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = passed()
            self.passed(self.samples)
        found: T = self.kept[key]
        return found

    def information(self, model: Model, parameters: Sequence[Parameter], steps: Sequence[float]) -> Quadratic:
        """Gradient and Fisher information over parameters of the model, `steps` being those of its differences."""
        if not self.links:
            return self._information(model, parameters, steps)
        rows: list[dict[Parameter, float]] = []
        sizes: dict[Parameter, float] = {}
        small = self.links.steps(model.noise, model.links)
        for parameter, step in zip(parameters, steps):
            linked = parameter.kind == "link" or (
                parameter.kind == "noise" and parameter.at in self.links.channels
            )
            own = self.links.moving(parameter, model.noise, model.links) if linked else {parameter: 1.0}
            rows.append(own)
            sizes |= {one: float(small[one.at]) if linked else step for one in own}
        found = self._information(model, list(sizes), list(sizes.values()))
        turn = np.array([[row.get(one, 0.0) for row in rows] for one in sizes])
        return Quadratic(turn.T @ found.gram @ turn, turn.T @ found.moment, found.yy, found.n)

    def _information(
        self, model: Model, parameters: Sequence[Parameter], steps: Sequence[float]
    ) -> Quadratic:
        """The same over parameters of the state space, covariances of noises among these as they are."""
        asked: list[Parameter] = []
        sizes, turn = [], []
        for a, (parameter, step) in enumerate(zip(parameters, steps)):
            own = self._moving(parameter)
            asked += own
            sizes += [step] * len(own)
            turn += [a] * len(own)
        terms = ("drift", "gamma")
        space, place = self.space(model, [(one.at, one.term) for one in asked if one.kind in terms])
        asked = [Parameter(one.kind, one.at, place[one.term]) if one.kind in terms else one for one in asked]
        found, _ = self.stages.filter_information(space, self.paths, self.times, asked, sizes)
        self.passed((1 + 2 * len(asked)) * self.samples)
        if turn == list(range(len(parameters))):
            return found
        sums = np.zeros((len(asked), len(parameters)))
        sums[np.arange(len(asked)), turn] = 1.0
        return Quadratic(sums.T @ found.gram @ sums, sums.T @ found.moment, found.yy, found.n)

    def _moving(self, parameter: Parameter) -> list[Parameter]:
        """What a parameter moves: itself and its echoes, a number the coefficients of its slopes."""
        if parameter.kind == "drift":
            others = self.candidates.echoes.get((parameter.at, parameter.term), ())
            return [parameter, *(Parameter("drift", i, k) for i, k in others)]
        if parameter.kind != "number":
            return [parameter]
        own = [one for one in self.candidates.named.slopes if one.number == parameter.at]
        shift = {"drift": 0, "gamma": len(self.candidates.pairs)}
        return [Parameter(one.kind, shift[one.kind] + one.at, one.term) for one in own]

    def kicked(self, model: Model) -> list[Array]:
        """What the readings tell of the sizes of steps `(n_i, 2)`, see `Backend.filter_kicks`."""
        return self.stages.filter_kicks(self.space(model)[0], self.paths, self.times)

    def smooth(self, model: Model) -> tuple[list[Array], list[Array]]:
        """Smoothed states `(n_i, m)` and covariances `(n_i, m, m)` of every path."""
        return self.stages.filter_smooth(self.space(model)[0], self.paths, self.times)


def _added(sums: Quadratic, lengths: Sequence[int]) -> Quadratic:
    """The regression on sums of columns that follow each other, so many each; what comes after these stays."""
    rest = len(sums.moment) - sum(lengths)
    turn = np.repeat(np.eye(len(lengths) + rest), [*lengths, *[1] * rest], axis=0)
    return Quadratic(turn.T @ sums.gram @ turn, turn.T @ sums.moment, sums.yy, sums.n)
