"""The Ljung-Box test of all lags together."""

import numpy as np
import pytest
from itoscope.stats.whiteness import lagged_products, ljung_box


def test_its_p_value_is_the_tail_of_the_chi_square_law():
    """With four lags the tail beyond q is exp(-q/2) (1 + q/2)."""
    rho, n = np.array([0.1, -0.05, 0.02, 0.0]), 400
    pairs = n - np.arange(1.0, 5.0)
    statistic, p = ljung_box(rho, n**2 / pairs, n)
    assert statistic == pytest.approx(n * (n + 2) * np.sum(rho**2 / pairs))
    assert p == pytest.approx(np.exp(-statistic / 2) * (1 + statistic / 2))
    assert ljung_box(np.zeros(4), pairs, n) == (0.0, pytest.approx(1.0))
    assert ljung_box(np.full(4, 0.9), np.full(4, 1e9), 10**9)[1] == 0.0


def test_false_alarms_are_as_many_as_declared():
    """Of 2000 series of white noise a tenth is below 0.1: five standard errors of that share."""
    rng, found = np.random.default_rng(1), []
    for _ in range(2000):
        z = rng.normal(size=300)
        sums, pairs = lagged_products(z, np.zeros(300, dtype=int), 10)
        found.append(ljung_box(sums / pairs / z.var(), pairs, 300)[1])
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 2000))
