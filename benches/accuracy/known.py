"""What is known goes into the question, over many seeds: inputs, the time, terms that cannot or must be, coverage.

    python benches/accuracy/known.py [--seeds 10] [--first 1] [--case NAME ...] [--out table.md]

True paths come from fine steps of a strong scheme; the noise of sensors is put on afterwards.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

poly = ito.Library.polynomials
STEPS, HOLD = 3000, 50
"""Steps of a recording, and samples for which a stepped input stays."""


@dataclass
class Case:
    """A recording of a seed, how it is discovered, and the true drift of the row that is sought."""

    record: Callable[[int], ito.Trajectories]
    library: ito.Library
    row: str
    true: dict[str, float]
    asked: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    """Parameters that are found beside the terms."""


def driven(noise: float) -> Callable[[int], ito.Trajectories]:
    """`dx = -x + 2 u + noise`, u in steps, with noise of the sensor as a share of the spread of x."""

    def record(seed: int) -> ito.Trajectories:
        rng = np.random.default_rng(seed)
        u = np.repeat(rng.normal(size=STEPS // HOLD), HOLD)
        sde = ito.SDE(["-x + 2*u"], [["0.5"]], ["x"], inputs=["u"])
        held = {"u": ito.Input(u, between="held")}
        path = sde.simulate(
            [0.0], dt=0.02, n_steps=STEPS - 1, inputs=held, substeps=10, scheme="taylor15", seed=seed
        ).paths[0]
        x = path + noise * path.std() * rng.normal(size=path.shape)
        return ito.Trajectories(np.column_stack([x, u]), dt=0.02, names=["x", "u"])

    return record


def course(noise: float) -> Callable[[int], ito.Trajectories]:
    """`dy = -y + 3 cos(2 pi t) + noise`."""

    def record(seed: int) -> ito.Trajectories:
        sde = ito.SDE(["-y + 3*cos(2*pi*t)"], [["0.5"]], ["y"])
        path = sde.simulate([0.0], dt=0.02, n_steps=STEPS, substeps=10, scheme="taylor15", seed=seed).paths[0]
        y = path + noise * path.std() * np.random.default_rng(seed).normal(size=path.shape)
        return ito.Trajectories(y, dt=0.02, names=["y"])

    return record


def trap(seed: int) -> ito.Trajectories:
    """A bead in a trap of stiffness 4 that moves at speed 0.5: `dx = -4 (x - 0.5 t) + noise` of temperature 0.25."""
    sde = ito.SDE(["-4*x + 2*t"], [["1.4142135623730951"]], ["x"])
    return sde.simulate([0.0], dt=0.02, n_steps=STEPS, substeps=10, scheme="taylor15", seed=seed)


def pendulum(seed: int) -> ito.Trajectories:
    """A pendulum that hangs symmetrically."""
    sde = ito.SDE(["v1", "-4*x1 - 0.5*v1 + 2*x1^3"], [["0"], ["0.5"]], ["x1", "v1"])
    return sde.simulate([0.1, 0.0], dt=0.02, n_steps=4 * STEPS, substeps=10, scheme="taylor15", seed=seed)


def chimney(seed: int) -> ito.Trajectories:
    """An oscillator whose damping a minute hardly shows."""
    sde = ito.SDE(["v1", "-4*x1 - 0.05*v1"], [["0"], ["1.0"]], ["x1", "v1"])
    return sde.simulate([0.1, 0.0], dt=0.02, n_steps=STEPS, substeps=10, scheme="taylor15", seed=seed)


def hung(seed: int) -> ito.Trajectories:
    """A float under gravity and a known force: `dv = -9.81 + 3 u - 2 v + noise`."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=STEPS // HOLD), HOLD)
    sde = ito.SDE(["-9.81 + 3*u - 2*v"], [["0.5"]], ["v"], inputs=["u"])
    held = {"u": ito.Input(u, between="held")}
    run = {"dt": 0.02, "n_steps": STEPS - 1, "substeps": 10, "scheme": "taylor15", "seed": seed}
    path = sde.simulate([-5.0], inputs=held, **run).paths[0]
    return ito.Trajectories(np.column_stack([path, u]), dt=0.02, names=["v", "u"])


def gusts(seed: int) -> ito.Trajectories:
    """The displacement, with 2 % noise, of an oscillator under a force of correlation time 0.2."""
    sde = ito.SDE(["v1", "-9*x1 - v1 + u", "-5*u"], [["0"], ["0"], ["10.0"]], ["x1", "v1", "u"])
    run = {"dt": 0.02, "n_steps": 2 * STEPS, "substeps": 5, "scheme": "taylor15", "seed": seed}
    path = sde.simulate([0.0, 0.0, 0.0], **run).paths[0][:, :1]
    noise = 0.02 * path.std() * np.random.default_rng(seed).normal(size=path.shape)
    return ito.Trajectories(path + noise, dt=0.02, names=["x1"])


