"""A building measured in full at 200 Hz: the trapezoid, and the filter that `scheme="auto"` puts in its place.

    python benches/accuracy/coarse.py [--seeds 10] [--samples 20000]

Two storeys, displacements and velocities recorded, simulated exactly from the transition over one sample.
"""

from __future__ import annotations

import argparse
import warnings

import itoscope as ito
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DT = 0.005
TRUTH = {
    "v1": {"x1": -6000.0, "x2": 2000.0, "v1": -4.0, "v2": 2.0},
    "v2": {"x1": 2000.0, "x2": -2000.0, "v1": 2.0, "v2": -2.0},
}


def building(n: int, seed: int) -> ito.Trajectories:
    """Displacements and velocities of two storeys under white forces of variance 100, `n` samples."""
    from scipy.linalg import expm, solve_discrete_lyapunov

    states = ["x1", "x2", "v1", "v2"]
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1.0
    for row, terms in TRUTH.items():
        for term, value in terms.items():
            a[states.index(row), states.index(term)] = value
    q = np.diag([0.0, 0.0, 100.0, 100.0])
    block = expm(np.block([[-a, q], [np.zeros_like(a), a.T]]) * DT)
    phi = block[4:, 4:].T
    spread = phi @ block[:4, 4:]
    rng = np.random.default_rng(seed)
    state = np.linalg.cholesky(solve_discrete_lyapunov(phi, spread)) @ rng.standard_normal(4)
    kicks = rng.standard_normal((n, 4)) @ np.linalg.cholesky(spread).T
    x = np.empty((n, 4))
    for k in range(n):
        x[k] = state
        state = phi @ state + kicks[k]
    return ito.Trajectories(x, dt=DT, names=states)


def one(scheme: str, n: int, seed: int) -> tuple[bool, list[bool], float, str]:
    """Whether the terms are right, which intervals hold, the first stiffness, and what answered."""
    result = ito.discover(
        building(n, seed), ito.Library.polynomials(1), known_drift={"x1": "v1", "x2": "v2"}, scheme=scheme, seed=seed
    )  # fmt: skip
    exact, held = True, []
    for row, truth in TRUTH.items():
        equation = result.drift[row]
        shown = {t for t, inside in zip(equation.terms, equation.selected) if inside}
        exact &= shown == set(truth)
        bounds = dict(zip(equation.terms, equation.interval(0.95)))
        held += [bool(bounds[t][0] <= truth.get(t, 0.0) <= bounds[t][1]) for t in shown]
        gamma = result.diffusion[row, row]
        low, high = gamma.interval(0.95)[gamma.terms.index("1")]
        held.append(bool(low <= 100.0 <= high))
    stiffness = -result.drift["v1"].mean[result.drift["v1"].terms.index("x1")]
    return exact, held, float(stiffness), result.settings["scheme"]


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    for scheme in ("trapezoid", "auto"):
        found = [one(scheme, arguments.samples, seed) for seed in range(arguments.seeds)]
        held = [h for _, hits, _, _ in found for h in hits]
        print(
            f"{scheme:10} {sum(exact for exact, *_ in found)} of {len(found)} exact, {np.mean(held):.3f} of {len(held)}"
            f" hold, stiffness {np.mean([s for _, _, s, _ in found]):.0f}, answered by {found[0][3]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
