"""Studies of the constants of posteriors of plain regressions, and of what is made of a result."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import itoscope as ito
import numpy as np
from constant_cases import linear, rayleigh
from constant_studies import Patch, row
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _moments(x: np.ndarray, theta: Sequence[float], seed: int, noise: float = 1.0) -> ito.Moments:
    y = x @ np.asarray(theta) + noise * np.random.default_rng(seed).normal(size=len(x))
    return ito.Moments(x.T @ x, x.T @ y, float(y @ y), float(len(x)), [f"c{k}" for k in range(x.shape[1])])


def close(gap: float) -> ito.Moments:
    """Three columns, of which two differ by `gap` of their size."""
    x = np.random.default_rng(1).normal(size=(2000, 3))
    x[:, 2] = x[:, 1] + gap * x[:, 2]
    return _moments(x, [1.0, 1.0, 0.0], 2)


def dependent(gap: float) -> ito.Moments:
    """Four columns, no two alike, the last the sum of two others but for `gap` of its size."""
    x = np.random.default_rng(1).normal(size=(2000, 4))
    x[:, 3] = x[:, 1] + x[:, 2] + gap * x[:, 3]
    return _moments(x, [1.0, 1.0, 0.0, 0.0], 2)


def _alike(seed: int) -> ito.Moments:
    """Twelve columns that resemble each other, of which two act: the chains have to choose between many pairs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(150, 1)) + 0.25 * rng.normal(size=(150, 12))
    return _moments(x, [1.0, 0.7] + [0.0] * 10, seed)


GAPS = tuple(10.0**-n for n in range(3, 9))


def collinear(make: Callable[[float], ito.Moments], words: str) -> Callable[[Sequence[Any], Patch], str]:
    """For columns ever closer: is their likeness told, and by which words?"""

    def run(values: Sequence[Any], patch: Patch) -> str:
        told = []
        for value in values:
            with patch(value):
                found = [make(gap).sample(seed=1, n_samples=300, n_burn=100) for gap in GAPS]
            seen = [
                bool(e.aliases) if words == "alias" else any(words in w for w in e.warnings) for e in found
            ]
            told.append("".join("x" if s else "-" for s in seen))
        return f"of columns that differ by 1e-3, 1e-4, ... 1e-8 of their size, told (x) are {row(told)}"

    return run


def monte_carlo(values: Sequence[Any], patch: Patch) -> str:
    """Error of a probability where many models are alike, over six regressions, and the time."""
    errors, seconds = [], []
    problems = [_alike(seed) for seed in range(6)]
    exact = [m.sample(sampler="exact", seed=1).pip for m in problems]
    for value in values:
        began = time.process_time()
        with patch(value):
            found = [m.sample(seed=1, n_samples="auto") for m in problems]
        errors.append(max(float(np.abs(f.pip - e).max()) for f, e in zip(found, exact)))
        seconds.append(round(time.process_time() - began, 2))
    return f"largest error of an inclusion probability {row(errors)}; {row(seconds)} s"


def quadrature(values: Sequence[Any], patch: Patch) -> str:
    """How far inclusion probabilities are from those of the value chosen."""
    problem = _regression_of_four()
    own = problem.sample(sampler="exact", seed=1, backend="reference").pip
    moved = []
    for value in values:
        with patch(value):
            pip = problem.sample(sampler="exact", seed=1, backend="reference").pip
        moved.append(float(f"{np.abs(pip - own).max():.1e}"))
    return f"an inclusion probability moves by {row(moved)}"


def averaging(values: Sequence[Any], patch: Patch) -> str:
    """How far averaged coefficients are from those of all 4096 models, in standard deviations over models and draws."""
    moved = []
    for value in values:
        worst = 0.0
        for seed in range(6):
            found = _alike(seed).sample(sampler="exact", seed=1)
            draws = found.samples.reshape(-1, len(found.terms)) * found.included.reshape(-1, len(found.terms))
            with patch(4096):
                all_models = found.averaged
            with patch(value):
                off = np.abs(found.averaged - all_models) / draws.std(axis=0)
            worst = max(worst, float(off.max()))
        moved.append(float(f"{worst:.2g}"))
    return f"largest distance from the average over all 4096 models {row(moved)} standard deviations"


def _regression_of_four() -> ito.Moments:
    x = np.random.default_rng(1).normal(size=(60, 4))
    return _moments(x, [1.0, 0.3, 0.0, 0.0], 2)


def disagreement(values: Sequence[Any], patch: Patch) -> str:
    """How often chains are said to disagree: where they were long enough, and where they were not."""
    told = []
    for value in values:
        with patch(value):
            counts = [
                sum(
                    any(
                        "disagree" in w
                        for w in _alike(seed).sample(seed=1, n_samples=n, n_burn=n // 10).warnings
                    )
                    for seed in range(12)
                )
                for n in (40_000, 40)
            ]
        told.append(f"{counts[0]} and {counts[1]}")
    return f"chains are said to disagree in {row(told)} of 12 regressions with 40 000 and with 40 sweeps"


def rounded(values: Sequence[Any], patch: Patch) -> str:
    """Moments rounded to ever fewer digits: which are still taken for those of data?"""
    digits, took = (4, 5, 6, 7, 8, 12), []
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 5))
    x[:, 4] = x[:, 3] + 1e-4 * x[:, 4]
    y = x @ [1.0, 0.0, 2.0, 0.0, 0.0]

    def as_written(a: Any, n: int) -> np.ndarray:
        return np.array([float(f"{v:.{n - 1}e}") for v in np.ravel(a)]).reshape(np.shape(a))

    for value in values:
        taken = ""
        with patch(value):
            for n in digits:
                try:
                    ito.Moments(
                        as_written(x.T @ x, n), as_written(x.T @ y, n), float(as_written(y @ y, n)), 500.0
                    )
                    taken += "x"
                except ito.errors.DataError:
                    taken += "-"
        took.append(taken)
    return f"of moments written with {', '.join(map(str, digits))} digits, taken (x) are {row(took)}"


