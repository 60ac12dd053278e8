"""`.ito` on tables and arrays of other packages."""

import itoscope as ito
import numpy as np
import pytest

WALK = np.cumsum(np.random.default_rng(1).normal(size=(400, 2)), axis=0)
QUICK = {"n_samples": 100, "n_burn": 50, "n_chains": 1, "seed": 1}


def test_frames_and_series_of_pandas():
    pd = pytest.importorskip("pandas")
    import itoscope.pandas  # noqa: F401

    frame = pd.DataFrame(WALK, columns=["x [µm]", "y [µm]"]).assign(frame=np.arange(400))
    data = frame.ito.trajectories(fps=25)
    assert data.names == ("x", "y") and data.dt == 0.04 and data.units == ("µm", "µm")
    assert frame["x [µm]"].ito.trajectories(dt=0.5).dt == 0.5
    assert "itoscope.discover(" in str(frame.ito.advise(fps=25))
    with pytest.raises(ito.errors.ArgumentError, match="columns = 'z'"):
        frame.ito.trajectories(columns=["z"], fps=25)


def test_a_discovery_takes_settings_of_both():
    pd = pytest.importorskip("pandas")
    import itoscope.pandas  # noqa: F401

    frame = pd.DataFrame(WALK, columns=["x", "y"])
    found = frame.ito.discover(ito.Library.polynomials(1), columns=["y"], dt=0.1, **QUICK)
    same = ito.discover(WALK[:, 1:], ito.Library.polynomials(1), dt=0.1, **QUICK)
    assert found.states == ("y",) and found.settings["seed"] == 1
    np.testing.assert_array_equal(found.drift["y"].mean, same.drift["x1"].mean)
    with pytest.raises(TypeError, match="librari"):
        frame.ito.discover(librari=None, dt=0.1)


def test_a_frame_is_drawn():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    import itoscope.pandas  # noqa: F401

    ax = pd.DataFrame(WALK, columns=["x", "y"]).ito.plot(columns=["y"], dt=0.1)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), WALK[:, 1])


def test_frames_of_polars():
    pl = pytest.importorskip("polars")
    import itoscope.polars  # noqa: F401

    frame = pl.DataFrame({"time [s]": 0.1 * np.arange(400), "x": WALK[:, 0]})
    assert frame.ito.trajectories().time_unit == "s"
    assert frame["x"].ito.trajectories(dt=0.1).n_states == 1


def test_arrays_and_data_sets_of_xarray():
    xr = pytest.importorskip("xarray")
    import itoscope.xarray  # noqa: F401

    array = xr.DataArray(WALK[:, 0], dims="time", coords={"time": 0.1 * np.arange(400)}, name="x")
    assert array.ito.trajectories().dt == pytest.approx(0.1)
    assert array.to_dataset().ito.trajectories().names == ("x",)
