"""Units of coefficients follow from those of states and time."""

import numpy as np
import pytest
from itoscope import Discovery, Library, Trajectories, discover

QUICK = {"seed": 1, "n_samples": 200, "n_burn": 100, "n_chains": 2}


def oscillator(units, time_unit):
    rng = np.random.default_rng(2)
    x, v, path = 1.0, 0.0, []
    for _ in range(3000):
        path.append((x, v))
        x, v = x + 0.01 * v, v - 0.01 * (4 * x + 0.5 * v) + 0.1 * np.sqrt(0.01) * rng.standard_normal()
    return Trajectories(np.array(path), dt=0.01, names=["x", "v"], units=units, time_unit=time_unit)


def found(units=None, time_unit=None):
    data = oscillator(units, time_unit)
    return discover(data, Library.polynomials(1), known_drift={"x": "v"}, diffusion="constant", **QUICK)


def test_units_of_coefficients(tmp_path):
    result = found({"x": "mm"}, "s")
    rows = {(row["equation"], row["term"]): row["unit"] for row in result.table().to_dict("records")}
    assert rows["dv", "x"] == "1/s^2"
    assert rows["dv", "v"] == "1/s"
    assert rows["dv", "1"] == "mm/s^2"
    assert rows["Gamma[v, v]", "1"] == "mm^2/s^3"
    text = str(result)
    assert "dt = 0.01 s" in text.splitlines()[0] and "mm^2/s^3" in text and "1/s^2" in text
    assert "mm^2/s^3" in result._repr_html_()
    result.save(tmp_path / "found.npz")
    assert str(Discovery.load(tmp_path / "found.npz")) == text


def test_without_units_nothing_is_said():
    for result in (found(), found({"x": "mm"}), found(None, "s")):
        assert "unit" not in str(result) and "unit" not in result.table().columns


def test_units_of_what_sensors_show():
    path = oscillator({"x": "mm"}, "s").paths[0][:, :1]
    data = Trajectories(path, dt=0.01, names=["film"], units={"film": "mm"}, time_unit="s")
    asked = {"diffusion": "constant", "measurement_noise": 0.01, "observed": {"film": "average(x1, 0.005)"}}
    text = str(discover(data[0:1], Library.polynomials(1), **asked, **QUICK))
    assert "mm^2/s" in text and "measurement noise: 0.01 mm, as given" in text


def test_units_on_axes(tmp_path):
    pytest.importorskip("matplotlib")
    result = found({"x": "mm"}, "s")
    axes = result.data.plot()
    assert [one.get_ylabel().partition(" ")[2] for one in axes] == ["[mm]", ""]
    assert axes[-1].get_xlabel() == "time [s]"
    fitted = result.plot.fit(bins=8)
    assert fitted.flat[0].get_ylabel().endswith("[mm/s^2]")
    assert [one.get_xlabel().partition(" ")[2] for one in fitted.flat if one.get_xlabel()][:2] == [
        "[mm]",
        "[mm/s]",
    ]
    ahead = result.forecast(x0=[1.0, 0.0], duration=0.5, n_paths=5, seed=1).plot()
    assert ahead[0].get_ylabel().endswith("[mm]") and ahead[-1].get_xlabel().endswith("forecast [s]")
    assert result.simulate(x0=[1.0, 0.0], duration=0.5, n_paths=2, seed=1).units == ("mm", "mm/s")
