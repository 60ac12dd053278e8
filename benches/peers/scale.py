"""Regression sums beside NumPy with its BLAS, whole discoveries, streams and merged moments, in one run on one core.

    OPENBLAS_NUM_THREADS=1 python benches/peers/scale.py [--samples 1000000] [--discover 1e5 1e6] [--stream 1e7]
        [--peers numba pysindy sfi] [--beside 1e5 3e5 1e6] [--limit 600] [--memory 12]
        [--env target/scale]

Each discovery runs in a process of its own; its memory is what that takes beyond a discovery of a thousand samples.

Two states, the paper's library (K = 36). NumPy evaluates the same terms and makes the products with `@`: one for Euler,
and for the trapezoid instrument with regressor, instrument with instrument, regressor with regressor; on the whole
recording, as one writes it, and on pieces that stay in the cache (the best of three lengths is shown). All are timed in
turns; the median of their ratios is what counts on a machine that others share. The peers of `--peers` run in an
environment of their own, which is made at first use: a numba tile of the same sums in turn with ours, whole calls of
PySINDy and StochasticForceInference on recordings of the lengths of `--beside`, each with a discovery of the same
recording before it, with `--memory` gigabytes at most, and ended after `--limit` seconds; of what did not end the parts
are shown that did.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import multiprocessing
import operator
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.backends.records import Target

if TYPE_CHECKING:
    from collections.abc import Callable

PIECES = (1024, 4096, 16_384)
PEERS = {"numba": "numba", "pysindy": "pysindy==2.1.0", "sfi": "StochasticForceInference==2.0.4"}
RUNNER = Path(__file__).with_name("run_scale.py")
TRUTH = ["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"]
SETTINGS: dict[str, Any] = {"dt": 0.01, "substeps": 2, "scheme": "euler-maruyama"}


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


def timed(run: Callable[[], Any]) -> Callable[[], float]:
    """CPU seconds of a run."""

    def seconds() -> float:
        began = time.process_time()
        run()
        return time.process_time() - began

    return seconds


def in_turns(
    ours: Callable[[], float], others: dict[str, list[Callable[[], float]]], rounds: int
) -> tuple[float, dict[str, tuple[float, float]]]:
    """Median seconds of ours; of each of the others, the best of several ways, and the median of its ratio to ours."""
    seconds: list[tuple[float, dict[str, float]]] = []
    for _ in range(rounds):
        seconds.append((ours(), {name: min(run() for run in runs) for name, runs in others.items()}))
    return statistics.median(own for own, _ in seconds), {
        name: (
            statistics.median(one[name] for _, one in seconds),
            statistics.median(one[name] / own for own, one in seconds),
        )
        for name in others
    }


def interpreter(folder: Path, peers: list[str]) -> Path:
    """The Python of the environment of the peers."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *(PEERS[name] for name in peers)], check=True)
    return python


