"""Squared increments at short lags: noise, averages and coarse steps make what the formulas say."""

import numpy as np
import pytest
from itoscope.stats.variogram import steps_are_white, variogram

N = 40_000


def linear(seed, keep, n=N):
    """A linear process with steps of one unit that keeps this share of itself in each, exactly."""
    w = np.sqrt(1 - keep**2) * np.random.default_rng(seed).normal(size=n)
    x = np.zeros(n)
    for k in range(1, n):
        x[k] = keep * x[k - 1] + w[k]
    return x


def test_a_clean_path_has_neither_noise_nor_a_bend():
    found = variogram([linear(1, 0.99)])
    assert abs(found.errors) < 3 and abs(found.share) < 0.05 and abs(found.bend) < 0.06
    assert found.keep == pytest.approx([0.99] * 3, abs=0.005) and found.moves == pytest.approx(
        0.01, abs=0.005
    )


def test_the_level_of_the_noise_is_found_beside_the_motion():
    noise = np.random.default_rng(2).normal(size=N)
    x = linear(3, 0.99)
    for sd in (0.1, 0.5, 2.0):
        found = variogram([x + sd * noise])
        assert found.noise == pytest.approx(sd, rel=0.1) and found.errors > 5


def test_averages_over_the_step_take_a_third_of_it_away():
    fine = linear(4, 0.999, 20 * N)
    found = variogram([fine.reshape(N, 20).mean(axis=1)])
    assert found.share == pytest.approx(-0.5, abs=0.08) and found.errors < -5 and abs(found.bend) < 0.06


def test_a_coarse_step_forgets_alike_at_all_lags():
    found = variogram([linear(5, 0.5)])
    assert found.keep[:2] == pytest.approx([0.5, 0.5], abs=0.03)
    noisy = variogram([linear(5, 0.99) + np.random.default_rng(6).normal(size=N)])
    assert noisy.keep[0] < 0.6 and noisy.keep[1] > 0.9


def test_gaps_paths_and_short_recordings():
    x = linear(7, 0.99) + 0.3 * np.random.default_rng(8).normal(size=N)
    x[::50] = np.nan
    assert variogram([x[:15_000], x[15_000:]]).noise == pytest.approx(0.3, rel=0.1)
    assert variogram([x[:30]]) is None
    assert variogram([np.zeros(1000)]) is None


def _correlated(seed, forget, n=20_000):
    """A velocity that forgets this share of itself in a sample."""
    rng = np.random.default_rng(seed)
    v, pushes = np.zeros(n), rng.normal(size=n)
    for k in range(1, n):
        v[k] = (1 - forget) * v[k - 1] + pushes[k] * np.sqrt(1 - (1 - forget) ** 2)
    return v


def test_steps_of_a_state_beside_a_slow_one_are_white_and_those_of_positions_are_not():
    rng = np.random.default_rng(1)
    slow = np.cumsum(_correlated(1, 0.02))
    own = np.cumsum(_correlated(1, 0.02) + 0.9 * rng.normal(size=20_000))
    assert steps_are_white([own])
    assert not steps_are_white([slow])
    assert not steps_are_white([slow + 0.7 * rng.normal(size=20_000)])  # the same share, of the sensor
    for forget in (0.1, 0.3, 0.5):
        assert not steps_are_white([np.cumsum(_correlated(2, forget))])
    assert not steps_are_white([np.sin(2 * np.pi * np.arange(20_000) / 9.3)])
    assert not steps_are_white([own[:100]])
