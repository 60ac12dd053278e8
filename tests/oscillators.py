"""Oscillators of known stiffness and damping behind a displacement sensor: small recordings for tests of noisy fits."""

from functools import cache

import itoscope as ito
import numpy as np

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


def fitted(y, dt, noise, **more):
    """Discovery of a linear oscillator with constant forcing."""
    settings = dict(order=2, diffusion="constant", seed=1, n_samples=300) | more
    return ito.discover(y, ito.Library.polynomials(1), dt=dt, measurement_noise=noise, **settings)
