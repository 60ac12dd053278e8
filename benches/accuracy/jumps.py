"""Noise of steps with heavy tails beside the same taken for normal: `python benches/accuracy/jumps.py --seeds 10`.

With `--noisy` the same behind noise of the sensor, of an oscillator its place alone. Truth by fine steps, 50 between
two samples, the size of the noise drawn anew for each of them: of Student's law, or one of some
jumps of 10 to 50 standard deviations (Poisson, one of a hundred steps). The last column is CPU time.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, NamedTuple

import itoscope as ito
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FINE = 50


class System(NamedTuple):
    """Drift, root of Gamma and true coefficients of a motion, its step, and the law of its sizes."""

    names: tuple[str, ...]
    drift: Callable[[np.ndarray], np.ndarray]
    root: Callable[[np.ndarray], np.ndarray]
    terms: dict[str, dict[str, float]]
    gamma: dict[tuple[str, str], dict[str, float]]
    dt: float
    law: float | str
    more: dict[str, object]


def _constant(*rows: tuple[float, ...]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.broadcast_to(np.array(rows), (len(x), len(rows), len(rows[0])))


def relaxing(law: float | str) -> System:
    """A rate of 1.5, a step of a thirteenth of its time."""
    return System(
        ("x",),
        lambda x: -1.5 * x,
        _constant((0.9,)),
        {"x": {"x": -1.5}},
        {("x", "x"): {"1": 0.81}},
        0.05,
        law,
        {},
    )


def oscillator(law: float | str, velocity: str = "v") -> System:
    """Kicks of the velocity, fifty samples a period."""
    k, c, gamma = 40.0, 0.8, 3.0
    return System(
        ("x", velocity), lambda s: np.stack([s[:, 1], -k * s[:, 0] - c * s[:, 1]], axis=1),
        _constant((0.0,), (np.sqrt(gamma),)), {velocity: {"x": -k, velocity: -c}},
        {(velocity, velocity): {"1": gamma}}, 0.02, law, {"known_drift": {"x": velocity}},
    )  # fmt: skip


def wells(law: float | str) -> System:
    """A double well."""
    return System(
        ("x",), lambda x: x - x**3, _constant((0.7,)), {"x": {"x": 1.0, "x^3": -1.0}}, {("x", "x"): {"1": 0.49}}, 0.03,
        law, {},
    )  # fmt: skip


def plane(law: float | str) -> System:
    """A track that turns, whose two rows jump together and are correlated."""
    return System(
        ("x", "y"), lambda s: np.stack([-s[:, 0] - 2 * s[:, 1], 2 * s[:, 0] - s[:, 1]], axis=1),
        _constant((0.8, 0.0), (0.3, 0.6)), {"x": {"x": -1.0, "y": -2.0}, "y": {"x": 2.0, "y": -1.0}},
        {("x", "x"): {"1": 0.64}, ("y", "y"): {"1": 0.45}, ("x", "y"): {"1": 0.24}}, 0.03, law, {},
    )  # fmt: skip


def strength(law: float | str) -> System:
    """Noise that grows with the state."""
    return System(
        ("x",), lambda x: -x, lambda x: np.sqrt(0.2 + 0.3 * x**2)[:, :, None], {"x": {"x": -1.0}},
        {("x", "x"): {"1": 0.2, "x^2": 0.3}}, 0.03, law, {"diffusion": "full"},
    )  # fmt: skip


SYSTEMS: dict[str, System] = {
    "relaxing, nu = 3": relaxing(3.0),
    "relaxing, nu = 4": relaxing(4.0),
    "oscillator, nu = 3": oscillator(3.0),
    "oscillator, nu = 4": oscillator(4.0),
    "double well, nu = 4": wells(4.0),
    "plane, nu = 4": plane(4.0),
    "noise by state, nu = 4": strength(4.0),
    "relaxing, rare jumps": relaxing("jumps"),
    "oscillator, rare jumps": oscillator("jumps"),
    "relaxing, normal": relaxing("normal"),
    "oscillator, normal": oscillator("normal"),
}

NOISY: dict[str, tuple[System, float, dict[str, object]]] = {
    "relaxing, rare jumps": (relaxing("jumps"), 0.1, {}),
    "relaxing, nu = 3": (relaxing(3.0), 0.1, {}),
    "relaxing, normal": (relaxing("normal"), 0.1, {}),
    "place of an oscillator, rare jumps": (oscillator("jumps", "v1"), 0.05, {"order": 2}),
    "place of an oscillator, nu = 3": (oscillator(3.0, "v1"), 0.05, {"order": 2}),
    "place of an oscillator, normal": (oscillator("normal", "v1"), 0.05, {"order": 2}),
}
"""Systems, the noise of the sensor over the standard deviation of what it shows, and what is asked beside."""


def recorded(system: System, steps: int, seeds: range, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples `(seeds, steps + 1, m)` of a system, and which steps had a jump `(seeds, steps)`."""
    rng = np.random.default_rng([seeds.start, number])
    many, h = len(seeds), system.dt / FINE
    x = np.zeros((many, len(system.names)))
    out, jumped = [], []
    for n in range(steps + 200):
        size, jump = np.ones(many), np.zeros(many, dtype=bool)
        if isinstance(system.law, float):
            size = 1.0 / np.sqrt(rng.gamma(0.5 * system.law, 2.0 / system.law, many))
        elif system.law == "jumps":
            jump = rng.random(many) < 0.01
        at = rng.integers(0, FINE, many)
        for k in range(FINE):
            root = system.root(x)
            kick = np.sqrt(h) * size[:, None] * rng.standard_normal((many, root.shape[2]))
            far = np.sqrt(system.dt) * rng.choice([-1.0, 1.0], many) * rng.uniform(10.0, 50.0, many)
            kick += np.where(jump & (at == k), far, 0.0)[:, None]
            x = x + h * system.drift(x) + np.einsum("nij,nj->ni", root, kick)
        if n >= 199:
            out.append(x)
            jumped.append(jump)
    return np.stack(out, axis=1), np.stack(jumped[1:], axis=1)


