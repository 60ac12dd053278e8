"""Sweeps per second of itoscope beside a numba loop that maintains the same Schur complements, in one run.

    python benches/peers/sampler.py [--rounds 15]

Makes a virtual environment for numba under benches/peers/.venv-numba, then lets both run in turn, so that whatever
else the machine does meets both. Times are core seconds, the fewest of all rounds; ratios are medians of those of the
rounds. Both are timed with flips alone and with an exchange and a pair move in every sweep. Both report inclusion
probabilities, and those must agree.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np
from itoscope import Prior
from itoscope.backends import rust
from itoscope.backends.records import Sweeps
from itoscope.stats.quadratic import Quadratic

HERE = Path(__file__).parent
CASES = [(1000, 36, 3, 2.0), (10_000, 59, 3, 2.0), (5000, 200, 5, 1.5)]


def numba_python():
    """Return the interpreter of the environment with numba, made at first use."""
    directory = HERE / ".venv-numba"
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numba", "numpy"], check=True)
    return python


def moments(n, k, r):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, k))
    y = x[:, :r].sum(axis=1) + rng.normal(size=n)
    return Quadratic(x.T @ x, x.T @ y, float(y @ y), float(n))


def ours(data, n_sweeps, exchanges, seed):
    start = time.process_time()
    chains = rust.sample_chains(
        data,
        Prior(),
        Sweeps(1, n_burn=0, thin=n_sweeps, exchanges=exchanges),
        n_chains=1,
        seed=seed,
        progress=None,
    )
    return time.process_time() - start, chains.inclusion[0, 0]


def compare(n, k, r, wanted, rounds):
    data, n_sweeps = moments(n, k, r), 10_000 if k < 100 else 3_000
    kinds = [(name, moves) for moves in (0, 1) for name in ("numba", "itoscope")]
    seconds = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "moments.npz"
        np.savez(file, **vars(data))
        command = [numba_python(), HERE / "numba_sampler.py", file, str(n_sweeps)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
            for seed in range(rounds):
                pips = []
                for name, moves in kinds:
                    if name == "numba":
                        peer.stdin.write(f"{seed} {moves}\n")
                        peer.stdin.flush()
                        answer = json.loads(peer.stdout.readline())
                        spent, pip = answer["seconds"], np.array(answer["pip"])
                    else:
                        spent, pip = ours(data, n_sweeps, moves, seed)
                    seconds[name, moves].append(spent)
                    pips.append(pip)
                assert np.ptp(pips, axis=0).max() < 0.05, "the samplers disagree"
            peer.stdin.close()
    print(f"n = {n}, K = {k}, {r} true terms, {n_sweeps} sweeps")
    for (name, moves), spent in seconds.items():
        called = f"{name}, {'exchanges and pairs' if moves else 'flips'}"
        print(f"  {called:30s}{n_sweeps / min(spent):10.0f} sweeps per core-second", end="")
        print(f" {min(spent) / n_sweeps * 1e6:8.2f} us a sweep")
    for moves, of_numba in ((0, 0), (1, 1), (1, 0)):
        ratio = np.median(np.divide(seconds["numba", of_numba], seconds["itoscope", moves]))
        what = ("flips", "all moves")
        print(
            f"  ratio of numba's {what[of_numba]} to our {what[moves]}: {ratio:.2f} (aim: {wanted})",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="runs of each, in turn")
    rounds = parser.parse_args().rounds
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}")
    for case in CASES:
        compare(*case, rounds)
