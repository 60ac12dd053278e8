"""`Question`: what `discover` was asked, every argument checked, and the libraries bound to the states of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.data.angles import periods_of
from itoscope.data.driving import driven, rows
from itoscope.errors import DataError, argument_error
from itoscope.fit.carried import most_carried
from itoscope.fit.channels import at_once, observation_matrix, observed_texts, state_names, velocities
from itoscope.fit.forcing import constant_pairs, noisy_rows, pairs_of
from itoscope.fit.given import Given
from itoscope.fit.jumps import step_laws
from itoscope.fit.memory import Memory, memories_of, numbers_of, remembering, without_friction
from itoscope.fit.numbers import Numbers, beside_numbers
from itoscope.fit.options import check_streamed
from itoscope.fit.sensors.angles import as_they_are, without_turns
from itoscope.fit.sensors.errors import with_errors
from itoscope.fit.sensors.exposures import check_exposures
from itoscope.fit.sensors.groups import Group, grouped_settings, groups_of
from itoscope.fit.sensors.hidden import offsets_of
from itoscope.fit.sensors.kinds import Gathered, sensors_of
from itoscope.fit.sensors.levels import as_given, check_told_apart
from itoscope.fit.sensors.noises import noises_of
from itoscope.fit.sensors.resolution import resolution_of
from itoscope.fit.shapers import Shaper, extended, forced, said_of_forces, shapers_of
from itoscope.fit.standard import libraries, said_of_short
from itoscope.fit.symmetry import Orbits, even_terms, orbits_of_diffusion, orbits_of_drift
from itoscope.fit.terms import deviations_of, said_of, settings_of
from itoscope.fit.trends import with_trends
from itoscope.library.bound import TIME, BoundLibrary, readable_means
from itoscope.library.library import Library, bind_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Diffusion, DiffusionLaw, Level, NoiseLaw, Offset
    from itoscope.data.angles import Circle
    from itoscope.data.streams import Stream
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.options import Options
    from itoscope.posterior.said import Said
    from itoscope.posterior.sampling import Sampling

__all__ = ["Question"]

FEWEST = 3
"""Recordings without which nothing is known of a spread."""
KEPT = (
    "order", "measurement_noise", "diffusion", "scheme", "weights", "ensemble", "sampler", "n_chains", "n_samples",
    "n_burn", "threshold", "max_rounds", "weight_floor",
)  # fmt: skip
"""Options that are saved with a result as they were given."""


@dataclass(frozen=True)
class Question:
    """What `discover` was asked, ready for a fit.

    Attributes
    ----------
    data : Trajectories
        The states, and what drives them as its `driving`.
    options : Options
        As given.
    library, diffusion_library : BoundLibrary
        Candidate terms over the states.
    recipe : Library
        What `library` was bound from.
    own : BoundLibrary
        The candidates alone: `library` has known parts of rows too.
    given : Given
        Rows, parts of rows and noise that are known, numbers in the place of names.
    asked : Given
        The same as it was written.
    numbers : Numbers
        What these names stand for.
    said : dict of str to Said
        What is known of the terms of a row, as the library shows them.
    shapers : tuple of Shaper
        Forces with a memory, whose hidden states come after the others.
    memories : tuple of Memory
        Frictions with a memory, whose forces come after those.
    words : dict of int to str
        What was asked of the noise of each unknown row: "full", "diagonal", "constant" or "none".
    observed : list of str or None
        What each column shows, where that was said.
    observation : (q, m) array
        How the columns come from the states, averages as if they showed a moment; of accelerations the velocities.
    gathered : dict of int to Gathered
        The columns that show an average or an acceleration over the step, and of what.
    ties : (q, m) array
        Not zero where a column tells of a state, an acceleration of place and velocity.
    noise : tuple of q float or "estimate"
        Standard deviation of the noise of each column.
    laws : dict of int to str
        Columns whose noise is not normal, and the law that it has.
    prior : Prior
    sampling : Sampling
        Of the full chains, the seed among its settings.
    reporter : Reporter
    stream : Stream or None
        The recording in blocks, of which `data` are stretches.
    orbits, diffusion_orbits : Orbits or None
        What rows of the drift, and entries of Gamma, have in common.
    deviations : dict of str to dict
        By row, the terms whose coefficients differ by recording, each with the name of what a recording has of its own.
    circles : dict of str to Circle
        States that are angles, as they are shown; the data have no jumps.
    notes : tuple of str
        What is to be said of the data before all else.
    """

    data: Trajectories
    options: Options
    recipe: Library
    library: BoundLibrary
    diffusion_library: BoundLibrary
    own: BoundLibrary
    given: Given
    asked: Given
    numbers: Numbers
    said: dict[str, Said]
    shapers: tuple[Shaper, ...]
    memories: tuple[Memory, ...]
    words: dict[int, Diffusion]
    observed: list[str] | None
    observation: Array
    gathered: dict[int, Gathered]
    ties: Array
    noise: tuple[Level, ...]
    laws: dict[int, NoiseLaw]
    prior: Prior
    sampling: Sampling
    reporter: Reporter
    stream: Stream | None = None
    deviations: dict[str, dict[str, str]] = field(default_factory=dict)
    orbits: Orbits | None = None
    diffusion_orbits: Orbits | None = None
    circles: dict[str, Circle] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Trajectories, options: Options, stream: Stream | None = None) -> Question:
        """Check the options against the data.

        Raises
        ------
        ArgumentError
            For an option that does not fit the data, named with its value and what is allowed.
        """
        check_streamed(options, streamed=stream is not None)
        backend = get_backend(options.backend)
        data, observed, (plain, gathered), circles = _shown(driven(data, options.inputs), options)
        motion, positions = state_names(data.names, options.order, options.states, plain)
        observation = observation_matrix(data.names, motion, plain, backend)
        rates = dict(zip(positions, motion[len(positions) :])) if options.order == 2 else {}
        asked = Given.of(rates | dict(options.known_drift or {}), options.known_diffusion, motion)
        inputs = _inputs_of(data, motion, asked)
        numbers = Numbers.of(options.parameters, [*motion, *inputs], asked.texts)
        asked.compiled([*motion, *inputs, *numbers.names], backend)
        sought, taken = [x for x in motion if x not in asked.drift], [*motion, *inputs, *numbers.names]
        shapers = shapers_of(options.forcing, sought, taken)
        memories = memories_of(options.forcing, sought, taken)
        numbers = numbers_of(numbers, memories, asked, data)
        both: tuple[Shaper | Memory, ...] = (*shapers, *memories)
        most = _most(data, len(sought), options, _filtered(data, motion, observed, options), stream)
        recipe, for_diffusion, words = libraries(options, motion, inputs, sought, both, circles, most)
        options, recipe = with_trends(options, recipe, motion, sought, inputs)
        hidden, means = [name for one in both for name in one.states], _means(data, motion, inputs)
        own, diffusion_library = bind_together([recipe, for_diffusion], motion, means, inputs)
        states, asked = [*motion, *hidden], remembering(forced(asked, shapers), memories)
        given = asked.written(lambda text: numbers.filled(text, numbers.generic)) if numbers else asked
        observation, ties = velocities(data.names, motion, observation, gathered, given.drift, backend)
        of_noise = options.measurement_noise, options.noise_law, options.noise_groups
        noise, laws = noises_of(data, *of_noise, _filtered(data, states, observed, options), gathered)
        check_told_apart(data.names, observation, noise, gathered)
        library = extended(own, states, [*given.parts.values(), *hidden])
        said = said_of(library, sought, *_limits(options, own, sought, backend), given.parts, own.names)
        said = without_friction(said | said_of_forces(shapers, library, data), memories, own.names)
        said = beside_numbers(said, asked.parts, numbers, own, [*library.inputs, *numbers.names])
        words |= {states.index(shaper.driven): "constant" for shaper in shapers}
        return cls(
            data=data,
            options=options,
            recipe=recipe,
            library=library,
            diffusion_library=extended(diffusion_library, states),
            own=own,
            given=given,
            asked=asked,
            numbers=numbers,
            said=said,
            shapers=shapers,
            memories=memories,
            words=words,
            observed=None if observed is None else list(observed),
            observation=np.pad(observation, ((0, 0), (0, len(hidden)))),
            gathered=at_once(data, observation, gathered, noisy_rows(words, given.noise, states)),
            ties=np.pad(ties, ((0, 0), (0, len(hidden)))),
            noise=noise,
            laws=laws,
            prior=options.prior or Prior(),
            sampling=options.sampling(),
            reporter=Reporter(options.progress),
            stream=stream,
            deviations=_deviations(options, own, sought, data.n_paths, [*states, *inputs]),
            circles=circles,
            notes=tuple(said_of_short(options, motion, inputs, most)),
        )._with_orbits()

    def _with_orbits(self) -> Question:
        """The same with what its rows have in common, which must be all that is said of their terms."""
        options, backend, rows = self.options, self.backend, list(self.rows)
        orbits = orbits_of_drift(options.symmetry, options.ties, self.own, rows, backend)
        if orbits is None:
            return self
        for name, value in (("vary", self.deviations), ("forcing", self.shapers), ("known_drift", self.given.parts),
                            ("include", options.include), ("bounds", options.bounds)):  # fmt: skip
            if value:
                raise argument_error(
                    name, getattr(options, name), "nothing of the kind beside symmetry or ties"
                )
        if options.ensemble == "mean":
            raise argument_error("ensemble", "mean", "'pool' beside symmetry or ties")
        names = list(self.own.names)
        orbits = orbits.without(
            {
                (self.states.index(row),): [names.index(term) for term in one.excluded if term in names]
                for row, one in self.said.items()
            }
        )
        constant = self.constant_pairs == frozenset(self.pairs)
        of_gamma = Library.polynomials(0).bind(list(self.states)) if constant else self.diffusion_library
        some = bool(self.constant_pairs) and not constant
        gamma = None if some else orbits_of_diffusion(options.symmetry, of_gamma, rows, self.pairs, backend)
        return replace(self, orbits=orbits, diffusion_orbits=gamma)

    @property
    def known_drift(self) -> dict[str, str]:
        """Rows that are given whole, in the order of the states."""
        return self.given.drift

    @property
    def backend(self) -> Backend:
        """The backend module of this question."""
        return get_backend(self.options.backend)

    @property
    def periods(self) -> dict[str, float]:
        """The columns that show angles, and by how much they wrap."""
        return periods_of(self.data.names, self.observed)

    @property
    def offsets(self) -> dict[int, Offset]:
        """Columns whose zero is not known, by number."""
        return offsets_of(self.data.names, self.options.offset)

    @property
    def resolution(self) -> dict[int, float]:
        """Steps to which columns are rounded, by number."""
        return resolution_of(self.data.names, self.options.resolution)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Columns whose noises are correlated."""
        return groups_of(self.data.names, self.options.noise_groups)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of all states."""
        return tuple(self.library.states)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what drives the states, the time among them where something contains it."""
        return tuple(self.library.driven)

    @property
    def rows(self) -> tuple[int, ...]:
        """Numbers of the states whose drift is unknown."""
        return tuple(i for i, name in enumerate(self.states) if name not in self.known_drift)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Entries of the diffusion covariance that are asked for, the diagonal first."""
        shaped = {self.states.index(shaper.driven) for shaper in self.shapers}
        return tuple((i, j) for i, j in pairs_of(self.words) if i == j or not shaped & {i, j})

    @property
    def constant_pairs(self) -> frozenset[tuple[int, int]]:
        """Those of them that are constants, whatever the library holds."""
        return constant_pairs(self.words)

    @property
    def step_laws(self) -> dict[int, DiffusionLaw]:
        """Rows the noise of whose steps is not normal, by number, and its law."""
        return step_laws(self.options.diffusion_law, self.states, self.pairs)

    @property
    def hidden(self) -> bool:
        """Whether there are states that no column is of, offsets among them."""
        return _hidden(self.data, self.states, self.observed) or bool(self.offsets)

    @property
    def measured(self) -> bool:
        """Whether the data are all states without noise, so that no filter is needed, nor asked for."""
        exact = not self.hidden and not self.resolution and all(level == 0.0 for level in self.noise)
        return exact and self.options.scheme != "filter" and not self.numbers

    def known_at(self, values: Array) -> Given:
        """What is given, where the numbers in it have some values."""
        return self.asked.written(lambda text: self.numbers.filled(text, values))

    def _sensors(self) -> dict[str, Any]:
        """What was asked of sensors beyond what they show, and of the laws of steps."""
        names = self.data.names
        laws = {names[c]: law for c, law in self.laws.items()}
        offsets = {names[c]: kind for c, kind in self.offsets.items()}
        found: dict[str, Any] = {"noise_law": laws, "offset": offsets}
        found["noise_groups"] = grouped_settings(names, self.groups)
        found["resolution"] = {names[c]: step for c, step in self.resolution.items()}
        found["diffusion_law"] = {self.states[row]: law for row, law in self.step_laws.items()}
        return {key: value for key, value in found.items() if value}

    def settings(self) -> dict[str, Any]:
        """All that is needed to ask again, as it is saved with a result: plain values by the names of the options."""
        settings = {name: getattr(self.options, name) for name in KEPT}
        asked = self.options.measurement_noise
        settings["measurement_noise"] = self.noise[0] if asked is None else as_given(asked)
        settings |= self._sensors()
        settings |= self.asked.settings()
        if self.numbers.asked:
            settings["parameters"] = {
                name: list(value) if checks.is_list(value) else value
                for name, value in self.numbers.asked.items()
            }
        if self.options.scheme == "auto":
            settings["scheme"] = "trapezoid" if self.measured else "filter"
        if isinstance(self.options.diffusion, Mapping):
            settings["diffusion"] = dict(self.options.diffusion)
        if self.data.driving is not None and self.data.driving.names:
            settings["inputs"] = dict(self.data.driving.modes)
        if self.observed is not None:
            settings["observed"] = list(self.observed)
        by_user = {row: said for row, said in self.said.items() if row in self.own.states}
        settings |= settings_of(by_user, self.own)
        if self.options.states is not None:
            settings["states"] = list(self.options.states)
        if self.options.symmetry is not None:
            settings["symmetry"] = self.options.symmetry
        if self.options.ties:
            settings["ties"] = [dict(tie) for tie in self.options.ties]
        if self.deviations:
            settings["vary"] = {row: list(terms) for row, terms in self.deviations.items()}
        forcing = {shaper.row: str(shaper.kind) for shaper in self.shapers}
        forcing |= {memory.row: f"memory:{len(memory.states)}" for memory in self.memories}
        if forcing:
            settings["forcing"] = forcing
        settings |= {
            "seed": self.sampling.seed,
            "backend": self.options.backend or "default",
            "prior": asdict(self.prior),
            "library": list(self.own.names),
            "diffusion_library": list(self.diffusion_library.names),
        }
        customs = [*self.library.custom_names, *self.diffusion_library.custom_names]
        if customs:
            settings["custom_terms"] = list(dict.fromkeys(customs))
        return settings


def _shown(
    data: Trajectories, options: Options
) -> tuple[Trajectories, Any, tuple[Any, dict[int, Gathered]], dict[str, Circle]]:
    """The recording with its errors and without turns, what was said of its columns, and what they show."""
    observed = observed_texts(data.names, options.observed)
    data, plain, circles = without_turns(data, observed)
    data, seen = with_errors(data, options.measurement_noise, options.resolution), sensors_of(plain)
    check_exposures(data, seen[1])
    return data, observed, seen, circles


def _filtered(
    data: Trajectories, states: Sequence[str], observed: Sequence[str] | None, options: Options
) -> bool:
    """Whether a filter is needed whatever is said of the noise."""
    return _hidden(data, states, observed) or bool(options.offset) or bool(options.resolution)


def _most(data: Trajectories, rows: int, options: Options, filtered: bool, stream: Stream | None) -> int:
    """The most candidates that the recording carries in a row."""
    if stream is not None:
        return stream.n_steps - 1
    filtered = filtered or options.measurement_noise not in (None, 0)
    return most_carried(data, rows, filtered=filtered, ensemble=options.ensemble)


def _hidden(data: Trajectories, states: Sequence[str], observed: Sequence[str] | None) -> bool:
    """Whether the columns are not the states themselves."""
    return len(states) > data.n_states or not as_they_are(data.names, observed)


def _means(data: Trajectories, states: Sequence[str], inputs: Sequence[str]) -> list[float]:
    """Means of states and of inputs but the time, as far as they were recorded, else zero."""
    inputs = [name for name in inputs if name != TIME]
    recorded = dict(zip([*data.names, *inputs], readable_means(rows(data, inputs))))
    return [recorded.get(name, 0.0) for name in (*states, *inputs)]


def _limits(
    options: Options, own: BoundLibrary, sought: Sequence[str], backend: Backend
) -> tuple[Any, Any, Any]:
    """What rows may not have, the even terms of an odd drift among it, what they must have, and their bounds."""
    exclude = options.exclude
    if options.symmetry == "odd":
        even, asked = even_terms(own, backend), exclude or {}
        exclude = {**asked, **{row: [*asked.get(row, ()), *even] for row in sought}}
    return exclude, options.include, options.bounds


def _deviations(
    options: Options, own: BoundLibrary, sought: Sequence[str], n_paths: int, taken: Sequence[str]
) -> dict[str, dict[str, str]]:
    """What differs by recording, of which there must be several."""
    found = deviations_of(own, sought, options.vary, options.exclude, taken)
    if found and options.ensemble == "mean":
        raise argument_error("ensemble", "mean", "'pool', where coefficients vary by recording")
    if found and n_paths < FEWEST:
        count = "1 recording" if n_paths == 1 else f"{n_paths} recordings"
        raise DataError(f"vary: the data are {count}, and how much {FEWEST} or more differ can be told")
    return found


def _inputs_of(data: Trajectories, states: Sequence[str], given: Given) -> list[str]:
    """What drives the states by name, and the time where something given contains it."""
    inputs = [] if data.driving is None else list(data.driving.names)
    for name in [name for name in inputs if name in states]:
        raise argument_error("inputs", name, f"a name that no state has: {', '.join(states)}")
    return [*inputs, TIME] if TIME not in states and given.timed else inputs
