"""Chains against the exact posterior of all models; what breaks them breaks the check."""

import numpy as np
import pytest
from hard_problems import hard_problems
from itoscope import Prior
from itoscope.backends import get_backend
from itoscope.backends.records import Sweeps
from itoscope.stats.convergence import mcse_mean
from parallel_chains import sweep_many
from regressions import exact_pip, moments_of, random_regression

rust = get_backend("rust")

# |error| <= 4 Monte Carlo errors: 400 comparisons of normal errors exceed that once in 40 runs of new seeds, and the
# seeds are fixed. A chain of n draws cannot see less than 1/n, so no Monte Carlo error is taken to be smaller.
ERRORS = 4.0

RANDOM = [
    random_regression(100 + seed, k=8 + seed % 5, r=2 + seed % 3, noise=0.6 + 0.2 * (seed % 3))
    for seed in range(10)
]
HARD = hard_problems()


def errors(inclusion, exact):
    """The largest error of an inclusion probability `(chain, draw, K)`, in Monte Carlo errors."""
    n = inclusion.shape[0] * inclusion.shape[1]
    mcse = np.maximum(mcse_mean(inclusion), 1 / n)
    return float(np.max(np.abs(inclusion.mean(axis=(0, 1)) - exact) / mcse))


def chains(data, prior, *, exchanges=1, n_samples=4000, seed=1):
    return rust.sample_chains(
        data,
        prior,
        Sweeps(n_samples, n_burn=1000, exchanges=exchanges),
        n_chains=4,
        seed=seed,
        progress=None,
    )


@pytest.mark.parametrize("data", RANDOM)
def test_four_chains_on_a_random_problem(data):
    exact = exact_pip(rust.enumerate_models(data, Prior(), progress=None))
    assert (np.abs(exact - 0.5) < 0.49).any(), "the problem is too easy to tell anything"
    assert errors(chains(data, Prior()).inclusion, exact) < ERRORS


@pytest.mark.parametrize("order", ["valid", "paper"])
def test_the_order_of_the_paper_has_another_stationary_law(order):
    """v redrawn with the coefficients of the sweep before (the paper) fails what the valid order passes."""
    rng, prior = np.random.default_rng(6), Prior()
    x = rng.normal(size=(8, 6))
    data = moments_of(x, x[:, 0] + 0.5 * rng.normal(size=8))
    exact = exact_pip(rust.enumerate_models(data, prior, progress=None))
    means = sweep_many(data, prior, order=order, n_chains=600, n_burn=40, n_sweeps=300, seed=2)
    mcse = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    worst = np.max(np.abs(means.mean(axis=0) - exact) / mcse)
    assert worst < ERRORS if order == "valid" else worst > ERRORS, worst


@pytest.fixture(scope="module")
def hard_exact():
    return {
        name: exact_pip(rust.enumerate_models(data, prior, progress=None))
        for name, (data, prior) in HARD.items()
    }


@pytest.mark.parametrize("name", HARD)
def test_every_chain_on_a_hard_problem(name, hard_exact):
    data, prior = HARD[name]
    inclusion = chains(data, prior).inclusion
    worst = [errors(inclusion[[i]], hard_exact[name]) for i in range(4)]
    assert max(worst) < ERRORS, worst


def test_without_exchanges_at_least_three_hard_problems_fail(hard_exact):
    failed = []
    for name, (data, prior) in HARD.items():
        inclusion = chains(data, prior, exchanges=0).inclusion
        if max(errors(inclusion[[i]], hard_exact[name]) for i in range(4)) > ERRORS:
            failed.append(name)
    assert len(failed) >= 3, failed
