"""Bouc-Wen with an unseen x3 whose equation is known and whose three coefficients are not, over ten seeds.

    python benches/accuracy/hysteresis.py [--seeds 10] [--first 1] [--known] [--duration 500]

An isolator is pushed by a recorded force in steps for 10 s at 1 kHz, and shaken by white noise that nobody recorded;
the displacement alone is seen, with 1 % noise. The scale of x3, which nobody sees, is set by its pull, `-5000*x3`.
With `--known` its coefficients are given. The equation is then run for 500 s from a displaced start without the force;
what counts are the standard deviations of velocity and displacement, which creeps, beside those of the true system.
"""

from __future__ import annotations

import argparse

import itoscope as ito
import numpy as np
from itoscope.paper.forecasting import FORETOLD_AT, motion, true_motion

TRUE = {"A1": 0.5, "A2": 0.5, "A3": 1.0}
LAW = "-A1*x3|x2||x3|^2 - A2*x2|x3|^3 + A3*x2"
SAMPLES, HOLD, FORCE = 10_000, 250, 4000.0
"""Samples of a recording, those for which the force stays, and its largest value."""


def given(values: dict[str, float]) -> str:
    """The equation of x3 with numbers."""
    law = LAW
    for name, value in values.items():
        law = law.replace(name, repr(value))
    return law


def record(seed: int) -> ito.Trajectories:
    """Displacement and force."""
    rng = np.random.default_rng(seed)
    force = np.repeat(FORCE * rng.uniform(-1.0, 1.0, SAMPLES // HOLD), HOLD)
    drift = ["x2", "-5000*x1 - 20*x2 - 5000*x3 + u", given(TRUE)]
    sde = ito.SDE(drift, [["0"], [repr(FORETOLD_AT)], ["0"]], ["x1", "x2", "x3"], inputs=["u"])
    path = sde.simulate(
        [0.0, 0.0, 0.0],
        dt=1e-3,
        n_steps=SAMPLES - 1,
        inputs={"u": ito.Input(force, between="held")},
        substeps=20,
        scheme="taylor15",
        seed=seed,
    ).paths[0][:, 0]
    noisy = path + 0.01 * path.std() * rng.normal(size=SAMPLES)
    return ito.Trajectories(np.column_stack([noisy, force]), dt=1e-3, names=["x1", "u"])


def discovered(data: ito.Trajectories, known: bool, seed: int) -> ito.Discovery:
    """The equation, by the filter."""
    return ito.discover(
        data,
        ito.Library.expressions("x1", "x2"),
        states=["x1", "x2", "x3"],
        inputs={"u": "held"},
        diffusion="constant",
        measurement_noise="estimate",
        known_drift={"x1": "x2", "x2": "-5000*x3 + u + ...", "x3": given(TRUE) if known else LAW},
        parameters=None if known else {"A1": (0, 1.0, None), "A2": 1.0, "A3": (0, 2.0, None)},
        seed=seed,
    )


def main() -> None:
    """Parse the command line, run, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--duration", type=float, default=500.0)
    parser.add_argument("--known", action="store_true")
    options = parser.parse_args()
    ito.set_threads(1)
    true, x0 = true_motion(options.duration, 10, 1000)
    sd = true.velocity.mean(), true.displacement.mean()
    print(f"true: velocity {sd[0]:.4g}, displacement {sd[1]:.4g}")
    inside, near, held = 0, 0, []
    seeds = range(options.first, options.first + options.seeds)
    for seed in seeds:
        result = discovered(record(seed), options.known, seed)
        own = []
        for name, found in result.parameters.items():
            low, high = found.interval(0.95)
            own.append(low <= TRUE[name] <= high)
            print(f"  {name} {found.mean:.4g} ({low:.4g} .. {high:.4g})", end="")
        run = {"dt": 1e-3, "n_steps": round(1000 * options.duration), "substeps": 2, "scheme": "taylor15"}
        free = result.model().simulate(x0, inputs={"u": lambda t: 0.0 * t}, seed=2000 + seed, **run)
        seen = motion(free, ("x1", "x2"))
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
