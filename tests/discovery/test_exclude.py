"""Terms that a row may not have: in no model, measured or noisy; saved, asked again, told when wrong."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ItoscopeError

CUBIC = ito.Library.polynomials(3)
ASKED = {"known_drift": {"x1": "v1"}, "diffusion": "constant", "seed": 1}


@pytest.fixture(scope="module")
def swing():
    sde = ito.SDE(["v1", "-4*x1 - 0.5*v1 - 2*x1^3"], [["0"], ["1.0"]], ["x1", "v1"])
    return sde.simulate([0.1, 0.0], dt=0.02, n_steps=4000, substeps=5, seed=1)


@pytest.fixture(scope="module")
def shown(swing):
    noise = 0.02 * np.random.default_rng(1).normal(size=(4001, 1))
    return ito.Trajectories(swing.paths[0][:, :1] + noise, dt=0.02, names=["x1"])


def selected(equation):
    return {term for term, inside in zip(equation.terms, equation.selected) if inside}


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
def test_measured_without_terms(swing, backend, sampler):
    short = {"n_chains": 2, "n_samples": 200, "n_burn": 50} if backend == "reference" else {}
    asked = ASKED | short | {"backend": backend, "sampler": sampler}
    free = ito.discover(swing, CUBIC, **asked).drift["v1"]
    assert {"x1", "v1", "x1^3"} == selected(free)
    barred = ito.discover(swing, CUBIC, exclude={"v1": ["x1", "1", "x1*x1*v1"]}, **asked)
    equation = barred.drift["v1"]
    assert barred.settings["exclude"] == {"v1": ["1", "x1", "x1^2 v1"]}
    gone = [equation.terms.index(term) for term in ("1", "x1", "x1^2 v1")]
    assert not equation.pip[gone].any() and not equation.samples[..., gone].any()
    assert not {"1", "x1", "x1^2 v1"} & {term for model in equation.models(20) for term in model.terms}
    assert {"x1^3"} <= selected(equation)
    assert not any("zero everywhere" in warning for warning in barred.warnings)


def test_as_without_the_terms_in_the_library(swing):
    """Barred terms are no candidates: they count neither in the prior of the others nor in their evidence.

    They stay instruments of the trapezoid, which moves the moments by less than the tolerance.
    """
    exact = ASKED | {"sampler": "exact"}
    barred = ito.discover(swing, ito.Library.polynomials(2), exclude={"v1": ["1", "x1 v1"]}, **exact).drift[
        "v1"
    ]
    small = ito.discover(swing, ito.Library.expressions("x1", "v1", "x1^2", "v1^2"), **exact).drift["v1"]
    kept = [barred.terms.index(term) for term in small.terms]
    np.testing.assert_allclose(barred.pip[kept], small.pip, atol=5e-3)
    inside = small.selected
    assert np.all(np.abs(barred.mean[kept] - small.mean)[inside] < 0.05 * small.sd[inside])


def test_noisy_without_terms(shown):
    asked = {"order": 2, "diffusion": "constant", "seed": 1}
    library = ito.Library.polynomials(2)
    assert {"x1", "v1"} == selected(ito.discover(shown, library, **asked).drift["v1"])
    barred = ito.discover(shown, library, exclude={"v1": ["x1", "v1*x1"]}, **asked).drift["v1"]
    gone = [barred.terms.index(term) for term in ("x1", "x1 v1")]
    assert not barred.pip[gone].any() and not barred.samples[..., gone].any()
    assert "v1" in selected(barred)
    free = ito.discover(shown, library, exclude={"v1": ["1", "x1^2", "x1 v1", "v1^2"]}, **asked).drift["v1"]
    small = ito.discover(shown, ito.Library.expressions("x1", "v1"), **asked).drift["v1"]
    kept = [free.terms.index(term) for term in small.terms]
    np.testing.assert_allclose(free.mean[kept], small.mean, rtol=1e-2)
    np.testing.assert_allclose(free.pip[kept], small.pip, atol=1e-2)


def test_saved_and_asked_again(swing, tmp_path):
    result = ito.discover(swing, CUBIC, exclude={"v1": ["1", "x1"]}, **ASKED)
    loaded = ito.Discovery.load(result.save(tmp_path / "found.json"))
    assert loaded.settings["exclude"] == {"v1": ["1", "x1"]}
    again = loaded.with_data(swing).self_check(seed=2)
    assert again is not None


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ({"x1": ["1"]}, r"exclude = 'x1': a row that is sought: v1"),
        ({"v1": ["x1^9"]}, r"exclude\['v1'\] = 'x1\^9': a term of the library"),
        ({"v1": ["x1 +"]}, r"exclude\['v1'\]"),
        ({"v1": "x1"}, r"exclude\['v1'\] = 'x1': a list of terms"),
        ("x1", r"exclude = 'x1': rows and names of terms"),
        ({"v1": ["1", "x1", "v1"]}, r"names all 3 candidates"),
    ],
)
def test_what_cannot_be_excluded(swing, exclude, message):
    with pytest.raises(ItoscopeError, match=message):
        ito.discover(swing, ito.Library.polynomials(1), exclude=exclude, **ASKED)
