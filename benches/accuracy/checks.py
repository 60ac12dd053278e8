"""What the checks see: power on recordings that are wrong on slow scales, false alarms of fits of the right model.

    python benches/accuracy/checks.py              # tables, 5 seeds a wrong system, 60 clean fits
    python benches/accuracy/checks.py --seeds 10 --clean 200
    python benches/accuracy/checks.py --noise 0.05 --seeds 10 --clean 200
    python benches/accuracy/checks.py --cost

20 000 samples at dt 0.01, simulated in steps a tenth of that; a cubic library unless said. With `--noise` the sensor
has this share of the spread of the motion, and the fit estimates it.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any
from unittest.mock import patch

import itoscope as ito
import numpy as np

DT, N, FINE = 0.01, 20_000, 10
Rates = Callable[[float, float], float]


def _one(x: float, t: float) -> float:
    return 1.0


def path(
    rng: np.random.Generator, drift: Rates, noise: Rates = _one, n: int = N, x0: float = 0.0
) -> np.ndarray:
    """A path of one state `(n, 1)`, made in `FINE` steps a sample; rates are functions of state and time."""
    h = DT / FINE
    x, out, w = x0, np.empty((n, 1)), (math.sqrt(h) * rng.normal(size=n * FINE)).tolist()
    for k in range(n):
        out[k] = x
        for j in range(k * FINE, (k + 1) * FINE):
            x += drift(x, j * h) * h + noise(x, j * h) * w[j]
    return out


def paths(
    rng: np.random.Generator, values: Sequence[float], drift: Callable[[float], Rates], n: int
) -> list[np.ndarray]:
    """A path for each value of a parameter."""
    return [path(rng, drift(value), n=n) for value in values]


def hidden(rng: np.random.Generator, strength: float = 2.0, memory: float = 2.0) -> list[np.ndarray]:
    """`dx = (-x + f) dt + dB`, `f` of standard deviation `strength` and this correlation time."""
    pushes = strength * math.sqrt(2 * DT / memory) * rng.normal(size=N)
    force = np.zeros(N)
    for k in range(1, N):
        force[k] = force[k - 1] * (1 - DT / memory) + pushes[k]
    return [path(rng, lambda x, t: -x + float(force[int(t / DT + 1e-6)]))]


def oscillator(rng: np.random.Generator, n: int = N) -> list[np.ndarray]:
    """`dv = (-4 x - v / 2) dt + dB` with position and velocity, by a strong scheme of order 1.5 in fine steps.

    Euler steps of a quarter of `DT` break the given row `dx = v dt` by so much that a noisy recording shows it.
    """
    sde = ito.SDE(["x2", "-4 x1 - x2/2"], [["0"], ["1"]], ["x1", "x2"])
    seed = int(rng.integers(2**31))
    made = sde.simulate([0.0, 0.0], dt=DT, n_steps=n - 1, scheme="taylor15", substeps=10, seed=seed)
    return [made.paths[0]]


def late(t: float) -> bool:
    """Whether this is the second half."""
    return t > DT * N / 2


System = tuple[str, Callable[[np.random.Generator], list[np.ndarray]], dict[str, Any]]

WRONG: tuple[System, ...] = (
    ("force 3 cos t", lambda r: [path(r, lambda x, t: -x + 3 * math.cos(t))], {}),
    ("trend, 4 over the recording", lambda r: [path(r, lambda x, t: -x + t / 50)], {}),
    ("mean -1 to 1", lambda r: [path(r, lambda x, t: -x + (1 if late(t) else -1))], {}),
    ("stiffness 1 to 3", lambda r: [path(r, lambda x, t: -(3 if late(t) else 1) * x)], {}),
    ("noise 1 to 1.6", lambda r: [path(r, lambda x, t: -x, lambda x, t: 1.6 if late(t) else 1.0)], {}),
    ("hidden force, correlation time 2", hidden, {}),
    (
        "Gamma 0.5 + x^2 as a constant",
        lambda r: [path(r, lambda x, t: -x, lambda x, t: math.sqrt(0.5 + x * x))],
        {"diffusion": "constant"},
    ),
    (
        "20 paths, stiffness 0.5 to 8",
        lambda r: paths(r, np.geomspace(0.5, 8, 20).tolist(), lambda k: lambda x, t: -k * x, 1000),
        {},
    ),
    (
        "10 paths, centres -10 to 8",
        lambda r: [path(r, lambda x, t, c=c: c - x, n=2000, x0=c) for c in range(-10, 10, 2)],
        {},
    ),
    ("double well by a line", lambda r: [path(r, lambda x, t: x - x**3)], {"degree": 1}),
    ("double well by a constant", lambda r: [path(r, lambda x, t: x - x**3)], {"degree": 0}),
    (
        "-x + 3 sin 3x by a cubic",
        lambda r: [path(r, lambda x, t: -x + 3 * math.sin(3 * x))],
        {},
    ),
)

CLEAN: tuple[System, ...] = (
    ("linear", lambda r: [path(r, lambda x, t: -x)], {}),
    ("double well", lambda r: [path(r, lambda x, t: x - x**3)], {}),
    (
        "multiplicative",
        lambda r: [path(r, lambda x, t: x - x**3, lambda x, t: math.sqrt(0.5 + 0.5 * x * x))],
        {},
    ),
    ("12 short paths", lambda r: paths(r, [1.0] * 12, lambda k: lambda x, t: -k * x, 800), {}),
    ("oscillator", oscillator, {"known_drift": {"x1": "x2"}}),
    ("about 0.5", lambda r: [path(r, lambda x, t: 1.0 - 2 * x)], {}),
    ("slow", lambda r: [path(r, lambda x, t: -0.2 * x)], {}),
    ("cubic", lambda r: [path(r, lambda x, t: -(x**3))], {}),
    ("lopsided wells", lambda r: [path(r, lambda x, t: 0.3 + 2 * x - 2 * x**3)], {}),
    (
        "Gamma 0.5 + x^2 / 2",
        lambda r: [path(r, lambda x, t: -2 * x, lambda x, t: math.sqrt(0.5 + x * x / 2))],
        {},
    ),
    ("weak noise", lambda r: [path(r, lambda x, t: -x - x**3, lambda x, t: 0.3)], {}),
    ("two recordings", lambda r: [path(r, lambda x, t: -x, n=N // 2) for _ in range(2)], {}),
)


def fit(system: System, seed: int, noise: float = 0.0) -> ito.Discovery:
    """The fit of one recording, through a sensor whose noise is this share of the spread."""
    _, make, asked = system
    options = {key: value for key, value in asked.items() if key != "degree"}
    paths = make(np.random.default_rng(seed))
    if noise:
        rng, spread = np.random.default_rng(seed + 77), np.concatenate(paths).std(axis=0)
        paths = [path + noise * spread * rng.normal(size=path.shape) for path in paths]
        options["measurement_noise"] = "estimate"
    library = ito.Library.polynomials(asked.get("degree", 3))
    return ito.discover(ito.Trajectories(paths, dt=DT), library, seed=1, n_samples=200, **options)


def fired(system: System, seed: int, noise: float = 0.0) -> list[str]:
    """Names of the checks that fired."""
    return [check["name"] for check in fit(system, seed, noise).diagnostics["checks"] if check["fired"]]


def table(systems: Sequence[System], seeds: int, first: int, noise: float = 0.0) -> int:
    """Print how many of so many recordings of each fire, and which checks; returns the sum."""
    total = 0
    print(f"| system | fires, of {seeds} | by |\n|---|---|---|")
    for system in systems:
        found = [fired(system, first + seed, noise) for seed in range(seeds)]
        names = Counter(name for one in found for name in set(one))
        alarms = sum(bool(one) for one in found)
        total += alarms
        print(
            f"| {system[0]} | {alarms} | {', '.join(f'{n} {k}' for n, k in names.most_common()) or 'none'} |",
            flush=True,
        )
    return total


LOOKS = {
    "fit.measured.answer": (
        "bias_checks", "looked_beyond", "_given_checks", "_row_checks", "_covariance_checks"
    ),
    "fit.filtered.answer": ("looked_at",),
    "fit.solve": ("advised",),
}  # fmt: skip
"""Functions of the package that look at a fit, each of which holds what it calls."""


def costs() -> None:
    """CPU time of a fit, and of its looks."""
    print("| fit | CPU s | of it the looks | share |\n|---|---|---|---|")
    rng = np.random.default_rng
    cubic: dict[str, Any] = {"library": ito.Library.polynomials(3)}
    paper: dict[str, Any] = {"library": ito.Library.paper()}
    for n in (20_000, 100_000, 1_000_000):
        data = ito.Trajectories(path(rng(1), lambda x, t: -x, n=n), dt=DT)
        pair = ito.Trajectories(oscillator(rng(2), n), dt=DT)
        cases: list[tuple[str, ito.Trajectories, dict[str, Any]]] = [
            ("one state, 4 terms", data, cubic),
            ("one state, the library of the paper (10 terms)", data, paper),
            ("an oscillator, 10 terms where none is given", pair, {"known_drift": {"x1": "x2"}}),
            (
                "an oscillator, the library of the paper (36 terms)",
                pair,
                {**paper, "known_drift": {"x1": "x2"}},
            ),
        ]
        if n == 20_000:
            forced = ito.Trajectories(path(rng(3), lambda x, t: -x + 3 * math.cos(t)), dt=DT)
            seen = ito.Trajectories(data.paths[0] + 0.03 * rng(2).normal(size=(n, 1)), dt=DT)
            cases.append(("a force 3 cos t that nobody asked for, 10 terms", forced, paper))
            cases.append(("noisy, 4 terms", seen, {**cubic, "measurement_noise": "estimate"}))
        for name, recording, options in cases:
            whole, looks = zip(*(cost(recording, options) for _ in range(6 if n < 1_000_000 else 4)))
            total, of_it = float(np.median(whole[1:])), float(np.median(looks[1:]))
            print(f"| {n} samples, {name} | {total:.3f} | {of_it:.3f} | {of_it / total:.2f} |", flush=True)


def cost(recording: ito.Trajectories, options: dict[str, Any]) -> tuple[float, float]:
    """CPU time of one fit and of its looks."""
    spent = [0.0]

    def timed(look: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return look(*args, **kwargs)
            finally:
                spent[0] += time.process_time() - began

        return call

    with ExitStack() as stack:
        for place, names in LOOKS.items():
            module = import_module(f"itoscope.{place}")
            for name in names:
                stack.enter_context(patch.object(module, name, timed(getattr(module, name))))
        began = time.process_time()
        ito.discover(recording, seed=1, **options)
        return time.process_time() - began, spent[0]


def main() -> None:
    """Both tables, or that of the costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--clean", type=int, default=60)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--only", default="", help="clean systems whose name holds this, and no others")
    asked = parser.parse_args()
    ito.set_threads(1)
    if asked.cost:
        costs()
        return
    if not asked.only:
        table(WRONG, asked.seeds, 1000, asked.noise)
        print()
    each, clean = asked.clean // len(CLEAN), [system for system in CLEAN if asked.only in system[0]]
    alarms = table(clean, each, 5000, asked.noise)
    print(f"\n{alarms} of {each * len(clean)} clean fits fire")


if __name__ == "__main__":
    main()
