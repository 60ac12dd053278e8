"""Regressions that the tests of the sampler share."""

import numpy as np
from itoscope.stats.quadratic import Quadratic


def moments_of(x, y):
    return Quadratic(x.T @ x, x.T @ y, float(y @ y), float(len(y)))


def random_regression(seed, *, n=200, k=8, r=3, collinear=True, noise=1.0):
    """Normal columns, the first `r` true with coefficients around 0.3; some columns nearly copy others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    if collinear:
        x[:, -1] = x[:, 0] + 0.2 * rng.normal(size=n)
        x[:, -2] = x[:, 1] - x[:, 2] + 0.3 * rng.normal(size=n)
    y = x[:, :r] @ rng.normal(0.3, 0.2, size=r) + noise * rng.normal(size=n)
    return moments_of(x, y)


def exact_pip(log_mass):
    """Inclusion probabilities from the log mass of every model."""
    k = int(np.log2(log_mass.size))
    mass = np.exp(log_mass - log_mass.max())
    models = np.arange(mass.size)
    return np.array([mass[models >> j & 1 == 1].sum() for j in range(k)]) / mass.sum()
