"""`vary`: coefficients that differ by recording, with a common mean and a spread."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.checks.measured import chance
from itoscope.errors import ArgumentError, DataError

NOISE, DT = 0.5, 0.05
LIBRARY = ito.Library.polynomials(3)
ASKED = {"diffusion": "constant", "seed": 1, "n_samples": 500, "n_burn": 200}


def about_centres(seed, count=30, steps=300, spread=0.8, dt=DT, noise=0.0):
    """Exact recordings of `dx = -(x - c) dt + 0.5 dB` with centres `c ~ N(1.2, spread)`, and noise of the sensor."""
    rng = np.random.default_rng(seed)
    centre = 1.2 + spread * rng.normal(size=count)
    sd, keep = NOISE / np.sqrt(2.0), np.exp(-dt)
    x = [centre + sd * rng.normal(size=count)]
    for _ in range(steps):
        x.append(centre + keep * (x[-1] - centre) + sd * np.sqrt(1 - keep**2) * rng.normal(size=count))
    paths = np.array(x).T
    return ito.Trajectories(list(paths + noise * rng.normal(size=paths.shape)), dt=dt), centre


@pytest.fixture(scope="module")
def fit():
    data, centre = about_centres(2)
    return ito.discover(data, LIBRARY, vary={"x1": ["1"]}, **ASKED), centre


def test_pooled_rate_and_the_spread_of_the_centres(fit):
    result, centre = fit
    equation = result.drift["x1"]
    assert [t for t, z in zip(equation.terms, equation.selected) if z] == ["1", "x1", "differs_x1"]
    assert abs(equation.mean[1] + 1.0) < 3 * equation.sd[1] < 0.3
    found = result.varying["x1"]["1"]
    assert found.interval[0] < 0.8 < found.interval[1] and found.gain > 10
    assert np.corrcoef(found.values, centre)[0, 1] > 0.9
    assert np.mean(np.abs(found.values - centre) < 3 * found.errors) > 0.9
    assert result.warnings == [] and not result.advice


def test_without_it_the_rate_is_wrong_and_the_advice_names_it():
    data, _ = about_centres(2)
    plain = ito.discover(data, LIBRARY, **ASKED)
    assert "x1" not in plain.coefficients()["dx1"] or plain.coefficients()["dx1"]["x1"] > -0.6
    advice = plain.advice[0]
    assert advice.cause == "recordings that differ" and "vary={'x1': ['1']}" in advice.sentence
    tried = plain.try_advice(0)
    assert tried.after > tried.before + 10 and tried.comparable
    assert tried.result.settings["vary"] == {"x1": ["1"]}


def test_printed_as_one_writes_it(fit):
    line = fit[0].equations()[0]
    assert "; differs by recording, spread 0." in line and "differs_x1" not in str(fit[0])
    assert "differs over 30 recordings" in str(fit[0])
    assert r"\text{; differs by recording, spread }" in fit[0].equations("latex")[0]
    assert "differs by recording" in fit[0]._repr_html_()


def test_a_mean_of_zero_is_printed_as_one():
    data, _ = about_centres(3)
    moved = ito.Trajectories([path - 1.2 for path in data.paths], dt=DT)
    result = ito.discover(moved, ito.Library.polynomials(1), vary={"x1": ["1"]}, **ASKED)
    assert "(0; differs by recording" in result.equations()[0]


def test_recordings_that_are_alike_are_said_to_be():
    data, _ = about_centres(4, spread=0.0)
    result = ito.discover(data, ito.Library.polynomials(1), vary={"x1": ["1"]}, **ASKED)
    check = next(one for one in result.diagnostics["checks"] if one["name"] == "recordings differ")
    assert check["fired"] and "without vary" in check["sentence"]
    assert abs(result.drift["x1"].mean[1] + 1.0) < 3 * result.drift["x1"].sd[1]


def test_saved_simulated_and_checked(fit, tmp_path):
    result = fit[0]
    again = ito.Discovery.load(result.save(tmp_path / "r"))
    assert str(again) == str(result)
    np.testing.assert_array_equal(again.varying["x1"]["1"].values, result.varying["x1"]["1"].values)
    mean = result.simulate([1.2], n_steps=4000, n_paths=20, posterior=False, seed=1)
    assert np.mean([x.mean() for x in mean.paths]) == pytest.approx(1.2, abs=0.25)
    name = result.varying["x1"]["1"].input
    far = result.simulate([3.2], n_steps=4000, n_paths=20, posterior=False, seed=1, inputs={name: 2.0})
    assert np.mean([x.mean() for x in far.paths]) - np.mean([x.mean() for x in mean.paths]) > 1.5
    assert not [one for one in result.check() if one["fired"]]
    assert np.isfinite(result.loglik())
    with pytest.raises(ArgumentError, match="30 recordings of the fit"):
        result.check(result.data[0])


def test_a_term_of_the_state_may_differ():
    """Rates that differ: `dx = -k x dt + dB`, `k ~ N(1, 0.3)`, from fine steps."""
    rng = np.random.default_rng(5)
    rates = 1.0 + 0.3 * rng.normal(size=25)
    paths = [
        ito.SDE([f"-{k}*x1"], [["1.0"]], ["x1"])
        .simulate([0.5], dt=0.05, n_steps=800, substeps=5, seed=10 + n)
        .paths[0]
        for n, k in enumerate(rates)
    ]
    result = ito.discover(ito.Trajectories(paths, dt=0.05), LIBRARY, vary={"x1": ["x1"]}, **ASKED)
    equation = result.drift["x1"]
    assert "x1" in result.coefficients()["dx1"]
    assert abs(equation.mean[1] + 1.0) < 3.5 * equation.sd[1]
    found = result.varying["x1"]["x1"]
    assert found.interval[0] < 0.3 < found.interval[1]
    assert np.corrcoef(found.values, -rates)[0, 1] > 0.6


def test_second_order_measured_beside_a_given_row():
    """Oscillators about their own centres, position and velocity measured."""
    rng = np.random.default_rng(6)
    paths = [
        ito.SDE(["v1", f"-4*x1 - v1 + {4 * c}"], [["0"], ["1.0"]], ["x1", "v1"])
        .simulate([c, 0.0], dt=0.02, n_steps=1000, substeps=5, seed=20 + n)
        .paths[0]
        for n, c in enumerate(0.5 * rng.normal(size=12))
    ]
    data = ito.Trajectories(paths, dt=0.02, names=["x1", "v1"])
    result = ito.discover(
        data, ito.Library.polynomials(2), known_drift={"x1": "v1"}, vary={"v1": ["1"]}, **ASKED
    )
    equation = result.drift["v1"]
    found = dict(zip(equation.terms, zip(equation.mean, equation.sd)))
    for term, value in {"x1": -4.0, "v1": -1.0}.items():
        assert abs(found[term][0] - value) < 3.5 * found[term][1]
    assert result.varying["v1"]["1"].interval[0] < 2.0 < result.varying["v1"]["1"].interval[1]


def test_a_known_part_stands_beside_it():
    data, _ = about_centres(8, count=12)
    known = ito.discover(data, LIBRARY, known_drift={"x1": "-x1 + ..."}, vary={"x1": ["1"]}, **ASKED)
    equation = known.drift["x1"]
    assert [t for t, z in zip(equation.terms, equation.selected) if z] == ["1", "x1*(-1)", "differs_x1"] or (
        "-x1" in known.equations()[0]
    )
    assert abs(equation.mean[0] - 1.2) < 3 * equation.sd[0]


def test_both_backends_say_the_same():
    data, _ = about_centres(9, count=8, steps=100)
    one, two = (
        ito.discover(
            data, ito.Library.polynomials(1), vary={"x1": ["1"]}, backend=name, sampler="exact", **ASKED
        )
        for name in ("rust", "reference")
    )
    np.testing.assert_allclose(one.drift["x1"].mean, two.drift["x1"].mean, rtol=1e-5)
    assert one.varying["x1"]["1"].spread == pytest.approx(two.varying["x1"]["1"].spread, rel=1e-3)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"vary": {"x2": ["1"]}}, "a row that is sought: x1"),
        ({"vary": {"x1": ["x1^9"]}}, "a term of the library"),
        ({"vary": ["1"]}, "rows and names of terms"),
        ({"vary": {"x1": ["1"]}, "exclude": {"x1": ["1"]}}, "not excluded"),
        ({"vary": {"x1": ["1"]}, "ensemble": "mean"}, "'pool'"),
    ],
)
def test_what_cannot_be_asked(asked, words):
    data, _ = about_centres(1, count=4, steps=20)
    with pytest.raises(ArgumentError, match=words):
        ito.discover(data, LIBRARY, **asked)


def test_two_recordings_are_too_few():
    data, _ = about_centres(1, count=2, steps=20)
    with pytest.raises(DataError, match="2 recordings"):
        ito.discover(data, LIBRARY, vary={"x1": ["1"]})


def noisy_oscillators(seed, spread=0.5, count=12):
    """Displacements of `dv = (-4 (x - c) - v) dt + dB` with noise of 0.02, and the constants `4 c`."""
    rng = np.random.default_rng(seed)
    centre = spread * rng.normal(size=count)
    paths = [
        ito.SDE(["v1", f"-4*x1 - v1 + {4 * c}"], [["0"], ["1.0"]], ["x1", "v1"])
        .simulate([c, 0.0], dt=0.05, n_steps=400, substeps=10, seed=100 * seed + n)
        .paths[0][:, :1]
        for n, c in enumerate(centre)
    ]
    seen = [x + 0.02 * rng.normal(size=x.shape) for x in paths]
    return ito.Trajectories(seen, dt=0.05, names=["x1"]), 4 * centre


@pytest.fixture(scope="module")
def unseen():
    data, constant = noisy_oscillators(4)
    return ito.discover(data, ito.Library.polynomials(1), order=2, vary={"v1": ["1"]}, **ASKED), constant


def test_unseen_velocities_and_noise_of_the_sensor(unseen):
    result, constant = unseen
    equation = result.drift["v1"]
    found = dict(zip(equation.terms, zip(equation.mean, equation.sd)))
    for term, value in {"x1": -4.0, "v1": -1.0}.items():
        assert abs(found[term][0] - value) < 3.5 * found[term][1]
    one = result.varying["v1"]["1"]
    assert one.interval[0] < np.std(constant) < one.interval[1] and one.gain > 20
    assert np.mean(np.abs(one.values - constant) < 3 * one.errors) > 0.9
    assert not [check["name"] for check in result.diagnostics["checks"] if check["fired"]]


def test_hidden_constants_are_not_shown_and_start_at_zero(unseen, tmp_path):
    result, _ = unseen
    text = str(result)
    assert "; differs by recording, spread" in text and "ddiffers" not in text
    assert len(result.equations("latex")) == 3 and "differs by recording" in result._repr_html_()
    assert str(ito.Discovery.load(result.save(tmp_path / "r"))) == text
    np.testing.assert_array_equal(
        result.simulate([0.1, 0.0], n_steps=50, seed=1).paths[0],
        result.simulate([0.1, 0.0, 0.0], n_steps=50, seed=1).paths[0],
    )


def test_a_spread_is_found_where_a_part_of_the_recording_hardly_shows_it():
    """Ten of thirty recordings gain less by a spread than its terms cost, and from none no step leads away."""
    data, _ = about_centres(6, noise=0.04)
    result = ito.discover(
        data, ito.Library.polynomials(2), vary={"x1": ["1"]}, measurement_noise="estimate", **ASKED
    )
    found = result.varying["x1"]["1"]
    assert found.interval[0] < 0.8 < found.interval[1] and found.gain > 10
    assert result.drift["x1"].interval()[1][0] < -1.0 < result.drift["x1"].interval()[1][1]


def test_alike_behind_the_filter():
    data, _ = noisy_oscillators(5, spread=0.0, count=8)
    result = ito.discover(data, ito.Library.polynomials(1), order=2, vary={"v1": ["1"]}, **ASKED)
    check = next(one for one in result.diagnostics["checks"] if one["name"] == "recordings differ")
    assert check["fired"] and result.varying["v1"]["1"].interval[0] == 0.0


@pytest.mark.parametrize(("said", "size"), [({"vary": {"x1": ["1"]}}, 4), ({"vary": {"x1": ["x1"]}}, 3)])
def test_what_differs_of_a_row_without_terms(said, size):
    walks = np.random.default_rng(2).normal(size=(size, 60, 1)).cumsum(axis=1)
    found = ito.discover(
        ito.Trajectories(list(walks), dt=0.1), ito.Library.polynomials(1), diffusion="constant", n_samples=20, n_burn=5,
        n_chains=2, seed=1, **said,
    )  # fmt: skip
    assert np.isfinite(found.drift["x1"].mean).all() and str(found)
    assert found.drift["x1"].leading(2) and len(found.drift["x1"].models(2)) == 2


def test_recordings_that_start_at_their_centres_differ_too():
    """What goes with the starts altogether is no less a difference: the gain is that over one value for all."""
    rng = np.random.default_rng(4)
    centre = 2.0 + 0.8 * rng.normal(size=30)
    keep = np.exp(-DT)
    x = [centre]
    for _ in range(200):
        noise = NOISE / np.sqrt(2.0) * np.sqrt(1 - keep**2) * rng.normal(size=30)
        x.append(centre + keep * (x[-1] - centre) + noise)
    result = ito.discover(ito.Trajectories(list(np.array(x).T), dt=DT), LIBRARY, vary={"x1": ["1"]}, **ASKED)
    assert result.varying["x1"]["1"].gain > 10
    assert not any("no more than by chance" in one for one in result.warnings)


def test_chance_that_recordings_are_alike():
    assert chance(0) == pytest.approx(0.5 * 2.706, abs=1e-3)
    assert chance(1) == pytest.approx(0.5 * 5.991, abs=1e-3)
    assert chance(3) == pytest.approx(0.5 * 9.488, abs=1e-3)
