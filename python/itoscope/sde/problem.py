"""`Problem`: a system whose equations, coefficients and candidate terms are known, and data from it."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from itoscope.common import checks
from itoscope.errors import argument_error
from itoscope.expressions.sums import expression_of
from itoscope.sde.run import Run, simulated
from itoscope.sde.sde import SDE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from itoscope.common.types import Array, DiscreteScheme, OnDivergence, Progress
    from itoscope.data.trajectories import Trajectories
    from itoscope.library.library import Library

__all__ = ["Problem", "Terms", "check_positive", "problem_of", "with_numbers"]

Terms = dict[str, float]
P = ParamSpec("P")


@dataclass(frozen=True)
class Problem:
    """A system with known truth."""

    sde: SDE
    truth: dict[str, dict[Any, Terms]]
    """Exact coefficients: `truth["drift"]["x2"]` maps the terms of that row of the drift to theirs,
    `truth["diffusion"]["x1", "x2"]` those of that entry of Gamma (no factor 1/2). A term not listed has
    none."""
    library: Library
    """Candidate terms, the true ones among them."""
    x0: Array
    """Where paths start, `(m,)`."""
    known_drift: dict[str, str]
    """Rows of the drift that need not be learnt: positions, whose rate is the velocity."""
    name: str = "problem"
    """What the command line calls it."""

    def simulate(
        self,
        *,
        duration: float,
        dt: float,
        n_paths: int = 1,
        substeps: int = 1,
        scheme: DiscreteScheme = "taylor15",
        seed: int | None = None,
        x0: ArrayLike | None = None,
        keep_every: int = 1,
        observe_noise: float = 0.0,
        on_divergence: OnDivergence = "cut",
        backend: str | None = None,
        progress: bool | Progress = None,
    ) -> Trajectories:
        """Simulate recordings of `duration` sampled every `dt`.

        Parameters
        ----------
        duration : float
            A whole number of steps, in the unit of `dt`.
        x0 : (m,) or (n_paths, m) array of float, optional
            `Problem.x0` unless given.
        dt, n_paths, substeps, scheme, seed, keep_every, observe_noise, on_divergence, backend, progress
            See `SDE.simulate`. The scheme is the most accurate one, because a coarse scheme leaves its own
            bias in the data: explicit Euler takes k dt off the damping of an oscillator of stiffness k.
        """
        checks.positive("dt", dt)
        checks.positive("duration", duration)
        n_steps = round(duration / dt)
        if abs(n_steps * dt - duration) > 1e-6 * dt * max(n_steps, 1):
            raise argument_error("duration", duration, f"a whole number of steps dt = {dt}")
        run = Run(
            dt, n_steps, n_paths, scheme, substeps, keep_every, seed, None,
            observe_noise=observe_noise, on_divergence=on_divergence, backend=backend, progress=progress,
        )  # fmt: skip
        start = self.x0 if x0 is None else x0
        return simulated(self.sde, start, run, position_names=list(self.known_drift) or None)

    def __repr__(self) -> str:
        return f"Problem {self.name}: {self.sde!r}"


def problem_of(
    name: str,
    states: Sequence[str],
    drift: Mapping[str, Terms],
    diffusion: Sequence[Sequence[str | float]],
    gamma: Mapping[tuple[str, str], Terms],
    library: Library,
    x0: ArrayLike,
    positions: Sequence[tuple[str, str]] = (),
) -> Problem:
    """A problem from its truth; `positions` pairs each position with its velocity."""
    rows = {position: {velocity: 1.0} for position, velocity in positions} | {
        state: {term: float(value) for term, value in terms.items() if value != 0}
        for state, terms in drift.items()
    }
    rows = {state: rows[state] for state in states}
    pairs = {(a, b): gamma.get((a, b), {}) for i, a in enumerate(states) for b in states[i:]}
    entries = {
        pair: {term: float(value) for term, value in terms.items() if value != 0}
        for pair, terms in pairs.items()
    }
    start = checks.reals("x0", x0)
    if start.shape != (len(states),) or not np.isfinite(start).all():
        raise argument_error("x0", x0, f"{len(states)} finite numbers, states {', '.join(states)}")
    return Problem(
        sde=SDE([expression_of(terms) for terms in rows.values()], diffusion, states),
        truth={"drift": rows, "diffusion": entries},
        library=library,
        x0=start,
        known_drift=dict(positions),
        name=name,
    )


def with_numbers(make: Callable[P, Problem]) -> Callable[P, Problem]:
    """A maker of problems that takes finite numbers alone where its defaults are numbers."""
    usual = {p.name: p.default for p in inspect.signature(make).parameters.values()}

    @functools.wraps(make)
    def made(*args: P.args, **parameters: P.kwargs) -> Problem:
        for name, value in parameters.items():
            if isinstance(usual.get(name), float) and "|" not in str(make.__annotations__[name]):
                checks.finite(name, value)
        return make(*args, **parameters)

    return made


def check_positive(**parameters: float) -> None:
    """Raise `ArgumentError` for the first parameter that is not positive and finite."""
    for name, value in parameters.items():
        checks.positive(name, value)
