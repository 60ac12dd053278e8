"""Simulation-based calibration: over parameters drawn from the prior, the truth has a uniform rank among the draws.

Talts, Betancourt, Simpson, Vehtari and Gelman (2018). The quick form runs with the other tests, the full one with
the slow ones; both have a negative control, a sampler that believes in another prior.
"""

import math

import numpy as np
import pytest
from itoscope import Prior
from itoscope.backends import get_backend
from itoscope.backends.records import Sweeps
from regressions import moments_of

rust = get_backend("rust")

K, N, BINS, DRAWS, THIN = 6, 40, 10, 99, 10

# Priors with moments; scaling would make the prior depend on the data, so it is off.
PRIOR = Prior(a_p=2, b_p=3, a_v=3, b_v=2, a_s=4, b_s=3, standardize=False)
WRONG = Prior(a_p=2, b_p=3, a_v=3, b_v=2, a_s=4, b_s=6, standardize=False)

# Ranks of the coefficients are broken at random between draws that are equal (zero, mostly): still uniform.
QUANTITIES = [*(f"theta_{k}" for k in range(K)), "size", "log s2", "log v", "p0"]

# Chi-square with 9 degrees of freedom for each of 10 quantities; 1e-5 each makes 1e-4 for one run.
FALSE_ALARM = 1e-5


def chi_square_tail(x, half_degrees=(BINS - 1) / 2):
    """P(chi-square > x) for 9 degrees of freedom, by the recurrence of the incomplete gamma function."""
    half = x / 2
    tail, term = math.erfc(math.sqrt(half)), math.sqrt(half) * math.exp(-half) / math.gamma(1.5)
    for i in range(int(half_degrees)):
        tail += term
        term *= half / (i + 1.5)
    return tail


def ranks(prior, n_simulations, seed):
    """Rank of the truth among the draws, `(n_simulations, quantities)`, the sampler believing in `prior`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, K))
    x[:, -1] = x[:, 0] + 0.3 * rng.normal(size=N)
    out = np.empty((n_simulations, len(QUANTITIES)), dtype=int)
    for i in range(n_simulations):
        p0 = rng.beta(PRIOR.a_p, PRIOR.b_p)
        v = PRIOR.b_v / rng.gamma(PRIOR.a_v)
        s2 = PRIOR.b_s / rng.gamma(PRIOR.a_s)
        z = rng.random(K) < p0
        theta = z * rng.normal(size=K) * math.sqrt(s2 * v)
        y = x @ theta + math.sqrt(s2) * rng.normal(size=N)
        chain = rust.sample_chains(
            moments_of(x, y),
            prior,
            Sweeps(DRAWS, n_burn=100, thin=THIN),
            n_chains=1,
            seed=i,
            progress=None,
        )
        draws = np.column_stack(
            [
                chain.samples[0],
                chain.included[0].sum(axis=1),
                np.log(chain.noise_var[0]),
                np.log(chain.slab_var[0]),
                chain.p0[0],
            ]
        )
        truth = np.array([*theta, z.sum(), math.log(s2), math.log(v), p0])
        below, equal = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
        out[i] = below + rng.integers(0, equal + 1)
    return out


def smallest_p_value(found):
    """The smallest p-value of uniformity over the quantities, and its name."""
    expected = len(found) / BINS
    p_values = []
    for column in found.T:
        counts = np.bincount(column * BINS // (DRAWS + 1), minlength=BINS)
        p_values.append(chi_square_tail(((counts - expected) ** 2).sum() / expected))
    worst = int(np.argmin(p_values))
    return p_values[worst], QUANTITIES[worst]


def test_the_tail_of_chi_square():
    assert chi_square_tail(16.919) == pytest.approx(0.05, abs=1e-4)
    assert chi_square_tail(39.341) == pytest.approx(1e-5, rel=0.01)


@pytest.mark.parametrize("n_simulations", [500, pytest.param(5000, marks=pytest.mark.slow)])
def test_ranks_are_uniform(n_simulations):
    p_value, name = smallest_p_value(ranks(PRIOR, n_simulations, seed=1))
    assert p_value > FALSE_ALARM, name


def test_a_wrong_prior_shows():
    assert smallest_p_value(ranks(WRONG, 500, seed=1))[0] < FALSE_ALARM


@pytest.mark.parametrize("n", [6, 50])
def test_intervals_cover_what_they_say(n):
    """Given the model, over data drawn from the prior, 95 % and 50 % intervals cover 95 % and 50 %.

    Each count is binomial; 4.9 standard deviations have a false-alarm rate of 1e-6, and there are 4.
    """
    from itoscope.stats.student import student_quantile

    prior, rng, simulations = (
        Prior(a_v=3, b_v=2, a_s=4, b_s=3, standardize=False),
        np.random.default_rng(3),
        2000,
    )
    x = rng.normal(size=(n, 2))
    included, degrees = np.ones(2, dtype=bool), 2 * prior.a_s + n
    inside = {0.5: 0, 0.95: 0}
    for _ in range(simulations):
        v, s2 = prior.b_v / rng.gamma(prior.a_v), prior.b_s / rng.gamma(prior.a_s)
        theta = rng.normal(size=2) * math.sqrt(s2 * v)
        y = x @ theta + math.sqrt(s2) * rng.normal(size=n)
        _, mean, cov = rust.model_posterior(moments_of(x, y), prior, included)
        for probability in inside:
            t = student_quantile(0.5 * (1 + probability), degrees) * math.sqrt((degrees - 2) / degrees)
            inside[probability] += abs(theta[0] - mean[0]) <= t * math.sqrt(cov[0, 0])
    for probability, count in inside.items():
        spread = math.sqrt(probability * (1 - probability) / simulations)
        assert abs(count / simulations - probability) < 4.9 * spread, (probability, count / simulations)
