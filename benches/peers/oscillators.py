"""One noisy displacement of a linear oscillator: itoscope, subspace identification and StochasticForceInference.

    python benches/peers/oscillators.py [--seeds 5] [--samples 20000] [--damping 0.02] [--radians 0.1 0.35 1.0]
        [--noise 0 0.02 0.1] [--env target/peers]

The recordings are those of `benches/accuracy/filter.py`. The peers are told which terms there are; itoscope finds them
among 1, x and v. StochasticForceInference runs in an environment of its own, which `discovery.py` installs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import itoscope as ito
import numpy as np
from discovery import environment
from numpy.typing import NDArray

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "accuracy"))
from filter import one, recording  # noqa: E402

Array = NDArray[np.float64]


def theirs(python: Path, paths: Array, dt: float) -> dict[str, list[list[float]]]:
    """Stiffness, damping and Gamma by StochasticForceInference."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "recordings.npz", Path(folder) / "answer.json"
        np.savez(source, paths=paths, dt=dt)
        script = str(HERE / "run_sfi_oscillators.py")
        subprocess.run([str(python), script, str(source), str(target)], check=True)
        found: dict[str, list[list[float]]] = json.loads(target.read_text())
        return found


def cells(frequency: Array, damping: Array, gamma: Array | None, z: float) -> list[str]:
    """Error of the frequency, damping and Gamma over their true values, mean and spread."""

    def over(values: Array) -> str:
        return f"{np.mean(values):.2f} ({np.std(values):.2f})" if np.all(np.isfinite(values)) else "-"

    off = f"{100 * float(np.sqrt(np.mean((frequency - 1.0) ** 2))):.2f} %"
    return [off, over(damping / z), "-" if gamma is None else over(gamma)]


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--damping", type=float, nargs="+", default=[0.02])
    parser.add_argument("--radians", type=float, nargs="+", default=[0.1, 0.35, 1.0])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.02, 0.1])
    parser.add_argument("--env", type=Path, default=HERE.parents[1] / "target" / "peers")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    python = environment(arguments.env)
    print("| damping | rad a sample | noise | method | frequency | damping / true | Gamma |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for z, radians, noise in itertools.product(arguments.damping, arguments.radians, arguments.noise):
        seeds = range(1, arguments.seeds + 1)
        ours = [one(z, radians, noise, arguments.samples, seed) for seed in seeds]
        paths = np.stack([recording(z, radians, noise, arguments.samples, seed)[0] for seed in seeds])
        rows = {
            "itoscope": (*(np.array([f[key] for f in ours]) for key in ("frequency", "damping", "gamma")),),
            "subspace identification": (
                np.array([f["ssi_frequency"] for f in ours]), np.array([f["ssi"] for f in ours]), None
            ),
        }  # fmt: skip
        for name, found in theirs(python, paths, radians).items():
            stiffness, damping, gamma = np.array(found).T
            frequency = np.sqrt(np.maximum(stiffness, 0.0))
            rows[f"SFI, {name}"] = (frequency, damping / 2.0, gamma)
        for method, found in rows.items():
            start = f"| {100 * z:g} % | {radians:g} | {100 * noise:g} % | {method} | "
            print(start + " | ".join(cells(*found, z)) + " |", flush=True)


if __name__ == "__main__":
    main()
