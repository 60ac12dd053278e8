"""Are inclusion probabilities true where displacements alone were recorded, with noise? Random oscillators.

    python benches/accuracy/displacements.py [--systems 40] [--noise 0.05] [--seed 1]

Oscillators with a restoring force, damping, and now and then a constant, a square, a cube or damping that is not
linear, each of any size, from too small to be seen to dominant; recorded for 10 to 200 of their time constants
`1 / omega` with white noise on the displacement. The whole `discover`, all monomials to degree 3 as candidates of the
drift and of Gamma.
"""

from __future__ import annotations

import argparse
import math
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import itoscope as ito
import numpy as np
from calibration import Found, tell

LIBRARY = ito.Library.polynomials(3)
STATES = ["x", "v"]
STEP = 0.2  # of a sample, in time constants


@dataclass(frozen=True)
class Oscillator:
    """`dv = force dt + sqrt(gamma) dB`, its force by term, and how long it is watched, in time constants."""

    force: dict[str, float]
    gamma: float
    omega: float
    length: float

    @property
    def sde(self) -> ito.SDE:
        """The oscillator as a model that can be simulated."""
        force = " + ".join(f"({value!r})*{term.replace(' ', '*')}" for term, value in self.force.items())
        return ito.SDE(["v", force], gamma=[["0", "0"], ["0", repr(self.gamma)]], states=STATES)


def draw(rng: np.random.Generator) -> Oscillator:
    """A random oscillator whose displacement has a spread of about one; its restoring force grows everywhere."""

    def size(low: float, high: float) -> float:
        return float(10.0 ** rng.uniform(low, high))

    omega, length = size(-0.5, 0.5), size(1.0, math.log10(200.0))
    k, c = omega**2, omega * size(-1.5, 0.0)
    force = {"x": -k, "v": -c}
    if rng.random() < 0.2:
        force["1"] = k * size(-1.5, -0.3) * float(rng.choice([-1.0, 1.0]))
    if rng.random() < 0.4:
        force["x^3"] = -k * size(-1.5, 0.3)
        if rng.random() < 0.5:
            most = math.sqrt(-2.5 * k * force["x^3"])
            force["x^2"] = most * size(-1.0, 0.0) * float(rng.choice([-1.0, 1.0]))
    if rng.random() < 0.2:
        force["x^2 v"] = -c * size(-1.0, 0.3)
    if rng.random() < 0.2:
        force["v^3"] = -c / k * size(-1.5, 0.0)
    return Oscillator(force, 2.0 * c * k, omega, length)


def record(system: Oscillator, noise: float, seed: int) -> ito.Trajectories:
    """Noisy displacements of a motion that has settled, from steps fifty times finer."""
    dt = STEP / system.omega
    n, start = int(system.length / STEP), int(30 / STEP)
    whole = system.sde.simulate(
        [0.0, 0.0], dt=dt, n_steps=n + start, scheme="taylor15", substeps=50, seed=seed
    )
    x = whole.paths[0][start:, 0]
    x = x + noise * x.std() * np.random.default_rng([seed, 1]).standard_normal(x.shape)
    return ito.Trajectories(x, dt=dt, names=["x"])


def one(task: tuple[int, int, float]) -> Found:
    """What is found of oscillator number `task[1]`."""
    seed, number, noise = task
    warnings.simplefilter("ignore")
    system = draw(np.random.default_rng([seed, number]))
    result = ito.discover(
        record(system, noise, number), LIBRARY, states=STATES, known_drift={"x": "v"},
        measurement_noise="estimate", seed=number,
    )  # fmt: skip
    equation, gamma = result.drift["v"], result.diffusion["v", "v"]
    truth = np.array([system.force.get(term, 0.0) for term in equation.terms])
    low, high = equation.interval(0.95).T
    return Found(
        pip=equation.pip,
        true=truth != 0,
        selected=equation.selected,
        covered=((low <= truth) & (truth <= high))[equation.selected],
        false_gamma=sum(s and t != "1" for t, s in zip(gamma.terms, gamma.selected)),
    )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    ito.set_threads(1)
    tasks = [(arguments.seed, n, arguments.noise) for n in range(arguments.systems)]
    with ProcessPoolExecutor(arguments.workers) as pool:
        tell(f"displacements with noise of {arguments.noise:g}", list(pool.map(one, tasks)))


if __name__ == "__main__":
    main()
