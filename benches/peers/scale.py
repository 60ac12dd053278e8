"""Regression sums beside NumPy with its BLAS, and whole discoveries of long recordings, in one run on one core.

    OPENBLAS_NUM_THREADS=1 python benches/peers/scale.py [--samples 1000000] [--discover 1e5 1e6]

Two states, the paper's library (K = 36). NumPy evaluates the same terms on pieces of the recording that stay in the
cache (the best of three lengths is shown) and makes the products with `@`: one for Euler, and for the trapezoid
instrument with regressor, instrument with instrument, regressor with regressor. Both are timed in turns; the median of
their ratios is what counts on a machine that others share.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.backends.records import Target

if TYPE_CHECKING:
    from collections.abc import Callable

PIECES = (1024, 4096, 16_384)


def terms(x: np.ndarray, degree: int, out: np.ndarray) -> None:
    """The paper's library of two states, monomials by products of earlier ones, row by row of `out` `(K, n)`."""
    a, b = np.ascontiguousarray(x[:, 0]), np.ascontiguousarray(x[:, 1])
    out[0] = 1.0
    row, first = 1, 0
    for order in range(1, degree + 1):
        width = order
        for k in range(width):
            np.multiply(out[first + k], a, out=out[row + k])
        np.multiply(out[first + width - 1], b, out=out[row + width])
        first, row = row, row + width + 1
    sign = (np.sign(a), np.sign(b))
    size = (np.abs(a), np.abs(b))
    for extra in (*sign, *size, a * size[0], a * size[1], b * size[0], b * size[1]):
        if row < len(out):
            out[row] = extra
            row += 1


def by_numpy(x: np.ndarray, dt: float, trapezoid: bool, piece: int, k: int) -> np.ndarray:
    """The same sums, piece by piece."""
    omega, cross, inner = np.zeros((k, k)), np.zeros((k, k)), np.zeros((k, k))
    c, d = np.zeros(k), np.zeros(k)
    room = np.empty((k, piece + 1))
    for start in range(0, len(x) - 1, piece):
        part = x[start : start + piece + 1]
        u = room[:, : len(part)]
        terms(part, 6, u)
        y = np.diff(part[:, 1]) / dt
        left = u[:, :-1]
        omega += left @ left.T
        c += left @ y
        if trapezoid:
            mid = 0.5 * (left + u[:, 1:])
            cross += left @ mid.T
            inner += mid @ mid.T
            d += mid @ y
    return omega


def in_turns(
    ours: Callable[[], Any], others: list[Callable[[], Any]], rounds: int
) -> tuple[float, float, float]:
    """Median CPU seconds of ours and of the best of the others, and the median ratio."""
    seconds: list[tuple[float, float]] = []
    for _ in range(rounds):
        spent = []
        for run in (ours, *others):
            began = time.process_time()
            run()
            spent.append(time.process_time() - began)
        seconds.append((spent[0], min(spent[1:])))
    return (
        statistics.median(a for a, _ in seconds),
        statistics.median(b for _, b in seconds),
        statistics.median(b / a for a, b in seconds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--discover", nargs="*", default=["1e5", "1e6"], help="lengths of whole discoveries")
    arguments = parser.parse_args()
    ito.set_threads(1)
    print(f"{platform.processor() or platform.machine()}, load {os.getloadavg()[0]:.1f}")
    n, dt = arguments.samples, 1e-3
    rng = np.random.default_rng(1)
    x = np.empty((n, 2))
    steps = 0.4 * rng.standard_normal((n, 2))
    x[0] = 0.0
    for i in range(1, n):  # the same as the benches of the core
        x[i] = 0.9 * x[i - 1] + steps[i]
    stages = get_backend()
    names = ito.Library.paper().names(["x1", "x2"])
    program = stages.compile(names, ["x1", "x2"])
    k = len(names)
    print(f"K = {k}, {n} samples\n")
    print("| sums | itoscope, 1e6 samples a core-second | NumPy | ratio |\n| --- | --- | --- | --- |")
    for scheme in ("euler", "trapezoid"):

        def ours(scheme: str = scheme) -> Any:
            return stages.regression_sums([x], [dt], program, Target((1, 1)), scheme=scheme, weights=None)

        others = [
            lambda piece=piece, scheme=scheme: by_numpy(x, dt, scheme == "trapezoid", piece, k)
            for piece in PIECES
        ]
        a, b, ratio = in_turns(ours, others, arguments.rounds)
        print(f"| {scheme} | {n / a / 1e6:.1f} | {n / b / 1e6:.1f} | {ratio:.2f} |", flush=True)
    for length in (int(float(text)) for text in arguments.discover):
        truth = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
        paths = max(1, length // 100_000)
        data = truth.simulate([[0.5, 0.0]] * paths, dt=0.01, n_steps=length // paths, substeps=5, seed=1)
        spent = []
        for _ in range(3):
            began = time.process_time()
            ito.discover(data, ito.Library.paper(), seed=1)
            spent.append(time.process_time() - began)
        print(
            f"discover, {length:.0e} samples, all five equations: {statistics.median(spent):.2f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
