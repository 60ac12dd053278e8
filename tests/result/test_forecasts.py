"""Forecasts: bands over the paths that are still there, at every time."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.result.forecast import summed_up

RNG = np.random.default_rng(1)


def ensemble(lengths):
    paths = [RNG.normal(size=(n, 2)) for n in lengths]
    lost = [k for k, n in enumerate(lengths) if n < max(lengths)]
    return ito.Trajectories(paths, dt=0.1, names=["a", "b"], diverged=lost)


def test_bands_go_on_over_the_paths_that_are_left():
    paths = ensemble([50, 20, 50, 35, 50])
    found = summed_up(paths, (0.5, 0.9))
    assert len(found.times) == 50 and found.bands[0.9].shape == (50, 2, 2)
    assert found.alive.tolist() == [5] * 20 + [4] * 15 + [3] * 15
    for time, alive in ((0, range(5)), (19, range(5)), (20, (0, 2, 3, 4)), (49, (0, 2, 4))):
        here = np.stack([paths.paths[k][time] for k in alive])
        np.testing.assert_allclose(found.mean[time], here.mean(axis=0))
        np.testing.assert_allclose(found.sd[time], here.std(axis=0))
        np.testing.assert_allclose(found.bands[0.5][time, :, 1], np.quantile(here, 0.75, axis=0))
    assert "5 paths (2 of them left the finite range on the way), 50 times" in repr(found)


def test_an_ensemble_that_holds_is_summed_up_as_one():
    paths = ensemble([30] * 4)
    found = summed_up(paths, (0.9,))
    whole = np.stack(paths.paths)
    np.testing.assert_array_equal(found.mean, whole.mean(axis=0))
    np.testing.assert_array_equal(found.bands[0.9][..., 0], np.quantile(whole, (1 - 0.9) / 2, axis=0))
    assert (found.alive == 4).all() and "left" not in repr(found)


def test_a_forecast_that_explodes_in_part_runs_to_its_end():
    """A cubic that runs away from beyond 2: some paths do, the others are foretold to the end."""
    rng = np.random.default_rng(2)
    x = np.zeros((20_000, 1))
    for k in range(1, len(x)):
        x[k] = x[k - 1] - 3 * x[k - 1] / (1 + x[k - 1] ** 2) * 0.01 + 0.1 * rng.normal()
    result = ito.discover(ito.Trajectories(x, dt=0.01), ito.Library.expressions("x1", "x1^3"), seed=1)
    with pytest.warns(RuntimeWarning, match="left the finite range"):
        found = result.forecast([1.2 * np.abs(x).max()], duration=20.0, n_paths=40, seed=1)
    assert 0 < found.alive[-1] < 40 and len(found.times) == 2001
    assert np.isfinite(found.mean).all() and np.isfinite(found.bands[0.9]).all()
