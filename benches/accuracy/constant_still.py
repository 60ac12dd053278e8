"""Studies of rows without noise: which of their terms are the error of the step, and which rows are smooth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np
from constant_cases import Case, terms
from constant_studies import Patch, row

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS = (0.01, 0.04, 0.1)
"""Of recordings of systems whose rates are near one."""


@cache
def still() -> list[Case]:
    """Hunters and their prey, an oscillator of Rayleigh, a spiral that folds and a cubic one, without any noise."""
    systems = (
        (["x1 - 0.5*x1*x2", "0.4*x1*x2 - 0.8*x2"], 1.0, 3),
        (["x2", "0.9*x2 - 0.3*x2^3 - x1"], 0.5, 3),
        (["-x2 - x3", "x1 + 0.2*x2", "0.2 + x1*x3 - 4*x3"], 1.0, 2),
        (["-0.1*x1^3 + 2*x2^3", "-2*x1^3 - 0.1*x2^3"], 1.0, 5),
    )
    cases = []
    for drift, start, degree in systems:
        states = [f"x{k + 1}" for k in range(len(drift))]
        sde = ito.SDE(drift, [["0"]] * len(drift), states)
        truth = {f"x{k + 1}: {term}": 0.0 for k, text in enumerate(drift) for term in _terms(text)}
        for dt in STEPS:
            data = sde.simulate(
                [start] * len(drift), dt=dt, n_steps=round(40 / dt), substeps=100, scheme="taylor15", seed=1
            )
            cases.append(Case("still", data, ito.Library.polynomials(degree), truth, sde=sde))
    return cases


@cache
def rounded_still() -> list[Case]:
    """The same, written with so many digits that rounding is under a thousandth of what moves them, and without end."""
    short = [
        replace(case, data=ito.Trajectories([np.round(x, 5) for x in case.data.paths], dt=case.data.dt))
        for case in still()
        if case.data.dt > 0.01
    ]
    return [*still(), *(replace(case, asked={"diffusion": "none"}) for case in short)]


@cache
def short_of_terms() -> list[Case]:
    """The same under libraries that lack some of their terms."""
    return [
        replace(case, library=ito.Library.polynomials(1), asked={"diffusion": "none"}) for case in still()
    ]


@cache
def by_euler() -> list[Case]:
    """The same by regressions on the start of each step."""
    return [replace(case, asked={"diffusion": "none", "scheme": "euler"}) for case in still()]


def _terms(text: str) -> list[str]:
    """The terms of a sum as a library names them."""
    words = text.replace("- ", "+ ").split("+ ")
    bare = ["*".join(p for p in word.strip().lstrip("-").split("*") if p[0].isalpha()) for word in words]
    return [term.replace("*", " ") or "1" for term in bare]


def slight(values: Sequence[Any], patch: Patch) -> str:
    """Rows of recordings without noise whose terms are the true ones, and how many noisy rows were taken for quiet."""
    found: list[int] = []
    more: list[int] = []
    for value in values:
        right = extra = 0
        with patch(value):
            for case in still():
                shown = set(terms(case.discover()))
                for state in case.data.names:
                    own = {name for name in shown if name.startswith(f"{state}: ")}
                    true = {name for name in case.truth if name.startswith(f"{state}: ")}
                    right += own == true
                    extra += len(own - true)
        found.append(right)
        more.append(extra)
    rows = sum(case.data.n_states for case in still())
    return (
        f"of {rows} rows without noise {row(found)} have the true terms, all together {row(more)} false ones"
    )


def smooth(values: Sequence[Any], patch: Patch) -> str:
    """The same, and small true terms of a row without noise that noise of another moves: those stay."""
    kept = []
    sde = ito.SDE(["x2 + 0.05*x1", "-x1 - 0.5*x2"], [["0"], ["1"]], ["x1", "x2"])
    for value in values:
        held = 0
        with patch(value):
            for seed in range(5):
                data = sde.simulate([0.5, 0.0], dt=0.05, n_steps=4000, substeps=200, seed=seed)
                result = ito.discover(
                    data, ito.Library.polynomials(1), diffusion={"x1": "none"}, seed=1, n_samples=200
                )
                held += bool(result.drift["x1"].selected[result.drift["x1"].terms.index("x1")])
        kept.append(held)
    return f"{slight(values, patch)}; of 5 small true terms of a rough row {row(kept)} stay"


if __name__ == "__main__":
    for case in still():
        result = case.discover()
        print(case.data.dt, np.round(case.data.sd(), 2), sorted(case.truth), sorted(terms(result)))
