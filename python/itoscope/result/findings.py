"""`Findings`: the plain record of a discovery, which everything that looks at one reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from itoscope.common import checks
from itoscope.data import driving
from itoscope.data.angles import Circle, periods_of, unwrapped
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, ExpressionError, argument_error
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.posterior.equation import Equation
from itoscope.result.diagnostics import Diagnostics, Summary, Varied
from itoscope.result.jumps import Jump
from itoscope.result.outliers import Outlier
from itoscope.result.parameters import Parameters
from itoscope.result.states import SmoothedStates, smoothed
from itoscope.sde.family import Draws, Sum, repaired
from itoscope.sde.roots import constant_of
from itoscope.sde.sde import SDE

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.library.library import Library
    from itoscope.result.observer import Observer

__all__ = ["Diffusion", "Drift", "Findings", "Key", "Terms", "Varying"]

Terms = dict[str, float]
Self = TypeVar("Self", bound="Findings")


class Key(NamedTuple):
    """Which equation: the drift of state `row`, or with a `column` that entry of the covariance `Gamma`.

    Examples
    --------
    >>> str(Key("x2")), str(Key("x1", "x2"))
    ('dx2', 'Gamma[x1, x2]')
    """

    row: str
    column: str | None = None

    def __str__(self) -> str:
        return f"d{self.row}" if self.column is None else f"Gamma[{self.row}, {self.column}]"


@dataclass(frozen=True)
class Varying:
    """A coefficient that differs by recording.

    Attributes
    ----------
    values, errors : (R,) array
        Of each recording, drawn to the common mean as far as the recording is short, and their standard errors.
    spread : float
        Standard deviation over recordings.
    interval : (float, float)
        Its 95 % interval.
    gain : float
        How much larger the log likelihood is than with one value for all recordings.
    input : str
        The input of the model that holds what a recording has beside the mean: simulations take it as 0 unless told.
    """

    values: Array
    errors: Array
    spread: float
    interval: tuple[float, float]
    gain: float
    input: str


class Diffusion(Mapping[tuple[str, str], Equation]):
    """The diffusion covariance: `diffusion["x1", "x2"]` in either order, `diffusion["x2"]` for a variance."""

    def __init__(self, entries: Mapping[tuple[str, str], Equation]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: tuple[str, str] | str) -> Equation:
        pair = (key, key) if isinstance(key, str) else tuple(key)
        for candidate in (pair, pair[::-1]):
            if candidate in self._entries:
                return self._entries[candidate]
        known = (
            ", ".join(repr(entry) for entry in self._entries)
            or "none: diffusion='none', or the rows are given"
        )
        raise KeyError(f"no diffusion entry {pair}; there are {known}")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Drift(dict[str, Equation]):
    """The unknown drift rows by state name."""

    def __missing__(self, key: str) -> Equation:
        raise KeyError(f"no unknown drift row {key!r}; there are {', '.join(self)}")


@dataclass(repr=False)
class Findings:
    """What was found of a stochastic differential equation `dX = f(X) dt + g(X) dB`, `Gamma = g g^T`.

    The fields are described in `Discovery`, which has the same and adds what can be done with them.
    """

    states: tuple[str, ...]
    drift: dict[str, Equation]
    diffusion: Diffusion
    known_drift: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=Parameters.none)
    measurement_noise: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    warnings: list[str] = field(default_factory=list)
    data_summary: Summary = field(default_factory=Summary)
    data: Trajectories | None = field(default=None, repr=False, compare=False)
    library: Library | None = field(default=None, repr=False, compare=False)
    diffusion_library: Library | None = field(default=None, repr=False, compare=False)
    observer: Observer | None = field(default=None, repr=False, compare=False)

    @property
    def differences(self) -> tuple[str, ...]:
        """The last of the inputs: what recordings have of their own, 0 for the mean of all."""
        return tuple(one["input"] for one in self._varied() if one["input"] in self.inputs)

    @property
    def standing(self) -> tuple[str, ...]:
        """States that stand still: what recordings have of their own behind the filter, 0 for the mean of all."""
        return tuple(one["input"] for one in self._varied() if one["input"] in self.states)

    @property
    def variables(self) -> tuple[str, ...]:
        """All that the expressions may contain: the states, and what drives them."""
        return (*self.states, *self.inputs)

    def rows(self, data: Trajectories) -> list[Array]:
        """Samples of a recording of all states, with what drives the model after them `(n_i, m + g)`."""
        return driving.rows(self.driven(data), self.inputs)

    def driven(self, data: Trajectories) -> Trajectories:
        """A recording of states with its inputs told from them, by the names that those of the fit had."""
        checks.instance("data", data, Trajectories, "Trajectories")
        asked = self.settings.get("inputs")
        found = driving.driven(data, asked) if asked and data.driving is None else data
        found = unwrapped(found, periods_of(found.names, self.settings.get("observed")))
        own = {one["input"]: np.array(one["drawn"]) for one in self._varied() if one["input"] in self.inputs}
        if not own or (found.driving is not None and set(own) <= {*found.driving.names}):
            return found
        count = len(next(iter(own.values())))
        if found.n_paths != count:
            allowed = (
                f"the {count} recordings of the fit: what others have of their own is not known, and a column "
                f"{', '.join(own)} of the inputs would say it"
            )
            raise argument_error("data", f"{found.n_paths} paths", allowed)
        return driving.with_constants(found, own)

    @property
    def circles(self) -> dict[str, Circle]:
        """The states that are angles, and how they are shown."""
        return {state: Circle(**one) for state, one in self.diagnostics.get("angles", {}).items()}

    def _varied(self) -> list[Varied]:
        """What differs by recording, of all rows."""
        return [one for terms in self.diagnostics.get("varying", {}).values() for one in terms.values()]

    # -- its equations ---------------------------------------------------------------------------------------
    def keyed(self) -> list[tuple[Key, Equation]]:
        """All unknown equations with their keys, the drift first."""
        drift = [(Key(state), equation) for state, equation in self.drift.items()]
        return drift + [(Key(a, b), equation) for (a, b), equation in self.diffusion.items()]

    def labelled(self) -> list[tuple[str, Equation]]:
        """All unknown equations with their labels: `dx2`, `Gamma[x2, x2]`."""
        return [(str(key), equation) for key, equation in self.keyed()]

    def find(self, name: str | tuple[str, str] | None) -> tuple[Key, Equation]:
        """An equation by its state, its pair of states or its label; without a name the first one.

        Raises
        ------
        ArgumentError
            For a name that no unknown equation has.
        """
        if not isinstance(name, (str, tuple, type(None))) or not all(
            isinstance(one, str) for one in name or ()
        ):
            raise argument_error("equation", name, "a state, a pair of states or a label")
        wanted = {name, tuple(name[::-1]) if isinstance(name, tuple) else name}
        for key, equation in self.keyed():
            names = {str(key), key.row if key.column is None else (key.row, key.column)}
            if name is None or wanted & names:
                return key, equation
        known = ", ".join(label for label, _ in self.labelled())
        raise argument_error("equation", name, f"one of {known}, a state, or a pair of states")

    def coefficients(self) -> dict[str, Terms]:
        """Mean coefficients of the selected terms: `{"dx2": {"x1": ...}, "Gamma[x2, x2]": {...}}`."""
        return {label: _selected(equation) for label, equation in self.labelled()}

    @property
    def varying(self) -> dict[str, dict[str, Varying]]:
        """Coefficients that differ by recording, by row and term: `varying["x1"]["1"].values`."""
        return {
            row: {
                term: Varying(
                    np.array(one["values"]), np.array(one["errors"]), one["spread"], (one["low"], one["high"]),
                    one["gain"], one["input"],
                )
                for term, one in terms.items()
            }
            for row, terms in self.diagnostics.get("varying", {}).items()
        }  # fmt: skip

    @property
    def outliers(self) -> list[Outlier]:
        """Readings of sensors with a `noise_law` that are outliers rather than not, in the order of time.

        Each with its `channel`, `path`, `sample`, `time`, `value`, what the smoothed motion would show there, `fitted`,
        the `distance` between these in standard deviations of the noise, and the `probability` of being an outlier: of
        `"outliers"` of the wide part of the law, of `"student"` of a size of its own beyond three times the scale.
        """
        return [Outlier(**one) for one in self.diagnostics.get("outliers", [])]

    @property
    def jumps(self) -> list[Jump]:
        """Steps of rows with a `diffusion_law` that are jumps rather than not, path by path in the order of time.

        Each with its `row`, `path`, the `sample` and `time` at which it ends, its `size` beyond what the drift moves,
        the `distance` in standard deviations of Gamma over the step, of all rows that jump together, and the
        `probability`: of `"jumps"` of being of the wide part of the law, of `"student"` of a size beyond three times
        the scale.
        """
        return [Jump(**one) for one in self.diagnostics.get("jumps", [])]

    # -- models ----------------------------------------------------------------------------------------------
    def model(self) -> SDE:
        """Model with the mean coefficients of the selected terms.

        Returns
        -------
        SDE
            Drift rows as found or given; the covariance entries as found, zero where a row was given.
        """
        return self._sde(self.mean_model(), 0)

    def sample_models(self, n: int, seed: int | None = None) -> list[SDE]:
        """Models drawn from the posterior: terms and coefficients of one draw of each equation's chains.

        Parameters
        ----------
        n : int
            How many.
        seed : int or None

        Returns
        -------
        list of SDE
        """
        drawn = self.draw_models(n, seed)
        return [self._sde(drawn, number) for number in range(n)]

    def mean_model(self) -> Draws:
        """The model with the mean coefficients of the selected terms, as arrays for one."""
        return self._draws({key: np.where(e.selected, e.mean, 0.0)[None] for key, e in self.keyed()})

    def draw_models(self, n: int, seed: int | None = None) -> Draws:
        """What `sample_models` draws, as arrays of coefficients."""
        n = checks.count("n", n)
        rng = np.random.default_rng(checks.seed(seed))
        drawn: dict[Key, list[Array]] = {key: [] for key, _ in self.keyed()}
        for _ in range(n):
            for key, equation in self.keyed():
                chains, draws = equation.samples.shape[:2]
                drawn[key].append(equation.samples[rng.integers(chains), rng.integers(draws)])
        values = {key: np.stack(rows) for key, rows in drawn.items()}
        return self._draws(values, self._parameters(values, rng) if self.parameters else None)

    def _parameters(self, values: Mapping[Key, Array], rng: np.random.Generator) -> Array:
        """Draws of the named parameters `(n, P)` beside those of the coefficients."""
        places = {(str(key), t): (key, k) for key, e in self.keyed() for k, t in enumerate(e.terms)}
        means = dict(self.keyed())
        columns = [places[beside] for beside in self.parameters.beside]
        n = len(next(iter(values.values())))
        away = [
            np.where(values[key][:, k] == 0.0, 0.0, values[key][:, k] - means[key].mean[k])
            for key, k in columns
        ]
        return self.parameters.drawn(np.array(away).T.reshape(n, len(columns)), rng)

    def _draws(self, values: Mapping[Key, Array], parameters: Array | None = None) -> Draws:
        """Models from coefficients `(n, K)` of each equation; terms that no model can call are refused."""
        sums = {key: Sum(equation.terms, values[key]) for key, equation in self.keyed()}
        given: Mapping[str, str] = self.known_drift
        if parameters is not None:
            given, sums = self._with_parameters(sums, parameters)
        for key, (terms, rows) in sums.items():
            for term in (term for term, column in zip(terms, rows.T) if column.any()):
                check_simulable(term, str(key), self.variables, self.settings.get("custom_terms", ()))
        drawn = Draws(
            states=tuple(self.states),
            inputs=tuple(self.inputs),
            given=given,
            drift={key.row: found for key, found in sums.items() if key.column is None},
            gamma={(key.row, key.column): found for key, found in sums.items() if key.column is not None},
        )
        return repaired(drawn)

    def _with_parameters(
        self, sums: Mapping[Key, Sum], drawn: Array
    ) -> tuple[dict[str, str], dict[Key, Sum]]:
        """Given rows, and sums, where parameters are `drawn` `(n, P)`: to first order in a drift, constants exactly."""
        found, given, out = self.parameters, dict(self.known_drift), dict(sums)
        away, one = drawn - found.means, np.ones((len(drawn), 1))
        for what in ("drift", "parts"):
            for row, text in found.written[what].items():
                slopes = found.slopes(text)
                if slopes:
                    before = Sum([given.pop(row)], one) if what == "drift" else out[Key(row)]
                    values = np.hstack([before.values, away[:, list(slopes)]])
                    out[Key(row)] = Sum([*before.terms, *slopes.values()], values)
        for pair, text in found.written["noise"].items():
            row, column = pair.split(",")
            if found.slopes(text) and out[Key(row, column)].terms == ["1"]:
                sizes = [constant_of(found.filled(text, values), ()) for values in drawn]
                out[Key(row, column)] = Sum(["1"], np.array(sizes, dtype=float)[:, None])
        return given, out

    def _sde(self, models: Draws, number: int) -> SDE:
        gamma = models.gamma_of(number)
        return SDE(models.drift_of(number), gamma=gamma, states=list(self.states), inputs=list(self.inputs))

    # -- beside a recording ----------------------------------------------------------------------------------
    def with_data(self: Self, data: Trajectories) -> Self:
        """The same result beside a recording: that of the fit, which a file does not hold, or another one.

        Parameters
        ----------
        data : Trajectories
            With the columns of the recording that was fitted, by name.

        Returns
        -------
        Discovery
            Pictures, `report`, `self_check` and `smoothed()` work on it as before saving.
        """
        data = self.driven(data)
        if self.observer is not None:
            self.observer.check(data)
        elif tuple(data.names) != tuple(self.states):
            allowed = f"a recording of the states of the model, {', '.join(self.states)}"
            raise argument_error("data", ", ".join(data.names), allowed)
        return replace(self, data=data)

    def smoothed(self, data: Trajectories | None = None) -> SmoothedStates:
        """The states behind a noisy or partly seen recording, with bands.

        Parameters
        ----------
        data : Trajectories, optional
            Of the same channels; by default the recording of the fit.

        Returns
        -------
        SmoothedStates
            Mean and standard deviation of every state at every time, given the whole recording.

        Raises
        ------
        ArgumentError
            When the states were taken as measured exactly, or there is no recording: a saved result holds none.
        """
        return smoothed(self.observer, self.data if data is None else self.driven(data))


def check_simulable(term: str, label: str, states: Sequence[str], customs: Sequence[str] = ()) -> None:
    """Raise `ArgumentError` for a term that is a function of Python, which no model can call.

    Parameters
    ----------
    term : str
        As it is shown.
    label : str
        Of its equation.
    states, customs : sequence of str
        Names of the states and of what drives them; of functions that may be named like an expression.
    """
    try:
        if term in customs:
            raise ExpressionError(term)
        parse(term, Graph(list(states)))
    except ExpressionError:
        raise ArgumentError(
            f"term {term!r} of {label} is a function of Python, which a model cannot hold: only terms that are written "
            "out can be simulated (Library.expressions in place of Library.custom)"
        ) from None


def _selected(equation: Equation) -> Terms:
    return {t: float(c) for t, c, z in zip(equation.terms, equation.mean, equation.selected) if z}
