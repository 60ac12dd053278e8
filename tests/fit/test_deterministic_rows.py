"""Rows of an unknown drift that carry no noise, beside rows that do: measured exactly, and through noise."""

from functools import cache

import itoscope as ito
import numpy as np
import pytest

SYSTEMS = {
    "van der pol": (
        ito.SDE(["v", "2*(1 - x^2)*v - x"], [["0"], ["0.5"]], ["x", "v"]),
        ([1.0, 0.0], 0.02, 2000), 3, "x", {"x": {"v": 1.0}, "v": {"x": -1.0, "v": 2.0, "x^2 v": -2.0}}, {"1": 0.25},
    ),
    "fitzhugh-nagumo": (
        ito.SDE(["v - v^3/3 - w + 0.5", "0.1*(v + 0.7 - 0.8*w)"], [["0.3"], ["0"]], ["v", "w"]),
        ([0.0, 0.0], 0.05, 2000), 3, "w",
        {"w": {"1": 0.07, "v": 0.1, "w": -0.08}, "v": {"1": 0.5, "v": 1.0, "w": -1.0, "v^3": -1 / 3}}, {"1": 0.09},
    ),
    "lotka-volterra": (
        ito.SDE(["x - 0.5*x*y", "-0.8*y + 0.4*x*y"], [["0"], ["0.1*y"]], ["x", "y"]),
        ([2.0, 1.0], 0.05, 2000), 2, "x", {"x": {"x": 1.0, "x y": -0.5}, "y": {"y": -0.8, "x y": 0.4}}, {"y^2": 0.01},
    ),
}  # fmt: skip


@cache
def recorded(name):
    sde, (start, dt, n), *_ = SYSTEMS[name]
    return sde.simulate(start, dt=dt, n_steps=n, substeps=200, seed=3)


@cache
def found(name, noise):
    data, (_, _, degree, row, *_) = recorded(name), SYSTEMS[name]
    if noise:
        data = data.add_noise(sd=noise * data.sd(), seed=4)
    return ito.discover(
        data, ito.Library.polynomials(degree), diffusion={row: "none"}, seed=1, n_samples=200, n_burn=200,
        measurement_noise="estimate" if noise else 0,
    )  # fmt: skip


@pytest.mark.parametrize("noise", [0, 0.02])
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_row_without_noise_is_found_beside_one_with(name, noise):
    *_, row, drift, gamma = SYSTEMS[name]
    result = found(name, noise)
    (other,) = set(drift) - {row}
    assert list(result.diffusion) == [(other, other)]
    assert result.settings["diffusion"] == {row: "none"}
    for state, truth in drift.items():
        equation = result.drift[state]
        chosen = {
            t: (m, s)
            for t, m, s, z in zip(equation.terms, equation.mean, equation.sd, equation.selected)
            if z
        }
        for term, value in truth.items():
            mean, sd = chosen[term]
            # 4 sd, and what a step of the trapezoid leaves of a rate of one in a second
            assert abs(mean - value) < 4 * sd + (2e-3 if state == row and not noise else 0.0), (state, term)
        extra = set(chosen) - set(truth)
        assert not extra or (not noise and all(abs(chosen[term][0]) < 2e-3 for term in extra))
    equation = result.diffusion[other]
    values = {
        t: (m, s) for t, m, s, z in zip(equation.terms, equation.mean, equation.sd, equation.selected) if z
    }
    assert set(values) == set(gamma)
    for term, value in gamma.items():
        assert abs(values[term][0] - value) < 4 * values[term][1]


@pytest.mark.parametrize("row", ["none", "constant", "diagonal"])
@pytest.mark.parametrize("terms", [None, ["y^2"]])
def test_a_row_that_turns_out_without_noise_does_not_keep_another_from_its_own(row, terms):
    """Gamma of the prey comes down to zero, where its regression is as often below: that of the predator is found."""
    data = recorded("lotka-volterra")
    result = ito.discover(
        data.add_noise(sd=0.02 * data.sd(), seed=4), ito.Library.polynomials(2), measurement_noise="estimate",
        diffusion={"x": row, "y": "diagonal"}, seed=1, n_samples=200, n_burn=200,
        diffusion_library=terms and ito.Library.expressions(*terms),
    )  # fmt: skip
    gamma = result.diffusion["y"]
    assert [t for t, z in zip(gamma.terms, gamma.selected) if z] == ["y^2"]
    assert abs(gamma.mean - 0.01)[gamma.selected] < 4 * gamma.sd[gamma.selected]
    said = any("the noise of x cannot be told from zero" in text for text in result.warnings)
    assert said is (row != "none")


def test_the_advice_keeps_the_words_of_the_other_rows():
    words = {"x": "none", "y": "constant"}
    result = ito.discover(
        recorded("lotka-volterra"),
        ito.Library.polynomials(2),
        diffusion=words,
        seed=1,
        n_samples=200,
        n_burn=200,
    )
    (advice,) = [one for one in result.advice if one.cause == "noise that depends on the state"]
    assert dict(advice.arguments) == {"diffusion": {"x": "none", "y": "full"}}


def test_the_model_has_no_noise_in_that_row(tmp_path):
    result = found("van der pol", 0.02)
    assert np.array_equal(result.model().gamma(np.array([[0.3, 0.1]]))[0, 0], [0.0, 0.0])
    loaded = ito.Discovery.load(result.save(tmp_path / "found"))
    assert list(loaded.diffusion) == [("v", "v")] and loaded.settings["diffusion"] == {"x": "none"}
    assert np.isfinite(loaded.simulate([0.3, 0.1], n_steps=20, dt=0.02, n_paths=2, seed=1).paths[0]).all()


