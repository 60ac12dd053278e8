"""Power of the advice: each cause simulated, how often it is named; and how often anything is said of clean recordings.

    python benches/accuracy/advice.py              # table, 3 seeds a cause
    python benches/accuracy/advice.py --seeds 10 --clean 10

20 000 samples, simulated in steps ten times finer; a cubic library unless said.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import itoscope as ito
import numpy as np

DT, N = 0.01, 20_000
Rng = np.random.Generator


class Case(NamedTuple):
    """A recording whose cause is known: how it is made of a seed and a length, and what is asked of it."""

    cause: str
    what: str
    make: Callable[[int, int], ito.Trajectories]
    asked: dict[str, Any] | None = None


def run(
    drift: Sequence[str], noise: Sequence[str], names: str, seed: int, n: int, dt: float = DT, fine: int = 10,
    x0: Sequence[float] = (), paths: int = 1,
) -> ito.Trajectories:  # fmt: skip
    """Simulate rows that have their own noise each."""
    states = list(names)
    g = [[noise[i] if i == j else "0" for j in range(len(states))] for i in range(len(states))]
    g = [[entry for j, entry in enumerate(row) if noise[j] != "0"] for row in g]
    start = list(x0) or [0.0] * len(states)
    return ito.SDE(list(drift), g, states).simulate(
        start, dt=dt, n_steps=n - 1, n_paths=paths, substeps=fine, scheme="euler-maruyama", seed=seed
    )


def one(
    drift: str, seed: int, n: int, noise: str = "1", dt: float = DT, x0: float = 0.0, fine: int = 10
) -> ito.Trajectories:
    """A path of x; `t` in the drift or the noise is the time."""
    made = run([drift, "1"], [noise, "0"], "xt", seed, n, dt, fine, (x0, 0.0))
    return made.select("x")


def changed(
    data: ito.Trajectories, of: Callable[[np.ndarray, Rng], np.ndarray], seed: int
) -> ito.Trajectories:
    """What a sensor makes of a recording."""
    rng = np.random.default_rng(seed)
    return ito.Trajectories([of(path, rng) for path in data.paths], dt=data.dt, names=data.names)


def well(seed: int, n: int) -> ito.Trajectories:
    """A double well."""
    return one("x - x^3", seed, n)


def linear(seed: int, n: int) -> ito.Trajectories:
    """A linear process."""
    return one("-x", seed, n)


def noisy(data: ito.Trajectories, sd: float, seed: int) -> ito.Trajectories:
    """White noise on the samples."""
    return changed(data, lambda x, rng: x + sd * rng.normal(size=x.shape), seed)


def averaged(seed: int, n: int) -> ito.Trajectories:
    """Every sample the mean over its step."""
    fine = one("x - x^3", seed, 20 * n, dt=DT / 20, fine=1)
    return ito.Trajectories(fine.paths[0].reshape(n, 20, 1).mean(axis=1), dt=DT, names=["x"])


def rounded(step: float) -> Callable[[int, int], ito.Trajectories]:
    """On a grid."""
    return lambda s, n: changed(well(s, n), lambda x, _: step * np.round(x / step), s)


def angle(period: float) -> Callable[[int, int], ito.Trajectories]:
    """A phase that turns."""
    return lambda s, n: changed(
        one("2 + 0.5*sin(x)", s, n, noise="1.5"), lambda x, _: np.mod(x * period / (2 * np.pi), period), s
    )


def outliers(x: np.ndarray, rng: Rng) -> np.ndarray:
    """One sample of 500 is off by 1.5."""
    hit = rng.random(x.shape) < 0.002
    return x + 1.5 * hit * rng.choice([-1, 1], size=x.shape)


def jumps(seed: int, n: int) -> ito.Trajectories:
    """`dx = -x dt + dB` with jumps of 2 five times in 1000 samples."""
    rng = np.random.default_rng(seed)
    x, out, w = 0.0, np.empty((n, 1)), np.sqrt(DT) * rng.normal(size=n)
    hit = 2.0 * (rng.random(n) < 0.005) * rng.choice([-1, 1], size=n)
    for k in range(n):
        out[k] = x
        x += -x * DT + float(w[k]) + float(hit[k])
    return ito.Trajectories(out, dt=DT, names=["x"])


def coloured(memory: float, strength: float) -> Callable[[int, int], ito.Trajectories]:
    """A force with a memory beside the white one."""
    noise = repr(strength * (2 / memory) ** 0.5)
    return lambda s, n: run(["-x + f", f"-f/{memory}"], ["1", noise], "xf", s, n).select("x")


def ringing(seed: int, n: int) -> ito.Trajectories:
    """A force from an oscillator that nobody recorded."""
    made = run(["-x + 4*h", "w", "-25*h - w"], ["1", "0", "5"], "xhw", seed, n)
    return made.select("x")


def structure(seed: int, n: int, dt: float = 0.05) -> ito.Trajectories:
    """Displacement of a structure of 1 Hz and 4 % damping."""
    return run(["v", "-39.5*x - 0.5*v"], ["0", "1"], "xv", seed, n, dt, 20).select("x")


def baseline(share: float) -> Callable[[int, int], ito.Trajectories]:
    """Its sensor drifts in 300 s, beside 5 % of white noise."""

    def make(seed: int, n: int) -> ito.Trajectories:
        seen = structure(seed, n)
        sd, t = float(seen.sd()[0]), seen.times[0][:, None]
        slow = share * np.sqrt(2) * sd * np.sin(2 * np.pi * t / 300 + seed)
        return changed(seen, lambda x, rng: x + slow + 0.05 * sd * rng.normal(size=x.shape), seed)

    return make


def derived(seed: int, n: int) -> ito.Trajectories:
    """Noisy positions, and velocities as running means of seven of their differences."""
    x = noisy(run(["v", "-4*x - v/2"], ["0", "1"], "xv", seed, n, 0.02).select("x"), 0.005, seed).paths[0][
        :, 0
    ]
    v = np.convolve(np.gradient(x, 0.02), np.ones(7) / 7, "same")
    return ito.Trajectories(np.stack([x, v], axis=1)[10:-10], dt=0.02, names=["x", "v"])


def several(
    drifts: Sequence[str], seed: int, n: int, x0: Sequence[float] | None = None, noise: str = "1"
) -> ito.Trajectories:
    """A path for each drift."""
    starts = [0.0] * len(drifts) if x0 is None else x0
    each = n // len(drifts)
    made = [
        one(drift, 100 * seed + k, each, x0=start, noise=noise).paths[0]
        for k, (drift, start) in enumerate(zip(drifts, starts))
    ]
    return ito.Trajectories(made, dt=DT, names=["x"])


LINE = {"library": ito.Library.polynomials(1)}
ESTIMATED = {"measurement_noise": "estimate", "diffusion": "constant"}
HALF = DT * N / 2
LATE = f"(1 + sgn(t - {HALF}))/2"

CASES: tuple[Case, ...] = (
    Case("measurement noise", "0.05 on a double well", lambda s, n: noisy(well(s, n), 0.05, s)),
    Case(
        "measurement noise", "0.05 where 0.01 was given", lambda s, n: noisy(linear(s, n), 0.05, s),
        {"measurement_noise": 0.01, "diffusion": "constant", **LINE},
    ),
    Case("measurement noise", "0.025, a quarter of a step", lambda s, n: noisy(linear(s, n), 0.025, s), LINE),
    Case(
        "coarse step",
        "linear, 0.7 of its time",
        lambda s, n: one("-x", s, n, dt=0.7, fine=70),
        {"scheme": "trapezoid"},
    ),
    Case("averaged samples", "means over the step", averaged),
    Case("quantised", "grid of 0.25, steps of 0.1", rounded(0.25)),
    Case("quantised", "grid of 0.1", rounded(0.1)),
    Case("wrapped angle", "by 2 pi", angle(2 * np.pi)),
    Case("wrapped angle", "by 360", angle(360.0)),
    Case("outliers", "1 of 500 samples off by 1.5", lambda s, n: changed(well(s, n), outliers, s)),
    Case(
        "outliers", "the same, noise estimated", lambda s, n: changed(linear(s, n), outliers, s), {**ESTIMATED, **LINE}
    ),
    Case("jumps", "of 2, 5 in 1000 samples", jumps),
    Case("wrong order", "positions of an oscillator", lambda s, n: structure(s, n, 0.02)),
    Case("smoothed derivative", "means of 7 differences", derived, {"known_drift": {"x": "v"}}),
    Case("slow baseline", "a tenth of the motion, 300 s", baseline(0.1), {"order": 2, **LINE, "diffusion": "constant"}),
    Case("slow baseline", "a third of it", baseline(0.33), {"order": 2, **LINE, "diffusion": "constant"}),
    Case(
        "offset", "linear about 100", lambda s, n: one("100 - x", s, n, x0=100.0),
        {"library": ito.Library.polynomials(3)},
    ),
    Case("periodic forcing", "3 cos t", lambda s, n: one("-x + 3*cos(t)", s, n)),
    Case("periodic forcing", "3 cos 7 t", lambda s, n: one("-x + 3*cos(7*t)", s, n)),
    Case(
        "periodic forcing", "3 cos t, noise estimated", lambda s, n: noisy(one("-x + 3*cos(t)", s, n), 0.05, s),
        {**ESTIMATED, **LINE},
    ),
    Case("trend", "4 over the recording", lambda s, n: one("-x + t/50", s, n)),
    Case("changes in time", "mean -1 to 1", lambda s, n: one(f"-x - 1 + 2*{LATE}", s, n)),
    Case("changes in time", "stiffness 1 to 3", lambda s, n: one(f"-x - 2*x*{LATE}", s, n)),
    Case("changes in time", "noise 1 to 1.6", lambda s, n: one("-x", s, n, noise=f"1 + 0.6*{LATE}")),
    Case("coloured forcing", "sd 8, memory 0.1", coloured(0.1, 8.0)),
    Case("coloured forcing", "sd 3, memory 1", coloured(1.0, 3.0)),
    Case("hidden state", "an oscillator", ringing),
    Case(
        "recordings that differ", "stiffness 0.5 to 8",
        lambda s, n: several([f"-{k:.4f}*x" for k in np.geomspace(0.5, 8, 20)], s, n),
    ),
    Case(
        "recordings that differ", "centres -10 to 8",
        lambda s, n: several([f"{c} - x" for c in range(-10, 10, 2)], s, n, [*range(-10, 10, 2)]),
    ),
    Case("library of the drift too small", "double well by a line", well, LINE),
    Case(
        "library of the drift too small", "-x + 2 sin 3 x by cubics", lambda s, n: one("-x + 2*sin(3*x)", s, n)
    ),
    Case(
        "noise that depends on the state", "0.5 + x^2 as a constant",
        lambda s, n: one("-x", s, n, noise="sqrt(0.5 + x^2)"), {"diffusion": "constant"},
    ),
    Case(
        "library of the noise too small", "1 + 0.8 sin 3 x by cubics",
        lambda s, n: one("-x", s, n, noise="sqrt(1 + 0.8*sin(3*x))"),
    ),
)  # fmt: skip

CLEAN: tuple[Case, ...] = (
    Case("", "linear", linear),
    Case("", "double well", well),
    Case("", "multiplicative", lambda s, n: one("x - x^3", s, n, noise="sqrt(0.5 + 0.5*x^2)")),
    Case("", "geometric", lambda s, n: several(["0.1*x"] * 10, s, n, [1.0] * 10, "0.3*x")),
    Case("", "12 short paths", lambda s, n: several(["-x"] * 12, s, n // 2)),
    Case(
        "", "oscillator", lambda s, n: run(["v", "-4*x - v/2"], ["0", "1"], "xv", s, n), {"known_drift": {"x": "v"}}
    ),
    Case(
        "", "positions, order 2", lambda s, n: noisy(structure(s, n), 0.001, s),
        {"order": 2, **LINE, "diffusion": "constant"},
    ),
    Case(
        "", "linear, noise estimated", lambda s, n: noisy(linear(s, n), 0.05, s), {**ESTIMATED, **LINE}
    ),
)  # fmt: skip


def advised(case: Case, seed: int, n: int = N) -> list[str]:
    """The causes that are named, the gravest first."""
    data = case.make(seed, n)
    asked = {"library": ito.Library.polynomials(3), "seed": 1, "n_samples": 200, **(case.asked or {})}
    return [advice.cause for advice in ito.discover(data, **asked).advice]


def table(cases: Sequence[Case], seeds: int) -> int:
    """Print how often each cause is among the two first; returns how many cases have something to say."""
    said = 0
    print(f"| cause | recording | named, of {seeds} | else | s |\n|---|---|---|---|---|")
    for case in cases:
        begin = time.perf_counter()
        found = [advised(case, seed) for seed in range(1, seeds + 1)]
        others = Counter(cause for one in found for cause in one if cause != case.cause)
        named = sum(case.cause in one[:2] for one in found) if case.cause else sum(not one for one in found)
        said += sum(bool(one) for one in found)
        seconds = (time.perf_counter() - begin) / seeds
        print(
            f"| {case.cause or 'none'} | {case.what} | {named} | "
            f"{', '.join(f'{name} {k}' for name, k in others.most_common()) or ''} | {seconds:.1f} |",
            flush=True,
        )
    return said


def main(cases: Sequence[Case] = CASES, right: Sequence[Case] = CLEAN, what: str | None = __doc__) -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--clean", type=int, default=3)
    parser.add_argument("--only", help="causes or recordings that have this in their name")
    asked = parser.parse_args()
    ito.set_threads(1)
    chosen = [case for case in cases if not asked.only or asked.only in f"{case.cause} {case.what}"]
    table(chosen, asked.seeds)
    if asked.clean:
        print()
        said = table(right, asked.clean)
        print(f"\nof {asked.clean * len(right)} clean recordings {said} have an advice")


if __name__ == "__main__":
    main()
