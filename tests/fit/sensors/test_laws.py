"""Noise that is not normal, asked for by name: outliers among good readings, Student's law, errors of each fix."""

import json
from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from brownian import relaxing
from itoscope.errors import ArgumentError

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
SD = 0.15


def _spoiled(n=1500, seed=3):
    """Noise of 0.15, and one reading of fifty off by ten to fifty times as much."""
    x, rng = relaxing(n, seed)
    off = rng.random(n) < 0.02
    error = SD * rng.standard_normal(n)
    error[off] = SD * rng.choice([-1, 1], off.sum()) * rng.uniform(10.0, 50.0, off.sum())
    return ito.Trajectories(x + error, dt=0.05, names=["gps"]), off


def _found(data, law, **more):
    asked = SHORT | {"observed": {"gps": "x"}, "measurement_noise": "estimate", "noise_law": law} | more
    return ito.discover(data, LINEAR, **asked)


@pytest.fixture(scope="module")
def spoiled():
    data, off = _spoiled()
    return data, off, _found(data, {"gps": "outliers"})


def _holds(interval, value):
    return interval[0] <= value <= interval[1]


def test_outliers_leave_noise_level_and_coefficients_right(spoiled):
    data, _, found = spoiled
    assert found.measurement_noise == pytest.approx(SD, rel=0.1)
    assert _holds(found.drift["x"].interval(0.95)[1], -1.5)
    assert _holds(found.diffusion["x", "x"].interval(0.95)[0], 0.81)
    normal = _found(data, "normal")  # the control: one law for good readings and bad ones
    assert normal.measurement_noise > 3 * SD
    assert found.drift["x"].sd[1] < 0.8 * normal.drift["x"].sd[1]


def test_share_and_width_of_wide_readings_are_found_with_intervals_and_evidence(spoiled):
    _, off, found = spoiled
    law = found.diagnostics["noise_law"]["gps"]
    share, width = law["shape"]["share"], law["shape"]["width"]
    assert law["law"] == "outliers" and law["log_bayes_factor"] > 100
    assert _holds(share[1:], off.mean()) and share[1] < share[0] < share[2]
    assert width[1] < np.sqrt((50.0**3 - 10.0**3) / 120.0) < width[2]
    printed = " ".join(str(found).split())
    assert "% of the readings with" in printed and "log Bayes factor against normal noise +" in printed


def test_outliers_are_listed_with_times_and_probabilities(spoiled):
    data, off, found = spoiled
    listed = found.outliers
    assert {one.sample for one in listed} == set(np.flatnonzero(off))
    assert all(one.channel == "gps" and 0.5 < one.probability <= 1.0 for one in listed)
    assert [one.time for one in listed] == sorted(one.time for one in listed)
    assert listed[0].value == data.paths[0][listed[0].sample, 0]
    assert f"outliers of gps: {len(listed)}" in str(found)


def test_the_other_backend_sees_the_same_with_what_was_found(spoiled):
    data, _, found = spoiled
    other = replace(found.observer, backend="reference")
    for ours, theirs in zip(found.observer.laws(data), other.laws(data)):
        np.testing.assert_allclose(ours[0], theirs[0], atol=1e-9)
    np.testing.assert_allclose(found.observer.innovations(data).z, other.innovations(data).z, atol=1e-8)


def test_degrees_of_freedom_of_students_law_are_found():
    x, rng = relaxing(3000, 5)
    data = ito.Trajectories(x + SD * rng.standard_t(3.0, len(x)), dt=0.05, names=["gps"])
    found = _found(data, "student")
    degrees = found.diagnostics["noise_law"]["gps"]["shape"]["degrees"]
    assert _holds(degrees[1:], 3.0) and degrees[2] < 6.0
    assert found.measurement_noise == pytest.approx(1.197 * SD, rel=0.1)  # 68 % of it are within
    assert _holds(found.drift["x"].interval(0.95)[1], -1.5)
    assert "Student's law of" in str(found) and found.diagnostics["noise_law"]["gps"]["log_bayes_factor"] > 20


def test_of_normal_noise_the_evidence_is_for_the_normal_law():
    x, rng = relaxing(1200, 6)
    data = ito.Trajectories(x + SD * rng.standard_normal(len(x)), dt=0.05, names=["gps"])
    for law in ("outliers", "student"):
        found = _found(data, law)
        assert found.diagnostics["noise_law"]["gps"]["log_bayes_factor"] < 0.0
        assert found.measurement_noise == pytest.approx(SD, rel=0.1)
        assert len(found.outliers) <= 1


