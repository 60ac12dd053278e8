"""The result of a discovery: equations with probabilities and intervals, checks, and a model to carry on with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from itoscope.errors import argument_error
from itoscope.extras import require
from itoscope.posterior import Equation
from itoscope.render import expression_of, in_brackets, latex, latex_name, symbolic
from itoscope.rounding import Rounding, join_terms, number

if TYPE_CHECKING:
    from pathlib import Path

    from itoscope.forecast import Forecast
    from itoscope.library import Library
    from itoscope.model import SDE
    from itoscope.trajectories import Trajectories

__all__ = ["Diffusion", "Discovery"]

NEAR_MISS = 0.05

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


@dataclass
class Discovery:
    """A discovered stochastic differential equation `dX = f(X) dt + g(X) dB`, `Gamma = g g^T`.

    Attributes
    ----------
    states : tuple of str
        Names of the m states.
    drift : mapping of str to Equation
        `drift["x2"]`: terms, inclusion probabilities and coefficients of an unknown row of the drift.
    diffusion : mapping of (str, str) to Equation
        `diffusion["x2", "x2"]`: the same for an entry of the covariance `Gamma`.
    known_drift : dict of str to str
        Rows that were given, without noise.
    measurement_noise : float
        Standard deviation of the measurement noise, 0 when the states were taken as exact.
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
            return [line for line, _ in self._lines()]
        if style == "latex":
            return self._latex()
        if style == "sympy":
            return self._sympy()
        raise argument_error("style", style, "one of 'text', 'latex', 'sympy'")

    def _lines(self) -> list[tuple[str, str]]:
        """Each equation as text, and what is to be said beside it."""
        lines = []
        for state in self.states:
            if state in self.known_drift:
                lines.append((f"d{state} = {in_brackets(self.known_drift[state])} dt", "given"))
            else:
                total = _sum(self.drift[state])
                drift = f"[{total}]" if self.drift[state].selected.sum() > 1 else total
                lines.append((f"d{state} = {drift} dt{self._noise(state)}", ""))
        for (a, b), equation in self.diffusion.items():
            lines.append((f"Gamma[{a}, {b}] = {_sum(equation)}", ""))
        return lines

    def _noise(self, state: str) -> str:
        """How the noise of a row is written: its own Brownian motion, or a part of `g dB` with `g g^T = Gamma`."""
        noisy = [a for a, b in self.diffusion if a == b]
        if state not in noisy:
            return ""
        return " + sqrt(Gamma) dB" if len(noisy) == 1 else f" + (g dB)[{state}]"

    def _latex(self) -> list[str]:
        lines = []
        for state in self.states:
            given = self.known_drift.get(state)
            right = _latex_sum(self.drift[state], self.states) if given is None else latex(given, self.states)
            lines.append(rf"\mathrm{{d}}{latex_name(state)} = \left({right}\right)\,\mathrm{{d}}t")
        for (a, b), equation in self.diffusion.items():
            left = rf"\Gamma_{{{latex_name(a)},\,{latex_name(b)}}}"
            lines.append(f"{left} = {_latex_sum(equation, self.states)}")
        return lines

    def _sympy(self) -> list[Any]:
        sympy = require("sympy", "symbolic", "equations(style='sympy')")
        rate = {state: sympy.Symbol(f"d{state}/dt") for state in self.states}
        sums = {state: self.known_drift[state] for state in self.known_drift}
        sums |= {state: expression_of(_selected(equation)) for state, equation in self.drift.items()}
        found = [sympy.Eq(rate[state], symbolic(sums[state], self.states)) for state in self.states]
        for (a, b), equation in self.diffusion.items():
            entry = sympy.Symbol(f"Gamma[{a}, {b}]")
            found.append(sympy.Eq(entry, symbolic(expression_of(_selected(equation)), self.states)))
        return found

    def labelled(self) -> list[tuple[str, Equation]]:
        """All unknown equations with their labels: `dx2`, `Gamma[x2, x2]`."""
        drift = [(f"d{state}", equation) for state, equation in self.drift.items()]
        return drift + [(f"Gamma[{a}, {b}]", equation) for (a, b), equation in self.diffusion.items()]

    def coefficients(self) -> dict[str, dict[str, float]]:
        """Mean coefficients of the selected terms: `{"dx2": {"x1": ...}, "Gamma[x2, x2]": {...}}`."""
        return {label: _selected(equation) for label, equation in self.labelled()}

    def __str__(self) -> str:
        return "\n".join(self._text())

    def print(self) -> None:
        """Print the equations, the table of their terms, and the warnings."""
        print(self)

    def _text(self) -> Iterator[str]:
        yield self._headline()
        yield ""
        lines = self._lines()
        width = max(len(line) for line, _ in lines)
        for line, remark in lines:
            yield f"  {line:<{width}}   {remark}".rstrip()
        yield ""
        yield from self._term_table()
        if self.measurement_noise:
            yield ""
            yield f"  measurement noise: {number(self.measurement_noise)} (one standard deviation)"
        for warning in self.warnings:
            yield ""
            yield from _wrap(f"warning: {warning}")

    def _headline(self) -> str:
        about = self.data_summary
        if not about:
            return "Discovered stochastic differential equation"
        paths = "1 path" if about["n_paths"] == 1 else f"{about['n_paths']} paths"
        step = f"dt = {number(about['dt'])}" if about.get("dt") else "uneven steps"
        return f"Stochastic differential equation from {paths}, {about['n_steps']} steps, {step}"

    def _term_table(self) -> Iterator[str]:
        head = ("equation", "term", "coefficient", "sd", "95 % interval", "probability")
        rows = [head]
        notes: list[str] = []
        named = self.labelled()
        for name, equation in named:
            interval = equation.interval(0.95)
            for k in np.flatnonzero(equation.selected):
                write = Rounding.of(equation.mean[k], equation.sd[k]).write
                value, sd, low, high = map(write, (equation.mean[k], equation.sd[k], *interval[k]))
                rows.append(
                    (name, equation.terms[k], value, sd, f"{low} .. {high}", _probability(equation.pip[k]))
                )
                name = ""
            if not equation.selected.any():
                rows.append((name, "none", "", "", "", ""))
            near = [
                f"{t} ({p:.2f})"
                for t, p, z in zip(equation.terms, equation.pip, equation.selected)
                if not z and p > NEAR_MISS
            ]
            if near:
                label = name or next(n for n, e in named if e is equation)
                notes.append(f"  not selected but possible in {label}: {', '.join(near)}")
            for kept, others in equation.aliases.items():
                label = next(n for n, e in named if e is equation)
                notes.append(f"  {label}: {', '.join(others)} cannot be told from {kept} on these data")
        widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
        for row in rows:
            cells = [
                f"{cell:<{w}}" if c < 2 else f"{cell:>{w}}" for c, (cell, w) in enumerate(zip(row, widths))
            ]
            yield ("  " + "  ".join(cells)).rstrip()
        if notes:
            yield ""
            yield from notes

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
        from itoscope.model import SDE

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
        keep_every, seed, backend
            See `SDE.simulate`.

        Returns
        -------
        Trajectories
            Paths that left the finite range are cut there and listed in `diverged`.
        """
        from itoscope.forecast import simulate

        return simulate(
            self, x0, duration=duration, n_steps=n_steps, dt=dt, n_paths=n_paths, posterior=posterior, scheme=scheme,
            substeps=substeps, keep_every=keep_every, seed=seed, backend=backend,
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
        from itoscope.forecast import forecast

        for level in levels:
            if not 0 < level < 1:
                raise argument_error("levels", level, "probabilities between 0 and 1")
        paths = self.simulate(x0, duration=duration, n_steps=n_steps, dt=dt, n_paths=n_paths, **settings)
        return forecast(paths, tuple(levels))

    def self_check(self, seed: int | None = None) -> dict[str, Any]:
        """Simulate the fitted model from the starts of the data, discover again with the same settings, compare.

        Parameters
        ----------
        seed : int, optional

        Returns
        -------
        dict
            `terms`: each selected term fitted and from the simulation, their difference in standard deviations;
            `spread`: standard deviation of each state in the data and in the simulation; `consistent`: the same terms,
            and no difference above four standard deviations.
        """
        from itoscope.forecast import self_check

        return self_check(self, seed)

    # -- keeping ---------------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> None:
        """Write everything but the recorded data to one file (NumPy arrays and JSON, no pickle).

        Parameters
        ----------
        path : str or Path
            The suffix `.npz` is added when there is none.
        """
        from itoscope.storage import save_discovery

        save_discovery(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Discovery:
        """Read what `save` wrote.

        Raises
        ------
        DataError
            When the file is damaged, of another kind, or of a newer format.
        """
        from itoscope.storage import load_discovery

        return load_discovery(path)


def _selected(equation: Equation) -> Terms:
    return {t: float(c) for t, c, z in zip(equation.terms, equation.mean, equation.selected) if z}


def _draw(equation: Equation, rng: np.random.Generator) -> Terms:
    chains, draws = equation.samples.shape[:2]
    values = equation.samples[rng.integers(chains), rng.integers(draws)]
    return {term: float(value) for term, value in zip(equation.terms, values) if value != 0}


def _latex_sum(equation: Equation, states: Sequence[str]) -> str:
    text = ""
    for sign, value, sd, term in _parts(equation):
        name = "" if term == "1" else rf"\,{latex(term, states)}"
        size = rf"({_latex_power(value)} \pm {_latex_power(sd)}){name}"
        text += f" {sign or '+'} {size}" if text else sign + size
    return text or "0"


def _latex_power(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \times 10^{{{exponent}}}" if exponent else mantissa


def _parts(equation: Equation) -> Iterator[tuple[str, str, str, str]]:
    """Sign, size, standard deviation and name of each selected term."""
    for k in np.flatnonzero(equation.selected):
        write = Rounding.of(equation.mean[k], equation.sd[k]).write
        sign = "-" if equation.mean[k] < 0 else ""
        yield sign, write(abs(equation.mean[k])), write(equation.sd[k]), equation.terms[k]


def _sum(equation: Equation) -> str:
    return join_terms([(f"{sign}({size} ± {sd})", term) for sign, size, sd, term in _parts(equation)])


def _probability(p: float) -> str:
    return "> 0.999" if p > 0.999 else f"{p:.3f}"


def _wrap(text: str, width: int = 100) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")
