"""Oscillators that are not linear, displacement only, 20 samples a period: terms, errors, coverage, warnings.

    python benches/accuracy/turning.py [--seeds 10] [--samples 6000] [--noise 0.02] [--case NAME ...]

Paths come from the strong Taylor 1.5 scheme in 50 steps a sample. Everything is unknown, the noise level included.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import itoscope as ito
import numpy as np


@dataclass(frozen=True)
class Case:
    """A row of the acceleration with its coefficients, the variance of the force, a step, the candidates."""

    truth: dict[str, float]
    gamma: float
    dt: float
    library: ito.Library


CUBIC = ito.Library.polynomials(3)
CASES = {
    "Duffing, weak": Case({"x1": -1.0, "v1": -0.1, "x1^3": -0.1}, 0.2, 0.3, CUBIC),
    "Duffing, strong": Case({"x1": -1.0, "v1": -0.1, "x1^3": -1.0}, 0.2, 0.22, CUBIC),
    "Van der Pol": Case({"x1": -1.0, "v1": 1.0, "x1^2 v1": -1.0}, 0.1, 0.33, CUBIC),
    "pendulum": Case({"sin(x1)": -1.0, "v1": -0.1}, 0.1, 0.32, CUBIC + ito.Library.expressions("sin(x1)")),
}


def recording(case: Case, n: int, noise: float, seed: int) -> tuple[np.ndarray, float]:
    """Noisy displacements, and the level of the noise."""
    drift = " + ".join(f"({value!r})*{term.replace(' ', '*')}" for term, value in case.truth.items())
    model = ito.SDE(["v1", drift], [["0"], [repr(case.gamma**0.5)]], ["x1", "v1"])
    path = model.simulate([0.5, 0.0], dt=case.dt, n_steps=n, substeps=50, seed=seed, scheme="taylor15")
    x = path.paths[0][:, 0]
    level = noise * x.std()
    return x + level * np.random.default_rng(seed).standard_normal(len(x)), float(level)


def one(case: Case, n: int, noise: float, seed: int) -> dict:
    """Errors of one recording."""
    y, level = recording(case, n, noise, seed)
    began = time.process_time()
    result = ito.discover(
        y, case.library, dt=case.dt, order=2, measurement_noise="estimate", diffusion="constant", seed=seed
    )
    seconds = time.process_time() - began
    drift, gamma = result.drift["v1"], result.diffusion["v1", "v1"]
    shown = {term: k for k, term in enumerate(drift.terms) if drift.selected[k]}
    bounds, held, errors = drift.interval(0.95), [], {}
    for term, k in shown.items():
        held.append(bool(bounds[k][0] <= case.truth.get(term, 0.0) <= bounds[k][1]))
        if term in case.truth:
            errors[term] = float(drift.mean[k]) / case.truth[term] - 1.0
    low, high = gamma.interval(0.95)[gamma.terms.index("1")]
    held.append(bool(low <= case.gamma <= high))
    errors["Gamma"] = float(gamma.mean[gamma.terms.index("1")]) / case.gamma - 1.0
    told = result.diagnostics["measurement_noise"]["x1"]
    return {
        "exact": set(shown) == set(case.truth),
        "held": held,
        "errors": errors,
        "noise": bool(told["low"] <= level <= told["high"]),
        "warned": any("biased" in text for text in result.warnings),
        "warnings": [text for text in result.warnings if "biased" not in text],
        "seconds": seconds,
    }


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--case", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    for name in arguments.case:
        found = [
            one(CASES[name], arguments.samples, arguments.noise, seed)
            for seed in range(1, arguments.seeds + 1)
        ]
        held = [h for f in found for h in f["held"]]
        terms = [*CASES[name].truth, "Gamma"]
        errors = {t: [f["errors"][t] for f in found if t in f["errors"]] for t in terms}
        words = ", ".join(
            f"{t} {100 * np.mean(e):+.1f} ({100 * np.std(e):.1f})" for t, e in errors.items() if e
        )
        print(
            f"{name:16} exact {sum(f['exact'] for f in found)}/{len(found)}, held {np.mean(held):.2f} of {len(held)}, "
            f"noise in {sum(f['noise'] for f in found)}, warned {sum(f['warned'] for f in found)}, "
            f"errors in %, mean (sd): {words}; {np.mean([f['seconds'] for f in found]):.1f} CPU s",
            flush=True,
        )
        for text in sorted({text[:150] for f in found for text in f["warnings"]}):
            print(f"    {text}")


if __name__ == "__main__":
    main()
