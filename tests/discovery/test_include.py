"""Terms that a row has in every model, and bounds of coefficients: measured and noisy, saved, asked again, refused."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ItoscopeError

QUADRATIC = ito.Library.polynomials(2)
ASKED = {"known_drift": {"x1": "v1"}, "diffusion": "constant", "seed": 1}
NOISY = {"order": 2, "diffusion": "constant", "seed": 1}


@pytest.fixture(scope="module")
def swing():
    """An oscillator whose damping is too weak to be told from none in so short a time."""
    sde = ito.SDE(["v1", "-4*x1 - 0.05*v1"], [["0"], ["1.0"]], ["x1", "v1"])
    return sde.simulate([0.1, 0.0], dt=0.02, n_steps=3000, substeps=5, seed=1)


@pytest.fixture(scope="module")
def shown(swing):
    noise = 0.02 * np.random.default_rng(1).normal(size=(3001, 1))
    return ito.Trajectories(swing.paths[0][:, :1] + noise, dt=0.02, names=["x1"])


def of(equation, term):
    return equation.terms.index(term)


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
def test_measured_terms_that_must_be_in(swing, backend, sampler):
    short = {"n_chains": 2, "n_samples": 300, "n_burn": 50} if backend == "reference" else {}
    asked = ASKED | short | {"backend": backend, "sampler": sampler}
    free = ito.discover(swing, QUADRATIC, **asked).drift["v1"]
    k = of(free, "v1")
    assert not free.selected[k]
    result = ito.discover(swing, QUADRATIC, include={"v1": ["v1"]}, **asked)
    equation = result.drift["v1"]
    assert equation.selected[k] and equation.pip[k] == 1.0 and equation.included[..., k].all()
    assert result.settings["include"] == {"v1": ["v1"]}
    low, high = equation.interval(0.95)[k]
    assert low < -0.05 < high and low < equation.mean[k] < high
    assert equation.selected[of(equation, "x1")] and not equation.selected[of(equation, "x1^2")]
    assert abs(equation.samples[..., k].mean() - equation.mean[k]) < 0.1 * equation.sd[k]


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_measured_bounds(swing, backend):
    short = {"n_chains": 2, "n_samples": 300, "n_burn": 50} if backend == "reference" else {}
    asked = ASKED | short | {"backend": backend, "include": {"v1": ["v1"]}}
    bounds = {"v1": {"v1": (None, 0), "x1": (-5, None)}}
    result = ito.discover(swing, QUADRATIC, bounds=bounds, **asked)
    equation = result.drift["v1"]
    k = of(equation, "v1")
    assert (equation.samples[..., k] <= 0.0).all() and equation.interval(0.95)[k, 1] <= 0.0
    assert equation.mean[k] < 0.0 and equation.selected[of(equation, "x1")]
    assert result.settings["bounds"] == {"v1": {"x1": [-5.0, None], "v1": [None, 0.0]}}
    assert all(sde.drift([[0.0, 1.0]])[0, 1] <= 1e-12 for sde in result.sample_models(20, seed=1))
    wrong = ito.discover(swing, QUADRATIC, bounds={"v1": {"x1": (0, None)}}, **asked).drift["v1"]
    assert wrong.pip[of(wrong, "x1")] == 0.0


def test_noisy_terms_that_must_be_in_and_bounds(shown):
    free = ito.discover(shown, QUADRATIC, **NOISY).drift["v1"]
    k = of(free, "v1")
    assert not free.selected[k]
    result = ito.discover(shown, QUADRATIC, include={"v1": ["v1"]}, bounds={"v1": {"v1": (None, 0)}}, **NOISY)
    equation = result.drift["v1"]
    assert equation.selected[k] and equation.pip[k] == pytest.approx(1.0)
    assert (equation.samples[..., k] <= 0.0).all() and equation.interval(0.95)[k, 1] <= 0.0
    assert equation.interval(0.95)[k, 0] < -0.05 < 0.0 and equation.selected[of(equation, "x1")]
    assert all("v1: v1" in model["drift"] for model in result.diagnostics["models"])


def test_noisy_bounds_that_the_data_contradict(shown):
    wrong = ito.discover(shown, QUADRATIC, bounds={"v1": {"x1": (0, None)}}, **NOISY).drift["v1"]
    assert wrong.pip[of(wrong, "x1")] < 1e-3 and not wrong.selected[of(wrong, "x1")]


def test_saved_and_asked_again(swing, tmp_path):
    said = {"include": {"v1": ["v1"]}, "bounds": {"v1": {"v1": (None, 0)}}}
    result = ito.discover(swing, QUADRATIC, **said, **ASKED)
    loaded = ito.Discovery.load(result.save(tmp_path / "found.npz"))
    np.testing.assert_array_equal(loaded.drift["v1"].limits, result.drift["v1"].limits)
    np.testing.assert_array_equal(loaded.drift["v1"].interval(), result.drift["v1"].interval())
    assert str(loaded).splitlines()[2] == str(result).splitlines()[2]
    assert loaded.with_data(swing).self_check(seed=2) is not None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"include": {"x1": ["1"]}}, r"include = 'x1': a row that is sought: v1"),
        ({"include": {"v1": ["x1^9"]}}, r"include\['v1'\] = 'x1\^9': a term of the library"),
        ({"include": {"v1": "x1"}}, r"include\['v1'\] = 'x1': a list of terms"),
        (
            {"include": {"v1": ["x1"]}, "exclude": {"v1": ["x1"]}},
            r"include\['v1'\] = 'x1': a term that is not excluded",
        ),
        ({"bounds": ["x1"]}, r"bounds = \['x1'\]: rows, terms and bounds"),
        ({"bounds": {"v1": {"x1": 3}}}, r"bounds\['v1'\]\['x1'\] = 3: two numbers"),
        ({"bounds": {"v1": {"x1": (1, 0)}}}, r"bounds\['v1'\]\['x1'\] = \(1, 0\): two numbers"),
        ({"bounds": {"v1": {"x1": (float("nan"), 0)}}}, "two numbers"),
        ({"bounds": {"v1": {"x9": (0, 1)}}}, r"bounds\['v1'\]: unknown name 'x9'"),
    ],
)
def test_what_cannot_be_said(swing, said, message):
    with pytest.raises(ItoscopeError, match=message):
        ito.discover(swing, QUADRATIC, **said, **ASKED)
