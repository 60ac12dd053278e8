"""Hundreds of small chains at once in NumPy, in the valid order of a sweep and in the paper's.

Written for the tests alone: the paper's order does not have the posterior as its stationary law.
"""

import math

import numpy as np
from itoscope.backends.reference.evidence import Regression


def sweep_many(data, prior, *, order, n_chains, n_burn, n_sweeps, seed):
    """Per chain the mean of `p(Z_k = 1 | rest)` over `n_sweeps` sweeps, `(n_chains, K)`.

    A model is a mask z: with ``M = diag(z) G diag(z) + I/v`` the excluded columns contribute ``1/v`` each to the
    determinant and nothing else, so all chains go through one batched Cholesky factorisation.
    """
    regression, rng = Regression(data, prior), np.random.default_rng(seed)
    gram, moment, yy, k = regression.gram, regression.moment, regression.yy, regression.n_usable

    def factor(z, v):
        system = z[:, :, None] * gram * z[:, None, :] + np.eye(k) / v[:, None, None]
        lower = np.linalg.cholesky(system)
        half = np.linalg.solve(lower, (z * moment)[:, :, None])[:, :, 0]
        return lower, half, prior.b_s + 0.5 * (yy - (half**2).sum(axis=1))

    def log_evidence(z, v):
        lower, _, energy = factor(z, v)
        log_det = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return -0.5 * k * np.log(v) - log_det - regression.power * np.log(energy)

    def draw_theta(lower, half, z, s2):
        noise = half + np.sqrt(s2)[:, None] * rng.normal(size=z.shape)
        return z * np.linalg.solve(np.swapaxes(lower, 1, 2), noise[:, :, None])[:, :, 0]

    def draw_v(theta, z, s2):
        shape = prior.a_v + 0.5 * z.sum(axis=1)
        return (prior.b_v + 0.5 * (theta**2).sum(axis=1) / s2) / rng.standard_gamma(shape)

    z = (rng.random((n_chains, k)) < 0.3).astype(float)
    v, p0 = np.full(n_chains, prior.slab_start), np.full(n_chains, prior.p0_start)
    theta, total = np.zeros((n_chains, k)), np.zeros((n_chains, k))
    for sweep in range(n_burn + n_sweeps):
        for j in range(k):
            inside, outside = z.copy(), z.copy()
            inside[:, j], outside[:, j] = 1, 0
            odds = log_evidence(inside, v) - log_evidence(outside, v) + np.log(p0) - np.log1p(-p0)
            probability = 1 / (1 + np.exp(np.minimum(-odds, 700)))
            z[:, j] = rng.random(n_chains) < probability
            if sweep >= n_burn:
                total[:, j] += probability
        lower, half, energy = factor(z, v)
        s2 = energy / rng.standard_gamma(regression.power, n_chains)

        if order == "valid":
            theta = draw_theta(lower, half, z, s2)
            v = draw_v(theta, z, s2)
        elif order == "paper":
            v = draw_v(theta, z, s2)
            theta = draw_theta(*factor(z, v)[:2], z, s2)
        else:
            raise ValueError(order)
        size = z.sum(axis=1)
        p0 = np.clip(rng.beta(prior.a_p + size, prior.b_p + k - size), 1e-300, 1 - 1e-16)
    assert math.isfinite(total.sum())
    return total / n_sweeps
