"""Recordings that differ, over many seeds: common coefficients, the spread of what differs, and a control without.

    python benches/accuracy/recordings.py [--seeds 10] [--first 1] [--case NAME ...] [--out table.md]

Paths of first order are drawn from the exact law of a step, those of second order come from fine steps of a strong
scheme; the noise of sensors is put on afterwards.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

poly = ito.Library.polynomials
CONSTANT = {"vary": {"x1": ["1"]}}


@dataclass
class Case:
    """A recording of a seed, the row that is sought, its true common coefficients and the spread of its constant."""

    record: Callable[[int], ito.Trajectories]
    library: ito.Library
    row: str
    true: dict[str, float]
    spread: float
    asked: dict[str, Any] = field(default_factory=dict)


def about(
    count: int, steps: int, dt: float, spread: float = 0.8, noise: float = 0.0
) -> Callable[[int], ito.Trajectories]:
    """`dx = -(x - c) dt + 0.5 dB`, centres `c ~ N(1.2, spread)`, each from its own stationary law."""

    def record(seed: int) -> ito.Trajectories:
        rng = np.random.default_rng(seed)
        centre = 1.2 + spread * rng.normal(size=count)
        sd, keep = 0.5 / np.sqrt(2.0), np.exp(-dt)
        x = [centre + sd * rng.normal(size=count)]
        for _ in range(steps):
            x.append(centre + keep * (x[-1] - centre) + sd * np.sqrt(1 - keep**2) * rng.normal(size=count))
        paths = np.array(x).T
        return ito.Trajectories(list(paths + noise * paths.std() * rng.normal(size=paths.shape)), dt=dt)

    return record


def oscillators(seed: int) -> ito.Trajectories:
    """`dv = (-4 (x - c) - v) dt + dB`, centres `c ~ N(0, 0.5)`; displacements with noise of 2 %."""
    rng = np.random.default_rng(seed)
    paths = [
        ito.SDE(["v1", f"-4*x1 - v1 + {4 * c}"], [["0"], ["1.0"]], ["x1", "v1"])
        .simulate([c, 0.0], dt=0.05, n_steps=300, substeps=10, scheme="taylor15", seed=1000 * seed + k)
        .paths[0][:, :1]
        for k, c in enumerate(0.5 * rng.normal(size=30))
    ]
    size = 0.02 * np.concatenate(paths).std()
    return ito.Trajectories([x + size * rng.normal(size=x.shape) for x in paths], dt=0.05, names=["x1"])


FIRST = {"1": 1.2, "x1": -1.0}
CASES = {
    "30 recordings of 15 relaxation times": Case(about(30, 300, 0.05), poly(3), "x1", FIRST, 0.8, CONSTANT),
    "the same, taken as one system": Case(about(30, 300, 0.05), poly(3), "x1", FIRST, 0.8),
    "the same, all alike": Case(about(30, 300, 0.05, 0.0), poly(3), "x1", FIRST, 0.0, CONSTANT),
    "the same, 5 % noise of the sensor": Case(
        about(30, 300, 0.05, noise=0.05),
        poly(2),
        "x1",
        FIRST,
        0.8,
        CONSTANT | {"measurement_noise": "estimate"},
    ),
    "500 subjects of 8 visits": Case(about(500, 7, 0.25), poly(3), "x1", FIRST, 0.8, CONSTANT),
    "30 oscillators, displacements, 2 % noise": Case(
        oscillators, poly(2), "v1", {"x1": -4.0, "v1": -1.0}, 2.0, {"order": 2, "vary": {"v1": ["1"]}}
    ),
}


def run(name: str, case: Case, seeds: range) -> str:
    """A line of the table: exact drifts, 95 % intervals that hold, of the spread too, the largest error, seconds."""
    exact, inside, spreads, errors, gains, began = 0, [], [], [], [], time.process_time()
    for seed in seeds:
        result = ito.discover(case.record(seed), case.library, diffusion="constant", seed=seed, **case.asked)
        equation = result.drift[case.row]
        found = {
            term for term, z in zip(equation.terms, equation.selected) if z and term not in equation.differs
        }
        exact += found == set(case.true)
        ends = equation.interval(0.95)
        for term, value in case.true.items():
            k = equation.terms.index(term)
            if equation.selected[k]:
                inside.append(ends[k, 0] <= value <= ends[k, 1])
                errors.append(abs(equation.mean[k] / value - 1.0))
        for terms in result.varying.values():
            for one in terms.values():
                spreads.append(one.interval[0] <= case.spread <= one.interval[1])
                gains.append(one.gain)
    seconds = (time.process_time() - began) / len(seeds)
    of_spread = (
        f"{sum(spreads)} of {len(spreads)}, {min(gains):+.2g} to {max(gains):+.2g}" if spreads else "-"
    )
    return (
        f"| {name} | {exact} of {len(seeds)} | {np.mean(inside):.2f} of {len(inside)} | {100 * max(errors):.0f} % "
        f"| {of_spread} | {seconds:.1f} s |"
    )


def main() -> None:
    """Parse the command line, run, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ito.set_threads(1)
    table = [
        "| recordings | exact drift | 95 % intervals hold | largest error | of the spread, log likelihood gained "
        "| processor |",
        "|---|---|---|---|---|---|",
    ]
    for name in options.case or CASES:
        table.append(run(name, CASES[name], range(options.first, options.first + options.seeds)))
        print(table[-1], flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
