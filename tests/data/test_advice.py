"""Recordings mended as an advice says."""

import numpy as np
from itoscope import Trajectories
from itoscope.data.advice import Advice


def mended(data, **recording):
    return Advice("cause", "x", "sentence", recording=recording).mend(data)


def test_angles_are_unwrapped_over_gaps():
    phase = np.linspace(0, 50, 400)
    wrapped = np.mod(phase, 2 * np.pi)
    wrapped[100:103] = np.nan
    data = Trajectories(np.stack([wrapped, phase], axis=1), dt=0.1, names=["x", "y"])
    found = mended(data, unwrap={"x": 2 * np.pi}).paths[0]
    there = np.isfinite(wrapped)
    np.testing.assert_allclose(found[there, 0], phase[there], atol=1e-9)
    assert np.isnan(found[100:103, 0]).all()
    np.testing.assert_array_equal(found[:, 1], phase)


def test_outliers_are_missing_and_jumps_end_a_path():
    x = 0.1 * np.cumsum(np.random.default_rng(1).normal(size=1000))
    spoiled = x.copy()
    spoiled[400] += 3
    found = mended(Trajectories(spoiled, dt=0.5, names=["x"]), blank=["x"])
    assert np.isnan(found.paths[0][400, 0]) and np.isnan(found.paths[0]).sum() == 1 and found.dt == 0.5
    jumped = np.where(np.arange(1000) < 600, x, x + 4)
    found = mended(Trajectories(jumped, dt=0.5, names=["x"]), split=["x"])
    assert found.n_paths == 2 and found.dt == 0.5
    assert max(np.abs(np.diff(path[:, 0])).max() for path in found.paths) < 1
    assert sum(len(path) for path in found.paths) >= 995


def test_columns_and_steps():
    data = Trajectories(np.random.default_rng(2).normal(size=(90, 2)), dt=0.1, names=["x", "v"])
    found = mended(data, select=["x"], thin=3)
    assert found.names == ("x",) and len(found.paths[0]) == 30
    assert mended(data) is data
