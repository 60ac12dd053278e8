"""Rows without noise and of unknown drift beside noisy ones: `diffusion={row: "none"}` on three systems.

    python benches/accuracy/quiet_rows.py --seeds 5

By system and noise of the sensors: how often the terms of the quiet row, the other one and Gamma are the true ones,
how many of the true coefficients' 95 % intervals hold, and the largest error of a coefficient.
"""

from __future__ import annotations

import argparse

import itoscope as ito

SYSTEMS = {
    "Van der Pol": (
        ["v", "2*(1 - x^2)*v - x"], [["0"], ["0.5"]], ["x", "v"], [1.0, 0.0], 0.02, 3,
        {"x": {"v": 1.0}, "v": {"x": -1.0, "v": 2.0, "x^2 v": -2.0}}, {"1": 0.25},
    ),
    "FitzHugh-Nagumo": (
        ["v - v^3/3 - w + 0.5", "0.1*(v + 0.7 - 0.8*w)"], [["0.3"], ["0"]], ["v", "w"], [0.0, 0.0], 0.05, 3,
        {"w": {"1": 0.07, "v": 0.1, "w": -0.08}, "v": {"1": 0.5, "v": 1.0, "w": -1.0, "v^3": -1 / 3}}, {"1": 0.09},
    ),
    "Lotka-Volterra": (
        ["x - 0.5*x*y", "-0.8*y + 0.4*x*y"], [["0"], ["0.1*y"]], ["x", "y"], [2.0, 1.0], 0.05, 2,
        {"x": {"x": 1.0, "x y": -0.5}, "y": {"y": -0.8, "x y": 0.4}}, {"y^2": 0.01},
    ),
}  # fmt: skip
"""Drift, noise, states, start, step, degree of the library; the true rows, the quiet one first, and the true Gamma."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    asked = parser.parse_args()
    print("| system | noise | quiet row | other row | Gamma | 95 % intervals that hold | largest error |")
    print("|---|---|---|---|---|---|---|")
    for name in SYSTEMS:
        for noise in (0.0, 0.02):
            print(line(name, noise, asked.seeds, asked.steps), flush=True)


def line(name: str, noise: float, seeds: int, steps: int) -> str:
    """One line of the table."""
    drift, g, states, start, dt, degree, rows, gamma = SYSTEMS[name]
    quiet, other = rows
    right, hold, total, worst = [0, 0, 0], 0, 0, 0.0
    for seed in range(seeds):
        data = ito.SDE(drift, g, states).simulate(start, dt=dt, n_steps=steps, substeps=1000, seed=seed)
        if noise:
            data = data.add_noise(sd=noise * data.sd(), seed=seed)
        result = ito.discover(
            data, ito.Library.polynomials(degree), diffusion={quiet: "none"}, seed=1,
            measurement_noise="estimate" if noise else 0,
        )  # fmt: skip
        found = [
            (result.drift[quiet], rows[quiet]),
            (result.drift[other], rows[other]),
            (result.diffusion[other], gamma),
        ]
        for place, (equation, truth) in enumerate(found):
            chosen = {term for term, there in zip(equation.terms, equation.selected) if there}
            right[place] += chosen == set(truth)
            for term, (low, high), mean in zip(equation.terms, equation.interval(0.95), equation.mean):
                if term in truth and term in chosen:
                    hold, total = hold + (low <= truth[term] <= high), total + 1
                    worst = max(worst, abs(mean / truth[term] - 1.0))
    counts = " | ".join(f"{count} of {seeds}" for count in right)
    return f"| {name} | {100 * noise:.0f} % | {counts} | {hold} of {total} | {100 * worst:.1f} % |"


if __name__ == "__main__":
    main()
