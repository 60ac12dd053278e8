"""A noisy displacement of an oscillator at every ordinary sampling rate: damping, coverage, noise level.

    python benches/accuracy/filter.py [--seeds 10] [--samples 20000] [--constants 25] [--damping 0.005 0.02 0.05]
        [--radians 0.05 0.1 0.2 0.35 0.5 0.7 1.0] [--noise 0 0.002 0.02 0.1] [--out table.txt]

A recording has that many samples, and lasts that many time constants of the damping at least.

`x'' = -x - 2 z x' + white noise` is simulated exactly, from its transition over one sample: nothing of the
estimator's own step is in the data. "estimate" is asked for everything, the noise level included. Beside it stands
stochastic subspace identification on the same recordings.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import warnings
from pathlib import Path

import itoscope as ito
import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[1] / "peers"))
from ssi import modes

Array = NDArray[np.float64]


def exact_oscillator(z: float, dt: float, n: int, rng: np.random.Generator) -> Array:
    """Displacements `(n,)` of `dx = v dt, dv = -(x + 2 z v) dt + dB`, stationary, by exact transitions."""
    from scipy.linalg import expm

    a, q = np.array([[0.0, 1.0], [-1.0, -2.0 * z]]), np.array([[0.0, 0.0], [0.0, 1.0]])
    block = expm(np.block([[-a, q], [np.zeros((2, 2)), a.T]]) * dt)
    phi = block[2:, 2:].T
    low = np.linalg.cholesky(phi @ block[:2, 2:])
    state = rng.standard_normal(2) * np.sqrt(1.0 / (4.0 * z))  # both variances are 1 / (4 z)
    kicks = rng.standard_normal((n, 2)) @ low.T
    out = np.empty(n)
    for k in range(n):
        out[k] = state[0]
        state = phi @ state + kicks[k]
    return out


def recording(z: float, radians: float, noise: float, n: int, seed: int) -> tuple[Array, float]:
    """A noisy displacement, and the level of its noise."""
    rng = np.random.default_rng([seed, round(1e6 * z), round(1e6 * radians), round(1e6 * noise)])
    x = exact_oscillator(z, radians, n, rng)
    level = noise * float(np.sqrt(1.0 / (4.0 * z)))
    return x + level * rng.standard_normal(n), level


def one(z: float, radians: float, noise: float, n: int, seed: int) -> dict:
    """Errors of one recording."""
    y, level = recording(z, radians, noise, n, seed)
    began = time.process_time()
    result = ito.discover(
        y,
        ito.Library.polynomials(1),
        dt=radians,
        order=2,
        measurement_noise="estimate",
        diffusion="constant",
        seed=seed,
    )
    seconds = time.process_time() - began
    drift, gamma = result.drift["v1"], result.diffusion["v1", "v1"]
    truth = {"x1": -1.0, "v1": -2.0 * z}
    covered, values = [], {}
    interval = drift.interval(0.95)
    for k, term in enumerate(drift.terms):
        if drift.selected[k]:
            covered.append(bool(interval[k][0] <= truth.get(term, 0.0) <= interval[k][1]))
            values[term] = (float(drift.mean[k]), float(drift.sd[k]))
    k = gamma.terms.index("1")
    low, high = gamma.interval(0.95)[k]
    covered.append(bool(low <= 1.0 <= high))
    told = result.diagnostics["measurement_noise"]["x1"]
    frequency, damping = next(iter(modes(y, radians)), (np.nan, np.nan))
    return {
        "case": (z, radians, noise, seed),
        "terms": set(values) == set(truth),
        "damping": -values.get("v1", (0.0, 0.0))[0] / 2.0,
        "frequency": float(np.sqrt(max(-values.get("x1", (0.0, 0.0))[0], 0.0))),
        "sd": values.get("v1", (0.0, np.nan))[1] / 2.0,
        "covered": covered,
        "gamma": float(gamma.mean[k]),
        "noise": float(told["sd"]),
        "noise_in": bool(told["low"] <= level * (1 + 1e-9) and level <= told["high"]),
        "level": level,
        "ssi": damping,
        "ssi_frequency": frequency,
        "seconds": seconds,
        "warnings": result.warnings,
    }


def line(z: float, radians: float, noise: float, found: list[dict]) -> str:
    """One row of the table."""
    damping = np.array([f["damping"] for f in found])
    mean, error = (
        damping.mean() / z,
        damping.std(ddof=1) / np.sqrt(len(found)) / z if len(found) > 1 else np.nan,
    )
    covered = [c for f in found for c in f["covered"]]
    ssi = np.array([f["ssi"] for f in found]) / z
    collapsed = sum(f["noise"] < 0.1 * f["level"] for f in found)
    return (
        f"{100 * z:5.1f} % {radians:6.2f} {100 * noise:6.1f} % {sum(f['terms'] for f in found):4d}/{len(found):<3d}"
        f" {mean:7.3f} +- {error:5.3f} {np.mean(covered):7.2f} {np.mean([f['gamma'] for f in found]):7.3f}"
        f" {sum(f['noise_in'] for f in found):4d}/{len(found):<3d} {collapsed:4d} {ssi.mean():8.3f} ({ssi.std():5.3f})"
        f" {np.mean([f['seconds'] for f in found]):6.1f}"
    )


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--constants", type=float, default=25.0)
    parser.add_argument("--damping", type=float, nargs="+", default=[0.005, 0.02, 0.05])
    parser.add_argument("--radians", type=float, nargs="+", default=[0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.002, 0.02, 0.1])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--raw", type=Path, help="every recording, as JSON")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    rows = [
        "damping    rad  noise     exact   damping / true  cover   Gamma  noise in  lost  subspace (sd)  CPU s"
    ]
    print(rows[0], flush=True)
    covered, lost, every = [], 0, []
    for z, radians, noise in itertools.product(arguments.damping, arguments.radians, arguments.noise):
        n = max(arguments.samples, round(arguments.constants / (z * radians)))
        found = [one(z, radians, noise, n, seed) for seed in range(1, arguments.seeds + 1)]
        every += found
        covered += [c for f in found for c in f["covered"]]
        lost += sum(f["noise"] < 0.1 * f["level"] for f in found)
        rows.append(line(z, radians, noise, found))
        print(rows[-1], flush=True)
    rows.append(
        f"95 % intervals hold the truth in {np.mean(covered):.3f} of {len(covered)}; noise lost in {lost}"
    )
    print(rows[-1])
    if arguments.out:
        arguments.out.write_text("\n".join(rows) + "\n")
    if arguments.raw:
        arguments.raw.write_text(json.dumps(every))


if __name__ == "__main__":
    main()
