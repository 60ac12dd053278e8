"""What sensors showed beside what they would have shown: points, bands, rings about outliers, slow sensors, angles."""

import itoscope as ito
import matplotlib
import numpy as np
import pytest
from itoscope.data.angles import Circle
from itoscope.errors import ArgumentError
from itoscope.result.innovations import bumps
from itoscope.show.report import page

matplotlib.use("Agg")

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)


def _lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_each_sensor_has_its_panel_and_outliers_are_ringed():
    rng = np.random.default_rng(3)
    x = ito.SDE(["-1.5*x1"], [["0.9"]], ["x1"]).simulate([0.3], dt=0.05, n_steps=800, substeps=10, seed=3)
    x = x.paths[0][:, 0]
    laser = x + 0.05 * rng.standard_normal(len(x))
    laser[[100, 400]] += [3.0, -4.0]
    camera = np.full(len(x), np.nan)
    camera[10::10] = x[10::10] + 0.1 * rng.standard_normal(80)
    data = ito.Trajectories(np.column_stack([laser, camera]), dt=0.05, names=["laser", "camera"])
    result = ito.discover(
        data, LINEAR, observed={"laser": "x1", "camera": ito.Average("x1", exposure=0.1)},
        noise_law={"laser": "student"}, **SHORT,
    )  # fmt: skip
    axes = result.plot.sensors()
    first, second = (_lines(one) for one in axes.flat)
    assert set(np.round(first["outliers"].get_xdata() / 0.05)) >= {100, 400}
    assert "outliers" in [text.get_text() for text in axes.flat[0].figure.legends[0].get_texts()]
    assert "outliers" not in second and "camera" in axes.flat[1].get_ylabel()
    # of a slow sensor the readings that it took are joined by a line
    assert len(second["smoothed"].get_xdata()) == 80 and np.isfinite(second["smoothed"].get_ydata()).all()
    assert "rings are outliers" in page(result)
    with pytest.raises(ArgumentError, match="path = 3"):
        result.plot.sensors(path=3)


def test_an_angle_is_drawn_on_its_circle():
    x = ito.SDE(["2"], [["0.3"]], ["theta"]).simulate([0.0], dt=0.05, n_steps=500, seed=1).paths[0]
    y = np.mod(x + 0.05 * np.random.default_rng(1).standard_normal(x.shape), 2 * np.pi)
    result = ito.discover(
        ito.Trajectories(y, dt=0.05, names=["theta"]), observed={"theta": ito.Angle("theta")},
        measurement_noise="estimate", **SHORT,
    )  # fmt: skip
    lines = _lines(np.atleast_1d(result.plot.sensors()).flat[0])
    np.testing.assert_allclose(lines["measured"].get_ydata(), y[:, 0], atol=1e-9)
    fitted = lines["smoothed"].get_ydata()
    assert np.nanmax(fitted) < 2 * np.pi and np.nanmax(np.abs(np.diff(fitted))) < np.pi


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_fit_of_an_angle_is_over_its_circle(noise):
    motor = ito.SDE(["1 + 0.5*sin(theta)"], [["0.4"]], ["theta"])
    x = motor.simulate([0.0], dt=0.05, n_steps=4000, substeps=4, seed=1).paths[0]
    y = np.mod(x + noise * np.random.default_rng(1).standard_normal(x.shape), 2 * np.pi)
    noisy = {"measurement_noise": "estimate"} if noise else {}
    result = ito.discover(
        ito.Trajectories(y, dt=0.05, names=["theta"]),
        observed={"theta": ito.Angle("theta")},
        **noisy,
        **SHORT,
    )
    drift = result.plot.fit()[0]
    (points,) = (np.array(bars.lines[0].get_data()) for bars in drift.containers)
    assert points[0].min() >= 0.0 and points[0].max() <= 2 * np.pi and np.ptp(points[0]) > 5.0
    # without the circle a point is a mean over several turns, in which the sine is lost
    error = points[1] - (1 + 0.5 * np.sin(points[0]))
    assert np.sqrt(np.mean(error**2)) < 0.2 and np.ptp(points[1]) > 0.7


def test_bumps_add_up_to_one():
    theta = np.linspace(-1.0, 7.0, 401)
    for count in (3, 8, 20):
        shapes, places = bumps("theta", Circle(2 * np.pi, 0.0), count)
        values = np.array(
            [eval(shape.replace("^", "**"), {"cos": np.cos, "theta": theta}) for shape in shapes]
        )
        assert np.abs(values.sum(axis=0) - 1).max() < 0.04 and len(places) == count
        tops = theta[values[:, (theta >= 0) & (theta < 2 * np.pi)].argmax(axis=1) + 50]
        np.testing.assert_allclose(tops, places, atol=0.02)


MOTOR = ito.SDE(["1 + 0.5*sin(theta)"], [["0.5"]], ["theta"])


def _turning(noise, n):
    x = MOTOR.simulate([0.3], dt=0.02, n_steps=n, substeps=20, seed=1).paths[0][:, 0]
    read = np.mod(x + noise * np.random.default_rng(1).standard_normal(len(x)), 2 * np.pi)
    return ito.Trajectories(read, dt=0.02, names=["theta"])


def test_checks_and_raw_readings_are_drawn_over_the_circle():
    data = _turning(0.0, 4000)
    for line in np.atleast_1d(data.plot()).flat[0].get_lines():
        y = np.asarray(line.get_ydata(), dtype=float)
        assert np.isnan(y).any() and np.nanmax(np.abs(np.diff(y))) < np.pi
    walk = ito.Trajectories(np.cumsum(np.random.default_rng(1).standard_normal(4000)), dt=0.02, names=["x"])
    assert not any(
        np.isnan(line.get_ydata()).any() for line in np.atleast_1d(walk.plot()).flat[0].get_lines()
    )
    result = ito.discover(
        data, observed={"theta": ito.Angle("theta")}, n_chains=2, n_samples=300, n_burn=100, seed=1
    )
    noisy = ito.discover(
        _turning(0.09, 1500),
        observed={"theta": ito.Angle("theta")},
        measurement_noise=0.09,
        n_chains=2,
        n_samples=300,
        n_burn=100,
        seed=1,
    )
    for found in (result, noisy):
        axes = [one for one in np.ravel(found.plot.checks()) if one.axison and "theta" in one.get_xlabel()]
        assert len(axes) >= 2 and all(-0.5 < one.get_xlim()[0] < one.get_xlim()[1] < 7.0 for one in axes)