def shaken(tau: float) -> Callable[[int], ito.Trajectories]:
    """Displacement, 2 % noise, 100 s at 100 Hz, of `dv = -100 x - v - 2000 x^3 + F`; F has the correlation time tau.

    White for tau = 0; of the same spectral density at the natural frequency for all.
    """
    size = np.sqrt(1.0 + (10.0 * tau) ** 2)
    own, force = "-100*x1 - v1 - 2000*x1^3", [["0"], ["0"], [f"{size / tau}"]] if tau else [["0"], ["1"]]
    rows = ["v1", f"{own} + u", f"-u/{tau}"] if tau else ["v1", own]
    sde = ito.SDE(rows, force, ["x1", "v1", "u"][: len(rows)])

    def record(seed: int) -> ito.Trajectories:
        run = {"dt": 0.01, "n_steps": 10_000, "substeps": 10, "scheme": "taylor15", "seed": seed}
        path = sde.simulate([0.0] * len(rows), **run).paths[0][:, :1]
        noise = 0.02 * path.std() * np.random.default_rng(seed).normal(size=path.shape)
        return ito.Trajectories(path + noise, dt=0.01, names=["x1"])

    return record


def bead(*kernel: tuple[float, float]) -> Callable[[int], ito.Trajectories]:
    """Displacement, 2 % noise, 500 s at 20 Hz, of a bead in a trap of stiffness 4 at temperature 1.

    Its friction has the kernel ``sum c exp(-t / tau)`` of pairs `(c, tau)`; without any it is white, of strength 1.
    """
    names = ["x1", "v1", *(f"z{k}" for k in range(len(kernel)))]
    rows = ["v1", " + ".join(["-4*x1", *(names[2:] or ["-v1"])])]
    rows += [f"-{z}/{tau} - {c}*v1" for z, (c, tau) in zip(names[2:], kernel)]
    sizes = np.vstack([np.zeros((2, len(kernel))), np.diag([np.sqrt(2 * c / tau) for c, tau in kernel])])
    if not kernel:
        sizes = np.array([[0.0], [np.sqrt(2.0)]])
    sde = ito.SDE(rows, [[repr(size) for size in row] for row in sizes.tolist()], names)

    def record(seed: int) -> ito.Trajectories:
        run = {"dt": 0.05, "n_steps": 10_000, "substeps": 10, "scheme": "taylor15", "seed": seed}
        path = sde.simulate([0.0] * len(names), **run).paths[0][:, :1]
        noise = 0.02 * path.std() * np.random.default_rng(seed).normal(size=path.shape)
        return ito.Trajectories(path + noise, dt=0.05, names=["x1"])

    return record


