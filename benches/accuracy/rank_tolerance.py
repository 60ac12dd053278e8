"""Which directions of a Gram matrix are information and which are rounding: the study behind the one rank tolerance.

    python benches/accuracy/rank_tolerance.py [--quick]

Three tables. The first two show the error of a fitted function, relative to its root mean square, for every tolerance:
smaller is better, and 1 is as bad as fitting nothing. `smallest` is the smallest eigenvalue of the Gram matrix of unit
diagonal, as a share of the largest.

1. Polynomials of recordings that move about an offset, whose monomials are nearly dependent. The truth is the same fit
   with monomials about the offset, which are not. By `project` (trapezoid, instruments) and by `Quadratic.solve`.
2. A column and its copy with noise of a given size. In half of the rows of the table the target hangs on their
   difference, so that leaving the direction out loses it; in the others it does not, so that keeping it can only harm.
3. How far two backends differ in Gram matrices that the filter sums over a recording: what rounding leaves of them.
"""

from __future__ import annotations

import argparse
from functools import partial
from unittest import mock

import itoscope as ito
import numpy as np
from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace, Target
from itoscope.backends.reference import moments
from itoscope.stats import quadratic
from itoscope.stats.quadratic import Quadratic

REFERENCE = get_backend("reference")
TOLERANCES = 10.0 ** -np.arange(8, 17)


def at(tolerance):
    """The tolerance in force where it is read."""
    return mock.patch.object(quadratic, "RANK_TOLERANCE", tolerance), mock.patch.object(
        moments, "RANK_TOLERANCE", tolerance
    )


def regression(rows, y):
    return Quadratic(rows.T @ rows, rows.T @ y, float(y @ y), float(len(y)))


def errors(fitted, truth):
    """Error of `fitted()` for every tolerance."""
    found = []
    for tolerance in TOLERANCES:
        first, second = at(tolerance)
        with first, second:
            found.append(float(np.sqrt(np.mean((fitted() - truth) ** 2) / np.mean(truth**2))))
    return found


def smallest(gram):
    """Smallest eigenvalue of a Gram matrix of unit diagonal, as a share of the largest."""
    size = np.sqrt(np.diag(gram))
    values = np.linalg.eigvalsh(gram / np.outer(size, size))
    return values[0] / values[-1]


def line(name, share, found):
    print(f"{name:34}{share:10.1e}  " + " ".join(f"{error:8.1e}" for error in found))


def head(title):
    print(f"\n{title}\n{'':34}{'smallest':>10}  " + " ".join(f"{tolerance:8.0e}" for tolerance in TOLERANCES))


def values_of(x, theta):
    """`sum_k theta_k x^k` in extended precision: large terms cancel."""
    wide = x.astype(np.longdouble)
    return np.asarray(sum(c * wide**k for k, c in enumerate(theta.astype(np.longdouble))), dtype=float)


def sums_of(x, library):
    """The program of a library and its regression sums on one path."""
    bound = library.bind(["x1"])
    program = REFERENCE.compile(bound.expressions, bound.inputs)
    return program, REFERENCE.regression_sums([x], [0.01], program, Target((0, 0)))


def projected(x, sums):
    return values_of(x, REFERENCE.project(sums).solve().theta)


def solved(x, q):
    return values_of(x, q.solve().theta)


def offsets(n_steps):
    """Double wells about an offset, with noise, fitted by plain monomials."""
    head("1. polynomials about an offset: degree, offset, how it was solved")
    for offset in (0.0, 3.0, 10.0, 30.0, 100.0):
        well = f"(x1 - {offset:g})"
        sde = ito.SDE([f"{well} - {well}^3"], [["0.5"]], ["x1"])
        path = sde.simulate([offset], dt=0.01, n_steps=n_steps, seed=1).paths[0]
        x = path[:, 0]
        for degree in (3, 5):
            centred, best = sums_of(path, ito.Library.polynomials(degree, origin=offset))
            truth = centred.evaluate(path) @ REFERENCE.project(best).solve().theta
            sums = sums_of(path, ito.Library.polynomials(degree))[1]
            name = f"{degree}  {offset:5g}"
            line(f"{name}  project", smallest(sums.omega), errors(partial(projected, x, sums), truth))
            rows = np.stack([x**k for k in range(degree + 1)], axis=1)
            q = regression(rows, truth)
            line(f"{name}  solve", smallest(q.gram), errors(partial(solved, x, q), truth))


def copied(u, added, q):
    """`a u + b (u + added)`, which would cancel in double precision."""
    a, b = q.solve().theta.astype(np.longdouble)
    return np.asarray((a + b) * u + b * added, dtype=float)


def copies(n):
    """A column and its noisy copy."""
    head("2. a column and its copy: size of the noise, what the target hangs on")
    rng = np.random.default_rng(0)
    for size in 10.0 ** -np.arange(4, 13):
        u, e = rng.normal(size=(2, n))
        copy = u + size * e
        for name, truth in (("column", u), ("difference", u + (copy - u) / size)):
            q = regression(np.stack([u, copy], axis=1), truth + 1e-3 * rng.normal(size=n))
            line(f"{size:.0e}  {name}", smallest(q.gram), errors(partial(copied, u, copy - u, q), truth))


def rounding(n_steps):
    """Gram matrices of the filter by two backends."""
    print("\n3. the filter's Gram matrices of unit diagonal by two backends: largest difference of an entry")
    for offset in (0.0, 10.0):
        well = f"(x1 - {offset:g})"
        sde = ito.SDE([f"{well} - {well}^3"], [["0.5"]], ["x1"])
        data = sde.simulate([offset], dt=0.01, n_steps=n_steps, seed=1).add_noise(sd=0.05, seed=2)
        for degree in (3, 5):
            bound = ito.Library.polynomials(degree).bind(["x1"])
            columns = [(0, k) for k in range(degree + 1)]
            grams = []
            for name in ("rust", "reference"):
                backend = get_backend(name)
                gamma = np.zeros((1, degree + 1))
                gamma[0, 0] = 0.25
                model = StateSpace(
                    program=backend.compile(bound.expressions, bound.inputs), drift=np.zeros_like(gamma),
                    gamma=gamma, pairs=((0, 0),), observation=np.eye(1), noise=np.array([0.0025]),
                    mean0=np.array([offset]), cov0=0.25 * np.eye(1), floor=np.array([1e-3]), max_step=0.02,
                )  # fmt: skip
                paths = [np.ascontiguousarray(data.paths[0])]
                stages = (backend.filter_drift_moments, backend.filter_noise_moments)
                grams.append([stage(model, paths, [0.01], columns)[0].correlation() for stage in stages])
            for kind, one, other in zip(("drift", "noise"), *grams):
                print(f"degree {degree}, offset {offset:3g}, {kind}: {np.abs(one - other).max():.1e}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter recordings")
    quick = parser.parse_args().quick
    offsets(2_000 if quick else 20_000)
    copies(1_000 if quick else 10_000)
    rounding(300 if quick else 1_500)
