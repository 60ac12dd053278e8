"""Noises that two sensors have in common: over many recordings their correlation and its errors are right.

Sums of squared errors in units of their standard errors are chi-square; thresholds are those of a false-alarm rate of
1e-5 for each of four comparisons, both sides together. Seeds are fixed, all draws are exact.
"""

import itoscope as ito
import numpy as np
import pytest
from scipy.stats import chi2

ALPHA, SEEDS, N, DT = 1e-5, 10, 600, 0.1
NOISE = np.array([0.2, 0.3])


def _recording(correlation, seed):
    """A relaxing state by exact steps, rate 1.5 and Gamma 0.8, seen by two sensors."""
    rng, decay = np.random.default_rng(seed), np.exp(-1.5 * DT)
    x, spread = np.empty(N), np.sqrt(0.8 / 3.0)
    x[0] = spread * rng.standard_normal()
    for k in range(1, N):
        x[k] = decay * x[k - 1] + spread * np.sqrt(1.0 - decay**2) * rng.standard_normal()
    both = np.linalg.cholesky([[1.0, correlation], [correlation, 1.0]])
    return ito.Trajectories(
        x[:, None] + NOISE * (rng.standard_normal((N, 2)) @ both.T), dt=DT, names=["a", "b"]
    )


def _fitted(correlation, groups):
    return [
        ito.discover(
            _recording(correlation, seed), ito.Library.polynomials(1), observed={"a": "x1", "b": "x1"},
            exclude={"x1": ["1"]}, diffusion="constant", seed=1, n_chains=1, n_samples=200, **groups,
        )
        for seed in range(SEEDS)
    ]  # fmt: skip


def _scores(results, correlation):
    """Errors of the correlation on the scale of Fisher's z, and of Gamma, in standard errors."""
    found = []
    for result in results:
        pair = result.diagnostics["noise_correlation"][0]
        low, at, high = np.arctanh([pair["low"], pair["correlation"], pair["high"]])
        gamma = result.diffusion["x1", "x1"]
        found.append(
            [(at - np.arctanh(correlation)) * 2 * 1.96 / (high - low), (gamma.mean[0] - 0.8) / gamma.sd[0]]
        )
    return np.array(found)


@pytest.mark.parametrize("correlation", [0.6, 0.0])
def test_the_errors_of_a_correlation_are_as_large_as_is_said(correlation):
    results = _fitted(correlation, {"noise_groups": [("a", "b")]})
    low, high = chi2.ppf([ALPHA / 2, 1.0 - ALPHA / 2], SEEDS)
    for squares in (_scores(results, correlation) ** 2).sum(axis=0):
        assert low < squares < high


def test_what_sensors_have_in_common_is_taken_for_motion_by_independent_ones():
    """The control: Gamma of the same recordings is far off in the units of its errors."""
    gamma = [result.diffusion["x1", "x1"] for result in _fitted(0.6, {"measurement_noise": "estimate"})]
    squares = sum(((one.mean[0] - 0.8) / one.sd[0]) ** 2 for one in gamma)
    assert squares > 2.0 * chi2.isf(ALPHA / 2, SEEDS)