class Tally:
    """Estimates over their true values, how many intervals hold those, how often the terms are right, and jumps."""

    def __init__(self) -> None:
        self.ratios: dict[str, list[float]] = {}
        self.held: dict[str, list[bool]] = {}
        self.right = self.count = self.listed = self.there = self.false = 0
        self.degrees: list[float] = []

    def add(self, result: ito.Discovery, system: System, jumped: np.ndarray) -> None:
        """One result."""
        right = True
        named = {**system.terms, **system.gamma}
        for key, wanted in named.items():
            equation = result.drift[key] if isinstance(key, str) else result.diffusion[key]
            right &= {t for t, z in zip(equation.terms, equation.selected) if z} == set(wanted)
            interval = equation.interval(0.95)
            for term, true in wanted.items():
                k = equation.terms.index(term)
                name = f"{'Gamma ' if isinstance(key, tuple) else ''}{' '.join(key)}: {term}"
                self._held(name, equation.mean[k] / true, interval[k] / true)
        self.right, self.count = self.right + right, self.count + 1
        law = next(iter(result.diagnostics.get("diffusion_law", {}).values()), None)
        if law is not None and "degrees" in law["shape"]:
            value, low, high = law["shape"]["degrees"]
            self.degrees.append(value)
            if isinstance(system.law, float):
                self._held("nu", value / system.law, np.array([low, high]) / system.law)
        if law is not None and "share" in law["shape"] and system.law == "jumps":
            self._held(
                "share",
                law["shape"]["share"][0] / jumped.mean(),
                np.array(law["shape"]["share"][1:]) / jumped.mean(),
            )
        found, true = {one.sample - 1 for one in result.jumps}, set(np.flatnonzero(jumped))
        self.listed, self.there = self.listed + len(found & true), self.there + len(true)
        self.false += len(found - true)

    def add_noise(self, result: ito.Discovery, sd: float) -> None:
        """The level of the noise of the sensor."""
        level = result.diagnostics["measurement_noise"]["x"]
        self._held("noise", level["sd"] / sd, np.array([level["low"], level["high"]]) / sd)

    def _held(self, name: str, ratio: float, interval: np.ndarray) -> None:
        self.ratios.setdefault(name, []).append(float(ratio))
        self.held.setdefault(name, []).append(bool(interval.min() <= 1.0 <= interval.max()))

    def text(self) -> str:
        """As cells of a table."""
        cells = [
            f"{name} {np.mean(r):.3f} ± {np.std(r, ddof=1) / np.sqrt(len(r)):.3f} ({sum(self.held[name])})"
            for name, r in self.ratios.items()
        ]
        inside, asked = sum(map(sum, self.held.values())), sum(map(len, self.held.values()))
        jumps = f"{self.listed} of {self.there}, {self.false} others" if asked else ""
        degrees = f"; nu {min(self.degrees):.3g} .. {max(self.degrees):.3g}" if self.degrees else ""
        return f"{self.right} of {self.count} | {'; '.join(cells)}{degrees} | {inside} of {asked} | {jumps}"


