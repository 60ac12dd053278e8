"""How noisy each column is: by column, by sample, several sensors of one state."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.errors import with_errors
from itoscope.fit.sensors.levels import check_noise, levels

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)


def _trap(n=1200, seed=3):
    model = ito.SDE(["-1.5*x1"], [["0.9"]], ["x1"])
    return model.simulate([0.3], dt=0.05, n_steps=n, substeps=20, seed=seed).paths[0][:, 0]


def _two_sensors(n=1200):
    x, rng = _trap(n), np.random.default_rng(1)
    laser = x + 0.02 * rng.standard_normal(len(x))
    camera = x + 0.15 * rng.standard_normal(len(x))
    camera[np.arange(len(x)) % 3 != 0] = np.nan
    return ito.Trajectories(np.column_stack([laser, camera]), dt=0.05, names=["laser", "camera"])


def _fixes(seed=2):
    """Half of the fixes are twenty times as good as the others."""
    x, rng = _trap(), np.random.default_rng(seed)
    errors = np.where(rng.random(len(x)) < 0.5, 0.02, 0.4)
    return ito.Trajectories(x + errors * rng.standard_normal(len(x)), dt=0.05, names=["x1"]), errors


def test_levels_of_the_columns():
    assert levels(["a", "b"], None, True, None) == ("estimate", "estimate")
    assert levels(["a", "b"], None, False, None) == (0.0, 0.0)
    assert levels(["a", "b"], 0.3, False, None) == (0.3, 0.3)
    assert levels(["a", "b"], {"b": 0.3}, False, None) == ("estimate", 0.3)
    with pytest.raises(ArgumentError, match="measurement_noise = 'c': a column of the data: a, b"):
        levels(["a", "b"], {"c": 0.3}, False, None)


@pytest.mark.parametrize("wrong", [-1.0, "much", np.inf, {"a": -1.0}])
def test_levels_that_are_none(wrong):
    with pytest.raises(ArgumentError, match="measurement_noise"):
        check_noise(wrong)


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        (np.ones(7), r"array of shape \(7,\)': \(8,\), one for each sample"),
        (np.zeros(8), "0.0 at sample 0.: positive"),
        ([np.ones(8), np.ones(8)], "one for each|2 arrays"),
        (["much"] * 8, "numbers"),
    ],
)
def test_errors_that_do_not_fit_the_samples(errors, words):
    data = ito.Trajectories(np.arange(8.0) ** 2, dt=0.1)
    with pytest.raises(ArgumentError, match=words):
        with_errors(data, {"x1": errors})


def test_errors_go_with_their_samples():
    y = np.arange(8.0) ** 2
    y[3] = np.nan
    errors = np.array([1.0, 2.0, 1.0, np.nan, 1.0, 3.0, 1.0, 1.0])
    data = with_errors(ito.Trajectories([y, y], dt=0.1), {"x1": [errors, 2 * errors]})
    squares = np.delete(errors, 3) ** 2
    level = np.mean([squares, 4 * squares])
    assert data.errors.level[0] == pytest.approx(np.sqrt(level))
    assert data.errors.at(1, data.times[1])[5, 0] == pytest.approx(36.0 / level)
    assert data.errors.at(0, data.times[0])[3, 0] == 1.0
    rest = data[1:].split(0.5, by="time")[1]
    np.testing.assert_allclose(
        rest.errors.at(0, rest.times[0])[:, 0], np.array([4.0, 36.0, 4.0, 4.0]) / level
    )


def test_two_sensors_of_one_state_at_their_own_rates():
    result = ito.discover(
        _two_sensors(),
        LINEAR,
        observed={"laser": "x1", "camera": "x1"},
        measurement_noise={"laser": 0.02, "camera": "estimate"},
        **SHORT,
    )
    assert result.states == ("x1",)
    found = result.diagnostics["measurement_noise"]
    assert found["laser"] == {"sd": 0.02, "low": 0.02, "high": 0.02}
    assert found["camera"]["low"] < 0.15 < found["camera"]["high"]
    assert result.settings["measurement_noise"] == {"laser": 0.02, "camera": "estimate"}


def test_exact_columns_that_follow_from_each_other_are_refused():
    data = _two_sensors(50)
    with pytest.raises(ArgumentError, match="none follows"):
        ito.discover(data, LINEAR, observed={"laser": "x1", "camera": "x1"}, measurement_noise=0.0, **SHORT)


def test_errors_of_the_samples_sharpen_the_answer_and_survive_saving(tmp_path):
    data, errors = _fixes()
    told = ito.discover(data, LINEAR, measurement_noise={"x1": errors}, **SHORT)
    blind = ito.discover(data, LINEAR, measurement_noise="estimate", **SHORT)
    gamma = told.diffusion["x1", "x1"]
    assert gamma.interval(0.95)[0][0] < 0.81 < gamma.interval(0.95)[0][1]
    assert gamma.sd[0] < 0.75 * blind.diffusion["x1", "x1"].sd[0]
    told.save(tmp_path / "fixes.json")
    again = ito.Discovery.load(tmp_path / "fixes.json")
    here, there = told.smoothed(), again.smoothed(told.data)
    np.testing.assert_allclose(there.mean[0], here.mean[0], rtol=1e-12)
    good = errors == 0.02
    assert here.sd[0][good].mean() < 0.7 * here.sd[0][~good].mean()