def settling(values: Sequence[Any], patch: Patch) -> str:
    """Mean square of the innovations kept, one if the filter has found the state, in stretches of 100 samples."""
    case = rayleigh(1, 4000)
    observer, found = case.discover().observer, []
    for value in values:
        with patch(value):
            z = observer.innovations(case.data, 100, 40).z
        found.append(float(np.nanmean(z**2)))
    return f"mean square of the innovations {row(found)}"


def indefinite(values: Sequence[Any], patch: Patch) -> str:
    """Singular covariances of one noise on two states, exact and a little wrong: which count as indefinite?"""
    stages = get_backend("reference")
    path = np.random.default_rng(1).normal(size=(5000, 2))
    program = stages.compile(["x1^2", "x1 * x2", "x2^2"], ["x1", "x2"])
    # the square of (x1 + x2, x1 - x2), whose first entry is smaller by a share
    entries = np.array([[1.0, 2.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])
    told = []
    for value in values:
        shares = []
        with patch(value):
            for wrong in (0.0, 1e-7, 1e-4):
                gamma = Fitted(program, entries * np.array([[1.0 - wrong], [1.0], [1.0]]))
                found = stages.survey([path], gamma, [(0, 0), (0, 1), (1, 1)], np.zeros(2))
                shares.append(f"{found.indefinite / found.n:.3g}")
        told.append(" and ".join(shares))
    return f"share of samples that counts where the covariance is right, 1e-7 and 1e-4 too small {row(told)}"


def stretches(
    sizes: Callable[[int], tuple[int, int]],
) -> Callable[[Sequence[Any], Patch], str]:
    """First autocorrelation, and time, where innovations are looked at in stretches of `(samples, number)`."""

    def run(values: Sequence[Any], _patch: Patch) -> str:
        case = rayleigh(1, 20_000)
        observer, found, seconds = case.discover().observer, [], []
        for value in values:
            began = time.process_time()
            z = observer.innovations(case.data, *sizes(int(value))).z[:, 0]
            found.append(float(f"{np.nanmean(z[1:] * z[:-1]):.2g}"))
            seconds.append(round(time.process_time() - began, 2))
        return f"first autocorrelation of the innovations looked at {row(found)}; {row(seconds)} s"

    return run


def ensembles(values: Sequence[Any], patch: Patch) -> str:
    """Standard deviation over seeds of the 90 % band of a forecast of 1000 paths, in its own width."""
    result, found = linear(1, 1000).discover(), []
    for value in values:
        with patch(value):
            ends = [
                result.forecast(x0=[0.5, 0.5], duration=2.0, n_paths=1000, seed=seed).bands[0.9][1][-1]
                for seed in range(8)
            ]
        found.append(float(np.max(np.std(ends, axis=0))))
    return f"standard deviation of the upper end of the 90 % band {row(found)}"


def substeps(values: Sequence[Any], _patch: Patch) -> str:
    """Bias of the stationary variance of a system whose noise only Euler-Maruyama takes."""
    sde = ito.SDE(["-2 x1", "-x2 + x1"], [["0.5", "0.2 x2"], ["0.3 x1", "0.4"]], ["x1", "x2"])

    def variance(n: int) -> float:
        settings = {
            "dt": 0.1,
            "n_steps": 20,
            "n_paths": 40_000,
            "scheme": "euler-maruyama",
            "substeps": n,
            "seed": 1,
        }
        return float(np.var([path[-1, 0] for path in sde.simulate([0.0, 0.0], **settings).paths]))

    fine = variance(200)
    return (
        f"variance over that of 200 substeps, less one {row([variance(int(v)) / fine - 1 for v in values])}"
    )


def linear_maps(values: Sequence[Any], patch: Patch) -> str:
    """Sensors that bend by ever less: which are refused?"""
    bends, told = (1e-3, 1e-6, 1e-9, 1e-12, 1e-15), []
    case = linear(1, 200)
    for value in values:
        refused = ""
        with patch(value):
            for bend in bends:
                observed = ["x1", f"x1 + x2 + {bend} x2^3"]
                try:
                    ito.discover(
                        case.data, ito.Library.polynomials(1), observed=observed, measurement_noise=0.1, seed=1,
                        n_samples=100, n_burn=50, n_chains=1, states=["x1", "x2"], diffusion="constant",
                    )  # fmt: skip
                    refused += "-"
                except ito.errors.ArgumentError:
                    refused += "x"
        told.append(refused)
    return f"sensors with a cubic part of 1e-3, 1e-6, ... 1e-15, refused (x) {row(told)}"
