"""All states of a motion without noise of its own are of first order, however smooth; positions are not."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import closure

RNG = np.random.default_rng(3)


def _lorenz(n=4000, dt=0.005):
    def rate(s):
        return np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])

    path = [np.array([-8.0, 8.0, 27.0])]
    for _ in range(n):
        s = path[-1]
        a = rate(s)
        b = rate(s + dt / 2 * a)
        c = rate(s + dt / 2 * b)
        path.append(s + dt / 6 * (a + 2 * b + 2 * c + rate(s + dt * c)))
    return np.array(path), dt


@pytest.mark.parametrize(("noise", "asked"), [(0.0, {}), (0.05, {"measurement_noise": "estimate"})])
def test_states_of_an_ordinary_differential_equation_are_no_positions(noise, asked):
    path, dt = _lorenz()
    seen = ito.advise(path + noise * path.std(axis=0) * RNG.standard_normal(path.shape), dt=dt)
    assert seen.order.order == 1 and "tell their own rates of change" in seen.order.reason
    assert seen.settings == asked
    # one of its columns tells nothing of its own rate
    assert ito.classify_order(path[:, :1], dt=dt).order == 2


@pytest.mark.parametrize("seed", range(3))
def test_positions_that_noise_drives_stay_positions(seed):
    rows = ["v1", "v2", "-40*x1 + 10*x2 - 0.8*v1", "10*x1 - 30*x2 - 0.8*v2"]
    gamma = [["0"] * 4, ["0"] * 4, ["0", "0", "3", "0"], ["0", "0", "0", "3"]]
    model = ito.SDE(rows, gamma=gamma, states=["x1", "x2", "v1", "v2"])
    path = model.simulate([0.1, 0, 0, 0], dt=0.02, n_steps=4000, substeps=10, seed=seed).paths[0][:, :2]
    assert ito.advise(path, dt=0.02).settings == {"order": 2, "measurement_noise": "estimate"}


def test_of_long_recordings_a_part_is_looked_at(monkeypatch):
    monkeypatch.setattr(closure, "MOST", 1500)
    times = [0.1 * np.arange(1000), 5.0 + 0.1 * np.arange(2000)]
    paths = [np.column_stack([np.cos(t), -np.sin(t)]) for t in times]
    assert closure.is_closed(paths, times)
    assert not closure.is_closed([path[:, :1] for path in paths], times)
