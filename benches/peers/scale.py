"""Regression sums beside NumPy with its BLAS, whole discoveries, streams and merged moments, in one run on one core.

    OPENBLAS_NUM_THREADS=1 python benches/peers/scale.py [--samples 1000000] [--discover 1e5 1e6] [--stream 1e7]

Each discovery runs in a process of its own; its memory is what that takes beyond a discovery of a thousand samples.

Two states, the paper's library (K = 36). NumPy evaluates the same terms on pieces of the recording that stay in the
cache (the best of three lengths is shown) and makes the products with `@`: one for Euler, and for the trapezoid
instrument with regressor, instrument with instrument, regressor with regressor. Both are timed in turns; the median of
their ratios is what counts on a machine that others share.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import multiprocessing
import operator
import os
import platform
import resource
import statistics
import tempfile
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
    parser.add_argument("--stream", nargs="*", default=["1e7"], help="lengths of recordings read in blocks")
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
    two_threads(stages, x, dt, program)
    merged(x, dt)
    for kind, lengths in (("memory", arguments.discover), ("blocks", arguments.stream)):
        for length in (int(float(text)) for text in lengths):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                cpu, more = pool.apply(whole, (kind, length))
            print(
                f"discover, {length:.0e} samples in {kind}, all five equations: {cpu:.2f} CPU s, {more:.0f} MB",
                flush=True,
            )


def two_threads(stages: Any, x: np.ndarray, dt: float, program: Any) -> None:
    """How much faster two threads are than one."""
    seconds = []
    for threads in (1, 2, 1, 2, 1, 2):
        ito.set_threads(threads)
        began = time.perf_counter()
        stages.regression_sums([x], [dt], program, Target((1, 1)), scheme="trapezoid", weights=None)
        seconds.append(time.perf_counter() - began)
    ito.set_threads(1)
    ratio = statistics.median(a / b for a, b in zip(seconds[::2], seconds[1::2]))
    print(f"\ntwo threads: {ratio:.2f} times one, trapezoid")


def merged(x: np.ndarray, dt: float) -> None:
    """Whether parts of a recording add to the same bits in other orders, and what one addition takes."""
    cuts = np.linspace(0, min(len(x), 200_000) - 1, 33).astype(int)
    parts = [
        ito.moments(np.ascontiguousarray(x[a : b + 1]), ito.Library.paper(), row="x1", dt=dt)
        for a, b in itertools.pairwise(cuts)
    ]
    rng = np.random.default_rng(1)
    orders = [[parts[k] for k in rng.permutation(len(parts))] for _ in range(4)]
    began = time.process_time()
    sums = [functools.reduce(operator.add, order) for order in orders]
    each = (time.process_time() - began) / (len(orders) * (len(parts) - 1))
    same = all(np.array_equal(sums[0].gram, one.gram) for one in sums)
    print(f"32 moments in 4 orders: {'the same bits' if same else 'OTHER BITS'}, {1e3 * each:.1f} ms each")


def peak() -> float:
    """Most megabytes that this process held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def whole(kind: str, length: int) -> tuple[float, float]:
    """CPU seconds of a discovery, the least of three in memory, and megabytes beyond the recording and a short one."""
    ito.set_threads(1)
    truth = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
    settings = {"dt": 0.01, "substeps": 2, "scheme": "euler-maruyama"}
    short = truth.simulate([0.5, 0.0], n_steps=1000, seed=1, **settings)
    ito.discover(short, ito.Library.paper(), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        if kind == "blocks":
            path = os.path.join(folder, "long.npy")
            with open(path, "wb") as handle:
                header = {"descr": "<f8", "fortran_order": False, "shape": (length, 2)}
                np.lib.format.write_array_header_1_0(handle, header)
                x0 = [0.5, 0.0]
                for seed, start in enumerate(range(0, length, 500_000)):
                    n = min(500_000, length - start)
                    piece = truth.simulate(x0, n_steps=n, seed=seed, **settings).paths[0]
                    handle.write(piece[:n].tobytes())
                    x0 = piece[n].tolist()
            data: Any = ito.stream(path, dt=0.01, names=["x", "y"])
        else:
            data = truth.simulate([0.5, 0.0], n_steps=length, seed=1, **settings)
        before, spent = peak(), []
        for _ in range(3 if kind == "memory" else 1):
            began = time.process_time()
            ito.discover(data, ito.Library.paper(), seed=1)
            spent.append(time.process_time() - began)
    return min(spent), peak() - before


if __name__ == "__main__":
    main()
