"""Where a noise level is found to be zero: is it the recording that says so, or the estimator?

    python benches/accuracy/noise_at_zero.py [--seeds 10] [--samples 20000] [--damping 0.005 0.02 0.05]
        [--radians 0.35 0.5 0.7 1.0] [--noise 0.002]

The recordings are those of `filter.py`. Their exact likelihood is that of a Gaussian process: with the poles of one
step, `w_n = y_n - a_1 y_(n-1) - a_2 y_(n-2)` has covariances that vanish beyond two lags, so that the covariance of the
first two samples and all `w` is a band, and its Cholesky factor costs three numbers a sample. No filter and no step of
an estimator is in it. It is maximised over stiffness, damping and forcing with the noise at zero, at its true value,
and free.
"""

from __future__ import annotations

import argparse
import itertools
import warnings

import itoscope as ito
import numpy as np
from filter import recording
from numpy.typing import NDArray
from scipy.linalg import cholesky_banded, expm, solve_continuous_lyapunov
from scipy.linalg.lapack import dtbtrs
from scipy.optimize import minimize

Array = NDArray[np.float64]
LOST = 0.1
"""Share of the true level under which the level found counts as zero."""


def exact_loglik(
    y: Array, dt: float, stiffness: float, damping: float, force: float, variance: float
) -> float:
    """Log-likelihood of a displacement with white sensor noise of this variance, stationary, exact."""
    a, q = np.array([[0.0, 1.0], [-stiffness, -damping]]), np.diag([0.0, force])
    block = expm(np.block([[-a, q], [np.zeros((2, 2)), a.T]]) * dt)
    phi = block[2:, 2:].T
    kick = phi @ block[:2, 2:]
    first = solve_continuous_lyapunov(a, -q)
    a1, a2 = float(np.trace(phi)), -float(np.linalg.det(phi))
    now, before = (
        np.array([1.0, 0.0]),
        phi[0] - a1 * np.array([1.0, 0.0]),
    )  # w_n = now.k_n + before.k_(n-1) + noise
    n = len(y)
    band = np.zeros((3, n))  # lower form: band[d, i] is the covariance of i + d and i
    band[0] = now @ kick @ now + before @ kick @ before + variance * (1.0 + a1**2 + a2**2)
    band[1] = now @ kick @ before + variance * (-a1 + a1 * a2)
    band[2] = -variance * a2
    band[0, :2] = first[0, 0] + variance
    band[1, 0] = (phi @ first)[0, 0]
    band[1, 1] = now @ kick @ before - variance * a1
    w = np.concatenate([y[:2], y[2:] - a1 * y[1:-1] - a2 * y[:-2]])
    factor = cholesky_banded(band, lower=True)
    white, _ = dtbtrs(factor, w[:, None], uplo="L")
    return float(-0.5 * np.sum(white**2) - np.sum(np.log(factor[0])) - 0.5 * n * np.log(2.0 * np.pi))


def maximum(y: Array, dt: float, z: float, variance: float | None, level: float) -> tuple[float, float]:
    """Height of the exact likelihood's maximum and the noise variance there; one of None is free, from `level^2`."""
    sizes = np.array([1e-3, 1e-3, 1e-2, 1.0])
    held = variance is not None

    def lost(u: Array) -> float:
        stiffness, damping = 1.0 + sizes[0] * u[0], 2.0 * z + sizes[1] * u[1]
        noise = variance if held else level**2 * max(u[3], 0.0)
        if stiffness <= 0.0 or damping <= 0.0:
            return np.inf
        return -exact_loglik(y, dt, stiffness, damping, float(np.exp(sizes[2] * u[2])), float(noise))

    start = np.zeros(3) if held else np.array([0.0, 0.0, 0.0, 1.0])
    bounds = [(None, None)] * 3 + ([] if held else [(0.0, None)])
    found = minimize(lost, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-6})
    return -float(found.fun), float(variance if held else level**2 * found.x[3])


def one(z: float, radians: float, noise: float, n: int, seed: int) -> dict:
    """Heights at zero, at the truth and at the top of the exact likelihood, and what `discover` says."""
    y, level = recording(z, radians, noise, n, seed)
    zero, _ = maximum(y, radians, z, 0.0, level)
    true, _ = maximum(y, radians, z, level**2, level)
    top, variance = maximum(y, radians, z, None, level)
    result = ito.discover(
        y,
        ito.Library.polynomials(1),
        dt=radians,
        order=2,
        measurement_noise="estimate",
        diffusion="constant",
        seed=seed,
    )
    told = result.diagnostics["measurement_noise"]["x1"]
    return {
        "exact zero": zero >= top - 1e-3 or variance < (LOST * level) ** 2,
        "ours zero": told["sd"] < LOST * level,
        "fall": zero - true,
        "gain": max(top, zero) - zero,
        "exact": float(np.sqrt(variance)) / level,
        "ours": float(told["sd"]) / level,
        "below": told["high"] >= level,
        "held": told["low"] <= level <= told["high"],
        "bound": told["high"] / level,
        "said": any("cannot be told from zero" in text for text in result.warnings),
    }


def main() -> None:
    """Runs the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--constants", type=float, default=25.0)
    parser.add_argument("--damping", type=float, nargs="+", default=[0.005, 0.02, 0.05])
    parser.add_argument("--radians", type=float, nargs="+", default=[0.35, 0.5, 0.7, 1.0])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.002])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    ito.set_threads(1)
    every = []
    for z, radians, noise in itertools.product(arguments.damping, arguments.radians, arguments.noise):
        n = max(arguments.samples, round(arguments.constants / (z * radians)))
        found = [one(z, radians, noise, n, seed) for seed in range(1, arguments.seeds + 1)]
        every += found
        both = sum(f["exact zero"] == f["ours zero"] for f in found)
        print(
            f"{100 * z:5.1f} % {radians:5.2f} rad  zero: exact {sum(f['exact zero'] for f in found)}, ours "
            f"{sum(f['ours zero'] for f in found)}, agree in {both} of {len(found)}; intervals that hold "
            f"{sum(f['held'] for f in found)}",
            flush=True,
        )
    exact, ours = ([f for f in every if f[f"{who} zero"]] for who in ("exact", "ours"))
    print(
        f"of {len(every)} recordings the exact likelihood is highest at zero in {len(exact)}, ours in {len(ours)}, "
        f"{sum(f['exact zero'] for f in ours)} of which are among them"
    )
    for who, found in (("exact", exact), ("ours", ours)):
        if not found:
            continue
        falls, bounds = [f["fall"] for f in found], [f["bound"] for f in found]
        print(
            f"{who} zero: the exact likelihood falls to the true noise by {np.mean(falls):.2f} on average, "
            f"{min(falls):.2f} to {max(falls):.2f}; our bound holds the true level in "
            f"{sum(f['below'] for f in found)}, it is {np.median(bounds):.1f} of it in the middle; "
            f"{sum(f['said'] for f in found)} are told"
        )


if __name__ == "__main__":
    main()
