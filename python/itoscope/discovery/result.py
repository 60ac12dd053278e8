"""The result of a discovery: equations with probabilities and intervals, checks, and a model to carry on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from itoscope.errors import argument_error
from itoscope.expressions.typeset import expression_of
from itoscope.posterior.equation import Equation
from itoscope.result.values import check_simulable
from itoscope.show import text as summary

if TYPE_CHECKING:
    from pathlib import Path

    from itoscope.common.types import Progress
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.filtered.fit import NoisyFit
    from itoscope.library.library import Library
    from itoscope.result.forecast import Forecast
    from itoscope.result.observer import Observer
    from itoscope.sde.sde import SDE
    from itoscope.show.plots import Plots

__all__ = ["Diffusion", "Discovery"]

Terms = dict[str, float]


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
class Discovery:
    """A discovered stochastic differential equation `dX = f(X) dt + g(X) dB`, `Gamma = g g^T`.

    Attributes
    ----------
    states : tuple of str
        Names of the m states. Called, `states()` gives the `SmoothedStates` of a noisy or partly seen recording.
    drift : mapping of str to Equation
        `drift["x2"]`: terms, inclusion probabilities and coefficients of an unknown row of the drift.
    diffusion : mapping of (str, str) to Equation
        `diffusion["x2", "x2"]`: the same for an entry of the covariance `Gamma`.
    known_drift : dict of str to str
        Rows that were given, without noise.
    measurement_noise : float
        Standard deviation of the measurement noise, 0 when the states were taken as exact; the root mean square over
        several channels, whose levels and intervals are in `diagnostics["measurement_noise"]`.
    settings : dict
        Everything that is needed to run it again, the seed included.
    diagnostics : dict
        `rounds`: what each weight round selected and how far coefficients moved; `checks`: each check with its value,
        threshold and reason; `residuals`: statistics of the standardised residuals of each row.
    warnings : list of str
        Sentences of the checks that fired.
    """

    states: tuple[str, ...]
    drift: dict[str, Equation]
    diffusion: Diffusion
    known_drift: dict[str, str] = field(default_factory=dict)
    measurement_noise: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    data_summary: dict[str, Any] = field(default_factory=dict)
    data: Trajectories | None = field(default=None, repr=False, compare=False)
    library: Library | None = field(default=None, repr=False, compare=False)
    diffusion_library: Library | None = field(default=None, repr=False, compare=False)
    fit: NoisyFit | None = field(default=None, repr=False, compare=False)
    observer: Observer | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        from itoscope.result.states import StateNames

        if self.observer is None and self.fit is not None and self.data is not None:
            from itoscope.result.observer import Observer

            self.observer = Observer.of(self.fit, self.data.names)
        self.states = StateNames.of(tuple(self.states), self.observer, self.data)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: everything but the rounds of the filter, whose compiled programs cannot be."""
        return {**self.__dict__, "states": tuple(self.states), "fit": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def with_data(self, data: Trajectories) -> Discovery:
        """The same result beside a recording: that of the fit, which a file does not hold, or another one.

        Parameters
        ----------
        data : Trajectories
            With the columns of the recording that was fitted, by name.

        Returns
        -------
        Discovery
            Pictures, `report`, `self_check` and `states()` work on it as before saving.
        """
        if self.observer is not None:
            self.observer.check(data)
        elif tuple(data.names) != tuple(self.states):
            allowed = f"a recording of the states of the model, {', '.join(self.states)}"
            raise argument_error("data", ", ".join(data.names), allowed)
        return replace(self, states=tuple(self.states), data=data)

    # -- reading ---------------------------------------------------------------------------------------------
    def equations(self, style: str = "text") -> list[Any]:
        """Equations of all states, then the entries of the diffusion covariance.

        Parameters
        ----------
        style : {"text", "latex", "sympy"}
            `"text"`: one line each, coefficients with one standard deviation. `"latex"`: the same typeset. `"sympy"`:
            `sympy.Eq` objects with mean coefficients (needs the extra `symbolic`).

        Returns
        -------
        list

        Raises
        ------
        ArgumentError
            For another style.
        """
        if style == "text":
            return [line for line, _ in summary.equation_lines(self)]
        from itoscope.show import latex as equations

        if style == "latex":
            return equations.latex_equations(self)
        if style == "sympy":
            return equations.sympy_equations(self)
        raise argument_error("style", style, "one of 'text', 'latex', 'sympy'")

    def labelled(self) -> list[tuple[str, Equation]]:
        """All unknown equations with their labels: `dx2`, `Gamma[x2, x2]`."""
        drift = [(f"d{state}", equation) for state, equation in self.drift.items()]
        return drift + [(f"Gamma[{a}, {b}]", equation) for (a, b), equation in self.diffusion.items()]

    def coefficients(self) -> dict[str, dict[str, float]]:
        """Mean coefficients of the selected terms: `{"dx2": {"x1": ...}, "Gamma[x2, x2]": {...}}`."""
        return {label: _selected(equation) for label, equation in self.labelled()}

    def __str__(self) -> str:
        return "\n".join(summary.text(self))

    __repr__ = __str__

    def print(self) -> None:
        """Print the equations, the table of their terms, and the warnings."""
        print(self)

    def _repr_html_(self) -> str:
        from itoscope.show.html import discovery_html

        return discovery_html(self)

    def _repr_latex_(self) -> str:
        from itoscope.show import latex as equations

        lines = " \\\\\n".join(line.replace(" =", " &=", 1) for line in equations.latex_equations(self))
        return f"$\\displaystyle\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}$"

    def table(self) -> Any:
        """One row per candidate term of every equation.

        Returns
        -------
        pandas.DataFrame
            Columns `equation, term, selected, pip, pip_mcse, mean, sd, low, high` (95 % interval), or a list of dicts
            of
            the same when pandas is not installed.
        """
        rows = []
        named = self.labelled()
        for name, equation in named:
            interval = equation.interval(0.95)
            for k, term in enumerate(equation.terms):
                rows.append(
                    {
                        "equation": name,
                        "term": term,
                        "selected": bool(equation.selected[k]),
                        "pip": float(equation.pip[k]),
                        "pip_mcse": float(equation.pip_mcse[k]),
                        "mean": float(equation.mean[k]),
                        "sd": float(equation.sd[k]),
                        "low": float(interval[k][0]),
                        "high": float(interval[k][1]),
                    }
                )
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    @property
    def plot(self) -> Plots:
        """Pictures: `plot.pip()`, `plot.fit()`, ...; see `itoscope.show.plots.Plots`."""
        from itoscope.show.plots import Plots

        return Plots(self)

    # -- carrying on -----------------------------------------------------------------------------------------
    def model(self) -> SDE:
        """Model with the mean coefficients of the selected terms.

        Returns
        -------
        SDE
            Drift rows as found or given; the covariance entries as found, zero where a row was given.
        """
        means = {state: _selected(equation) for state, equation in self.drift.items()}
        gammas = {pair: _selected(equation) for pair, equation in self.diffusion.items()}
        return self._sde(means, gammas)

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
        if n < 1:
            raise argument_error("n", n, "a whole number of at least 1")
        rng = np.random.default_rng(seed)
        models = []
        for _ in range(n):
            means = {state: _draw(equation, rng) for state, equation in self.drift.items()}
            gammas = {pair: _draw(equation, rng) for pair, equation in self.diffusion.items()}
            models.append(self._sde(means, gammas))
        return models

    def _sde(self, means: Mapping[str, Terms], gammas: Mapping[tuple[str, str], Terms]) -> SDE:
        from itoscope.sde.sde import SDE

        named = [(f"d{state}", terms) for state, terms in means.items()]
        named += [(f"Gamma[{a}, {b}]", terms) for (a, b), terms in gammas.items()]
        for label, terms in named:
            for term in terms:
                check_simulable(term, label, self.states, self.settings.get("custom_terms", ()))
        drift = [self.known_drift.get(state) or expression_of(means[state]) for state in self.states]
        gamma = [["0"] * len(self.states) for _ in self.states]
        for (a, b), terms in gammas.items():
            i, j = self.states.index(a), self.states.index(b)
            gamma[i][j] = gamma[j][i] = expression_of(terms)
        return SDE(drift, gamma=gamma, states=list(self.states))

    def simulate(
        self,
        x0: ArrayLike,
        *,
        duration: float | None = None,
        n_steps: int | None = None,
        dt: float | None = None,
        n_paths: int = 1,
        posterior: bool = True,
        scheme: str | None = None,
        substeps: int | None = None,
        keep_every: int = 1,
        seed: int | None = None,
        backend: str | None = None,
        progress: bool | Progress = None,
    ) -> Trajectories:
        """Simulate the discovered model.

        Parameters
        ----------
        x0 : (m,) or (n_paths, m) array of float
            Where the paths start.
        duration, n_steps : float or int
            How long, one of the two.
        dt : float, optional
            Time step; that of the data by default.
        n_paths : int
        posterior : bool
            True: every path has its own draw of terms and coefficients, so the ensemble holds what is not known of the
            model beside the noise (100 models at most, used in turn). False: all paths have the mean model.
        scheme : str, optional
            By default the one of the highest order that the noise of the model allows.
        substeps : int, optional
            Steps of the scheme per `dt`; by default 1, or 10 where only Euler-Maruyama fits.
        keep_every, seed, backend, progress
            See `SDE.simulate`.

        Raises
        ------
        ArgumentError
            For a term that is a Python function, which no simulation can call.

        Returns
        -------
        Trajectories
            Paths that left the finite range are cut there and listed in `diverged`.
        """
        from itoscope.result.ensemble import simulate

        return simulate(
            self, x0, duration=duration, n_steps=n_steps, dt=dt, n_paths=n_paths, posterior=posterior, scheme=scheme,
            substeps=substeps, keep_every=keep_every, seed=seed, backend=backend, progress=progress,
        )  # fmt: skip

    def forecast(
        self,
        x0: ArrayLike,
        *,
        duration: float | None = None,
        n_steps: int | None = None,
        dt: float | None = None,
        n_paths: int = 200,
        levels: Sequence[float] = (0.5, 0.9),
        **settings: Any,
    ) -> Forecast:
        """Simulate an ensemble and summarise it.

        Parameters
        ----------
        x0, duration, n_steps, dt, n_paths, **settings
            See `simulate`.
        levels : sequence of float
            Probabilities of the central bands.

        Returns
        -------
        Forecast
            Mean, standard deviation and bands at each time, and the paths.
        """
        from itoscope.result.forecast import forecast

        for level in levels:
            if not 0 < level < 1:
                raise argument_error("levels", level, "probabilities between 0 and 1")
        paths = self.simulate(x0, duration=duration, n_steps=n_steps, dt=dt, n_paths=n_paths, **settings)
        return forecast(paths, tuple(levels))

    def self_check(
        self, seed: int | None = None, *, data: Trajectories | None = None, progress: bool | Progress = None
    ) -> dict[str, Any]:
        """Simulate the fitted model from the starts of the data, discover again with the same settings, compare.

        A noisy or partly seen recording is simulated from its smoothed starts and seen through the same channels with
        the noise that was found; this takes as long as the discovery did.

        Parameters
        ----------
        seed : int, optional
        data : Trajectories, optional
            The recording of the fit, for a result that was loaded from a file.
        progress : bool or callable, optional

        Returns
        -------
        dict
            `terms`: each selected term fitted and from the simulation, their difference in standard deviations;
            `spread`: standard deviation of each recorded state in the data and in the simulation; `consistent`: the
            same terms, and no difference above four standard deviations.
        """
        from itoscope.discovery.selfcheck import self_check

        return self_check(self if data is None else self.with_data(data), seed, progress)

    def to_arviz(self) -> Any:
        """Return everything as ArviZ data (`InferenceData`, a `DataTree` since ArviZ 1), for `az.summary` and its like.

        Group `posterior`: `drift (chain, draw, equation, term)`, `diffusion (chain, draw, entry, diffusion_term)`,
        and of each `noise_var`, `slab_var`, `p0`. Group `sample_stats`: `included`, `inclusion` (its probability given
        the rest of the draw), `size` (number of terms). Group `observed_data`: `x (path, time, state)`. Needs the extra
        `arviz`.
        """
        from itoscope.show.arviz import to_arviz

        return to_arviz(self)

    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write one HTML page that needs no network: equations, checks, terms, pictures, settings, versions.

        Parameters
        ----------
        path : str or Path
        title : str, optional
            Heading of the page.

        Raises
        ------
        MissingExtraError
            Without Matplotlib, the extra `plot`.
        """
        from itoscope.show.report import write

        write(self, path, title)

    # -- keeping ---------------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> Path:
        """Write everything but the recorded data to one file (NumPy arrays and JSON, no pickle).

        Parameters
        ----------
        path : str or Path
            The suffix `.npz` is added when there is none.

        Returns
        -------
        Path
            Of the file that was written.
        """
        from itoscope.show.storage import save_discovery

        return save_discovery(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read what `save` wrote.

        Raises
        ------
        DataError
            When the file is damaged, of another kind, or of a newer format.
        """
        from itoscope.show.storage import load_discovery

        return load_discovery(path)


def _selected(equation: Equation) -> Terms:
    return {t: float(c) for t, c, z in zip(equation.terms, equation.mean, equation.selected) if z}


def _draw(equation: Equation, rng: np.random.Generator) -> Terms:
    chains, draws = equation.samples.shape[:2]
    values = equation.samples[rng.integers(chains), rng.integers(draws)]
    return {term: float(value) for term, value in zip(equation.terms, values) if value != 0}