class Tile:
    """Sums by a numba tile in a process of its own."""

    def __init__(self, python: Path, x: np.ndarray, dt: float, path: str) -> None:
        np.save(path, x)
        self.process = subprocess.Popen(
            [python, RUNNER.with_name("numba_sums.py"), path, repr(dt)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        expected = float(np.triu(by_numpy(x[:5001], dt, False, 1024, 36)).sum())
        assert abs(float(self._line()) - expected) < 1e-9 * abs(expected), "other sums"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def __call__(self, scheme: str) -> float:
        """CPU seconds of one run."""
        assert self.process.stdin is not None
        self.process.stdin.write(scheme + "\n")
        self.process.stdin.flush()
        return float(self._line())


def machine() -> str:
    """The processor's name, how many there are, and what else they do."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    named = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    name = named[0] if named else platform.processor() or platform.machine()
    wide = "AVX-512" if "avx512f" in text else "AVX2" if "avx2" in text else "no AVX2"
    return f"{name} ({wide}), {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--discover", nargs="*", default=["1e5", "1e6"], help="lengths of whole discoveries")
    parser.add_argument("--stream", nargs="*", default=["1e7"], help="lengths of recordings read in blocks")
    parser.add_argument("--peers", nargs="*", default=[], choices=list(PEERS))
    parser.add_argument("--beside", nargs="*", default=["1e5", "1e6"], help="lengths for the peers")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a peer is ended")
    parser.add_argument("--memory", default="12", help="gigabytes that a peer may take")
    parser.add_argument("--env", type=Path, default=RUNNER.parents[2] / "target" / "scale")
    arguments = parser.parse_args()
    ito.set_threads(1)
    python = interpreter(arguments.env, arguments.peers) if arguments.peers else Path(sys.executable)
    print(machine())
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
    print("| sums | by | 1e6 samples a core-second | itoscope is faster by |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        tile = Tile(python, x, dt, f"{folder}/x.npy") if "numba" in arguments.peers else None
        for scheme in ("euler", "trapezoid"):

            def ours(scheme: str = scheme) -> Any:
                return stages.regression_sums([x], [dt], program, Target((1, 1)), scheme=scheme, weights=None)

            def numpy(piece: int, scheme: str = scheme) -> Callable[[], float]:
                return timed(lambda: by_numpy(x, dt, scheme == "trapezoid", piece, k))

            others = {
                "NumPy, pieces in the cache": [numpy(piece) for piece in PIECES],
                "NumPy, the whole at once": [numpy(n)],
            }
            if tile is not None:
                others["numba, tiles"] = [functools.partial(tile, scheme)]
            own, found = in_turns(timed(ours), others, arguments.rounds)
            print(f"| {scheme} | itoscope | {n / own / 1e6:.1f} | |")
            for name, (seconds, ratio) in found.items():
                print(f"| {scheme} | {name} | {n / seconds / 1e6:.1f} | {ratio:.2f} |", flush=True)
    two_threads(stages, x, dt, program)
    merged(x, dt)
    for kind, lengths in (("memory", arguments.discover), ("blocks", arguments.stream)):
        for length in (int(float(text)) for text in lengths):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                cpu, more, held = pool.apply(whole, (kind, length))
            print(
                f"discover, {length:.0e} samples in {kind}, all five equations: {cpu:.2f} CPU s, {more:.0f} MB more, "
                f"{held:.0f} MB resident in all",
                flush=True,
            )
    for name in arguments.peers:
        if name != "numba":
            for length in (int(float(text)) for text in arguments.beside):
                beside(name, python, length, arguments.limit, arguments.memory)


def beside(name: str, python: Path, length: int, limit: float, memory: str) -> None:
    """A whole call of another package beside a discovery of the same recording."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        own, _, _ = pool.apply(whole, ("memory", length))
    with tempfile.TemporaryDirectory() as folder:
        data = ito.SDE(*TRUTH).simulate([0.5, 0.0], n_steps=length, seed=1, **SETTINGS)
        np.save(f"{folder}/x.npy", data.paths[0])
        command = [python, RUNNER, name, f"{folder}/x.npy", "0.01", memory]
        with open(f"{folder}/told", "w+") as told:
            try:
                code = subprocess.run(command, stdout=told, check=False, timeout=limit).returncode
                ended = "" if code == 0 else f"; ended with code {code}"
            except subprocess.TimeoutExpired:
                ended = f"; ended after {limit:.0f} s"
            told.seek(0)
            parts = [json.loads(line) for line in told]
    print(f"{PEERS[name]}, {length:.0e} samples; itoscope {own:.2f} CPU s{ended}")
    for part, seconds, more in parts:
        print(
            f"  {part}: {seconds:.2f} CPU s, {seconds / own:.0f} times as long, {more:.0f} MB more",
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
    """Most megabytes that this process held so far; the system's own count begins with those of its parent."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def whole(kind: str, length: int) -> tuple[float, float, float]:
    """CPU seconds of a discovery, the least of three in memory, megabytes beyond the recording and a short one; all."""
    ito.set_threads(1)
    truth = ito.SDE(*TRUTH)
    short = truth.simulate([0.5, 0.0], n_steps=1000, seed=1, **SETTINGS)
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
                    piece = truth.simulate(x0, n_steps=n, seed=seed, **SETTINGS).paths[0]
                    handle.write(piece[:n].tobytes())
                    x0 = piece[n].tolist()
            data: Any = ito.stream(path, dt=0.01, names=["x", "y"])
        else:
            data = truth.simulate([0.5, 0.0], n_steps=length, seed=1, **SETTINGS)
        before, spent = peak(), []
        for _ in range(3 if kind == "memory" else 1):
            began = time.process_time()
            ito.discover(data, ito.Library.paper(), seed=1)
            spent.append(time.process_time() - began)
    return min(spent), peak() - before, peak()


if __name__ == "__main__":
    main()
