"""Are inclusion probabilities true? `discover` on random sparse systems whose terms are known.

    python benches/accuracy/calibration.py [--systems 150] [--steps 0.1 0.01 0.002] [--walks 40] [--seed 1]

Systems of two to four states, linear or quadratic, whose states decay at rates over two decades, 10 to 200 mean time
constants long, sampled at several steps (in time constants of the fastest state); nothing in the package was tuned on
them. For every candidate term of the drift the probability is held against whether the term is true: the share of true
terms in bins of the probability, log loss, terms missed and false. Random walks, which have no drift at all, say how
often a term is found in nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import itoscope as ito
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BINS = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)


@dataclass(frozen=True)
class System:
    """A sparse system `dx = theta u(x) dt + sqrt(gamma) dB` with its candidates and how long it is watched."""

    states: tuple[str, ...]
    terms: tuple[str, ...]
    theta: Array  # (m, K)
    gamma: Array  # (m,)
    fastest: float  # rate
    length: float  # of the record, in mean time constants

    @property
    def sde(self) -> ito.SDE:
        """The system as a model that can be simulated."""
        rows = []
        for row in self.theta:
            parts = [f"({value!r})*({term})" for term, value in zip(self.terms, row.tolist()) if value]
            rows.append(" + ".join(parts) or "0")
        g = [
            [repr(math.sqrt(v)) if i == j else "0" for j in range(len(self.gamma))]
            for i, v in enumerate(self.gamma)
        ]
        return ito.SDE(rows, g, list(self.states))


def draw(rng: np.random.Generator, walk: bool = False) -> System:
    """A random system: every state decays, at rates over two decades; couplings and products are few, of any size.

    The unit of time is the mean time constant (one over the geometric mean of the rates).
    """
    m = int(rng.integers(2, 5))
    states = tuple("xyzw"[:m])
    quadratic = rng.random() < 0.5
    terms = tuple(ito.Library.polynomials(2).names(states))
    length = float(10.0 ** rng.uniform(1.0, math.log10(200.0)))
    rates = 10.0 ** rng.uniform(-1.0, 1.0, m)
    rates /= math.exp(np.log(rates).mean())
    gamma = rates * 10.0 ** rng.uniform(-0.5, 0.5, m)
    place = {term: k for k, term in enumerate(terms)}
    theta = np.zeros((m, len(terms)))
    if walk:
        return System(states, terms, theta, gamma, float(rates.max()), length)

    def size(low: float, high: float) -> float:
        return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(low, high))

    while True:
        linear = -np.diag(rates)
        for i, j in np.argwhere(~np.eye(m, dtype=bool) & (rng.random((m, m)) < 0.5 / (m - 1))):
            linear[i, j] = size(-1.0, 0.2) * math.sqrt(rates[i] * rates[j])
        if np.linalg.eigvals(linear).real.max() < -0.5 * rates.min():
            break
    theta[:, [place[s] for s in states]] = linear
    for i in np.flatnonzero(rng.random(m) < 0.15):
        theta[i, place["1"]] = size(-1.0, 0.0) * rates[i]
    for _ in range(int(rng.integers(1, 3)) if quadratic else 0):
        # neither feeds nor drains the sum of squares: x y in the row of x, -x^2 in that of y
        i, j = rng.permutation(m)[:2]
        coupling = size(-1.0, 0.0) * math.sqrt(rates[i] * rates[j])
        theta[i, place[f"{states[min(i, j)]} {states[max(i, j)]}"]] += coupling
        theta[j, place[f"{states[i]}^2"]] -= coupling
    return System(states, terms, theta, gamma, float(rates.max()), length)


class Found(NamedTuple):
    """Every candidate of the drift of one system."""

    pip: Array
    true: Array
    selected: Array
    covered: Array  # whether the 95 % interval of each selected term holds its coefficient
    false_gamma: int


def record(system: System, step: float, seed: int) -> ito.Trajectories | None:
    """A recording of a system that starts where it lives: the first sixth is thrown away. None if it ran off."""
    dt = step / system.fastest
    n = int(system.length / dt)
    start = n // 5
    origin = np.zeros(len(system.states))
    substeps = max(1, round(step / 0.01))
    whole = system.sde.simulate(
        origin, dt=dt, n_steps=n + start, scheme="taylor15", substeps=substeps, seed=seed
    )
    path = whole.paths[0][start:]
    if len(path) <= n or not np.isfinite(path).all():
        return None
    return ito.Trajectories(path, dt=dt, names=list(system.states))


def one(task: tuple[int, int, float, bool, dict[str, Any]]) -> Found | None:
    """What is found of system number `task[1]`."""
    seed, number, step, walk, settings = task
    warnings.simplefilter("ignore")
    system = draw(np.random.default_rng([seed, number, int(walk)]), walk)
    data = record(system, step, number)
    if data is None:
        return None
    result = ito.discover(data, ito.Library.polynomials(2), seed=number, **settings)
    equations = [result.drift[state] for state in system.states]
    selected = np.concatenate([e.selected for e in equations])
    low, high = np.concatenate([e.interval(0.95) for e in equations]).T
    theta = system.theta.ravel()
    gamma = [
        t
        for (a, b), e in result.diffusion.items()
        for t, s in zip(e.terms, e.selected)
        if s and (t != "1" or a != b)
    ]
    return Found(
        pip=np.concatenate([e.pip for e in equations]),
        true=theta != 0,
        selected=selected,
        covered=((low <= theta) & (theta <= high))[selected],
        false_gamma=len(gamma),
    )


def tell(name: str, found: list[Found]) -> None:
    """Print the sums and one line per bin; the error of the false terms is that of their sum over systems."""
    pip, true, selected, covered = (
        np.concatenate([getattr(f, key) for f in found]) for key in Found._fields[:4]
    )
    pip = np.clip(pip, 1e-4, 1 - 1e-4)
    loss = float(-np.mean(np.where(true, np.log(pip), np.log1p(-pip))))
    false, nulls = int((~true & selected).sum()), int((~true).sum())
    each = np.array([(~f.true & f.selected).sum() for f in found])
    error, said = math.sqrt(each.var() * len(each)), float((1 - pip[selected]).sum())
    print(
        f"{name}: {len(pip)} probabilities, {true.sum()} true; log loss {loss:.3f}; missed {(true & ~selected).sum()}; "
        f"false {false} +- {error:.0f} of {nulls} ({100 * false / nulls:.2f} %), by the probabilities {said:.0f}; "
        f"95 % intervals hold {covered.sum()} of {len(covered)}; "
        f"false terms of Gamma {sum(f.false_gamma for f in found)}",
        flush=True,
    )
    for low, high in itertools.pairwise(BINS):
        mine = (pip >= low) & ((pip < high) | (high == 1.0))
        n = int(mine.sum())
        if n:
            mean, share = float(pip[mine].mean()), float(true[mine].mean())
            bound = max(0.07, 3 * math.sqrt(mean * (1 - mean) / n))
            flag = "  off" if n > 40 and abs(mean - share) > bound else ""
            print(f"   {low:.2f} .. {high:.2f}: {n:5d}  mean {mean:.3f}  true {share:.3f}{flag}", flush=True)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", type=int, default=150)
    parser.add_argument("--walks", type=int, default=40)
    parser.add_argument("--steps", type=float, nargs="+", default=[0.1, 0.01, 0.002])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="further arguments of discover, as JSON"
    )
    parser.add_argument(
        "--sample-slab", action="store_true", help="the slab of the paper, in units of a sample"
    )
    arguments = parser.parse_args()
    ito.set_threads(1)
    settings = arguments.settings | (
        {"prior": ito.Prior(slab_unit="sample")} if arguments.sample_slab else {}
    )
    with ProcessPoolExecutor(arguments.workers) as pool:
        for walk, count in ((False, arguments.systems), (True, arguments.walks)):
            for step in arguments.steps if count else ():
                tasks = [(arguments.seed, n, step, walk, settings) for n in range(count)]
                found = [f for f in pool.map(one, tasks) if f is not None]
                tell(f"{'walks' if walk else 'systems'}, dt {step}", found)


if __name__ == "__main__":
    main()
