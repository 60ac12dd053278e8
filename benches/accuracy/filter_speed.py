"""CPU time of noisy fits: chains of oscillators with more and more sensors, and many short records of one oscillator.

    python benches/accuracy/filter_speed.py [--chains 2 4 6 10] [--samples 20000] [--duffing 200]

A chain has d unit masses between springs of 100 and dampers of 0.5, each driven by white noise of its own; all
displacements are recorded at 100 Hz with 2 % noise. Of every acceleration all linear terms are candidates, of the
forcing the variances. Paths are simulated exactly. The exponent is that of d by least squares on the logarithms.
"""

from __future__ import annotations

import argparse
import time
import warnings

import itoscope as ito
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DT = 0.01


def chain(d: int, n: int, seed: int = 0) -> Array:
    """Noisy displacements `(n, d)` of a chain that is fixed at both ends."""
    from scipy.linalg import expm, solve_discrete_lyapunov

    links = 2.0 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1)
    a = np.block([[np.zeros((d, d)), np.eye(d)], [-100.0 * links, -0.5 * links]])
    q = np.diag([0.0] * d + [1.0] * d)
    block = expm(np.block([[-a, q], [np.zeros_like(a), a.T]]) * DT)
    phi = block[2 * d :, 2 * d :].T
    spread = phi @ block[: 2 * d, 2 * d :]
    rng = np.random.default_rng(seed)
    state = np.linalg.cholesky(solve_discrete_lyapunov(phi, spread)) @ rng.standard_normal(2 * d)
    kicks = rng.standard_normal((n, 2 * d)) @ np.linalg.cholesky(spread).T
    x = np.empty((n, d))
    for k in range(n):
        x[k] = state[:d]
        state = phi @ state + kicks[k]
    return x + 0.02 * x.std(axis=0) * rng.standard_normal(x.shape)


def timed_chain(d: int, n: int) -> float:
    """CPU seconds of the fit of a chain."""
    y = chain(d, n)
    began = time.process_time()
    ito.discover(
        y,
        ito.Library.polynomials(1),
        dt=DT,
        order=2,
        measurement_noise="estimate",
        diffusion="constant",
        seed=1,
    )
    return time.process_time() - began


def duffing(records: int) -> tuple[float, float]:
    """CPU and wall seconds of noisy records of 1000 samples of a Duffing-Van der Pol oscillator, 36 candidates."""
    system = ito.problems.duffing_van_der_pol()
    runs = system.simulate(n_paths=records, duration=1.0, dt=1e-3, substeps=10, seed=0, scheme="taylor15")
    rng = np.random.default_rng(1)
    x = [path[:, 0] for path in runs.positions().paths]
    level = 0.05 * np.concatenate(x).std()
    y = [one + level * rng.standard_normal(len(one)) for one in x]
    began, cpu = time.perf_counter(), time.process_time()
    ito.discover(y, ito.Library.paper(), dt=1e-3, order=2, measurement_noise="estimate", seed=1)
    return time.process_time() - cpu, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chains", type=int, nargs="*", default=[2, 4, 6, 10])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--duffing", type=int, default=0, metavar="RECORDS")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    seconds = []
    for d in args.chains:
        seconds.append(timed_chain(d, args.samples))
        print(f"{d:3d} channels: {seconds[-1]:7.2f} CPU s", flush=True)
    if len(args.chains) > 1:
        slope = np.polyfit(np.log(args.chains), np.log(seconds), 1)[0]
        print(f"CPU time grows as d^{slope:.2f}")
    if args.duffing:
        cpu, wall = duffing(args.duffing)
        print(f"{args.duffing} records of Duffing: {cpu:.1f} CPU s, {wall:.1f} s on the clock")


if __name__ == "__main__":
    main()
