"""Noises of columns that are correlated at a sample: found with everything else, given, refused, kept, simulated."""

import json

import itoscope as ito
import numpy as np
import pytest
from brownian import relaxing
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.groups import check_groups, grouped_settings, groups_of

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
SD = np.array([0.1, 0.2])


def _readings(r, n=1500, seed=3):
    x, rng = relaxing(n, seed)
    return x[:, None] + SD * (rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1.0, r], [r, 1.0]]).T)


def _found(y, groups=(("a", "b"),), **more):
    data = y if isinstance(y, ito.Trajectories) else ito.Trajectories(y, dt=0.05, names=["a", "b"])
    asked = SHORT | {"observed": {"a": "x", "b": "x"}, "noise_groups": groups} | more
    return ito.discover(data, LINEAR, **asked)


@pytest.fixture(scope="module")
def found():
    return _found(_readings(0.8))


def _holds(interval, value):
    return interval[0] <= value <= interval[1]


def _correlation(result):
    (one,) = result.diagnostics["noise_correlation"]
    return one


def test_the_correlation_is_found_and_all_else_is_right_with_it(found):
    one = _correlation(found)
    assert one["between"] == ["a", "b"] and one["correlation"] == pytest.approx(0.8, abs=0.06)
    assert _holds((one["low"], one["high"]), 0.8) and 0.02 < one["high"] - one["low"] < 0.2
    assert _holds(found.drift["x"].interval(0.95)[1], -1.5)
    assert _holds(found.diffusion["x", "x"].interval(0.95)[0], 0.81)
    for level, true in zip(found.diagnostics["measurement_noise"].values(), SD):
        assert _holds((level["low"], level["high"]), true)
    assert "correlation of a and b 0." in str(found)
    naive = _found(_readings(0.8), None)  # the control: noise in common is taken for motion
    assert naive.diffusion["x", "x"].interval(0.95)[0][0] > 0.81
    assert found.loglik() > naive.loglik() + 50.0
    assert found.criteria().parameters == naive.criteria().parameters + 1


def test_noises_apart_have_an_interval_about_nothing():
    one = _correlation(_found(_readings(0.0)))
    assert _holds((one["low"], one["high"]), 0.0) and one["high"] - one["low"] < 0.5


def test_a_correlation_that_is_given(found):
    y = _readings(0.8)
    given = _found(y, {("a", "b"): 0.8})
    assert _correlation(given) == {
        "between": ["a", "b"],
        "correlation": pytest.approx(0.8),
        "low": pytest.approx(0.8),
        "high": pytest.approx(0.8),
    }
    assert "correlation of a and b 0.8, as given" in str(given)
    assert found.loglik() - 2.0 < given.loglik() <= found.loglik() + 0.01
    assert given.settings["noise_groups"] == {"a,b": pytest.approx(0.8)}
    wrong = _found(y, {"a,b": -0.5})  # the control
    assert wrong.loglik() < given.loglik() - 50.0


def test_units_and_the_order_of_columns_change_nothing(found):
    y = _readings(0.8)
    swapped = _found(y[:, ::-1], observed={"a": "x", "b": "x"})
    one, other = _correlation(found), _correlation(swapped)
    for key in ("correlation", "low", "high"):
        assert other[key] == pytest.approx(one[key], abs=2e-3)
    assert swapped.loglik() == pytest.approx(found.loglik(), abs=1e-2)
    data = ito.Trajectories(y * [1.0, 1000.0], dt=0.05, names=["a", "b"])
    scaled = _correlation(_found(data, observed={"a": "x", "b": "1000*x"}))
    for key in ("correlation", "low", "high"):
        assert scaled[key] == pytest.approx(one[key], abs=2e-3)


def test_errors_of_each_sample_and_missing_readings_go_with_it():
    x, rng = relaxing(1500, 5)
    errors = 10.0 ** rng.uniform(-1.5, -0.3, (len(x), 2))
    y = x[:, None] + errors * (
        rng.standard_normal(errors.shape) @ np.linalg.cholesky([[1, -0.6], [-0.6, 1]]).T
    )
    y[rng.random(y.shape) < 0.1] = np.nan
    told = _found(y, measurement_noise={"a": errors[:, 0], "b": errors[:, 1]})
    one = _correlation(told)
    assert one["correlation"] == pytest.approx(-0.6, abs=0.08) and _holds((one["low"], one["high"]), -0.6)
    assert _holds(told.diffusion["x", "x"].interval(0.95)[0], 0.81)


