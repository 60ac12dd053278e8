"""The fitted state-space model of a noisy recording, freed of it: it can be saved, and looks at any recording."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from itoscope.backends import get_backend
from itoscope.backends.records import Kink, StateSpace
from itoscope.data.course import on_course
from itoscope.data.driving import carried_columns
from itoscope.data.sight import Sight
from itoscope.errors import ArgumentError
from itoscope.expressions.kinks import Kind, closed_kinks
from itoscope.stats.heavy import draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Integers, Times
    from itoscope.data.trajectories import Trajectories
    from itoscope.stats.quadratic import Quadratic

__all__ = ["Innovations", "Observer"]

#: The fields of a state space beside its compiled terms.
FITTED = tuple(f.name for f in fields(StateSpace) if f.name != "program")
ARRAYS = ("drift", "gamma", "observation", "noise", "mean0", "cov0", "floor")

PIECE, MOST_PIECES = 1000, 40
"""Samples of a stretch whose innovations are looked at, and how many stretches, spread over the recording."""
SETTLE = 20
"""Samples at the start of each stretch that the filter needs to find the state; they are left out."""


@dataclass(frozen=True)
class Innovations:
    """Standardised innovations: independent and normal if the model is right.

    Attributes
    ----------
    names : tuple of q str
        The channels.
    z : (n, q) array
        NaN where the sample is missing.
    piece : (n,) array of int
        Number of the stretch without gaps in time.
    path, step : (n,) arrays of int
        Where in the recording.
    """

    names: tuple[str, ...]
    z: Array
    piece: NDArray[np.intp]
    path: NDArray[np.intp]
    step: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Observer:
    """How a fitted model sees a recording of `channels`: a `StateSpace` with its terms as text.

    Attributes
    ----------
    states, channels : tuples of str
        All states, those that are carried along at the end; what was recorded with noise.
    expressions : tuple of str
        The terms of the model, those of given rows among them.
    drift, gamma, ..., along
        The fields of `StateSpace`.
    gathered : tuple of int
        Channels that show something over the step before, its average
    differences : tuple of int
        or, of these, how fast it has changed.
    windows : tuple of (int, float or None, float)
        Those that look at other times than the step before: exposure and lag.
    zeros : tuple of str
        Channels with an offset, whose states come after those of what others gather.
    slow : tuple of str
        Those of them whose offset has a rate, a state after all of these.
    step : float
        The usual step.
    driven : dict of str to str
        What drives the model, "time" or how it goes between samples.
    backend : str or None
    """

    states: tuple[str, ...]
    channels: tuple[str, ...]
    expressions: tuple[str, ...]
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
    gathered: tuple[int, ...] = ()
    zeros: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    differences: tuple[int, ...] = ()
    windows: tuple[tuple[int, float | None, float], ...] = ()
    step: float = 1.0
    driven: dict[str, str] = field(default_factory=dict)
    backend: str | None = None

    @classmethod
    def of(
        cls,
        space: StateSpace,
        states: Sequence[str],
        channels: Sequence[str],
        expressions: Sequence[str],
        backend: str | None,
        driven: dict[str, str] | None = None,
        sight: Sight | None = None,
        zeros: Mapping[str, str] | None = None,
    ) -> Observer:
        """That of a fitted model whose terms are `expressions`."""
        fitted: dict[str, Any] = {name: getattr(space, name) for name in FITTED}
        seen = Sight(tuple(channels)) if sight is None else sight
        kinds = zeros or {}
        slow = tuple(name for name, kind in kinds.items() if kind == "slow")
        about: dict[str, Any] = {"gathered": seen.gathered, "step": seen.step, "driven": driven or {}}
        about |= {
            "zeros": tuple(kinds),
            "slow": slow,
            "differences": seen.differences,
            "windows": seen.windows,
        }
        return cls(
            states=tuple(states),
            channels=tuple(channels),
            expressions=tuple(expressions),
            backend=backend,
            **about,
            **fitted,
        )

    # -- keeping ---------------------------------------------------------------------------------------------
    def as_dict(self) -> dict[str, Any]:
        """All but the model's own states, ready for JSON."""
        names = (
            "channels",
            "expressions",
            "backend",
            "driven",
            "gathered",
            "differences",
            "windows",
            "zeros",
            "slow",
            "step",
            *FITTED,
        )
        found = {name: getattr(self, name) for name in names}
        found["carried"] = self.states[self.own :]
        return {
            key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in found.items()
        } | {"resets": [reset.tolist() for reset in self.resets]}

    @classmethod
    def from_dict(cls, states: Sequence[str], document: dict[str, Any]) -> Observer:
        """What `as_dict` gave."""
        found = dict(document)
        states = [*states, *found.pop("carried", ())]
        found |= {
            name: tuple(found.get(name, ()))
            for name in ("given", "scaled", "gathered", "differences", "tails", "zeros", "slow")
        }
        found["windows"] = tuple((int(c), exposure, lag) for c, exposure, lag in found.get("windows", ()))
        found["kicks"] = tuple(float(v) for v in found.get("kicks", ()))
        found["tails"] = tuple(tuple(float(v) for v in law) for law in found["tails"])
        found["resets"] = tuple(np.asarray(reset, dtype=np.float64) for reset in found.get("resets", ()))
        for name in ARRAYS:
            found[name] = np.asarray(found[name], dtype=np.float64)
        m, q, k = len(states), len(found["channels"]), len(found["expressions"])
        found["pairs"] = tuple((int(i), int(j)) for i, j in found["pairs"])
        found["gamma"] = found["gamma"].reshape(len(found["pairs"]), k)
        found["kinks"] = tuple(Kink(*kink) for kink in found.get("kinks", ()))
        found["shared"] = tuple((int(a), int(b)) for a, b in found.get("shared", ()))
        noises = q + len(found["shared"])
        found["periods"] = tuple(float(period) for period in found.get("periods", ()))
        shapes = {"drift": (m, k), "observation": (q, m), "noise": (noises,), "mean0": (m,), "cov0": (m, m)}
        shapes |= {"gamma": found["gamma"].shape, "floor": (m,)}
        for name, shape in shapes.items():
            if found[name].shape != shape or not np.isfinite(found[name]).all():
                raise ValueError(f"observer: {name} is no finite array of shape {shape}")
        places = [*found["pairs"], *((kink.i, kink.j) for kink in found["kinks"])]
        if not all(0 <= place < m for pair in places for place in pair):
            raise ValueError(f"observer: a pair is not of {m} states")
        if len(found["periods"]) not in (0, q):
            raise ValueError(f"observer: the periods are not those of {q} channels")
        if not all(0 <= channel < q for pair in found["shared"] for channel in pair):
            raise ValueError(f"observer: a pair of noises is not of {q} channels")
        if not all(0 <= kink.term < k and kink.kind in get_args(Kind) for kink in found["kinks"]):
            raise ValueError(f"observer: a kink is not of {k} terms")
        found |= {name: tuple(found[name]) for name in ("channels", "expressions")}
        return cls(states=tuple(states), **found)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What `__getstate__` gave, or in pickles of the first version a dictionary `parts` in the place of fields."""
        self.__dict__.update({"driven": {}} | state.pop("parts", {}), **state)

    @property
    def own(self) -> int:
        """How many of the states are the model's; the others are carried along."""
        return len(self.states) - len(self.given) - len(self.gathered) - len(self.zeros) - len(self.slow)

    # -- looking ---------------------------------------------------------------------------------------------
    @cached_property
    def _stages(self) -> Backend:
        return get_backend(self.backend)

    def space(self, more: Sequence[str] = ()) -> StateSpace:
        """The model compiled, with the terms `more` after its own, whose coefficients are zero."""
        program = self._stages.compile([*self.expressions, *more], list(self.states))
        fitted = {name: getattr(self, name) for name in FITTED}
        for name in ("drift", "gamma"):
            table = fitted[name]
            fitted[name] = np.ascontiguousarray(np.hstack([table, np.zeros((len(table), len(more)))]))
        return StateSpace(program=program, **fitted)

    def check(self, data: Trajectories) -> None:
        """Raise `ArgumentError` unless the recording has the channels of this one."""
        if tuple(data.names) != self.channels:
            raise ArgumentError(
                f"data have the states {', '.join(data.names)}: the model was fitted to recordings of "
                f"{', '.join(self.channels)}"
            )

    def laws(self, data: Trajectories) -> tuple[list[Array], list[Array]]:
        """Smoothed states `(n_i, m)` of every path and their covariances `(n_i, m, m)`."""
        means, covs = self.moments_of(data)
        samples = [line.samples for line in self.sight.timelines(data)]
        return [x[at] for x, at in zip(means, samples)], [cov[at] for cov, at in zip(covs, samples)]

    def moments_of(self, data: Trajectories) -> tuple[list[Array], list[Array]]:
        """The same at all moments of the filter."""
        self.check(data)
        return self._stages.filter_smooth(self.space(), self.columns(data), self.sight.times(data))

    @property
    def zero_states(self) -> dict[str, int]:
        """The channels with an offset, and the number of the state that it is."""
        first = self.own + len(self.gathered)
        return {name: first + place for place, name in enumerate(self.zeros)}

    def smooth(self, data: Trajectories) -> tuple[list[Array], list[Array]]:
        """Smoothed states `(n_i, m)` of every path and their standard deviations."""
        means, covs = self.laws(data)
        return means, [np.sqrt(np.maximum(np.einsum("nii->ni", cov), 0.0)) for cov in covs]

    @cached_property
    def sight(self) -> Sight:
        """How recordings are shown to the filter."""
        return Sight(self.channels, self.scaled, self.gathered, self.step, self.differences, self.windows)

    @cached_property
    def shown(self) -> Array:
        """What each channel shows of the model's own states `(q, own)`, averages as if they showed a moment."""
        found: Array = self.observation[:, : self.own].copy()
        for place, channel in enumerate(self.gathered, self.own):
            if channel in self.differences:
                found[channel] = self.resets[self._clock(channel)][place, : self.own]
                continue
            terms = np.flatnonzero(self.drift[place])
            program = self._stages.compile([self.expressions[k] for k in terms], list(self.states))
            slopes = program.gradient(np.zeros((1, len(self.states))))[0]
            found[channel] = (self.drift[place, terms] @ slopes)[: self.own]
        return found

    def _clock(self, channel: int) -> int:
        """Which of the resets are those of a channel."""
        windows = self.sight.by_channel
        return list(dict.fromkeys(windows.values())).index(windows[channel])

    @property
    def variances(self) -> Array:
        """Noise variance of each channel `(q,)`."""
        found: Array = self.noise[: len(self.channels)]
        return found

    @property
    def noise_correlation(self) -> Array:
        """Correlations of the noises of the channels `(q, q)`."""
        out, sd = np.eye(len(self.channels)), np.sqrt(self.variances)
        for (a, b), shared in zip(self.shared, self.noise[len(sd) :]):
            out[a, b] = out[b, a] = shared / (sd[a] * sd[b])
        return out

    def errors(self, variance: Array, rng: np.random.Generator) -> Array:
        """Noise of the sensors, of samples with these variances or squared scales `(n, q)`."""
        plain = rng.standard_normal(variance.shape)
        if self.shared:
            plain = plain @ np.linalg.cholesky(self.noise_correlation).T
        found: Array = np.sqrt(variance) * plain
        for channel, law in enumerate(self.tails):
            found[:, channel] *= draws(law, len(found), rng)
        return found

    def columns(self, data: Trajectories) -> list[Array]:
        """The channels of every path, and what the filter takes with them: also a course, where it goes along one."""
        more = carried_columns(self.sight.spread(data), list(self.driven), self.driven)
        own = self.sight.columns(data, more)
        return on_course(self._stages, self.space(), own, self.times(data)) if self.along else own

    def times(self, data: Trajectories) -> list[Times]:
        """When the filter looks at every path, as stages take it."""
        return self.sight.times(data)

    def log_densities(
        self, data: Trajectories, more: Sequence[str], drift: Sequence[Array], gamma: Sequence[Array]
    ) -> Iterator[Array]:
        """Of each sample given those before it, without the first ones and missing ones, of changed models `(n,)`.

        Parameters
        ----------
        data : Trajectories
        more : sequence of str
            Terms after those of the model.
        drift, gamma : sequences of (m, K) and (P, K) arrays
            What is added to the coefficients, one of each for every model.
        """
        self.check(data)
        space, paths, times = self.space(more), self.columns(data), self.times(data)
        space = replace(space, kinks=closed_kinks([*self.expressions, *more], self.states))
        samples = [line.samples for line in self.sight.timelines(data)]
        for rates, spreads in zip(drift, gamma):
            changed = replace(space, drift=space.drift + rates, gamma=space.gamma + spreads)
            whole = self._stages.filter_densities(changed, paths, times)
            each = np.concatenate([_by_sample(one, at) for one, at in zip(whole, samples)])
            yield each[np.concatenate([_seen(path) for path in data.paths])]

    def drift_moments(self, data: Trajectories, more: Sequence[str], row: int) -> Quadratic:
        """The regression of the innovations on the terms `more` in one row of the drift."""
        columns = [(row, len(self.expressions) + k) for k in range(len(more))]
        found = self._stages.filter_drift_moments(
            self.space(more), self.columns(data), self.times(data), columns
        )
        return found[0]

    def drift_scores(
        self, paths: Sequence[Array], times: Sequence[Times], columns: Sequence[tuple[int, str]]
    ) -> Quadratic:
        """The regression of the innovations on what terms `(row, term)` of the drift would add to the fitted model."""
        more = list(dict.fromkeys(term for _, term in columns))
        added = [(row, len(self.expressions) + more.index(term)) for row, term in columns]
        key = tuple(more)
        if key not in self._spaces:
            self._spaces.clear()
            self._spaces[key] = self.space(more)
        return self._stages.filter_drift_moments(self._spaces[key], paths, times, added)[0]

    @cached_property
    def _spaces(self) -> dict[tuple[str, ...], StateSpace]:
        """The last of the models with more terms."""
        return {}

    def gamma_moments(
        self, data: Trajectories, more: Sequence[str], pair: int
    ) -> tuple[Quadratic, list[tuple[int, int]]]:
        """The regression on the entries of Gamma: those of the model, then `more` in one, then noise variances."""
        own = [(int(p), int(k)) for p, k in np.argwhere(self.gamma != 0.0)]
        columns = own + [(pair, len(self.expressions) + k) for k in range(len(more))]
        found = self._stages.filter_noise_moments(
            self.space(more), self.columns(data), self.times(data), columns
        )
        return found[0], own

    def innovations(self, data: Trajectories, piece: int = PIECE, most: int = MOST_PIECES) -> Innovations:
        """Standardised innovations on stretches of the recording.

        Parameters
        ----------
        data : Trajectories
        piece, most : int
            Samples of a stretch and number of stretches at most, spread over the recording.
        """
        self.check(data)
        stretches = [
            (i, start, start + length)
            for i, path in enumerate(data.paths)
            for start, length in _stretches(len(path), piece)
        ]
        few = np.unique(np.linspace(0, len(stretches) - 1, min(most, len(stretches))).round().astype(int))
        chosen = [stretches[k] for k in few]
        steps, whole = self.times(data), self.columns(data)
        lines, rows = self.sight.timelines(data), self.sight.rows(data)
        cuts = [(i, lines[i].samples[a], lines[i].samples[b - 1] + 1) for i, a, b in chosen]
        paths = [np.ascontiguousarray(whole[i][a:b]) for i, a, b in cuts]
        times = [steps[i] if np.ndim(steps[i]) == 0 else np.asarray(steps[i])[a:b] for i, a, b in cuts]
        found = self._stages.filter_innovations(self.space(), paths, times)
        z = [_read(one, rows[i][a:b] - cut) for one, (i, a, b), (_, cut, _) in zip(found, chosen, cuts)]
        keep = [min(SETTLE, len(one) // 5) for one in z]
        return Innovations(
            names=self.channels,
            z=np.concatenate([one[s:] for one, s in zip(z, keep)]),
            piece=np.repeat(np.arange(len(z)), [len(one) - s for one, s in zip(z, keep)]),
            path=np.concatenate([np.full(b - a - s, i) for (i, a, b), s in zip(chosen, keep)]),
            step=np.concatenate([np.arange(a + s, b) for (_, a, b), s in zip(chosen, keep)]),
        )


def _by_sample(each: Array, samples: Integers) -> Array:
    """Sums over the moments to each sample since the one before."""
    found: Array = np.add.reduceat(each, np.concatenate([[0], samples[:-1] + 1]))
    return found


def _read(z: Array, rows: Integers) -> Array:
    """Innovations `(N, q)` as those of the samples whose readings were taken at `rows` `(n, q)`, NaN of others."""
    found: Array = np.take_along_axis(z, np.clip(rows, 0, len(z) - 1), axis=0)
    return np.where((rows >= 0) & (rows < len(z)), found, np.nan)


def _seen(path: Array) -> NDArray[np.bool_]:
    """Which samples count: not the first one, nor one of which all is missing."""
    later = np.arange(len(path)) > 0
    found: NDArray[np.bool_] = later & np.isfinite(path).any(axis=1)
    return found


def _stretches(length: int, piece: int) -> list[tuple[int, int]]:
    """Start and length of the stretches of one path, all about equally long."""
    count = -(-length // piece)
    size = length // count
    return [(k * size, size if k < count - 1 else length - k * size) for k in range(count)]
