"""Integrators against other packages: 1000 paths x 1000 steps, all samples stored, one thread.

    python benches/peers/integrators.py

The peers live in a virtual environment of their own, which the script makes beside itself. Both sides run in turn,
and the best time of each counts, so that whatever else the machine does weighs on neither. A numba loop draws its
normals from NumPy's PCG64 generator; `pathwise-sde` has geometric Brownian motion built in, the other two systems it
cannot express but by calling Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

N_PATHS, N_STEPS, DT = 1000, 1000, 1e-3
ROUNDS, REPEATS = 5, 12
ENVIRONMENT = Path(__file__).parent / ".peers"
PEERS = ["numba", "numpy", "pathwise-sde"]


def best(run) -> float:
    """Nanoseconds of processor time per path and step, the best of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times) / (N_PATHS * N_STEPS) * 1e9


def ours() -> dict[str, float]:
    """Times of the compiled backend, the compilation of the expressions included."""
    import numpy as np
    from itoscope import _core, problems
    from itoscope.backends import rust
    from itoscope.backends.records import Dynamics, Stepping

    _core.set_threads(1)

    def run(problem):
        sde = problem.sde
        x0 = np.tile(np.asarray(problem.x0, dtype=float), (N_PATHS, 1))
        dynamics = Dynamics(sde.states, sde.drift_expressions, sde.diffusion_expressions)
        return lambda: rust.simulate(dynamics, x0, Stepping(DT, N_STEPS), seed=1)

    return {
        "geometric Brownian motion": best(run(problems.black_scholes())),
        "Duffing-Van der Pol": best(run(problems.duffing_van_der_pol())),
        "two-storey building": best(run(problems.two_storey_building())),
    }


def peers() -> dict[str, dict[str, float]]:
    """Times of the peers; runs in their environment."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    import numba
    import numpy as np
    import pathwise

    @numba.njit(fastmath=False)
    def geometric(rng, out, lam, mu, dt):
        for i in range(out.shape[0]):
            x = 1.0
            out[i, 0, 0] = x
            for n in range(1, out.shape[1]):
                dw = np.sqrt(dt) * rng.standard_normal()
                x += lam * x * dt + mu * x * dw + 0.5 * mu * mu * x * (dw * dw - dt)
                out[i, n, 0] = x

    @numba.njit(fastmath=False)
    def duffing(rng, out, m, c, k, a, s, dt):
        for i in range(out.shape[0]):
            x, v = 0.1, 0.0
            out[i, 0, 0], out[i, 0, 1] = x, v
            for n in range(1, out.shape[1]):
                dw = np.sqrt(dt) * rng.standard_normal()
                force = -(c * v + k * x + a * x * x * x) / m
                x, v = x + v * dt, v + force * dt + s / m * x * dw
                out[i, n, 0], out[i, n, 1] = x, v

    @numba.njit(fastmath=False)
    def building(rng, out, m1, m2, c1, c2, k1, k2, mu, g, s1, s2, dt):
        for i in range(out.shape[0]):
            y1, y2, y3, y4 = 0.1, 0.0, 0.1, 0.0
            out[i, 0, 0], out[i, 0, 1], out[i, 0, 2], out[i, 0, 3] = y1, y2, y3, y4
            for n in range(1, out.shape[1]):
                dw1 = np.sqrt(dt) * rng.standard_normal()
                dw2 = np.sqrt(dt) * rng.standard_normal()
                friction = mu * g * m1 * np.sign(y2)
                f1 = -((c1 + c2) * y2 + friction + (k1 + k2) * y1 - c2 * y4 - k2 * y3) / m1
                f2 = -(c2 * (y4 - y2) + k2 * (y3 - y1)) / m2
                y1, y3 = y1 + y2 * dt, y3 + y4 * dt
                y2, y4 = y2 + f1 * dt + s1 / m1 * dw1, y4 + f2 * dt + s2 / m2 * dw2
                out[i, n, 0], out[i, n, 1], out[i, n, 2], out[i, n, 3] = y1, y2, y3, y4

    def loop(compiled, n_states, *parameters):
        rng = np.random.Generator(np.random.PCG64(1))

        def run():
            out = np.empty((N_PATHS, N_STEPS + 1, n_states))
            compiled(rng, out, *parameters, DT)
            return out

        run()  # compilation is not counted
        return run

    process, scheme = pathwise.gbm(2.0, 1.0), pathwise.milstein()
    return {
        "numba": {
            "geometric Brownian motion": best(loop(geometric, 1, 2.0, 1.0)),
            "Duffing-Van der Pol": best(loop(duffing, 2, 1.0, 2.0, 1000.0, 1e5, 10.0)),
            "two-storey building": best(
                loop(building, 4, 1.0, 1.0, 2.0, 2.0, 4000.0, 2000.0, 1.0, 9.81, 10.0, 10.0)
            ),
        },
        "pathwise-sde": {
            "geometric Brownian motion": best(
                lambda: pathwise.simulate(process, scheme, N_PATHS, N_STEPS, N_STEPS * DT, x0=1.0)
            )
        },
    }


def environment() -> Path:
    """The Python of the peers, installed at the first run."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
    return python


def main() -> None:
    python = environment()
    found: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        output = subprocess.run([python, __file__, "--peers"], check=True, capture_output=True, text=True)
        times = json.loads(output.stdout) | {"itoscope": ours()}
        for name, systems in times.items():
            for system, time_ in systems.items():
                former = found.setdefault(name, {}).get(system, float("inf"))
                found[name][system] = min(former, time_)
    print(
        f"{'ns per path and step':28}"
        + "".join(f"{name:>24}" for name in ("itoscope", "numba", "pathwise-sde"))
    )
    for system, own in found["itoscope"].items():
        line = f"{system:28}{own:24.1f}"
        for peer in ("numba", "pathwise-sde"):
            time_ = found[peer].get(system)
            line += f"{'-':>24}" if time_ is None else f"{time_:14.1f} ({time_ / own:5.2f} x)"
        print(line)


if __name__ == "__main__":
    if "--peers" in sys.argv:
        print(json.dumps(peers()))
    else:
        main()
