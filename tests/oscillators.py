"""Oscillators of known stiffness and damping behind a displacement sensor: small recordings for tests of noisy fits."""

from functools import cache

import itoscope as ito
import numpy as np
from scipy.linalg import expm

STIFFNESS, DAMPING = 39.478, 0.2513
"""One turn a second, damping of 2 %; the force has unit strength."""


@cache
def recording(seed, per_turn, *, noise=0.02, duration=60.0):
    """Displacement `(n, 1)` with `noise` of its spread, the step, and the standard deviation of the noise."""
    model = ito.SDE(["v", f"-{STIFFNESS} x - {DAMPING} v"], [["0"], ["1"]], ["x", "v"])
    dt = 1.0 / per_turn
    path = model.simulate([0, 0], dt=dt, n_steps=int(duration / dt), substeps=50, seed=seed).paths[0]
    x, level = path[:, :1], noise * path[:, 0].std()
    return x + level * np.random.default_rng(seed).standard_normal(x.shape), dt, level


@cache
def coarse(seed, radians, n, *, damping=0.05, noise=0.02):
    """Displacement `(n, 1)` of a stationary oscillator of 1 rad/s by exact transitions, and its noise."""
    a, force = np.array([[0.0, 1.0], [-1.0, -2.0 * damping]]), np.diag([0.0, 1.0])
    block = expm(np.block([[-a, force], [np.zeros((2, 2)), a.T]]) * radians)
    step = block[2:, 2:].T
    low, rng = np.linalg.cholesky(step @ block[:2, 2:]), np.random.default_rng(seed)
    spread = np.sqrt(0.25 / damping)
    states = [spread * rng.standard_normal(2)]
    for kick in rng.standard_normal((n - 1, 2)) @ low.T:
        states.append(step @ states[-1] + kick)
    return np.array(states)[:, :1] + noise * spread * rng.standard_normal((n, 1)), noise * spread


def fitted(y, dt, noise, **more):
    """Discovery of a linear oscillator with constant forcing."""
    settings = dict(order=2, diffusion="constant", seed=1, n_samples=300) | more
    return ito.discover(y, ito.Library.polynomials(1), dt=dt, measurement_noise=noise, **settings)
