"""`Question`: what `discover` was asked, every argument checked, and the libraries bound to the states of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from itoscope.backends import get_backend
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.data.driving import driven, rows
from itoscope.errors import argument_error
from itoscope.fit.channels import observation_matrix, observed_texts, state_names
from itoscope.fit.forcing import constant_pairs, pairs_of, words_by_row
from itoscope.fit.given import Given
from itoscope.fit.options import check_streamed
from itoscope.fit.sensors.errors import with_errors
from itoscope.fit.sensors.levels import as_given, check_told_apart, levels
from itoscope.fit.terms import said_of, settings_of
from itoscope.library.bound import TIME, BoundLibrary, readable_means
from itoscope.library.library import Library, bind_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Diffusion, Level
    from itoscope.data.streams import Stream
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.options import Options
    from itoscope.posterior.said import Said
    from itoscope.posterior.sampling import Sampling

__all__ = ["Question"]

SMALL_SYSTEM, DEGREE, LARGE_DEGREE = 2, 6, 3
"""Most states for which the library that is taken unless given has the paper's degree, that degree, and the other."""
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
        Rows, parts of rows and noise that are known.
    said : dict of str to Said
        What is known of the terms of a row, as the library shows them.
    words : dict of int to str
        What was asked of the noise of each unknown row: "full", "diagonal", "constant" or "none".
    observed : list of str or None
        What each column shows, where that was said.
    observation : (q, m) array
        How the columns come from the states.
    noise : tuple of q float or "estimate"
        Standard deviation of the noise of each column.
    prior : Prior
    sampling : Sampling
        Of the full chains, the seed among its settings.
    reporter : Reporter
    stream : Stream or None
        The recording in blocks, of which `data` are stretches.
    """

    data: Trajectories
    options: Options
    recipe: Library
    library: BoundLibrary
    diffusion_library: BoundLibrary
    own: BoundLibrary
    given: Given
    said: dict[str, Said]
    words: dict[int, Diffusion]
    observed: list[str] | None
    observation: Array
    noise: tuple[Level, ...]
    prior: Prior
    sampling: Sampling
    reporter: Reporter
    stream: Stream | None = None

    @classmethod
    def of(cls, data: Trajectories, options: Options, stream: Stream | None = None) -> Question:
        """Check the options against the data.

        Raises
        ------
        ArgumentError
            For an option that does not fit the data, named with its value and what is allowed.
        """
        sampling = options.sampling()
        if stream is not None:
            check_streamed(options)
        backend = get_backend(options.backend)
        data = with_errors(driven(data, options.inputs), options.measurement_noise)
        observed = observed_texts(data.names, options.observed)
        states, positions = state_names(data.names, options.order, options.states, observed)
        observation = observation_matrix(data.names, states, observed, backend)
        noise = levels(data.names, options.measurement_noise, _hidden(data, states, observed), data.errors)
        check_told_apart(data.names, observation, noise)
        known = dict(options.known_drift or {})
        if options.order == 2:
            known = dict(zip(positions, states[len(positions) :])) | known
        given = Given.of(known, options.known_diffusion, states)
        inputs = _inputs_of(data, states, given)
        given.compiled([*states, *inputs], backend)
        named = [name for name in inputs if name != TIME]
        recorded = dict(zip([*data.names, *named], readable_means(rows(data, named))))
        means = [recorded.get(name, 0.0) for name in (*states, *named)]
        degree = DEGREE if len(states) <= SMALL_SYSTEM else LARGE_DEGREE
        recipe = Library.paper(degree) if options.library is None else options.library
        words = words_by_row(
            options.diffusion, states, [i for i, x in enumerate(states) if x not in given.drift]
        )
        for_diffusion = options.diffusion_library or recipe
        if "constant" in words.values():
            varying = not {"constant", "none"}.issuperset(words.values())
            for_diffusion = Library.polynomials(0) + for_diffusion if varying else Library.polynomials(0)
        wider = recipe + Library.expressions(*given.parts.values()) if given.parts else recipe
        own, diffusion_library, library = bind_together([recipe, for_diffusion, wider], states, means, inputs)
        return cls(
            data=data,
            options=options,
            recipe=recipe,
            library=library,
            diffusion_library=diffusion_library,
            own=own,
            given=given,
            said=said_of(
                library,
                [x for x in states if x not in given.drift],
                options.exclude,
                options.include,
                options.bounds,
                given.parts,
                own.names,
            ),
            words=words,
            observed=None if observed is None else list(observed),
            observation=observation,
            noise=noise,
            prior=options.prior or Prior(),
            sampling=sampling,
            reporter=Reporter(options.progress),
            stream=stream,
        )

    @property
    def known_drift(self) -> dict[str, str]:
        """Rows that are given whole, in the order of the states."""
        return self.given.drift

    @property
    def backend(self) -> Backend:
        """The backend module of this question."""
        return get_backend(self.options.backend)

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
        return pairs_of(self.words)

    @property
    def constant_pairs(self) -> frozenset[tuple[int, int]]:
        """Those of them that are constants, whatever the library holds."""
        return constant_pairs(self.words)

    @property
    def hidden(self) -> bool:
        """Whether there are states that no column is of."""
        return _hidden(self.data, self.states, self.observed)

    @property
    def measured(self) -> bool:
        """Whether the data are all states without noise, so that no filter is needed, nor asked for."""
        return (
            not self.hidden and all(level == 0.0 for level in self.noise) and self.options.scheme != "filter"
        )

    def settings(self) -> dict[str, Any]:
        """All that is needed to ask again, as it is saved with a result: plain values by the names of the options."""
        settings = {name: getattr(self.options, name) for name in KEPT}
        asked = self.options.measurement_noise
        settings["measurement_noise"] = self.noise[0] if asked is None else as_given(asked)
        settings |= self.given.settings()
        if self.options.scheme == "auto":
            settings["scheme"] = "trapezoid" if self.measured else "filter"
        if isinstance(self.options.diffusion, Mapping):
            settings["diffusion"] = dict(self.options.diffusion)
        if self.data.driving is not None and self.data.driving.names:
            settings["inputs"] = dict(self.data.driving.modes)
        if self.observed is not None:
            settings["observed"] = list(self.observed)
        settings |= settings_of(self.said, self.own)
        if self.options.states is not None:
            settings["states"] = list(self.states)
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


def _hidden(data: Trajectories, states: Sequence[str], observed: Sequence[str] | None) -> bool:
    """Whether the columns are not the states themselves."""
    return len(states) > data.n_states or observed is not None


def _inputs_of(data: Trajectories, states: Sequence[str], given: Given) -> list[str]:
    """What drives the states by name, and the time where something given contains it."""
    inputs = [] if data.driving is None else list(data.driving.names)
    for name in inputs:
        if name in states:
            raise argument_error(
                "inputs", name, f"another name than those of the states, {', '.join(states)}"
            )
    return [*inputs, TIME] if TIME not in states and given.timed else inputs
