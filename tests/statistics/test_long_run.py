"""Long runs reach the stationary laws that are known in closed form."""

import itertools

import numpy as np
from itoscope import problems


def test_stationary_variance_of_the_ornstein_uhlenbeck_process(backend):
    theta, sigma = 1.5, 0.8
    problem = problems.ornstein_uhlenbeck(theta=theta, mu=0.3, sigma=sigma, x0=[0.3])
    data = problem.simulate(duration=8, dt=0.02, n_paths=4000, keep_every=100, seed=3, backend=backend)
    x = np.array([path[-1, 0] for path in data.paths])  # independent, and stationary up to exp(-24)
    variance = sigma**2 / (2 * theta)
    # Both statistics lie within 4 standard errors; missed once in 8000 runs. The scheme itself is off by
    # 1e-4.
    assert abs(x.mean() - 0.3) < 4 * np.sqrt(variance / 4000)
    assert abs(x.var() / variance - 1) < 4 * np.sqrt(2 / 4000)


def test_stationary_covariance_of_two_states(backend):
    a, gamma = np.array([[1.0, -0.5], [0.8, 1.5]]), np.array([[0.5, 0.2], [0.2, 0.3]])
    problem = problems.ornstein_uhlenbeck_2d(a=a, gamma=gamma)
    data = problem.simulate(duration=8, dt=0.02, n_paths=4000, keep_every=100, seed=4, backend=backend)
    x = np.array([path[-1] for path in data.paths])
    # Lyapunov: a S + S a^T = gamma
    lyapunov = np.kron(a, np.eye(2)) + np.kron(np.eye(2), a)
    expected = np.linalg.solve(lyapunov, gamma.ravel()).reshape(2, 2)
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 4000)
    assert np.all(np.abs(np.cov(x.T) - expected) < 4 * error)


def occupation(gamma0, gamma2, edges):
    """Share of time of the double well with Ito noise in each bin: exp(int 2 f / Gamma) / Gamma,
    normalised."""
    x = np.linspace(-6, 6, 24001)
    slope = 2 * (x - x**3) / (gamma0 + gamma2 * x**2)
    exponent = np.concatenate([[0], np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(x))])
    density = np.exp(exponent - exponent.max()) / (gamma0 + gamma2 * x**2)
    share = np.array([density[(a <= x) & (x < b)].sum() for a, b in itertools.pairwise(edges)])
    return share / density.sum()


EDGES = np.array([-6, -1.2, -0.8, -0.4, 0, 0.4, 0.8, 1.2, 6])


def double_well_counts(backend, seed):
    """Where 4000 paths of the double well, started in both wells, are after 8 time units."""
    problem = problems.double_well(gamma0=0.5, gamma2=0.3)
    starts = np.where(np.arange(4000) % 2, 0.9, -0.9)[:, None]
    data = problem.simulate(
        duration=8, dt=0.02, n_paths=4000, keep_every=100, seed=seed, x0=starts, backend=backend
    )
    counts, _ = np.histogram([path[-1, 0] for path in data.paths], EDGES)
    return counts


def chi_square(counts, shares):
    expected = counts.sum() * shares
    return ((counts - expected) ** 2 / expected).sum()


# Quantile 0.9999 of chi-square with 7 degrees of freedom: missed once in 10000 runs.
LIMIT = 29.88


def test_occupation_of_the_double_well(backend):
    counts = double_well_counts(backend, seed=5)
    assert chi_square(counts, occupation(0.5, 0.3, EDGES)) < LIMIT
    # Negative control: another noise has another density.
    assert chi_square(counts, occupation(0.65, 0.0, EDGES)) > LIMIT
