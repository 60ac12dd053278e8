"""Coefficients that rows have in common, over many seeds: evidence where they are right and where they are wrong.

    python benches/accuracy/symmetry.py [--seeds 10] [--first 1] [--case NAME ...]

True paths come from fine steps.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

poly = ito.Library.polynomials
GAMMA = "0.6-0.1*(x^2+y^2)+0.01*(x^2+y^2)^2"


@dataclass
class Case:
    """A recording of a seed, how it is discovered, and the true coefficient of each orbit of the drift."""

    record: Callable[[int], ito.Trajectories]
    library: ito.Library
    true: dict[str, float]
    asked: dict[str, Any] = field(default_factory=dict)


def fish(stiff: float) -> Callable[[int], ito.Trajectories]:
    """The drift `(-stiff x, -y)`, a noise that falls with the distance."""

    def record(seed: int) -> ito.Trajectories:
        sde = ito.SDE([f"-{stiff}*x", "-y"], gamma=[[GAMMA, "0"], ["0", GAMMA]], states=["x", "y"])
        run = {"dt": 0.02, "n_steps": 12_000, "substeps": 10, "scheme": "euler-maruyama", "seed": seed}
        return sde.simulate([0.3, 0.0], **run)

    return record


def storeys(third: float) -> tuple[list[str], list[list[str]], list[str]]:
    """Three storeys of the stiffness 9, the third of another; a damping of 1 on each."""
    drift = [
        "v1",
        "v2",
        "v3",
        "9*(x2 - 2*x1) - v1",
        f"9*(x1 - x2) + {third}*(x3 - x2) - v2",
        f"{third}*(x2 - x3) - v3",
    ]
    noise = [["0"] * 3] * 3 + [["0.5", "0", "0"], ["0", "0.5", "0"], ["0", "0", "0.5"]]
    return drift, noise, ["x1", "x2", "x3", "v1", "v2", "v3"]


def chain(third: float) -> Callable[[int], ito.Trajectories]:
    """Displacements and velocities of such a building."""

    def record(seed: int) -> ito.Trajectories:
        sde = ito.SDE(*storeys(third))
        return sde.simulate([0.0] * 6, dt=0.02, n_steps=6000, substeps=5, scheme="taylor15", seed=seed)

    return record


def seen(third: float) -> Callable[[int], ito.Trajectories]:
    """The displacements of the same for 300 s at 20 Hz, with noise of 2 %."""

    def record(seed: int) -> ito.Trajectories:
        sde = ito.SDE(*storeys(third))
        path = sde.simulate([0.0] * 6, dt=0.05, n_steps=6000, substeps=5, scheme="taylor15", seed=seed).paths[
            0
        ]
        noise = 0.02 * path[:, :3].std(axis=0) * np.random.default_rng(seed).normal(size=(6001, 3))
        return ito.Trajectories(path[:, :3] + noise, dt=0.05, names=["x1", "x2", "x3"])

    return record


TIE = {"v1": "x2 - 2*x1", "v2": "x1 - 2*x2 + x3", "v3": "x2 - x3"}
LABEL = ", ".join(f"{row}: {text}" for row, text in TIE.items())
STOREYS = {"known_drift": {"x1": "v1", "x2": "v2", "x3": "v3"}, "ties": [TIE], "diffusion": "constant"}
UNSEEN = {"order": 2, "ties": [TIE], "diffusion": "constant"}
PLANAR = {"symmetry": "rotation", "diffusion_library": poly(4)}
DAMPED = {"v1: v1": -1.0, "v2: v2": -1.0, "v3: v3": -1.0}
CASES = {
    "isotropic motion": Case(fish(1.0), poly(3), {"(x, y)": -1.0}, PLANAR),
    "stiffer along x, 2 for 1": Case(fish(2.0), poly(3), {"(x, y)": -1.0}, PLANAR),
    "three storeys of one stiffness": Case(chain(9.0), poly(1), {LABEL: 9.0} | DAMPED, STOREYS),
    "the third of 0.7 of it": Case(chain(6.3), poly(1), {LABEL: 9.0} | DAMPED, STOREYS),
    "three storeys, displacements, 2 % noise": Case(seen(9.0), poly(1), {LABEL: 9.0} | DAMPED, UNSEEN),
    "the same, the third of 0.7": Case(seen(6.3), poly(1), {LABEL: 9.0} | DAMPED, UNSEEN),
}


def run(name: str, case: Case, seeds: range) -> str:
    """A line of the table: exact drifts, intervals that hold, and the evidence for what rows have in common."""
    exact, inside, gains = 0, [], []
    for seed in seeds:
        result = ito.discover(case.record(seed), case.library, seed=seed, **case.asked)
        common = result.diagnostics["symmetry"]
        found = {one["terms"]: one for one in common["orbits"] if one["of"] == "drift" and one["selected"]}
        exact += set(found) == set(case.true)
        inside += [
            found[label]["low"] <= value <= found[label]["high"]
            for label, value in case.true.items()
            if label in found
        ]
        gains.append(common["log_evidence"])
    return (
        f"| {name} | {exact} of {len(seeds)} | {np.mean(inside):.2f} of {len(inside)} "
        f"| for it in {sum(gain > 0 for gain in gains)} of {len(gains)}, {min(gains):+.3g} to {max(gains):+.3g} |"
    )


def main() -> None:
    """Parse the command line, run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*")
    options = parser.parse_args()
    ito.set_threads(1)
    print("| recording | exact drift | 95 % intervals hold | log evidence |\n|---|---|---|---|")
    for name in options.case or CASES:
        print(run(name, CASES[name], range(options.first, options.first + options.seeds)), flush=True)


if __name__ == "__main__":
    main()
