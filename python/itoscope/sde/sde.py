"""`SDE`: a stochastic differential equation that can be evaluated, simulated, printed and stored."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.backends import get_backend
from itoscope.common import checks
from itoscope.common.extras import require
from itoscope.common.numbers import exact
from itoscope.common.types import Array, DiscreteScheme, OnDivergence, Progress
from itoscope.common.writing import path_of, replacing
from itoscope.errors import ArgumentError, DataError, argument_error
from itoscope.expressions.ito import Operators
from itoscope.expressions.sums import expression_of, in_brackets
from itoscope.expressions.symbolic import symbolic
from itoscope.sde import words
from itoscope.sde.given import (
    checked_expressions,
    checked_inputs,
    checked_rows,
    checked_square,
    from_library,
)
from itoscope.sde.roots import roots_of_covariance
from itoscope.sde.run import Run, simulated
from itoscope.stats.covariance import root_of_covariance

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike

    from itoscope.data.trajectories import Trajectories
    from itoscope.library.library import Library

__all__ = ["SDE", "Symbolic"]


Expressions = Sequence[str | float] | Array


class Symbolic(NamedTuple):
    """An SDE in SymPy: symbols of the states, drift (m x 1), diffusion (m x n) or None, Gamma (m x m)."""

    states: tuple[Any, ...]
    drift: Any
    diffusion: Any
    gamma: Any


class SDE:
    """The Ito equation `dX = f(X) dt + g(X) dB` of m states and n independent Brownian motions.

    Parameters
    ----------
    drift : sequence of m expressions
        f, in the names of the states; numbers are allowed. With `library`, coefficients `(m, K)` instead.
    diffusion : m x n nested sequence of expressions, optional
        g. With `library`, coefficients `(m, n, K)`. Neither `diffusion` nor `gamma`: an ordinary equation.
    states : sequence of m str, optional
        `x1`, `x2`, ... unless given.
    gamma : m x m nested sequence of expressions, optional
        The covariance `Gamma = g g^T` in place of g. With `library`, coefficients `(m, m, K)`. Where a g is
        evident (a constant matrix; squares and positive entries on the diagonal) every scheme can be used;
        otherwise a root is taken at every step, and "euler-maruyama" is the scheme. Where it has an eigenvalue
        below zero, the nearest covariance takes its place, and a warning says so.
    library : Library, optional
        Terms that coefficients belong to.
    diffusion_library : Library, optional
        Terms of the diffusion; `library` unless given.
    inputs : sequence of str
        Names in the expressions that stand for what drives the motion from outside; `simulate` is told what they are.
        The time `t` need not be named.

    Examples
    --------
    >>> SDE(["1.5*x1"], [["0.4*x1"]], ["x1"])
    SDE of 1 state and 1 scalar noise
      dx1 = 1.5*x1 dt + 0.4*x1 dB1
    """

    inputs: Sequence[str] = ()

    def __init__(
        self,
        drift: Expressions,
        diffusion: Sequence[Expressions] | Array | None = None,
        states: Sequence[str] | None = None,
        *,
        gamma: Sequence[Expressions] | Array | None = None,
        library: Library | None = None,
        diffusion_library: Library | None = None,
        inputs: Sequence[str] = (),
    ) -> None:
        if diffusion is not None and gamma is not None:
            raise ArgumentError("diffusion and gamma: one of the two, since Gamma = g g^T")
        if not checks.is_list(drift) or not hasattr(drift, "__len__") or not len(drift):
            raise argument_error("drift", drift, "a list of one expression per state")
        self.states = list(
            checks.names([f"x{i + 1}" for i in range(len(drift))] if states is None else states, "states")
        )
        if library is not None:
            noise_library = library if diffusion_library is None else diffusion_library
            drift = from_library("drift", drift, library, self.states, 1)
            if diffusion is not None:
                diffusion = from_library("diffusion", diffusion, noise_library, self.states, 2)
            if gamma is not None:
                gamma = from_library("gamma", gamma, noise_library, self.states, 2)
        m = len(self.states)
        self.inputs = checked_inputs(inputs, self.states, (drift, diffusion, gamma))
        names = [*self.states, *self.inputs]
        self.drift_expressions: list[str] = checked_expressions("drift", drift, names, m)
        self.gamma_expressions: list[list[str]] | None = None
        self.diffusion_expressions: list[list[str]] | None = [[] for _ in range(m)]
        if diffusion is not None:
            self.diffusion_expressions = checked_rows("diffusion", diffusion, self.states, self.inputs)
        if gamma is not None:
            self.gamma_expressions = checked_square("gamma", gamma, self.states, self.inputs)
            self.diffusion_expressions = roots_of_covariance(self.gamma_expressions, names)
        self.noise_structure: str = "general"
        """"none", "additive", "scalar", "diagonal", "commutative" or "general"; says which schemes fit."""
        if self.diffusion_expressions is not None:
            self.noise_structure = Operators(
                [], self.diffusion_expressions, self.states, self.inputs
            ).structure()

    @classmethod
    def from_terms(
        cls,
        states: Sequence[str],
        drift: Mapping[str, Mapping[str, float]],
        gamma: Mapping[tuple[str, str], Mapping[str, float]] | None = None,
    ) -> SDE:
        """An SDE from coefficients by the name of their term.

        Parameters
        ----------
        states : sequence of str
        drift : {state: {term: coefficient}}
            A state that is left out has no drift.
        gamma : {(state, state): {term: coefficient}}, optional
            Entries of the covariance; `("x1", "x2")` and `("x2", "x1")` are the same entry.

        Examples
        --------
        >>> SDE.from_terms(["x"], {"x": {"x": 1, "x^3": -1}}, {("x", "x"): {"1": 0.25}})
        SDE of 1 state and 1 additive noise
          dx = (x - x^3) dt + 0.5 dB1
        """
        names = list(checks.names(states, "states"))
        known = ", ".join(names)
        drift = checks.instance("drift", drift, Mapping, "a mapping of states to terms with coefficients")
        for name in drift:
            if name not in names:
                raise argument_error("drift", name, f"states ({known}) as keys")
        rows = [_sum(f"drift[{name!r}]", drift.get(name, {})) for name in names]
        if gamma is None:
            return cls(rows, states=names)
        gamma = checks.instance(
            "gamma", gamma, Mapping, "a mapping of pairs of states to terms with coefficients"
        )
        if not gamma:
            return cls(rows, states=names)
        for pair in gamma:
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(names):
                raise argument_error("gamma", pair, f"pairs of states ({known}) as keys")
        sums = {pair: _sum(f"gamma[{pair!r}]", terms) for pair, terms in gamma.items()}
        entries = [[sums.get((a, b), sums.get((b, a), "0")) for b in names] for a in names]
        return cls(rows, states=names, gamma=entries)

    @property
    def n_states(self) -> int:
        """Number of states m."""
        return len(self.states)

    @property
    def n_noise(self) -> int:
        """Number of Brownian motions n; m where only a general `gamma` is known."""
        return self.n_states if self.diffusion_expressions is None else len(self.diffusion_expressions[0])

    def scaled_noise(self, factor: float) -> SDE:
        """The same drift under noise `factor` times as strong: g becomes `factor * g`, Gamma `factor**2 * Gamma`.

        Parameters
        ----------
        factor : float
            Positive; new over old standard deviation of the forcing.

        Examples
        --------
        >>> SDE(["-x1"], [["2"]]).scaled_noise(3.0)
        SDE of 1 state and 1 additive noise
          dx1 = (-x1) dt + 6 dB1
        """
        factor = checks.positive("factor", factor)
        name = exact(factor)
        if self.gamma_expressions is not None:
            if not 0 < factor * factor < math.inf:
                raise argument_error("factor", factor, "a number whose square is above 0 and finite")
            square = exact(factor * factor)
            gamma = [[_times(square, entry) for entry in row] for row in self.gamma_expressions]
            return SDE(self.drift_expressions, states=self.states, gamma=gamma, inputs=self.inputs)
        g = [[_times(name, entry) for entry in row] for row in self.diffusion_expressions or []]
        return SDE(self.drift_expressions, g, self.states, inputs=self.inputs)

    # -- values ----------------------------------------------------------------------------------------------
    def drift(self, x: ArrayLike, backend: str | None = None) -> Array:
        """f at `x`: `(m,)` for a state `(m,)`, `(n, m)` for states `(n, m)`; inputs have columns after the states."""
        return self._values(self.drift_expressions, x, (self.n_states,), backend)

    def diffusion(self, x: ArrayLike, backend: str | None = None) -> Array:
        """g at `x`, `(..., m, n)`; a root of Gamma, or of the nearest covariance, where only `gamma` is known."""
        if self.diffusion_expressions is None:
            return root_of_covariance(self.gamma(x, backend))
        entries = [entry for row in self.diffusion_expressions for entry in row]
        return self._values(entries, x, (self.n_states, self.n_noise), backend)

    def gamma(self, x: ArrayLike, backend: str | None = None) -> Array:
        """Gamma = g g^T at `x`, `(..., m, m)`."""
        if self.gamma_expressions is not None:
            entries = [entry for row in self.gamma_expressions for entry in row]
            return self._values(entries, x, (self.n_states, self.n_states), backend)
        g = self.diffusion(x, backend)
        product: Array = g @ np.swapaxes(g, -1, -2)
        return product

    def _values(
        self, expressions: list[str], x: ArrayLike, shape: tuple[int, ...], backend: str | None
    ) -> Array:
        rows = checks.reals("x", x, missing=True)
        names = [*self.states, *self.inputs]
        if rows.ndim not in (1, 2) or rows.shape[-1] != len(names):
            allowed = f"({len(names)},) or (n, {len(names)}), states {', '.join(names)}"
            raise ArgumentError(f"x of shape {rows.shape}: {allowed}")
        program = get_backend(backend).compile(expressions, names)
        table = program.evaluate(np.ascontiguousarray(np.atleast_2d(rows)))
        return table.reshape(*rows.shape[:-1], *shape)

    # -- simulation ------------------------------------------------------------------------------------------
    def simulate(
        self,
        x0: ArrayLike,
        *,
        dt: float,
        n_steps: int,
        n_paths: int | None = None,
        scheme: DiscreteScheme = "milstein",
        substeps: int = 1,
        keep_every: int = 1,
        seed: int | None = None,
        noise: ArrayLike | None = None,
        observe_noise: float = 0.0,
        inputs: Mapping[str, Any] | None = None,
        start: float = 0.0,
        on_divergence: OnDivergence = "cut",
        backend: str | None = None,
        progress: bool | Progress = None,
    ) -> Trajectories:
        """Simulate paths.

        Parameters
        ----------
        x0 : (m,) or (n_paths, m) array of float
            One start for all paths, or one for each.
        dt : float
            Time between two steps.
        n_steps : int
            Number of steps, of which every `keep_every`-th is kept.
        n_paths : int, optional
            As many as `x0` or `noise` have, else 1.
        scheme : {"milstein", "euler-maruyama", "taylor15"}
            Strong orders 1, 1/2 and 3/2; which fits depends on `noise_structure`.
        substeps : int
            Steps of the scheme in one `dt`.
        seed : int, optional
            Same seed, same paths, whatever the number of threads. Drawn and stored in the result unless
            given.
        noise : (n_paths, n_steps * substeps, n) array of float, optional
            Brownian increments of variance dt / substeps to use in place of random ones. For "taylor15" 2 n
            columns may be given, the second half being the integrals dZ of the Brownian motions over the
            steps.
        observe_noise : float
            Standard deviation of measurement noise as a share of that of each state.
        inputs : mapping of str, optional
            What each input of the equation is: a function of time, samples `(times, values)`, one value for each of the
            `n_steps + 1` times, a number, or an `Input`; the same for all paths.
        start : float
            Time `t` at the start of the paths.
        on_divergence : {"cut", "raise"}
            A path that leaves the finite range ends there, with a warning, and is listed in `diverged`; or
            `DivergenceError` is raised.
        backend : {"rust", "reference"}, optional
        progress : bool or callable, optional
            True shows a bar on a terminal; a callable receives the number of path-steps done.

        Raises
        ------
        ArgumentError
            For an argument out of range, or a scheme that does not fit the noise, naming one that does.
        DivergenceError
            If a path diverges and `on_divergence` is "raise", or before it has three samples.
        """
        run = Run(
            dt, n_steps, n_paths, scheme, substeps, keep_every, seed, noise,
            observe_noise=observe_noise, inputs=inputs, start=start, on_divergence=on_divergence, backend=backend,
            progress=progress,
        )  # fmt: skip
        return simulated(self, x0, run)

    # -- other forms -----------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        return words.text(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SDE) and self._record() == other._record()

    def to_latex(self) -> str:
        """The equations as a LaTeX `aligned` block."""
        return words.latex(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle\n{words.latex(self)}$"

    def _repr_html_(self) -> str:
        return words.html(self)

    def to_sympy(self) -> Symbolic:
        """The equations in SymPy, with real symbols of the names of the states.

        Raises
        ------
        MissingExtraError
            If SymPy is not installed.
        """
        sympy = require("sympy", "symbolic", "SDE.to_sympy")

        def matrix(rows: list[list[str]], columns: int) -> Any:
            names = [*self.states, *self.inputs]
            entries = [[symbolic(entry, names) for entry in row] for row in rows]
            return sympy.Matrix(len(rows), columns, [entry for row in entries for entry in row])

        drift = matrix([[text] for text in self.drift_expressions], 1)
        diffusion = None
        if self.diffusion_expressions is not None:
            diffusion = matrix(self.diffusion_expressions, self.n_noise)
        if self.gamma_expressions is not None:
            gamma = matrix(self.gamma_expressions, self.n_states)
        else:
            gamma = diffusion * diffusion.T if diffusion else sympy.zeros(self.n_states, self.n_states)
        states = tuple(sympy.Symbol(name, real=True) for name in self.states)
        return Symbolic(states, drift, diffusion, gamma)

    def _record(self) -> dict[str, Any]:
        given_by_gamma = self.gamma_expressions is not None
        return {
            "format": "itoscope.SDE",
            "version": 1,
            "states": self.states,
            "drift": self.drift_expressions,
            "diffusion": None if given_by_gamma else self.diffusion_expressions,
            "gamma": self.gamma_expressions,
            **({"inputs": list(self.inputs)} if self.inputs else {}),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the equations as JSON."""
        with replacing(path) as beside:
            Path(beside).write_text(json.dumps(self._record(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SDE:
        """Read what `save` wrote.

        Raises
        ------
        DataError
            If the file is not such JSON.
        """
        try:
            record = json.loads(Path(path_of(path)).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as problem:
            raise DataError(f"{path}: no JSON ({problem})") from problem
        if (
            not isinstance(record, dict)
            or record.get("format") != "itoscope.SDE"
            or record.get("version") != 1
        ):
            raise DataError(f"{path}: no SDE of itoscope (format 'itoscope.SDE', version 1)")
        try:
            return cls(
                record["drift"],
                record["diffusion"],
                record["states"],
                gamma=record["gamma"],
                inputs=record.get("inputs", ()),
            )
        except MemoryError:
            raise
        except Exception as problem:
            raise DataError(f"{path}: a damaged SDE ({problem!r})") from problem


def _times(factor: str, expression: str) -> str:
    """`factor * expression`, worked out where the expression is a number."""
    try:
        given = float(expression)
    except ValueError:
        return f"{factor}*{in_brackets(expression)}"
    scaled = float(factor) * given
    if not np.isfinite(scaled) or (scaled == 0 and given != 0):
        raise argument_error("factor", float(factor), f"a number that leaves {expression} above 0 and finite")
    return exact(scaled)


def _sum(name: str, terms: Any) -> str:
    """A sum of terms whose coefficients are checked."""
    found = checks.instance(name, terms, Mapping, "a mapping of terms to coefficients")
    return expression_of({term: checks.finite(f"{name}[{term!r}]", value) for term, value in found.items()})
