"""Power of the advice on systems on which no test and no constant of it was made: oscillators, planes, switches.

    python benches/accuracy/advice_elsewhere.py --seeds 10 --clean 10

20 000 samples, simulated in steps ten times finer; a cubic library unless said.
"""

from collections.abc import Callable

import itoscope as ito
import numpy as np
from advice import DT, Case, N, changed, main, noisy, run

KNOWN = {"known_drift": {"x": "v"}}
HALF = DT * N / 2


def duffing(seed: int, n: int, force: str = "0", noise: str = "1", v: str = "-0.6*v") -> ito.Trajectories:
    """A Duffing oscillator with both of its states measured, and a force that may know the time."""
    rows = ["v", f"-2*x - x^3 + {v} + {force}", "1"]
    return run(rows, ["0", noise, "0"], "xvt", seed, n).select(["x", "v"])


def turning(seed: int, n: int, x: str = "-x - 3*y", y: str = "3*x - y", noise: str = "1") -> ito.Trajectories:
    """A motion in the plane that spirals."""
    return run([x, y, "1"], [noise, "0.7", "0"], "xyt", seed, n).select(["x", "y"])


def switch(seed: int, n: int) -> ito.Trajectories:
    """A switch of two states, steep between them."""
    return run(["-x + 2*tanh(3*x)"], ["1.8"], "x", seed, n)


