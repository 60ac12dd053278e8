"""Classes of error: labels of samples, in a column that is no state or in an array beside the data."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, DataError

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
SIZES = {"A": 0.02, "B": 0.4}


@pytest.fixture(scope="module")
def fixes():
    """Half of the fixes are twenty times as good as the others: places, classes, and the errors of each."""
    rng = np.random.default_rng(2)
    model = ito.SDE(["-1.5*x"], [["0.9"]], ["x"])
    x = model.simulate([0.3], dt=0.05, n_steps=400, substeps=20, seed=3).paths[0][:, 0]
    classes = np.where(rng.random(len(x)) < 0.5, "A", "B")
    errors = np.array([SIZES[one] for one in classes])
    return x + errors * rng.standard_normal(len(x)), classes, errors


def _asked(data, noise, **more):
    return ito.discover(data, LINEAR, measurement_noise={"x": noise}, **SHORT, **more)


def _same(found, other):
    assert found.states == ("x",)
    assert found.diagnostics["loglik"] == other.diagnostics["loglik"]
    np.testing.assert_array_equal(found.drift["x"].mean, other.drift["x"].mean)


@pytest.fixture(scope="module")
def by_array(fixes):
    return _asked(ito.Trajectories(fixes[0], dt=0.05, names=["x"]), fixes[2])


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict"])
def test_a_column_of_a_table_tells_the_class_and_is_no_state(fixes, by_array, kind):
    columns = {"quality": fixes[1].tolist(), "x": fixes[0]}
    data = columns if kind == "dict" else pytest.importorskip(kind).DataFrame(columns)
    found = _asked(data, {"class": "quality", **SIZES}, dt=0.05)
    _same(found, by_array)
    worse = _asked(
        ito.Trajectories(fixes[0], dt=0.05, names=["x"]), "estimate"
    )  # the control: one level for all
    assert found.diffusion["x", "x"].sd[0] < 0.8 * worse.diffusion["x", "x"].sd[0]


def test_a_column_of_a_table_has_the_errors_and_is_no_state(fixes, by_array):
    data = ito.Trajectories(np.column_stack([fixes[2], fixes[0]]), dt=0.05, names=["error", "x"])
    _same(_asked(data, "error"), by_array)
    halves = ito.Trajectories([data.paths[0][:200], data.paths[0][200:]], dt=0.05, names=["error", "x"])
    of_both = ito.Trajectories([fixes[0][:200, None], fixes[0][200:, None]], dt=0.05, names=["x"])
    _same(_asked(halves, "error"), _asked(of_both, [fixes[2][:200], fixes[2][200:]]))
    for word in ("eror", "x"):
        with pytest.raises(ArgumentError, match=rf"\['x'\] = '{word}': .* another column of the data: error"):
            _asked(data, word)


def test_labels_beside_the_data_and_numbers_in_them(fixes, by_array):
    x, classes, _ = fixes
    data = ito.Trajectories(x, dt=0.05, names=["x"])
    _same(_asked(data, {"class": classes, **SIZES}), by_array)
    wide = ito.Trajectories(
        np.column_stack([x, np.where(classes == "A", 1.0, 2.0)]), dt=0.05, names=["x", "quality"]
    )
    _same(_asked(wide, {"class": "quality", 1: 0.02, 2: 0.4}), by_array)
    two = ito.Trajectories([x[:200, None], x[200:, None]], dt=0.05, names=["x"])
    errors = [fixes[2][:200], fixes[2][200:]]
    _same(_asked(two, {"class": [classes[:200], classes[200:]], **SIZES}), _asked(two, errors))


def test_the_estimator_and_saved_settings(fixes, by_array, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"quality": fixes[1], "x": fixes[0]}, index=np.arange(len(fixes[0])) + 7)
    noise = {"x": {"class": "quality", **SIZES}}
    fitted = ito.SDEDiscovery(LINEAR, dt=0.05, measurement_noise=noise, **SHORT).fit(
        frame.reset_index(drop=True)
    )
    _same(fitted.result_, by_array)
    fitted.result_.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.settings["measurement_noise"]["x"]["class"] == "quality"


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ({"A": 0.1}, r"measurement_noise\['x'\] = \{'A': 0.1\}: what holds the classes"),
        ({"class": "quality"}, "what holds the classes"),
        ({"class": "kind", **SIZES}, "column 'quality' holds 'A'"),
        ({"class": "quality", "A": 0.02}, "the class 'B' at row"),
        ({"class": "quality", "A": 0.02, "B": -1}, r"measurement_noise\['x'\]\['B'\] = -1"),
        ({"class": 3, "A": 0.02}, r"\['class'\] = 3: a column of the data"),
    ],
)
def test_classes_that_are_none(fixes, noise, said):
    data = {"quality": fixes[1].tolist(), "x": fixes[0]}
    with pytest.raises((ArgumentError, DataError), match=said):
        _asked(data, noise, dt=0.05)


def test_columns_that_are_not_there(fixes):
    with pytest.raises(ArgumentError, match=r"\['class'\] = 'kind': another column of the data: none"):
        _asked(ito.Trajectories(fixes[0], dt=0.05, names=["x"]), {"class": "kind", **SIZES})