def test_both_coordinates_of_a_tracker_and_a_group_of_three():
    rng = np.random.default_rng(2)
    x, _ = relaxing(1200, 7)
    y, _ = relaxing(1200, 8)
    matrix = np.array([[1.0, 0.7, 0.2], [0.7, 1.0, -0.3], [0.2, -0.3, 1.0]])
    sd = np.array([0.1, 0.2, 0.15])
    seen = np.column_stack([x, y, x + y]) + sd * (
        rng.standard_normal((1200, 3)) @ np.linalg.cholesky(matrix).T
    )
    data = ito.Trajectories(seen, dt=0.05, names=["x", "y", "both"])
    result = ito.discover(
        data, LINEAR, states=["x", "y"], observed={"x": "x", "y": "y", "both": "x + y"},
        noise_groups=[("x", "y", "both")], **SHORT | {"diffusion": {"x": "constant", "y": "constant"}},
    )  # fmt: skip
    pairs = {tuple(one["between"]): one for one in result.diagnostics["noise_correlation"]}
    assert list(pairs) == [("x", "y"), ("x", "both"), ("y", "both")]
    for (i, j), one in zip(((0, 1), (0, 2), (1, 2)), pairs.values()):
        assert one["low"] - 0.05 < matrix[i, j] < one["high"] + 0.05
    np.testing.assert_allclose(result.observer.noise_correlation, result.observer.noise_correlation.T)
    assert np.linalg.eigvalsh(result.observer.noise_correlation)[0] > 0.0


def test_simulated_errors_are_correlated_too(found):
    errors = found.observer.errors(np.tile(SD**2, (20_000, 1)), np.random.default_rng(1))
    assert np.corrcoef(errors.T)[0, 1] == pytest.approx(_correlation(found)["correlation"], abs=0.02)
    np.testing.assert_allclose(errors.std(axis=0), SD, rtol=0.03)


def test_groups_are_saved_and_read(found, tmp_path):
    found.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.settings["noise_groups"] == {"a,b": "estimate"}
    assert again.diagnostics["noise_correlation"] == found.diagnostics["noise_correlation"]
    assert again.observer.shared == ((0, 1),) and len(again.observer.noise) == 3
    data = ito.Trajectories(_readings(0.8), dt=0.05, names=["a", "b"])
    np.testing.assert_allclose(again.loglik(data), found.loglik(data), rtol=1e-12)
    json.dumps(again.diagnostics["noise_correlation"])


def test_noises_that_are_nearly_one_stay_within_bounds():
    """Two copies with one error, which no correlation within bounds holds: what is shown is finite all the same."""
    x, rng = relaxing(600, 4)
    y = np.column_stack([x, x]) + (0.2 * rng.standard_normal(len(x)))[:, None]
    y[:, 1] += 1e-6 * rng.standard_normal(len(x))
    result = _found(y)
    one = _correlation(result)
    assert -1.0 <= one["low"] <= one["correlation"] <= one["high"] <= 1.0
    assert np.isfinite(result.loglik()) and np.isfinite(result.drift["x"].mean).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("a,b", "noise_groups = 'a,b': groups of columns"),
        ([("a",)], "two columns or more in each group"),
        ([("a", "a")], "two columns or more in each group"),
        ([("a", "b"), ("b", "c")], "each in one group"),
        ([("a", 3)], "groups of columns"),
        ({("a", "b"): 1.0}, r"noise_groups\['a,b'\] = 1.0: 'estimate', one correlation"),
        ({("a", "b"): "some"}, r"noise_groups\['a,b'\] = 'some'"),
        ({("a", "b"): True}, r"noise_groups\['a,b'\] = True"),
        ({("a", "b", "c"): -0.6}, r"noise_groups\['a,b,c'\] = -0.6"),  # no three can be so
        ({("a", "b"): [[1.0, 0.5], [0.4, 1.0]]}, r"noise_groups\['a,b'\]"),
        ({("a", "b"): [[2.0, 0.5], [0.5, 2.0]]}, r"noise_groups\['a,b'\]"),
        ({("a", "b"): np.eye(3)}, r"noise_groups\['a,b'\]"),
        ({("a", "b"): float("nan")}, r"noise_groups\['a,b'\]"),
    ],
)
def test_groups_that_are_none(asked, said):
    with pytest.raises(ArgumentError, match=said):
        check_groups(asked)


def test_groups_by_number_and_for_json():
    asked = {"a,c": "estimate", ("b", "d"): -0.25, ("e", "f", "g"): 0.5}
    check_groups(asked)
    groups = groups_of("abcdefg", asked)
    assert [one.channels for one in groups] == [(0, 2), (1, 3), (4, 5, 6)] and groups[0].correlation is None
    plain = grouped_settings("abcdefg", groups)
    assert plain["a,c"] == "estimate" and plain["b,d"] == -0.25 and plain["e,f,g"][0] == [1.0, 0.5, 0.5]
    check_groups(json.loads(json.dumps(plain)))
    with pytest.raises(ArgumentError, match="noise_groups = 'z': a column of the data"):
        groups_of("ab", [("a", "z")])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"measurement_noise": {"a": 0, "b": 0.1}}, "columns with noise, and a has measurement_noise=0"),
        ({"noise_law": {"a": "outliers"}}, "noise_law='normal' of all columns"),
        ({"observed": {"a": "x", "b": ito.Average("x")}}, "read over the same time"),
    ],
)
def test_what_does_not_go_with_groups(more, said):
    with pytest.raises(ArgumentError, match=said):
        _found(_readings(0.5, 50), **more)
