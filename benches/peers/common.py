"""What every runner shares: reading a case, naming monomials, clock and memory, writing the answer. NumPy alone.

A runner is started as `python run_X.py METHOD case.npz answer.json` in the environment of its package. The answer has
`drift` and `diffusion` (of Gamma, no factor 1/2) by row, `{term: [coefficient, sd or null]}` of selected terms.
"""

import json
import resource
import sys
import time
from contextlib import contextmanager
from itertools import combinations_with_replacement

import numpy as np


class Case:
    """One recording: `paths` (P, N, q) of what was measured, `dt`, `order`, `degree` and names of the `states`."""

    def __init__(self, file):
        box = np.load(file)
        self.paths, self.dt = box["paths"], float(box["dt"])
        self.order, self.degree = int(box["order"]), int(box["degree"])
        self.states = [str(s) for s in box["states"]]
        self.rows = [str(s) for s in box["rows"]]
        self.noise = bool(box["noise"])
        self.truth = json.loads(str(box["truth"]))
        self.points = box["points"]

    @property
    def terms(self):
        return [monomial(e, self.states) for e in exponents(len(self.states), self.degree)]


def exponents(m, degree):
    """Exponents of all monomials of `m` states up to a total degree, by degree."""
    return [
        tuple(combo.count(i) for i in range(m))
        for d in range(degree + 1)
        for combo in combinations_with_replacement(range(m), d)
    ]


def monomial(powers, states):
    """`x1^2 x2` from (2, 1)."""
    parts = [s if p == 1 else f"{s}^{p}" for s, p in zip(states, powers) if p]
    return " ".join(parts) or "1"


class Watch:
    """CPU seconds (all threads; a busy machine does not change them) and the rise of the peak memory in megabytes."""

    def __enter__(self):
        self.before = _peak()
        self.start = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self.start
        self.megabytes = _peak() - self.before


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(methods):
    """Run the method named on the command line: a function of the case that returns (drift, diffusion, more)."""
    method, source, target = sys.argv[1:4]
    case = Case(source)
    with Watch() as watch:
        drift, diffusion, more = methods[method](case)
    answer = {
        "drift": drift,
        "diffusion": diffusion,
        "seconds": watch.seconds,
        "megabytes": watch.megabytes,
        **more,
    }
    with open(target, "w") as out:
        json.dump(answer, out)


@contextmanager
def quiet():
    """Without the warnings of other people's packages."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
