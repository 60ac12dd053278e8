"""Is dry friction found in displacements with 1 % noise as often as the recordings let anybody find it?

    python benches/accuracy/friction.py [--seeds 20] [--first 1]

Twenty recordings of 3000 samples of `dv = (-4 x - 0.6 sgn(v)) dt + dB`, and as a control of
`dv = (-4 x - 0.7 v) dt + dB`, displacement alone, with six candidates. Beside `discover` two enumerations of all 64
sets of terms: of the same displacements, the likelihood of every set climbed to its top; and of the motion itself,
displacements and velocities without noise, which nobody has.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple
from unittest import mock

import itoscope as ito
import numpy as np
from itoscope.fit.filtered import family

TERMS = ("x", "v", "x^3", "v^3", "sgn(v)", "v|v|")
CASES = {"dry friction": {"x": -4.0, "sgn(v)": -0.6}, "viscous": {"x": -4.0, "v": -0.7}}
EVERY = {"ENOUGH": 2.0, "MOST": 10_000, "WORK": 10**12, "NEGLIGIBLE": 1e6}  # every set is climbed
DT, N, NOISE = 0.02, 3000, 0.01


class Found(NamedTuple):
    """Whether the true terms, and they alone, are the answer: shown, of all likelihoods, of the motion itself."""

    shown: bool
    likelihood: bool
    motion: bool


def recorded(force: dict[str, float], seed: int) -> tuple[ito.Trajectories, ito.Trajectories]:
    """The motion from steps forty times finer, and its displacements with noise."""
    drift = " + ".join(f"({value!r})*{term}" for term, value in force.items())
    model = ito.SDE(["v", drift], gamma=[["0", "0"], ["0", "1"]], states=["x", "v"])
    whole = model.simulate(
        [0.5, 0.0], dt=DT, n_steps=N + 500, scheme="euler-maruyama", substeps=40, seed=seed
    )
    motion = whole.paths[0][501:]
    noise = np.random.default_rng([seed, 1]).standard_normal(N)
    seen = motion[:, 0] + NOISE * motion[:, 0].std() * noise
    return ito.Trajectories(motion, dt=DT, names=["x", "v"]), ito.Trajectories(seen, dt=DT, names=["x"])


def fitted(seen: ito.Trajectories, seed: int) -> ito.Discovery:
    """The discovery from displacements."""
    return ito.discover(
        seen, ito.Library.expressions(*TERMS), states=["x", "v"], known_drift={"x": "v"},
        measurement_noise="estimate", diffusion="constant", seed=seed,
    )  # fmt: skip


def one(task: tuple[str, int]) -> Found:
    """What is found of a recording."""
    name, seed = task
    warnings.simplefilter("ignore")
    truth = set(CASES[name])
    motion, seen = recorded(CASES[name], seed)
    equation = fitted(seen, seed).drift["v"]
    with mock.patch.multiple(family, **EVERY):
        models = fitted(seen, seed).diagnostics["models"]
    best = max((model for model in models if model["climbed"]), key=lambda model: model["log_evidence"])
    exact = ito.moments(motion, ito.Library.expressions(*TERMS), row="v").sample(
        sampler="exact", n_samples=4, seed=1
    )
    return Found(
        shown={t for t, s in zip(equation.terms, equation.selected) if s} == truth,
        likelihood={term.partition(": ")[2] for term in best["drift"]} == truth,
        motion=set(exact.leading(1)[0][0]) == truth,
    )


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    ito.set_threads(1)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    with ProcessPoolExecutor(arguments.workers) as pool:
        for name in CASES:
            found = list(pool.map(one, [(name, seed) for seed in seeds]))
            shown, likelihood, motion = (sum(column) for column in zip(*found))
            print(
                f"{name}: the true terms alone are shown in {shown} of {len(found)}, have the largest evidence of all "
                f"likelihoods in {likelihood}, of the motion without noise in {motion}; "
                f"agree with the likelihoods in {sum(f.shown == f.likelihood for f in found)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
