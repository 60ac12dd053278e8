"""Marks of instruments: each is seen where it is, and not on a path without it."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.stats.marks import bursts, derivative_of, grid_step, smoothness, wrap_period

N = 5000


def walk(seed, n=N, rate=0.01):
    w = 0.1 * np.random.default_rng(seed).normal(size=n)
    x = np.zeros(n)
    for k in range(1, n):
        x[k] = (1 - rate) * x[k - 1] + w[k]
    return x


def ballistic(seed, n=N, fine=10):
    """Position and velocity every ten steps of 0.002."""
    rng, x, v = np.random.default_rng(seed), 0.0, 0.0
    out = np.empty((n, 2))
    for k in range(n):
        out[k] = x, v
        for w in np.sqrt(0.002) * rng.normal(size=fine):
            x, v = x + 0.002 * v, v - 0.002 * (4 * x + v / 2) + w
    return out


def test_a_grid_is_found_with_its_step():
    x = walk(1)
    assert grid_step([x]) == 0.0
    assert grid_step([0.25 * np.round(x / 0.25)]) == pytest.approx(0.25)
    assert grid_step([0.1 * np.round(x / 0.1), 0.1 * np.round(walk(2) / 0.1)]) == pytest.approx(0.1)
    holes = 0.25 * np.round(x / 0.25)
    holes[100:200] = np.nan
    assert grid_step([holes]) == pytest.approx(0.25)
    assert grid_step([np.zeros(10)]) == 0.0
    assert grid_step([np.r_[np.ones(9), 1 + 1e-15]]) == 0.0  # the values differ by their rounding


def test_a_wrap_is_told_from_a_wide_step():
    phase = np.cumsum(0.02 + 0.1 * np.random.default_rng(3).normal(size=N))
    wrapped = np.mod(phase, 2 * np.pi)
    period, times = wrap_period([wrapped])
    assert period == pytest.approx(2 * np.pi)
    assert times == np.count_nonzero(np.abs(np.diff(wrapped)) > np.pi)
    assert wrap_period([np.degrees(wrapped) - 180])[0] == 360.0
    assert wrap_period([phase]) == (0.0, 0)
    assert wrap_period([np.random.default_rng(4).uniform(0, 2 * np.pi, N)]) == (
        0.0,
        0,
    )  # white: all steps are wide


def test_outliers_come_back_and_jumps_stay():
    x = walk(5)
    assert len(bursts([x]).outliers) == len(bursts([x]).jumps) == 0
    y = x.copy()
    y[[100, 2000]] += 2.0
    found = bursts([walk(6), y])
    assert found.outliers.tolist() == [[1, 100], [1, 2000]] and not len(found.jumps)
    found = bursts([np.where(np.arange(N) < 1000, x, x + 3.0)])
    assert not len(found.outliers) and abs(found.jumps[0, 1] - 1000) <= 1


def test_a_noise_that_grows_is_no_burst():
    rng = np.random.default_rng(7)
    x = np.cumsum(np.exp(np.linspace(-3, 3, N)) * rng.normal(size=N))
    assert not len(bursts([x]).outliers) and not len(bursts([x]).jumps)


def test_a_derivative_of_somebody_is_told_by_the_positions():
    truth = ballistic(8)
    x = truth[:, 0] + 0.002 * np.random.default_rng(9).normal(size=N)
    made = np.convolve(np.gradient(x, 0.02), np.ones(7) / 7, "same")[5:-5]
    assert derivative_of([x[5:-5]], [made]) < 1e-6
    assert derivative_of([truth[:, 0]], [truth[:, 1]]) > 0.03
    assert derivative_of([x], [walk(10)]) == 1.0  # goes with nothing
    assert derivative_of([x], [3.0 * x]) == 1.0  # a copy is no derivative


def test_smooth_motion_is_told_by_its_neighbours():
    t = 0.02 * np.arange(N)
    assert smoothness([np.sin(t)]) < 1e-8 < 0.01 < smoothness([walk(11)])


@pytest.mark.parametrize(("rate", "damping"), [(1.0, 0.1), (31.6, 2.0)])
def test_a_velocity_that_was_measured_is_told_from_one_that_was_made(rate, damping):
    """Steps of a fast oscillation are hardly noise: against them all of it seems told."""
    swing = ito.SDE(["v", f"-{rate * rate}*x - {damping}*v"], [["0"], ["1"]], ["x", "v"])
    data = swing.simulate([0, 0], dt=0.03 / rate, n_steps=6000, substeps=10, scheme="taylor15", seed=1)
    x, v = data.paths[0].T
    assert derivative_of([x], [v]) == pytest.approx(0.13, abs=0.02)
    assert derivative_of([x], [np.gradient(x)]) < 1e-9
