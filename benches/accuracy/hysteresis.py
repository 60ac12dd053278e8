"""Bouc-Wen with an unseen x3 whose equation is known and whose three coefficients are not, over ten seeds.

    python benches/accuracy/hysteresis.py [--seeds 10] [--first 1] [--paths 20] [--known] [--start] [--duration 500]

Displacements of 1 s at 1 kHz with 5 % noise; the scale of x3, which nobody sees, is set by its pull, `-5000*x3`. With
`--start` the first sample of x3 is read, with the same noise; with `--known` the coefficients are given. The equation
is then run at three times the forcing; what counts are the standard deviations of velocity and displacement.
"""

from __future__ import annotations

import argparse
from typing import Any

import itoscope as ito
import numpy as np
from itoscope.paper.forecasting import foretold, true_motion
from itoscope.paper.studies import _read_once

TRUE = {"A1": 0.5, "A2": 0.5, "A3": 1.0}
LAW = "-A1*x3|x2||x3|^2 - A2*x2|x3|^3 + A3*x2"


def record(seed: int, paths: int, start: bool) -> ito.Trajectories:
    """What the sensors write down."""
    run: dict[str, Any] = {
        "duration": 1.0,
        "dt": 1e-3,
        "n_paths": paths,
        "substeps": 20,
        "scheme": "taylor15",
    }
    seen = ito.problems.bouc_wen().simulate(**run, seed=seed).select(["x1", "x3"] if start else ["x1"])
    noisy = seen.add_noise(0.05, seed=seed)
    return _read_once(noisy, ("x3",)) if start else noisy


def discovered(data: ito.Trajectories, known: bool, seed: int) -> ito.Discovery:
    """The equation, by the filter."""
    law = LAW
    for name, value in TRUE.items() if known else ():
        law = law.replace(name, repr(value))
    return ito.discover(
        data,
        ito.Library.expressions("x1", "x2"),
        states=["x1", "x2", "x3"],
        diffusion="constant",
        measurement_noise="estimate",
        known_drift={"x1": "x2", "x2": "-5000*x3 + ...", "x3": law},
        parameters=None if known else {"A1": 1.0, "A2": 1.0, "A3": 2.0},
        seed=seed,
    )


def main() -> None:
    """Parse the command line, run, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--paths", type=int, default=20)
    parser.add_argument("--duration", type=float, default=500.0)
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--start", action="store_true")
    options = parser.parse_args()
    ito.set_threads(1)
    true, x0 = true_motion(options.duration, 10, 1000)
    sd = true.velocity.mean(), true.displacement.mean()
    print(f"true: velocity {sd[0]:.4g}, displacement {sd[1]:.4g}")
    inside, near, held = 0, 0, []
    seeds = range(options.first, options.first + options.seeds)
    for seed in seeds:
        result = discovered(record(seed, options.paths, options.start), options.known, seed)
        own = []
        for name, found in result.parameters.items():
            low, high = found.interval(0.95)
            own.append(low <= TRUE[name] <= high)
            print(f"  {name} {found.mean:.4g} ({low:.4g} .. {high:.4g})", end="")
        seen = foretold(result.model(), x0, options.duration, 1, 2000 + seed)
        off = [np.inf, np.inf]
        if seen is not None:
            off = [float(seen.velocity.mean() / sd[0] - 1.0), float(seen.displacement.mean() / sd[1] - 1.0)]
        inside, near, held = inside + all(own), near + (max(map(abs, off)) < 0.05), held + own
        print(f"  velocity {off[0]:+.1%}, displacement {off[1]:+.1%}; {result.equations()[1]}", flush=True)
    if held:
        print(
            f"| all parameters within their intervals in {inside} of {len(seeds)}; each: {np.mean(held):.2f}"
        )
    print(f"| forecast within 5 % in {near} of {len(seeds)}")


if __name__ == "__main__":
    main()
