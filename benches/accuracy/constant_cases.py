"""Recordings on which the constants of a fit are studied: systems made for it, with known terms, seeded and small."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import itoscope as ito
import numpy as np

SHORT_CHAINS = {"n_samples": 500, "n_burn": 250, "n_chains": 2}


@dataclass(frozen=True)
class Case:
    """A recording, how it is asked for its equation, and its true coefficients, by `equation: term`."""

    name: str
    data: ito.Trajectories
    library: ito.Library
    truth: dict[str, float]
    asked: dict[str, Any] = field(default_factory=dict)

    def discover(self) -> ito.Discovery:
        """The answer to the question."""
        return ito.discover(self.data, self.library, **{**SHORT_CHAINS, "seed": 1, **self.asked})


def terms(result: ito.Discovery) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of every term that an equation has, given rows aside, by `equation: term`."""
    found = {}
    for key, equation in [*result.drift.items(), *result.diffusion.items()]:
        name = key if isinstance(key, str) else ",".join(key)
        for n in np.flatnonzero(equation.selected):
            found[f"{name}: {equation.terms[n]}"] = (float(equation.mean[n]), float(equation.sd[n]))
    return found


def _paths(sde: ito.SDE, x0: list[float], dt: float, n: int, seed: int, paths: int = 1) -> ito.Trajectories:
    return sde.simulate(x0, dt=dt, n_steps=n, n_paths=paths, substeps=10, seed=seed)


def _noisy(data: ito.Trajectories, share: float, seed: int) -> ito.Trajectories:
    return data.add_noise(sd=(share * data.sd()).tolist(), seed=seed)


def linear(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """A sparse linear system of two states: one of the two feeds the other."""
    a, b, c = np.random.default_rng(seed).uniform(0.5, 2.0, 3).round(2)
    sde = ito.SDE([f"-{a} x1", f"{c} x1 - {b} x2"], [["0.6", "0"], ["0", "0.4"]], ["x1", "x2"])
    truth = {"x1: x1": -a, "x2: x1": c, "x2: x2": -b, "x1,x1: 1": 0.36, "x2,x2: 1": 0.16}
    return Case(
        "linear",
        _paths(sde, [0.5, 0.5], dt, n, seed),
        ito.Library.polynomials(2),
        truth,
        {"diffusion": "diagonal"},
    )


def quadratic(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """Growth with a ceiling and noise in proportion to size."""
    r = round(float(np.random.default_rng(seed).uniform(1.0, 2.0)), 2)
    sde = ito.SDE([f"{r} x1 - {r} x1^2"], [["0.6*x1"]], ["x1"])
    truth = {"x1: x1": r, "x1: x1^2": -r, "x1,x1: x1^2": 0.36}
    return Case("quadratic", _paths(sde, [1.0], dt, n, seed), ito.Library.polynomials(3), truth)


def cubic(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """Overdamped motion between two wells that are not alike."""
    sde = ito.SDE(["0.6 + 2 x1 - 2 x1^3"], [["0.8"]], ["x1"])
    truth = {"x1: 1": 0.6, "x1: x1": 2.0, "x1: x1^3": -2.0, "x1,x1: 1": 0.64}
    return Case("cubic", _paths(sde, [0.5], dt, n, seed), ito.Library.polynomials(3), truth)


def _second(name: str, force: dict[str, float], library: ito.Library, seed: int, n: int, dt: float) -> Case:
    drift = " + ".join(f"({value} {term.replace('v1', 'x2')})" for term, value in force.items())
    sde = ito.SDE(["x2", drift], [["0"], ["1"]], ["x1", "x2"])
    seen = _paths(sde, [0.3, 0.0], dt, n, seed).positions(noise=0.03, seed=seed + 100)
    truth = {f"v1: {term}": value for term, value in force.items()} | {"v1,v1: 1": 1.0}
    return Case(
        name, seen, library, truth, {"order": 2, "measurement_noise": "estimate", "diffusion": "constant"}
    )


def rayleigh(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """Rayleigh's oscillator, which the velocity drives and brakes; noisy positions."""
    force = {"x1": -4.0, "v1": 1.0, "v1^3": -0.5}
    return _second("Rayleigh", force, ito.Library.polynomials(3), seed, n, dt)


def pendulum(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """A damped pendulum; noisy angles."""
    library = ito.Library.polynomials(2) + ito.Library.expressions("sin(x1)", "cos(x1)")
    return _second("pendulum", {"v1": -0.5, "sin(x1)": -6.0}, library, seed, n, dt)


def oscillator(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """A linear oscillator with candidates that have a kink; noisy positions."""
    library = ito.Library.polynomials(2) + ito.Library.sign()
    return _second("oscillator", {"x1": -9.0, "v1": -0.6}, library, seed, n, dt)


def friction(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """The same with dry friction in place of the viscous."""
    library = ito.Library.polynomials(2) + ito.Library.sign()
    return _second("friction", {"x1": -9.0, "sgn(v1)": -0.8}, library, seed, n, dt)


def seen_through_noise(case: Case, share: float = 0.05) -> Case:
    """The same recording of all states through a sensor."""
    asked = {**case.asked, "measurement_noise": "estimate", "diffusion": case.asked.get("diffusion", "full")}
    return Case(f"noisy {case.name}", _noisy(case.data, share, 7), case.library, case.truth, asked)


@lru_cache(maxsize=1)
def measured() -> list[Case]:
    """Measured states."""
    return [make(seed, 20_000) for seed in (1, 2) for make in (linear, quadratic, cubic)]


@lru_cache(maxsize=1)
def filtered() -> list[Case]:
    """Noisy recordings, short: one of all states, one of positions."""
    return [seen_through_noise(quadratic(1, 600)), pendulum(1, 400)]