def hit(column: int, rate: float, size: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """A few samples of one column are off."""

    def of(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = x.copy()
        out[:, column] += size * (rng.random(len(x)) < rate) * rng.choice([-1, 1], size=len(x))
        return out

    return of


def leaping(seed: int, n: int) -> ito.Trajectories:
    """A double well of two states whose first leaps by 1.5 three times in 1000 samples."""
    rng = np.random.default_rng(seed)
    pieces, start, left = [], [1.0, 0.0], n
    while left > 1:
        length = min(left, int(rng.geometric(0.003)) + 2)
        made = ito.SDE(["x - x^3 + y", "-y"], [["0.6", "0"], ["0", "0.5"]], ["x", "y"]).simulate(
            start, dt=DT, n_steps=length - 1, substeps=10, seed=int(rng.integers(2**31))
        )
        pieces.append(made.paths[0])
        start = (made.paths[0][-1] + [1.5 * rng.choice([-1.0, 1.0]), 0.0]).tolist()
        left -= length
    return ito.Trajectories(np.concatenate(pieces)[:n], dt=DT, names=["x", "y"])


def filmed(seed: int, n: int) -> ito.Trajectories:
    """Means over the step of a spiral."""
    made = run(["-x - 3*y", "3*x - y"], ["1", "0.7"], "xy", seed, 20 * n, DT / 20 * 5, 1)
    return ito.Trajectories(made.paths[0].reshape(n, 20, 2).mean(axis=1), dt=5 * DT, names=["x", "y"])


def coloured(memory: float, sd: float) -> Callable[[int, int], ito.Trajectories]:
    """An oscillator pushed by a force that remembers, and by none else."""
    rows = ["v", "-4*x - 0.5*v + f", f"-f/{memory}"]
    return lambda s, n: run(rows, ["0", "0.3", repr(sd * (2 / memory) ** 0.5)], "xvf", s, n).select(
        ["x", "v"]
    )


def differing(seed: int, n: int) -> ito.Trajectories:
    """Ten oscillators whose damping is 0.2 to 3."""
    made = [
        run(["v", f"-4*x - {c:.3f}*v"], ["0", "1"], "xv", 50 * seed + k, n // 10).paths[0]
        for k, c in enumerate(np.geomspace(0.2, 3.0, 10))
    ]
    return ito.Trajectories(made, dt=DT, names=["x", "v"])


def drifting(seed: int, n: int) -> ito.Trajectories:
    """A pendulum of 0.5 Hz, seen by a sensor that drifts in 200 s by a fifth of the motion."""
    seen = run(["v", "-10*sin(x) - 0.4*v"], ["0", "0.8"], "xv", seed, n, 0.05, 20).select("x")
    sd, t = float(seen.sd()[0]), seen.times[0][:, None]
    slow = 0.2 * np.sqrt(2) * sd * np.sin(2 * np.pi * t / 200 + seed)
    return changed(seen, lambda x, rng: x + slow + 0.04 * sd * rng.normal(size=x.shape), seed)


def smoothed(seed: int, n: int) -> ito.Trajectories:
    """Noisy angles of a pendulum, and velocities as local parabolas over eleven samples."""
    made = run(["v", "-9*sin(x) - 0.4*v"], ["0", "0.8"], "xv", seed, n, 0.02).select("x")
    x = noisy(made, 0.003, seed).paths[0][:, 0]
    weights = -np.arange(-5, 6) / (110 * 0.02)
    v = np.convolve(x, weights, "same")
    return ito.Trajectories(np.stack([x, v], axis=1)[10:-10], dt=0.02, names=["x", "v"])


LATE = f"(1 + sgn(t - {HALF}))/2"
CASES: tuple[Case, ...] = (
    Case("measurement noise", "0.03 on both columns of a spiral", lambda s, n: noisy(turning(s, n), 0.03, s)),
    Case("measurement noise", "0.04 on a switch", lambda s, n: noisy(switch(s, n), 0.04, s)),
    Case(
        "coarse step", "spiral, 0.6 of its time",
        lambda s, n: run(["-x - y", "x - y"], ["1", "0.7"], "xy", s, n, 0.6, 60), {"scheme": "trapezoid"},
    ),
    Case("averaged samples", "means over the step, spiral", filmed),
    Case(
        "quantised", "switch, grid of 0.2",
        lambda s, n: changed(switch(s, n), lambda x, _: 0.2 * np.round(x / 0.2), s),
    ),
    Case(
        "wrapped angle", "-180 to 180",
        lambda s, n: changed(
            run(["-1.5 + 0.7*cos(x)"], ["1.2"], "x", s, n),
            lambda x, _: np.mod(np.degrees(x) + 180.0, 360.0) - 180.0, s,
        ),
    ),
    Case(
        "outliers", "1 of 400 in the second column of a spiral",
        lambda s, n: changed(turning(s, n), hit(1, 0.0025, 2.0), s),
    ),
    Case("jumps", "of 1.5 in a plane, 3 in 1000 samples", leaping),
    Case(
        "wrong order", "angles of a pendulum",
        lambda s, n: run(["v", "-9*sin(x) - 0.4*v"], ["0", "0.8"], "xv", s, n, 0.02).select("x"),
    ),
    Case("smoothed derivative", "parabolas over 11 samples", smoothed, KNOWN),
    Case(
        "slow baseline", "pendulum, a fifth in 200 s", drifting,
        {"order": 2, "library": ito.Library.polynomials(1), "diffusion": "constant"},
    ),
    Case(
        "offset", "Duffing about 40",
        lambda s, n: changed(duffing(s, n), lambda x, _: x + np.array([40.0, 0.0]), s), {**KNOWN},
    ),
    Case("periodic forcing", "Duffing, cos 2.5 t", lambda s, n: duffing(s, n, "1.5*cos(2.5*t)"), KNOWN),
    Case("trend", "spiral, y pushed by 6 at the end", lambda s, n: turning(s, n, y="3*x - y + 6*t/200")),
    Case("changes in time", "Duffing, damping 0.6 to 2", lambda s, n: duffing(s, n, v=f"-(0.6 + 1.4*{LATE})*v"), KNOWN),
    Case("changes in time", "spiral, noise of x 1 to 1.5", lambda s, n: turning(s, n, noise=f"1 + 0.5*{LATE}")),
    Case("coloured forcing", "oscillator, memory 0.2", coloured(0.2, 4.0), KNOWN),
    Case(
        "hidden state", "a spiral of which x is kept",
        lambda s, n: run(["-0.5*x - 4*y", "4*x - 0.5*y"], ["0.5", "1.5"], "xy", s, n).select("x"),
    ),
    Case("recordings that differ", "damping 0.2 to 3", differing, KNOWN),
    Case("library of the drift too small", "a switch by a line", switch, {"library": ito.Library.polynomials(1)}),
    Case(
        "library of the drift too small", "dry friction by cubics",
        lambda s, n: run(["v", "-4*x - 1.2*tanh(40*v)"], ["0", "1"], "xv", s, n), KNOWN,
    ),
    Case(
        "noise that depends on the state", "spiral, 0.3 + x^2 / 2 as constants",
        lambda s, n: turning(s, n, noise="sqrt(0.3 + 0.5*x^2)"), {"diffusion": "constant"},
    ),
    Case(
        "library of the noise too small", "spiral, 1 + 0.8 cos 4 x by cubics",
        lambda s, n: turning(s, n, noise="sqrt(1 + 0.8*cos(4*x))"),
    ),
)  # fmt: skip

RIGHT: tuple[Case, ...] = (
    Case("", "spiral", turning),
    Case("", "Duffing", duffing, KNOWN),
    Case(
        "", "Van der Pol", lambda s, n: run(["v", "2*v*(1 - x^2) - x"], ["0", "0.5"], "xv", s, n), KNOWN,
    ),
    Case("", "quadratic noise", lambda s, n: run(["0.5 - x"], ["sqrt(0.2 + 0.3*x^2)"], "x", s, n)),
    Case(
        "", "Duffing, noise estimated", lambda s, n: noisy(duffing(s, n), 0.03, s),
        {**KNOWN, "measurement_noise": "estimate", "diffusion": "constant"},
    ),
)  # fmt: skip


if __name__ == "__main__":
    main(CASES, RIGHT, __doc__)