PART = {"known_drift": {"v": "-9.81 + 3*u + ..."}}
FORCE = {
    "states": ["x1", "v1", "u"],
    "known_drift": {"x1": "v1", "v1": "u + ...", "u": "-5*u"},
    "known_diffusion": {"u": 100},
}  # fmt: skip
FOURIER = poly(2) + ito.Library.fourier(period=1, harmonics=2)
EVEN = ["1", "x1^2", "x1 v1", "v1^2"]
HELD = {"inputs": {"u": "held"}}
NOISY = {"measurement_noise": "estimate"}
SWING = {"known_drift": {"x1": "v1"}}
KERNEL = (6.0, 0.2), (2.0, 3.0)
TWO = {"c1_v1": 6.0, "tau1_v1": 0.2, "c2_v1": 2.0, "tau2_v1": 3.0, "temperature_v1": 1.0}
CASES = {
    "stepped input": Case(driven(0.0), poly(2), "x", {"x": -1.0, "u": 2.0}, HELD),
    "stepped input, 5 % noise": Case(driven(0.05), poly(2), "x", {"x": -1.0, "u": 2.0}, HELD | NOISY),
    "daily course": Case(course(0.0), FOURIER, "y", {"y": -1.0, "cos(2 pi t)": 3.0}),
    "daily course, 5 % noise": Case(course(0.05), FOURIER, "y", {"y": -1.0, "cos(2 pi t)": 3.0}, NOISY),
    "moved trap": Case(trap, ito.Library.expressions("1", "x", "t", "x^2", "x^3"), "x", {"x": -4.0, "t": 2.0}),
    "pendulum": Case(pendulum, poly(3), "v1", {"x1": -4.0, "v1": -0.5, "x1^3": 2.0}, SWING),
    "weak damping": Case(chimney, poly(2), "v1", {"x1": -4.0, "v1": -0.05}, SWING),
    "weak damping, known to be there": Case(
        chimney, poly(2), "v1", {"x1": -4.0, "v1": -0.05}, SWING | {"include": {"v1": ["v1"]}}
    ),
    "weak damping, its sign known too": Case(
        chimney, poly(2), "v1", {"x1": -4.0, "v1": -0.05},
        SWING | {"include": {"v1": ["v1"]}, "bounds": {"v1": {"v1": (None, 0)}}},
    ),
    "gravity and coil found": Case(hung, poly(2), "v", {"1": -9.81, "v": -2.0, "u": 3.0}, HELD),
    "gravity and coil known": Case(hung, poly(2), "v", {"v": -2.0}, HELD | PART),
    "force with a memory, taken as white": Case(
        gusts, ito.Library.expressions("1", "x1", "v1", "x1^2", "x1*v1", "v1^2"), "v1", {"x1": -9.0, "v1": -1.0},
        NOISY | {"order": 2},
    ),
    "force with a memory, known": Case(
        gusts, ito.Library.expressions("1", "x1", "v1", "x1^2", "x1*v1", "v1^2"), "v1", {"x1": -9.0, "v1": -1.0},
        NOISY | FORCE,
    ),
    **{
        f"shaken, {tau or 'no'} s, as {kind}": Case(
            shaken(tau), poly(3), "v1", {"x1": -100.0, "v1": -1.0, "x1^3": -2000.0}, {"order": 2, "forcing": kind}
        )
        for tau in (0.02, 0.1, 0.5, 0.0)
        for kind in ("coloured", "white")
    },
    "bead, two exponentials, as memory": Case(
        bead(*KERNEL), poly(1), "v1", {"x1": -4.0}, {"order": 2, "forcing": {"v1": ("memory", 2)}}, TWO
    ),
    "bead, two exponentials, as white": Case(bead(*KERNEL), poly(1), "v1", {"x1": -4.0}, {"order": 2}),
    "bead, white friction, as memory": Case(
        bead(), poly(1), "v1", {"x1": -4.0}, {"order": 2, "forcing": {"v1": "memory"}}
    ),
    "gravity known, coil a parameter": Case(
        hung, poly(2), "v", {"v": -2.0},
        HELD | {"known_drift": {"v": "-9.81 + a*u + ..."}, "parameters": {"a": 1.0}}, {"a": 3.0},
    ),
    "force with a memory, its numbers parameters": Case(
        gusts, ito.Library.expressions("1", "x1", "v1", "x1^2", "x1*v1", "v1^2"), "v1", {"x1": -9.0, "v1": -1.0},
        NOISY | {
            "states": ["x1", "v1", "u"], "known_drift": {"x1": "v1", "v1": "u + ...", "u": "-u/tau"},
            "known_diffusion": {"u": "s^2"}, "diffusion": {"v1": "none"},
            "parameters": {"tau": (0.01, 1.0, 10.0), "s": (0, 1.0, None)},
        }, {"tau": 0.2, "s": 10.0},
    ),
    "pendulum, even terms excluded": Case(
        pendulum, poly(3), "v1", {"x1": -4.0, "v1": -0.5, "x1^3": 2.0}, SWING | {"exclude": {"v1": EVEN}}
    ),
}  # fmt: skip


def run(name: str, case: Case, seeds: range) -> str:
    """A line of the table: exact drifts, share of 95 % intervals that hold, the largest error of a coefficient."""
    exact, inside, errors, memory, held, warned = 0, [], [], [], [], 0
    for seed in seeds:
        asked = {"diffusion": "constant", **case.asked}
        result = ito.discover(case.record(seed), case.library, seed=seed, **asked)
        equation = result.drift[case.row]
        found = equation.selected & ~equation.given
        forces = {**result.diagnostics.get("forces", {}), **result.diagnostics.get("memory", {})}
        memory += [force["log_bayes_factor"] for force in forces.values()]
        warned += any("not independent" in warning for warning in result.warnings)
        for number, value in case.numbers.items():
            low, high = result.parameters[number].interval(0.95)
            held.append(low <= value <= high)
        where = {term: k for k, term in enumerate(equation.terms)}
        numbers = {where[term]: value for term, value in case.true.items()}
        exact += set(np.flatnonzero(found).tolist()) == set(numbers)
        ends = equation.interval(0.95)
        for k, value in numbers.items():
            if equation.selected[k]:
                inside.append(ends[k, 0] <= value <= ends[k, 1])
                errors.append(abs(equation.mean[k] / value - 1.0))
    line = f"| {name} | {exact} of {len(seeds)} | {np.mean(inside):.2f} of {len(inside)} | {100 * max(errors):.1f} % |"
    if held:
        line += f" parameters' intervals hold {np.mean(held):.2f} of {len(held)};"
    if warned:
        line += f" innovations warned of in {warned} of {len(seeds)};"
    if not memory:
        return line
    ends = f"log Bayes factors {min(memory):.3g} to {max(memory):.3g}"
    return f"{line} memory preferred in {sum(one > 0 for one in memory)} of {len(memory)}, {ends}"


def main() -> None:
    """Parse the command line, run, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--case", nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ito.set_threads(1)
    table = ["| recording | exact drift | 95 % intervals hold | largest error |", "|---|---|---|---|"]
    for name in options.case or CASES:
        table.append(run(name, CASES[name], range(options.first, options.first + options.seeds)))
        print(table[-1], flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