def test_errors_of_each_fix_over_two_decades_with_outliers():
    x, rng = relaxing(1500, 7)
    errors = 10.0 ** rng.uniform(-2.0, 0.0, len(x))
    off = rng.random(len(x)) < 0.02
    noise = errors * rng.standard_normal(len(x))
    noise[off] = (errors * rng.choice([-1, 1], len(x)) * rng.uniform(10.0, 50.0, len(x)))[off]
    data = ito.Trajectories(x + noise, dt=0.05, names=["gps"])
    found = _found(data, "outliers", measurement_noise={"gps": errors})
    assert _holds(found.drift["x"].interval(0.95)[1], -1.5)
    assert _holds(found.diffusion["x", "x"].interval(0.95)[0], 0.81)
    assert _holds(found.diagnostics["noise_law"]["gps"]["shape"]["share"][1:], off.mean())
    listed, far = {one.sample for one in found.outliers}, np.abs(noise) > 1.5
    assert set(np.flatnonzero(off & far)) <= listed  # what is far from where the motion may be
    assert len(listed - set(np.flatnonzero(off))) <= 2
    normal = _found(data, "normal", measurement_noise={"gps": errors})
    assert not _holds(normal.diffusion["x", "x"].interval(0.95)[0], 0.81)


def test_advice_on_outliers_names_the_law_and_can_be_tried(spoiled):
    data, _, found = spoiled
    normal = _found(data, "normal")
    first = normal.advice[0]
    assert first.cause == "outliers" and first.arguments == {"noise_law": {"gps": "outliers"}}
    assert "noise_law={'gps': 'outliers'}" in first.sentence
    tried = normal.try_advice(0)
    assert tried.comparable and tried.after > tried.before + 100
    assert tried.result.measurement_noise == pytest.approx(SD, rel=0.1)
    assert not [advice for advice in found.advice if advice.cause == "outliers"]


def test_outliers_of_one_size_have_a_width_with_an_error():
    """16 of them: a normal width of so many is known to a fraction of 1 / 32^(1/2), 18 %."""
    x, rng = relaxing(800, 1)
    y = x + SD * rng.standard_normal(len(x))
    y[::50] += 4.0
    found = _found(ito.Trajectories(y, dt=0.05, names=["gps"]), "outliers")
    width, low, high = found.diagnostics["noise_law"]["gps"]["shape"]["width"]
    assert np.log(high / low) == pytest.approx(4 * 0.18, rel=0.3) and low < 4.0 / SD < high
    assert width == pytest.approx(4.0 / SD, rel=0.2)


def test_outliers_in_a_row_are_no_jumps_where_a_law_holds_them():
    x, rng = relaxing(1500, 8)
    y = x + SD * rng.standard_normal(len(x))
    for start in (200, 500, 900, 1300):
        y[start : start + 3] += 4.0
    data = ito.Trajectories(y, dt=0.05, names=["gps"])
    causes = [{one.cause for one in _found(data, law).advice} for law in ("normal", "outliers")]
    assert "jumps" in causes[0] and not {"jumps", "outliers"} & causes[1]


def test_laws_are_saved_and_read(spoiled, tmp_path):
    data, _, found = spoiled
    found.save(tmp_path / "found.npz")
    again = ito.Discovery.load(tmp_path / "found.npz")
    assert again.settings["noise_law"] == {"gps": "outliers"} and again.outliers == found.outliers
    assert again.observer.tails == found.observer.tails and len(again.observer.tails[0]) == 2
    np.testing.assert_allclose(again.loglik(data), found.loglik(data), rtol=1e-12)
    json.dumps(again.diagnostics["noise_law"])


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("cauchy", "noise_law = 'cauchy'"),
        ({"gps": "wide"}, r"noise_law\['gps'\] = 'wide'"),
        ({"gnss": "student"}, "noise_law = 'gnss': a column of the data: gps"),
    ],
)
def test_laws_that_are_none(law, said):
    with pytest.raises(ArgumentError, match=said):
        _found(_spoiled(50)[0], law)


def test_exact_columns_have_no_law():
    with pytest.raises(ArgumentError, match=r"noise_law\['gps'\] = 'student': 'normal'"):
        _found(_spoiled(50)[0], "student", measurement_noise=0)
