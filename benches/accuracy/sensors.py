"""Sensors as they are beside the same recordings taken at face value: `python benches/accuracy/sensors.py --seeds 10`.

A Brownian particle in a trap, filmed at full exposure, its truth by exact steps of a hundredth of a frame.
"""

from __future__ import annotations

import argparse

import itoscope as ito
import numpy as np

FINE = 100
RATE, GAMMA = 1.0, 2.0


def filmed(relaxations: float, localisation: float, frames: int, seed: int) -> np.ndarray:
    """Average of the particle over each frame, with noise in shares of its spread."""
    rng = np.random.default_rng(seed)
    step = relaxations / RATE / FINE
    decay, spread = np.exp(-RATE * step), np.sqrt(GAMMA / (2 * RATE))
    kicks = spread * np.sqrt(1.0 - decay**2) * rng.standard_normal(frames * FINE)
    x = np.empty(frames * FINE + 1)
    x[0] = spread * rng.standard_normal()
    for n, kick in enumerate(kicks):
        x[n + 1] = decay * x[n] + kick
    average = ((x[1:] + x[:-1]) / 2.0).reshape(frames, FINE).mean(axis=1)
    return average + localisation * spread * rng.standard_normal(frames)


def line(relaxations: float, localisation: float, frames: int, seeds: int, observed: object) -> str:
    """Rate and Gamma over their true values, mean and its standard error, and how many intervals hold them."""
    ratios, inside, right = [], 0, 0
    for seed in range(seeds):
        y = filmed(relaxations, localisation, frames, seed)
        result = ito.discover(
            ito.Trajectories(y, dt=relaxations / RATE, names=["bead"]),
            ito.Library.polynomials(1),
            observed={"bead": observed},
            measurement_noise="estimate" if localisation else 0.0,
            diffusion="constant",
            seed=1,
        )
        drift, gamma = result.drift["x1"], result.diffusion["x1", "x1"]
        right += list(drift.selected) == [False, True]
        ratios.append((-drift.mean[1] / RATE, gamma.mean[0] / GAMMA))
        for equation, k, true in ((drift, 1, -RATE), (gamma, 0, GAMMA)):
            low, high = equation.interval(0.95)[k]
            inside += low <= true <= high
    mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1) / np.sqrt(seeds)
    return (
        f"{right} of {seeds} | {mean[0]:.2f} ± {error[0]:.2f} | {mean[1]:.2f} ± {error[1]:.2f} | "
        f"{inside} of {2 * seeds}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--relaxations", type=float, nargs="+", default=[0.2, 0.5, 1.0])
    parser.add_argument("--localisation", type=float, nargs="+", default=[0.0, 0.1, 0.3])
    asked = parser.parse_args()
    ito.set_threads(1)
    for relaxations in asked.relaxations:
        for localisation in asked.localisation:
            for name, observed in (("average", ito.Average("x1")), ("naive", "x1")):
                found = line(relaxations, localisation, asked.frames, asked.seeds, observed)
                print(f"| {relaxations} | {100 * localisation:.0f} % | {name} | {found} |", flush=True)


if __name__ == "__main__":
    main()
