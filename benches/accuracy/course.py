"""What a course changes where the terms are known: its log-likelihood, errors and intervals, with and without it.

    python benches/accuracy/course.py [--seeds 5] [--samples 3000] [--case NAME ...]

Oscillators of about 20 samples a period, seen by an accelerometer with an unknown zero and 5 % of noise, or by their
place with 2 %; paths in 50 steps a sample. A line each: the change of the log-likelihood of the fitted model by its
course, least, median and largest; then coefficients over their true values, mean and standard error, and how many
95 % intervals hold, about the filter's own law and along the course.
"""

from __future__ import annotations

import argparse
import contextlib
import time
import warnings
from dataclasses import replace
from unittest import mock

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.data.course import with_course

FELT = "itoscope.fit.filtered.course.FELT"
#: The acceleration, Gamma, the step, and whether it is the acceleration that is seen.
CASES: dict[str, tuple[dict[str, float], float, float, bool]] = {
    "linear, felt": ({"x1": -40.0, "v1": -0.8}, 3.0, 0.05, True),
    "Duffing, felt": ({"x1": -20.0, "v1": -0.8, "x1^3": -400.0}, 3.0, 0.05, True),
    "Duffing, weak, seen": ({"x1": -1.0, "v1": -0.1, "x1^3": -0.1}, 0.2, 0.3, False),
    "Duffing, strong, seen": ({"x1": -1.0, "v1": -0.1, "x1^3": -1.0}, 0.2, 0.22, False),
    "Van der Pol, seen": ({"x1": -1.0, "v1": 1.0, "x1^2 v1": -1.0}, 0.1, 0.33, False),
    "pendulum, seen": ({"sin(x1)": -1.0, "v1": -0.1}, 0.1, 0.32, False),
}


def fitted(name: str, n: int, seed: int) -> tuple[ito.Discovery, ito.Trajectories]:
    """The true terms, fitted to one recording."""
    truth, gamma, dt, felt = CASES[name]
    drift = " + ".join(f"({value})*{term.replace(' ', '*')}" for term, value in truth.items())
    sde = ito.SDE(["v1", drift], gamma=[["0", "0"], ["0", str(gamma)]], states=["x1", "v1"])
    path = sde.simulate([0.1, 0.0], dt=dt, n_steps=n, substeps=50, seed=seed).paths[0]
    rng, more = np.random.default_rng(seed), {}
    y = np.r_[np.nan, np.diff(path[:, 1]) / dt] if felt else path[:, 0]
    y = y + (0.05 if felt else 0.02) * np.nanstd(y) * rng.standard_normal(len(y))
    if felt:
        y, more = y + 3.0, {"offset": {"a": "estimate"}, "observed": {"a": ito.Acceleration("x1")}}
    else:
        more = {"observed": {"a": "x1"}}
    data = ito.Trajectories(y, dt=dt, names=["a"])
    result = ito.discover(
        data, ito.Library.expressions(*truth), order=2, include={"v1": list(truth)}, diffusion="constant",
        measurement_noise="estimate", seed=1, n_samples=100, n_burn=10, **more,
    )  # fmt: skip
    return result, data


def change(result: ito.Discovery, data: ito.Trajectories) -> float:
    """Of the log-likelihood of a fitted model by its course."""
    stages, seen = get_backend("rust"), result.observer
    space, paths, times = seen.space(), seen.columns(data), seen.times(data)
    course = with_course(stages, space, paths, times)
    plain = stages.filter_loglik(space, paths, times).sum()
    return float(stages.filter_loglik(replace(space, along=True), course, times).sum() - plain)


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--case", nargs="*", default=list(CASES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    for name in asked.case:
        truth, gamma, _, _ = CASES[name]
        changes: list[float] = []
        for way, felt in (("own law", np.inf), ("course", None)):
            ratios, inside, taken, spent = [], 0, 0, time.process_time()
            for seed in range(asked.seeds):
                kept = contextlib.nullcontext() if felt is None else mock.patch(FELT, felt)
                with kept:
                    result, data = fitted(name, asked.samples, seed)
                taken += result.observer.along
                if felt is not None:
                    changes.append(change(result, data))
                row, found = result.drift["v1"], []
                pairs = [(row, term, value) for term, value in truth.items()]
                for equation, term, value in [*pairs, (result.diffusion["v1", "v1"], "1", gamma)]:
                    k = equation.terms.index(term)
                    low, high = equation.interval(0.95)[k]
                    inside += low <= value <= high
                    found.append(equation.mean[k] / value)
                ratios.append(found)
            spent = (time.process_time() - spent) / asked.seeds
            mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1) / np.sqrt(asked.seeds)
            cells = ", ".join(f"{t} {a:.2f} ± {b:.2f}" for t, a, b in zip([*truth, "Gamma"], mean, error))
            felt_by = f"{min(changes):+.2f} .. {np.median(changes):+.2f} .. {max(changes):+.2f}"
            print(
                f"| {name} | {way} | {felt_by} | {taken} of {asked.seeds} | {cells} | {inside} of {np.size(ratios)} | "
                f"{spent:.1f} CPU s |",
                flush=True,
            )


if __name__ == "__main__":
    main()
