"""Recordings on which the constants of a fit are studied: systems made for it, with known terms, seeded and small."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import itoscope as ito
import numpy as np

SHORT_CHAINS = {"n_samples": 500, "n_burn": 250, "n_chains": 2}


@dataclass(frozen=True)
class Case:
    """A recording, how it is asked for its equation, and its true coefficients, by `equation: term`.

    A noisy one has the model behind it, the states without the noise, and the standard deviations of the noise too.
    """

    name: str
    data: ito.Trajectories
    library: ito.Library
    truth: dict[str, float]
    asked: dict[str, Any] = field(default_factory=dict)
    sde: ito.SDE | None = None
    states: ito.Trajectories | None = None
    noise: tuple[float, ...] = ()

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


def linear(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """A sparse linear system of two states: one of the two feeds the other."""
    a, b, c = np.random.default_rng(seed).uniform(0.5, 2.0, 3).round(2)
    sde = ito.SDE([f"-{a} x1", f"{c} x1 - {b} x2"], [["0.6", "0"], ["0", "0.4"]], ["x1", "x2"])
    truth = {"x1: x1": -a, "x2: x1": c, "x2: x2": -b, "x1,x1: 1": 0.36, "x2,x2: 1": 0.16}
    asked = {"diffusion": "diagonal"}
    return Case("linear", _paths(sde, [0.5, 0.5], dt, n, seed), ito.Library.polynomials(2), truth, asked, sde)


def quadratic(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """Growth with a ceiling and noise in proportion to size."""
    r = round(float(np.random.default_rng(seed).uniform(1.0, 2.0)), 2)
    sde = ito.SDE([f"{r} x1 - {r} x1^2"], [["0.6*x1"]], ["x1"])
    truth = {"x1: x1": r, "x1: x1^2": -r, "x1,x1: x1^2": 0.36}
    return Case("quadratic", _paths(sde, [1.0], dt, n, seed), ito.Library.polynomials(3), truth, sde=sde)


def cubic(seed: int, n: int = 2000, dt: float = 0.02) -> Case:
    """Overdamped motion between two wells that are not alike."""
    sde = ito.SDE(["0.6 + 2 x1 - 2 x1^3"], [["0.8"]], ["x1"])
    truth = {"x1: 1": 0.6, "x1: x1": 2.0, "x1: x1^3": -2.0, "x1,x1: 1": 0.64}
    return Case("cubic", _paths(sde, [0.5], dt, n, seed), ito.Library.polynomials(3), truth, sde=sde)


def _second(
    name: str,
    force: dict[str, float],
    library: ito.Library,
    size: tuple[int, int, float],
    *,
    noise: float = 0.03,
    paths: int = 1,
    gamma: dict[str, float] | None = None,
) -> Case:
    """Noisy positions of a mass under a force; `size` is seed, samples of a path, and step."""
    seed, n, dt = size
    drift = " + ".join(f"({value} {term.replace('v1', 'x2')})" for term, value in force.items())
    roots = [f"{value**0.5} {root}" for root, value in (gamma or {"1": 1.0}).items()]
    sde = ito.SDE(["x2", drift], [["0"] * len(roots), roots], ["x1", "x2"])
    states = _paths(sde, [0.3, 0.0], dt, n, seed, paths)
    truth = {f"v1: {term}": value for term, value in force.items()}
    truth |= {f"v1,v1: {_square(root)}": value for root, value in (gamma or {"1": 1.0}).items()}
    asked = {"order": 2, "measurement_noise": "estimate", "diffusion": "full" if gamma else "constant"}
    seen = states.positions(noise=noise, seed=seed + 100)
    return Case(name, seen, library, truth, asked, sde, states, (noise,))


def _square(root: str) -> str:
    return root if root == "1" else f"{root}^2"


def rayleigh(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """Rayleigh's oscillator, which the velocity drives and brakes; noisy positions."""
    force = {"x1": -4.0, "v1": 1.0, "v1^3": -0.5}
    return _second("Rayleigh", force, ito.Library.polynomials(3), (seed, n, dt))


def pendulum(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """A damped pendulum; noisy angles."""
    library = ito.Library.polynomials(2) + ito.Library.expressions("sin(x1)", "cos(x1)")
    return _second("pendulum", {"v1": -0.5, "sin(x1)": -6.0}, library, (seed, n, dt))


def oscillator(seed: int, n: int = 1200, dt: float = 0.05, noise: float = 0.03) -> Case:
    """A linear oscillator with candidates that have a kink; noisy positions."""
    library = ito.Library.polynomials(2) + ito.Library.sign()
    return _second("oscillator", {"x1": -9.0, "v1": -0.6}, library, (seed, n, dt), noise=noise)


def wells(seed: int, n: int = 150, dt: float = 0.08) -> Case:
    """Motion between two wells, in six recordings of its position."""
    force = {"x1": 3.0, "v1": -0.8, "x1^3": -3.0}
    return _second("wells", force, ito.Library.polynomials(3), (seed, n, dt), paths=6)


def shaken(seed: int, n: int = 800, dt: float = 0.1) -> Case:
    """An oscillator that is shaken the more the farther it is out; noisy positions."""
    library = ito.Library.polynomials(2)
    gamma = {"1": 0.5, "x1": 2.0}
    return _second("shaken", {"x1": -4.0, "v1": -1.5}, library, (seed, n, dt), gamma=gamma)


def friction(seed: int, n: int = 1200, dt: float = 0.05) -> Case:
    """The same with dry friction in place of the viscous."""
    library = ito.Library.polynomials(2) + ito.Library.sign()
    return _second("friction", {"x1": -9.0, "sgn(v1)": -0.8}, library, (seed, n, dt))


def seen_through_noise(case: Case, share: float = 0.05) -> Case:
    """The same recording of all states through a sensor, whose noise has this share of their standard deviations."""
    asked = {**case.asked, "measurement_noise": "estimate", "diffusion": case.asked.get("diffusion", "full")}
    noise = tuple((share * case.data.sd()).tolist())
    seen = case.data.add_noise(sd=list(noise), seed=7)
    return replace(case, name=f"noisy {case.name}", data=seen, asked=asked, states=case.data, noise=noise)


@lru_cache(maxsize=1)
def measured() -> list[Case]:
    """Measured states."""
    return [make(seed, 20_000) for seed in (1, 2) for make in (linear, quadratic, cubic)]


@lru_cache(maxsize=1)
def filtered() -> list[Case]:
    """Noisy recordings, short: of all states, of positions; with little noise and with much."""
    return [
        seen_through_noise(quadratic(1, 800, 0.08)),
        seen_through_noise(cubic(1, 1000, 0.08), 0.1),
        seen_through_noise(linear(1, 500, 0.1)),
        oscillator(1, 600, 0.08, noise=0.15),
        oscillator(2, 500, noise=3e-4),
        rayleigh(1, 500),
        wells(1),
        shaken(1),
    ]


@lru_cache(maxsize=1)
def lengthy() -> list[Case]:
    """Noisy recordings so long that few models are climbed."""
    return [friction(2, 20_000), wells(2, 3000)]
