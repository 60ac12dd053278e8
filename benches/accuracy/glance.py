"""What `advise` says of pace and of recordings that differ: how often it is right, and its alarms on clean systems.

    python benches/accuracy/glance.py              # 20 recordings of each
    python benches/accuracy/glance.py --limits     # what too few samples, and too many, make of a fit

Steps of a tenth of a sample and of 0.025 at most; a set of recordings has ten of 4000 samples unless said.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import itoscope as ito
import numpy as np

Made = Callable[[int], ito.Trajectories]
OSCILLATOR = "-{k}*x - 0.4*v"


def run(drift: Sequence[str], noise: str, dt: float, n: int, seed: int, paths: int = 1) -> ito.Trajectories:
    """A motion of x, or of x and its velocity v, with noise on the last row."""
    states = ["x", "v"][: len(drift)]
    g = [["0"]] * (len(drift) - 1) + [[noise]]
    fine = max(10, int(40 * dt))
    made = ito.SDE(list(drift), g, states)
    return made.simulate([0.0] * len(states), dt=dt, n_steps=n, n_paths=paths, substeps=fine, seed=seed)


def alike(*drift: str, noise: str = "1", dt: float = 0.05, n: int = 4000, paths: int = 10) -> Made:
    """Recordings of one system."""
    return lambda seed: run(drift, noise, dt, n, seed, paths)


def apart(drifts: Sequence[Sequence[str]], dt: float, noise: Sequence[str] | None = None) -> Made:
    """A recording for each drift."""

    def make(seed: int) -> ito.Trajectories:
        every = noise or ["1"] * len(drifts)
        paths = [
            run(drift, every[k], dt, 4000, 100 * seed + k).paths[0][:, :1] for k, drift in enumerate(drifts)
        ]
        return ito.Trajectories(paths, dt=dt, names=["x"])

    return make


def positions(make: Made, noise: float) -> Made:
    """What a sensor sees of them."""
    return lambda seed: make(seed).select("x").positions(noise=noise, seed=seed)


CLEAN: tuple[tuple[str, Made], ...] = (
    ("linear", alike("-x")),
    ("linear, 2 of 20 000", alike("-x", n=20_000, paths=2)),
    ("linear, 40 of 1000", alike("-x", n=1000, paths=40)),
    ("linear, 40 of 300", alike("-x", dt=0.1, n=300, paths=40)),
    ("double well", alike("x - x^3")),
    ("deep double well", alike("x - x^3", noise="0.5")),
    ("multiplicative", alike("x - x^3", noise="sqrt(0.5 + 0.5*x^2)")),
    ("skewed", alike("1 - x", noise="sqrt(0.1 + abs(x))")),
    ("oscillator, 5 % damping", alike("v", "-x - 0.1*v", dt=0.3)),
    ("oscillator, 20 %", alike("v", "-x - 0.4*v", dt=0.1)),
    ("hardening", alike("v", "-x - 0.3*v - x^3", dt=0.1)),
    ("limit cycle", alike("v", "(1 - x^2)*v - x", noise="0.5", dt=0.1)),
    ("positions with noise", positions(alike("v", "-x - 0.4*v", dt=0.1), 0.03)),
    ("random walks", alike("0", dt=1.0, n=3000)),
    ("geometric", alike("0.1*x", noise="0.3*x", dt=0.01, n=1000)),
    ("one linear", alike("-x", n=20_000, paths=1)),
)

WRONG: tuple[tuple[str, str, Made], ...] = (
    ("mean", "centres -0.5 to 0.5", apart([[f"{c:.3f} - x"] for c in np.linspace(-0.5, 0.5, 10)], 0.05)),
    ("mean", "one of ten at 1", apart([*[["-x"]] * 9, ["1 - x"]], 0.05)),
    ("spread", "one of ten of twice the noise", apart([["-x"]] * 10, 0.05, [*["1"] * 9, "2"])),
    ("time scale", "rates 0.7 to 3", apart([[f"-{k:.3f}*x"] for k in np.geomspace(0.7, 3, 10)], 0.05)),
    (
        "time scale", "stiffness 0.7 to 1.4",
        apart([["v", OSCILLATOR.format(k=f"{k:.3f}")] for k in np.geomspace(0.7, 1.4, 10)], 0.1),
    ),
    ("too few", "2 in a relaxation time", alike("-x", dt=0.5, paths=1)),
    ("too few", "4 in a period", alike("v", "-x - 0.4*v", dt=1.57, paths=1)),
    ("scheme", "12 in a period", alike("v", "-x - 0.4*v", dt=0.52, paths=1)),
    ("thin", "3000 in a relaxation time", alike("-x", dt=1 / 3000, n=200_000, paths=1)),
)  # fmt: skip


def said(data: ito.Trajectories) -> str:
    """The lines on pace and recordings."""
    lines = str(ito.advise(data)).splitlines()
    return "\n".join(line for line in lines if line.startswith(("pace:", "recordings that differ:")))


def table(seeds: int) -> None:
    """How often each is said, and what of clean ones is."""
    print(f"| what differs, or is wrong | recordings | said, of {seeds} |\n|---|---|---|")
    for word, what, make in WRONG:
        print(f"| {word} | {what} | {sum(word in said(make(s)) for s in range(1, seeds + 1))} |", flush=True)
    alarms = 0
    print(f"\n| clean | differ, of {seeds} | too few or too many | compared |\n|---|---|---|---|")
    for what, make in CLEAN:
        seen = [ito.advise(make(s)) for s in range(1, seeds + 1)]
        differ = sum(bool(one.alike.differing) for one in seen)
        wrong = sum(any(w in str(one) for w in ("too few to", "too few for", "thin(")) for one in seen)
        alarms += differ + wrong
        print(f"| {what} | {differ} | {wrong} | {sum(bool(one.alike.asked) for one in seen)} |", flush=True)
    print(f"\n{alarms} alarms on {seeds * len(CLEAN)} clean sets")


def coefficients(found: ito.Discovery, row: str, terms: Sequence[str]) -> str:
    """With their standard deviations."""
    equation = found.drift[row]
    places = [list(equation.terms).index(term) for term in terms]
    return ", ".join(f"{equation.mean[k]:.2f} ± {equation.sd[k]:.2f}" for k in places)


def limits() -> None:
    """The same motion at ever fewer samples by regression and filter; and thinned where there are very many."""
    asked: dict[str, Any] = {"seed": 1, "n_samples": 300, "diffusion": "constant"}
    library = ito.Library.polynomials(3)
    print(
        "truth -1, -0.2, -0.3\n| samples a period | trapezoid | filter | order=2, 2 % noise |\n|---|---|---|---|"
    )
    for n in (3, 4, 6, 10, 20, 40):
        data = run(["v", "-x - 0.2*v - 0.3*x^3"], "0.6", 2 * np.pi / n, 6000, 1)
        given = [dict(known_drift={"x": "v"}, scheme=scheme) for scheme in ("trapezoid", "filter")]
        fits = [ito.discover(data, library, **asked, **one) for one in given]
        seen = data.positions(noise=0.02, seed=1)
        fits.append(ito.discover(seen, library, **asked, order=2, measurement_noise="estimate"))
        cells = [
            coefficients(fit, row, ["x", row, "x^3"]) for fit, row in zip(fits, ("v", "v", "v1"), strict=True)
        ]
        print(f"| {n} | {' | '.join(cells)} |", flush=True)
    print("\ntruth -1, -1\n| samples in a relaxation time | trapezoid | filter |\n|---|---|---|")
    for n in (1, 2, 3, 4, 6, 10):
        data = run(["-x - x^3"], "1", 1 / n, 6000, 1)
        pace = ito.advise(data).pace["x"]
        fits = [ito.discover(data, library, **asked, scheme=scheme) for scheme in ("trapezoid", "filter")]
        shown = " | ".join(coefficients(fit, "x", ["x", "x^3"]) for fit in fits)
        print(f"| {pace.samples if pace else np.nan:.1f} | {shown} |", flush=True)
    print("\ntruth -1 and 1\n| every | drift | Gamma |\n|---|---|---|")
    data = run(["-x"], "1", 1 / 3000, 300_000, 1)
    for k in (1, 3, 15, 100):
        fit = ito.discover(data.thin(k), ito.Library.polynomials(1), **asked)
        noise = fit.diffusion["x", "x"]
        print(
            f"| {k} | {coefficients(fit, 'x', ['x'])} | {noise.mean[0]:.4f} ± {noise.sd[0]:.4f} |", flush=True
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    ito.set_threads(1)
    if options.limits:
        limits()
    else:
        table(options.seeds)
