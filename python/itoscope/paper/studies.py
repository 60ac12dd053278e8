"""What the paper studied: each system, how it is recorded in each form, what the paper found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common.prior import Prior
from itoscope.data.trajectories import Trajectories
from itoscope.discovery.discover import discover
from itoscope.library.library import Library
from itoscope.problems import black_scholes, bouc_wen, duffing_van_der_pol, two_storey_building

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.discovery.result import Discovery
    from itoscope.sde.problem import Problem

__all__ = ["FORMS", "STUDIES", "Form", "Study"]

FORMS = ("printed", "pooled", "promised", "few", "law", "seen")
"""`pooled` is the printed recipe with every step of every path as a row, in place of the average over the paths; `few`
is the promised recording of the building with linear terms and signs for candidates. For the Bouc-Wen oscillator, `law`
is the promised recording with the equation of its hysteretic displacement known, that displacement itself read at the
start and never again; `seen` is a control with it measured throughout."""

Key = tuple[str, str]
"""An equation, as `dx2` or `Gamma[x2, x2]`, and a term of it."""


@dataclass(frozen=True)
class Form:
    """How a study is recorded and discovered.

    Parameters
    ----------
    recording : dict
        Arguments of `Problem.simulate`.
    library : Library or None
        Candidate terms; None for the one of the problem.
    settings : dict
        Further arguments of `discover`.
    sees : tuple of str
        States that are measured; empty for all.
    starts : tuple of str
        States of which the first sample alone is measured.
    noise : float
        Standard deviation of the measurement noise as a share of that of each measured state.
    quick : dict
        What `recording` has instead on a quick run.
    cost : float
        About how many seconds it takes, for the progress bar; `quick_cost` on a quick run.
    """

    recording: dict[str, Any]
    library: Library | None
    settings: dict[str, Any]
    sees: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    noise: float = 0.0
    quick: dict[str, Any] = field(default_factory=dict)
    cost: float = 2.0
    quick_cost: float = 2.0

    def record(
        self, problem: Problem, seed: int, *, quick: bool = False, most: int | None = None
    ) -> Trajectories:
        """Simulate what the sensors write down, noisy ones of at most `most` paths."""
        settings = self.recording | self.quick if quick else dict(self.recording)
        if self.noise and most is not None:
            settings["n_paths"] = min(most, settings["n_paths"])
        data = problem.simulate(**settings, seed=seed)
        if self.sees:
            data = data.select(self.sees + self.starts)
        data = data.add_noise(self.noise, seed=seed) if self.noise else data
        return _read_once(data, self.starts) if self.starts else data

    def discover(self, problem: Problem, data: Trajectories, seed: int) -> Discovery:
        """Discover the equation behind `data`, measured states by regression, as the paper does."""
        settings = {"scheme": "trapezoid"} | self.settings
        if settings.get("order", 1) == 1:
            known = {row: rate for row, rate in problem.known_drift.items() if row in data.names}
            settings["known_drift"] = known | settings.get("known_drift", {}) or None
        return discover(data, self.library or problem.library, seed=seed, **settings)


def _read_once(data: Trajectories, names: tuple[str, ...]) -> Trajectories:
    """`data` with all samples of the states `names` but the first missing."""
    columns = [data.names.index(name) for name in names]
    paths = [np.array(path) for path in data.paths]
    for path in paths:
        path[1:, columns] = np.nan
    return Trajectories(paths, t=list(data.times), names=list(data.names))


@dataclass(frozen=True)
class Study:
    """One study of the paper."""

    name: str
    title: str
    problem: Callable[..., Problem]
    forms: dict[str, Form]
    paper: dict[Key, float]
    """What the paper prints for each coefficient; those of Gamma are squares of what it prints for g."""
    judged: str = "terms"
    """"terms": by the equation; "forecast": by what the discovered equation foretells."""

    def truth(self) -> dict[Key, float]:
        """Coefficients of the simulated system, by equation and term."""
        table = self.problem().truth
        unknown = {s: t for s, t in table["drift"].items() if s not in self.problem().known_drift}
        rows = {
            (f"d{state}", term): value for state, terms in unknown.items() for term, value in terms.items()
        }
        for (a, b), terms in table["diffusion"].items():
            rows |= {(f"Gamma[{a}, {b}]", term): value for term, value in terms.items()}
        return rows


PRINTED: dict[str, Any] = {
    "scheme": "euler",
    "weights": None,
    "ensemble": "mean",
    "prior": Prior(standardize=False, slab_unit="sample"),
}
POOLED: dict[str, Any] = PRINTED | {"ensemble": "pool"}


def _printed(
    n_paths: int, library: Library | None = None, scheme: str = "euler-maruyama", **more: Any
) -> Form:
    recording = {"duration": 1.0, "dt": 1e-3, "n_paths": n_paths, "scheme": scheme}
    return Form(recording, library, PRINTED, **more)


def _fine(n_paths: int, substeps: int) -> dict[str, Any]:
    return {"duration": 1.0, "dt": 1e-3, "n_paths": n_paths, "substeps": substeps}


def _second_order(
    n_paths: int, quick: int, sees: tuple[str, ...], library: Library | None, **more: Any
) -> Form:
    return Form(
        _fine(n_paths, 50), library, {"order": 2, "measurement_noise": "estimate"}, sees=sees, noise=0.05,
        quick={"n_paths": quick}, **more,
    )  # fmt: skip


_monomials = Library.polynomials(6)
_with_magnitudes = Library.paper(6)
_LINEAR = Library.polynomials(1) + Library.sign()
_first_order = Form(
    _fine(500, 10), _monomials, {"measurement_noise": "estimate"}, noise=0.05, quick={"n_paths": 100}, cost=8.0,
    quick_cost=4.0,
)  # fmt: skip
_duffing = _printed(200)
_building = _printed(200, cost=6.0, quick_cost=6.0)
_bouc_wen = _printed(200, Library.paper(6), sees=("x1", "x2"), cost=4.0, quick_cost=4.0)

_HYSTERESIS: dict[str, Any] = {
    "diffusion": "constant",
    "measurement_noise": "estimate",
    "states": ["x1", "x2", "x3"],
    "known_drift": {"x3": bouc_wen().sde.drift_expressions[2]},
}

STUDIES = {
    study.name: study
    for study in (
        Study(
            "black-scholes",
            "Black-Scholes",
            black_scholes,
            {"printed": _printed(500, _monomials), "promised": _first_order},
            {("dx1", "x1"): 2.05, ("Gamma[x1, x1]", "x1^2"): 1.02**2},
        ),
        Study(
            "black-scholes-magnitudes",
            "Black-Scholes, with |x| and x|x| in the library",
            black_scholes,
            {
                "printed": _printed(500, _with_magnitudes),
                "promised": replace(_first_order, library=_with_magnitudes),
            },
            {("dx1", "x1"): 1.0, ("Gamma[x1, x1]", "x1^2"): 0.5},
        ),
        Study(
            "black-scholes-taylor",
            "Black-Scholes, data from strong Taylor 1.5",
            black_scholes,
            {"printed": _printed(500, _monomials, "taylor15")},
            {("dx1", "x1"): 2.09, ("Gamma[x1, x1]", "x1^2"): 1.01**2},
        ),
        Study(
            "duffing",
            "Duffing-Van der Pol oscillator",
            duffing_van_der_pol,
            {
                "printed": _duffing,
                "pooled": replace(_duffing, settings=POOLED),
                "promised": _second_order(200, 50, ("x1",), None, cost=30.0, quick_cost=10.0),
            },
            {
                ("dx2", "x1"): -1000.02,
                ("dx2", "x2"): -1.99,
                ("dx2", "x1^3"): -99885.10,
                ("Gamma[x2, x2]", "x1^2"): 106.47,
            },
        ),
        Study(
            "building",
            "Two-storey building on friction bearings",
            two_storey_building,
            {
                "printed": _building,
                "pooled": replace(_building, settings=POOLED),
                "promised": _second_order(200, 20, ("x1", "x3"), None, cost=110.0, quick_cost=20.0),
                "few": _second_order(200, 20, ("x1", "x3"), _LINEAR, cost=70.0, quick_cost=8.0),
            },
            {
                ("dx2", "x1"): -6000.30,
                ("dx2", "x2"): -3.97,
                ("dx2", "x3"): 1999.73,
                ("dx2", "x4"): 2.09,
                ("dx2", "sgn(x2)"): -9.89,
                ("dx4", "x1"): 2000.65,
                ("dx4", "x2"): 1.99,
                ("dx4", "x3"): -1999.06,
                ("dx4", "x4"): -1.99,
                ("Gamma[x2, x2]", "1"): 10.03**2,
                ("Gamma[x4, x4]", "1"): 10.11**2,
            },
        ),
        Study(
            "bouc-wen",
            "Bouc-Wen oscillator, hysteresis unseen",
            bouc_wen,
            {
                "printed": _bouc_wen,
                "promised": _second_order(
                    200, 50, ("x1",), Library.polynomials(3, origin="mean"), cost=60.0, quick_cost=17.0
                ),
                "law": Form(
                    _fine(200, 50),
                    Library.polynomials(1),
                    _HYSTERESIS,
                    sees=("x1",),
                    starts=("x3",),
                    noise=0.05,
                    quick={"n_paths": 20},
                    cost=20.0,
                    quick_cost=4.0,
                ),
                "seen": Form(_fine(50, 50), None, {}, cost=4.0, quick_cost=4.0),
            },
            {},
            judged="forecast",
        ),
    )
}
