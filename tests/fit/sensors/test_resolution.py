"""Columns that are rounded: the variance of that beside the noise, what is said where it is most of all."""

import itoscope as ito
import numpy as np
import pytest
from brownian import relaxing
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.resolution import said_of_rounding

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)


def _data(values, step):
    return ito.Trajectories(step * np.round(values / step), dt=0.05, names=["x"])


def _found(data, **more):
    return ito.discover(data, LINEAR, **(SHORT | more))


def _holds(found):
    return [
        bool(low <= true <= high)
        for (low, high), true in (
            (found.drift["x"].interval(0.95)[1], -1.5), (found.diffusion["x", "x"].interval(0.95)[0], 0.81)
        )
    ]  # fmt: skip


def test_the_variance_of_rounding_is_no_part_of_the_noise():
    x, rng = relaxing(2000, 1)
    data = _data(x + 0.1 * rng.standard_normal(len(x)), 0.1)  # fine beside a step of 0.24
    found = _found(data, measurement_noise="estimate", resolution={"x": 0.1})
    plain = _found(data, measurement_noise="estimate")
    assert found.measurement_noise**2 + 0.01 / 12 == pytest.approx(plain.measurement_noise**2, rel=1e-3)
    assert found.diagnostics["loglik"] == pytest.approx(plain.diagnostics["loglik"], abs=0.02)
    assert _holds(found) == [True, True] and found.settings["resolution"] == {"x": 0.1}
    assert not [warning for warning in found.warnings if "rounded" in warning]


def test_values_on_a_coarse_grid():
    """A grid of 0.8, four steps of the motion; as if the values were exact rate and Gamma are three times as large."""
    x, _ = relaxing(4000, 2)
    data = _data(x, 0.8)
    found = _found(data, measurement_noise=0, resolution={"x": 0.8})
    assert _holds(found) == [True, True] and found.measurement_noise == 0.0
    exact = _found(data, measurement_noise=0)  # the control
    assert exact.diffusion["x", "x"].mean[0] > 2 * 0.81 and _holds(exact) == [False, False]


def test_errors_of_each_sample_have_rounding_beside_them():
    x, rng = relaxing(600, 3)
    errors = rng.choice([0.05, 0.3], len(x))
    data = _data(x + errors * rng.standard_normal(len(x)), 0.2)
    both = _found(data, measurement_noise={"x": np.sqrt(errors**2 + 0.04 / 12)})
    found = _found(data, measurement_noise={"x": errors}, resolution={"x": 0.2})
    assert found.diagnostics["loglik"] == pytest.approx(both.diagnostics["loglik"], rel=1e-9)
    assert _holds(found) == [True, True]


def test_another_grid_than_was_said_is_named_and_one_that_holds_the_motion():
    x, _ = relaxing(500, 4)
    assert said_of_rounding(_data(x, 0.5), {0: 0.1}) == [
        "x lies on a grid of 0.5, not of 0.1: resolution={'x': 0.5}"
    ]
    notes = said_of_rounding(_data(x, 1.2), {0: 1.2})
    assert "of its increments are 0 or one of these" in notes[0] and "x is rounded to 1.2" in notes[0]
    assert said_of_rounding(_data(x, 0.3), {0: 0.3}) == said_of_rounding(_data(x, 0.01), {0: 0.01}) == []


def test_advice_on_rounded_values_names_the_step_and_can_be_tried():
    x, _ = relaxing(4000, 5)
    first = _found(_data(x, 0.5), measurement_noise=0)
    advice = next(one for one in first.advice if one.cause == "quantised")
    assert advice.arguments["resolution"] == {"x": 0.5} and "resolution={'x': 0.5}" in advice.sentence
    again = _found(_data(x, 0.5), measurement_noise=0, resolution={"x": 0.5})
    assert not [one for one in again.advice if one.cause == "quantised"]


def test_a_saved_result_counts_with_rounding(tmp_path):
    x, _ = relaxing(600, 6)
    data = _data(x, 0.8)
    found = _found(data, measurement_noise=0, resolution={"x": 0.8})
    found.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.settings["resolution"] == {"x": 0.8}
    assert again.loglik(data) == pytest.approx(found.loglik(data), rel=1e-12)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (0.1, "resolution = 0.1: columns and the step"),
        ({"x": 0.0}, r"resolution\['x'\] = 0.0: a positive"),
        ({"y": 0.1}, "resolution = 'y': a column of the data: x"),
    ],
)
def test_resolutions_that_are_none(asked, said):
    with pytest.raises(ArgumentError, match=said):
        _found(_data(relaxing(50, 7)[0], 0.1), resolution=asked)