def test_exact_samples_of_a_row_without_noise_are_filtered_where_others_drive_it():
    """Between the samples `v` moves `x`, so that a model can miss them by something."""
    sde = ito.SDE(["v", "u", "-x - v - 2 u"], [["0"], ["0"], ["1"]], ["x", "v", "u"])
    data = sde.simulate([0.0, 0.0, 0.0], dt=0.05, n_steps=500, substeps=4000, seed=1)
    result = ito.discover(
        data.select(["x", "v"]), ito.Library.polynomials(1), states=["x", "v", "u"], known_drift={"v": "u"},
        diffusion={"x": "none", "u": "constant"}, measurement_noise=0, seed=1, n_samples=50,
    )  # fmt: skip
    assert [t for t, z in zip(result.drift["x"].terms, result.drift["x"].selected) if z] == ["v"]


def test_a_row_that_nothing_moves_is_refused_where_the_samples_are_exact():
    """A cosine beside a pendulum in noise: its row has no part of the other, and its samples no error."""
    sde = ito.SDE(["v", "-4 x - 0.5 v"], [["0"], ["1"]], ["x", "v"])
    moved = sde.simulate([0.5, 0.0], dt=0.05, n_steps=400, substeps=20, seed=1).paths[0][:, 0]
    exact = np.cos(1.5 * 0.05 * np.arange(401))
    with pytest.raises(ito.errors.ArgumentError, match="diffusion: without noise in v1 nothing is left"):
        ito.discover(
            ito.Trajectories(np.column_stack([exact, moved]), dt=0.05), ito.Library.polynomials(1), order=2,
            diffusion={"v1": "none"}, measurement_noise=0.0, seed=1, n_samples=50,
        )  # fmt: skip


def walker(noise, dt=0.02):
    """Two states that turn each other, the first with so much noise of its own."""
    sde = ito.SDE(["y", "-4 x - y"], [[str(noise), "0"], ["0", "1"]], ["x", "y"])
    return sde.simulate([0.5, 0.0], dt=dt, n_steps=2000, substeps=20, seed=2)


@pytest.mark.parametrize(("noise", "quiet"), [(0.0, True), (0.02, False)])
def test_a_measured_row_without_noise_is_reported_as_deterministic(noise, quiet):
    asked = {"scheme": "trapezoid", "seed": 1, "n_samples": 200, "n_burn": 100}
    result = ito.discover(walker(noise), ito.Library.polynomials(1), **asked)
    assert (("x", "x") in result.diffusion) is not quiet and ("y", "y") in result.diffusion
    said = [text for text in result.warnings if "x has no noise that can be seen at this step" in text]
    assert len(said) == quiet
    (check,) = [c for c in result.diagnostics["checks"] if c["name"] == "row noise" and c["about"] == "x"]
    assert check["fired"] is quiet


def test_both_backends_say_the_same():
    data = ito.Trajectories(walker(0.0).paths[0][:200], dt=0.02, names=["x", "y"])
    one, other = (
        ito.discover(
            data, ito.Library.polynomials(1), diffusion={"x": "none"}, seed=1, n_samples=50, backend=backend
        )
        for backend in ("rust", "reference")
    )
    assert list(one.diffusion) == list(other.diffusion) == [("y", "y")]
    for state in ("x", "y"):
        np.testing.assert_allclose(one.drift[state].mean, other.drift[state].mean, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("noise", "quiet"), [(0.0, True), (0.5, False)])
def test_so_is_one_behind_noise(noise, quiet):
    data = walker(noise)
    data = data.add_noise(sd=0.03 * data.sd(), seed=1)
    result = ito.discover(
        data,
        ito.Library.polynomials(1),
        diffusion="constant",
        measurement_noise="estimate",
        seed=1,
        n_samples=50,
    )
    assert any("the noise of x cannot be told from zero" in text for text in result.warnings) is quiet
    assert result.diffusion["x"].interval(0.95)[0, 0] == (0.0 if quiet else pytest.approx(0.25, abs=0.15))


@pytest.mark.parametrize("between", ["held", "linear"])
def test_an_input_that_jumps_from_sample_to_sample_hides_no_noise(between):
    """The trapezoid misses nothing of what is held or goes straight between the samples."""
    model = ito.SDE(["-x + 3*u"], [["0.2"]], ["x"], inputs=["u"])
    push = np.random.default_rng(1).standard_normal(2001)
    known = {"u": ito.Input(push, t=np.arange(2001) * 0.05, between=between)}
    data = model.simulate([0.0], dt=0.05, n_steps=2000, substeps=20, seed=1, inputs=known)
    result = ito.discover(data, ito.Library.polynomials(1), inputs=known, seed=1, n_samples=200)
    assert result.diffusion["x"].mean[0] == pytest.approx(0.04, rel=0.2)


def test_a_path_that_alternates_is_not_called_deterministic():
    """Its fitted drift moves by more than the path does, and explains nothing of its steps."""
    rng, x = np.random.default_rng(1), [0.0]
    for _ in range(2000):
        x.append(-0.5 * x[-1] + rng.standard_normal())
    result = ito.discover(np.array(x)[:, None], ito.Library.polynomials(1), dt=0.1, seed=1, n_samples=200)
    assert ("x1", "x1") in result.diffusion
