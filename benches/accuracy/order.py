"""How often `classify_order` says the order of a motion: ringing, gaps, noise, ragged tracks.

    python benches/accuracy/order.py --seeds 10

Oscillators `dv = -(2 pi / P)^2 x - 2 z (2 pi / P) v` in units of one sample, P samples a period, and states that forget
at a rate r per sample, by the strong scheme of order 1.5 in twenty substeps.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from functools import cache

import itoscope as ito
import numpy as np

PERIODS, DAMPING = (8, 12, 20, 30), (0.02, 0.1, 0.4)
RATES = (0.02, 0.1, 0.5)


@cache
def position(period: float, damping: float, n: int, paths: int, seed: int) -> ito.Trajectories:
    """Positions of an oscillator."""
    w = 2 * math.pi / period
    sde = ito.SDE(["v", f"-{w * w}*x - {2 * damping * w}*v"], [["0"], [str(w)]], ["x", "v"])
    data = sde.simulate(
        [0.0, 0.0],
        dt=1.0,
        n_steps=n + 4 * int(period),
        n_paths=paths,
        substeps=20,
        scheme="taylor15",
        seed=seed,
    )
    return ito.Trajectories([x[4 * int(period) :, :1] for x in data.paths], dt=1.0)


@cache
def state(rate: float, n: int, paths: int, seed: int) -> ito.Trajectories:
    """States that forget at this rate."""
    sde = ito.SDE([f"-{rate}*x"], [["1"]], ["x"])
    skipped = int(4 / rate)
    data = sde.simulate(
        [0.0], dt=1.0, n_steps=n + skipped, n_paths=paths, substeps=20, scheme="taylor15", seed=seed
    )
    return ito.Trajectories([x[skipped:] for x in data.paths], dt=1.0)


def seen(data: ito.Trajectories, noise: float, gaps: float, ragged: bool, seed: int) -> ito.Trajectories:
    """Through a sensor with noise, with gaps of ten samples, as tracks of 15 to 80 samples about own centres."""
    rng = np.random.default_rng(seed + 99)
    spread, found = float(data.sd()[0]), []
    for path in data.paths:
        x = path + noise * spread * rng.normal(size=path.shape)
        if ragged:
            x = x[: rng.integers(15, 81)] + 3.0 * spread * rng.normal()
        for start in rng.integers(0, len(x), size=int(gaps * len(x) / 10)):
            x[start : start + 10] = np.nan
        found.append(x)
    return ito.Trajectories(found, dt=1.0)


def answers(
    kind: str, value: float, damping: float, noise: float, gaps: float, ragged: bool, seeds: int
) -> Counter:
    """Orders that are said, of so many recordings of 2000 samples, or of 60 tracks."""
    found: Counter = Counter()
    n, paths = (80, 60) if ragged else (2000, 1)
    for seed in range(seeds):
        data = position(value, damping, n, paths, seed) if kind == "ring" else state(value, n, paths, seed)
        found[ito.classify_order(seen(data, noise, gaps, ragged, seed)).order] += 1
    return found


def main() -> None:
    """The table: right, none and wrong answers of each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    print("| motion | noise | recording | right | cannot tell | wrong |\n|---|---|---|---|---|---|")
    motions = [("ring", p, z, 2) for p in (*PERIODS, 100) for z in DAMPING] + [
        ("ou", r, 0.0, 1) for r in RATES
    ]
    for words, gaps, ragged in (
        ("whole", 0.0, False),
        ("a fifth missing", 0.2, False),
        ("60 ragged tracks", 0.0, True),
    ):
        for noise in (0.0, 0.05, 0.2):
            for name, group in _groups(motions).items():
                total: Counter = Counter()
                for kind, value, damping, right in group:
                    for order, count in answers(kind, value, damping, noise, gaps, ragged, seeds).items():
                        total["none" if order is None else "right" if order == right else "wrong"] += count
                print(
                    f"| {name} | {noise} | {words} | {total['right']} | {total['none']} | {total['wrong']} |",
                    flush=True,
                )


def _groups(motions: list) -> dict[str, list]:
    found: dict[str, list] = {}
    for motion in motions:
        kind, value, _, _ = motion
        name = (
            f"{value:g} samples a period, three dampings" if kind == "ring" else f"forgets {value:g} a sample"
        )
        found.setdefault(name, []).append(motion)
    return found


if __name__ == "__main__":
    main()