def accuracy(asked: argparse.Namespace) -> None:
    """Each system by the law that it has, the other one, and a normal one."""
    for number, (name, system) in enumerate(SYSTEMS.items()):
        if asked.only not in name:
            continue
        x, jumped = recorded(system, asked.steps, range(asked.first, asked.first + asked.seeds), number)
        for law in asked.laws:
            tally, spent = Tally(), 0.0
            for path, jump in zip(x, jumped):
                data = ito.Trajectories(path, dt=system.dt, names=list(system.names))
                start = time.process_time()
                more = {"diffusion": "constant"} | system.more
                result = ito.discover(data, ito.Library.polynomials(3), diffusion_law=law, seed=1, **more)
                spent += time.process_time() - start
                tally.add(result, system, jump)
            print(f"| {name} | {law} | {tally.text()} | {spent / asked.seeds:.2f} s |", flush=True)


def noisy(asked: argparse.Namespace) -> None:
    """The first state of each system behind noise."""
    for number, (name, (system, share, more)) in enumerate(NOISY.items()):
        if asked.only not in name:
            continue
        seeds = range(asked.first, asked.first + asked.seeds)
        x, jumped = recorded(system, asked.steps, seeds, 100 + number)
        for law in asked.laws:
            tally, spent, preferred = Tally(), 0.0, 0
            for seed, path, jump in zip(seeds, x, jumped):
                shown = path[:, 0]
                sd = share * float(shown.std())
                y = shown + sd * np.random.default_rng([seed, 7]).standard_normal(len(shown))
                start = time.process_time()
                result = ito.discover(
                    ito.Trajectories(y, dt=system.dt, names=["x"]),
                    ito.Library.polynomials(2 if more else 3),
                    measurement_noise="estimate",
                    diffusion="constant",
                    diffusion_law=law,
                    seed=1,
                    **more,
                )
                spent += time.process_time() - start
                tally.add(result, system, jump)
                tally.add_noise(result, sd)
                found = result.diagnostics.get("diffusion_law", {})
                preferred += sum(one["log_bayes_factor"] > 0.0 for one in found.values())
            print(
                f"| {name} | {law} | {tally.text()} | {preferred} | {spent / asked.seeds:.1f} s |", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--only", default="")
    parser.add_argument("--laws", nargs="+", default=["student", "jumps", "normal"])
    parser.add_argument("--noisy", action="store_true", help="behind noise of the sensor")
    given = parser.parse_args()
    (noisy if given.noisy else accuracy)(given)
