"""Ten regressions on which single flips of one term at a time get stuck, or nearly so.

A prior that expects one term in 20 000 (`SHARP`) stands for a library of that size while all models of the few
columns can still be enumerated: to step from a term to its near-copy by single flips, a chain has to hold both for
a while, which that prior allows once in about 20 000 sweeps.
"""

import numpy as np
from itoscope import Prior
from regressions import moments_of

DEFAULT = Prior()
SHARP = Prior(a_p=1, b_p=20_000)

N = 500


def _scalar_library(x):
    """1, x..x^5, |x|, x|x|, sgn x."""
    powers = [x**p for p in range(6)]
    return np.stack([*powers, np.abs(x), x * np.abs(x), np.sign(x)], axis=1)


def _copies(rng, x, pairs, spread):
    """Replace column `b` by column `a` plus noise for each (a, b)."""
    for a, b in pairs:
        x[:, b] = x[:, a] + spread * rng.normal(size=len(x))
    return x


def hard_problems():
    """Name -> (moments, prior), the same every time."""
    problems = {}

    def add(name, x, signal, noise, prior):
        rng = np.random.default_rng(len(problems))
        problems[name] = (moments_of(x, signal + noise * rng.normal(size=len(x))), prior)

    rng = np.random.default_rng(7)
    x = _scalar_library(rng.uniform(-0.3, 0.3, N))
    add("x, x|x|, x^3 on a narrow range", x, x[:, 1] - 2 * x[:, 3], 0.15, DEFAULT)
    add("the same, wide awake", x, x[:, 7], 0.02, SHARP)
    x = _scalar_library(rng.uniform(0.4, 0.8, N))[:, :6]
    add("powers on a positive range", x, x[:, 1], 0.1, DEFAULT)
    x = _copies(rng, rng.normal(size=(N, 8)), [(0, 5)], 1e-4)
    add("a copy with noise 1e-4", x, x[:, 0], 1.0, SHARP)
    x = _copies(rng, rng.normal(size=(N, 10)), [(0, 5), (1, 6), (2, 7)], 1e-4)
    add("three copies with noise 1e-4", x, x[:, 0] - x[:, 1] + 0.5 * x[:, 2], 1.0, SHARP)
    x = rng.normal(size=(N, 8))
    x[:, 2] = x[:, 0] + x[:, 1] + 0.05 * rng.normal(size=N)
    add("two terms mimic a third", x, x[:, 0] + x[:, 1], 1.0, DEFAULT)
    x = rng.normal(size=(N, 9))
    x[:, 4] = x[:, 0] - x[:, 1] + 0.02 * rng.normal(size=N)
    x[:, 5] = x[:, 2] + x[:, 3] + 0.02 * rng.normal(size=N)
    add("two pairs mimic two terms", x, x[:, 0] - x[:, 1] + x[:, 2] + x[:, 3], 1.0, SHARP)
    x = _copies(rng, rng.normal(size=(400, 20)), [(k, 10 + k) for k in range(6)], 0.02)
    add("six of twenty, each with a copy", x, x[:, :6] @ [1, -1, 0.7, 0.5, -0.8, 0.6], 1.0, SHARP)
    x = 1 + 0.2 * rng.normal(size=(N, 2))
    cubic = np.stack([x[:, 0] ** a * x[:, 1] ** b for a in range(4) for b in range(4 - a)], axis=1)
    add("two states with an offset, to degree 3", cubic, x[:, 0] - x[:, 1], 0.1, DEFAULT)
    x = 0.97 * rng.normal(size=(N, 1)) + 0.25 * rng.normal(size=(N, 12))
    add("twelve columns with one common factor", x, x[:, :3].sum(axis=1), 2.0, DEFAULT)
    return problems
