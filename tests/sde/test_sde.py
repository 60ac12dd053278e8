"""`SDE`: how one is written, evaluated, shown and stored, and the rules of its arguments."""

import json
import warnings

import numpy as np
import pytest
from itoscope import SDE, Library, discover, problems
from itoscope.errors import ArgumentError, DataError, ExpressionError
from tolerances import EXPRESSION

X = np.random.default_rng(3).normal(size=(20, 2))
DUFFING = SDE(["x2", "-1000 x1 - 2 x2 - 1e5 x1^3"], [["0"], ["10 x1"]])


def test_values(backend):
    x1, x2 = X.T
    drift = np.stack([x2, -1000 * x1 - 2 * x2 - 1e5 * x1**3], axis=1)
    np.testing.assert_allclose(DUFFING.drift(X, backend), drift, rtol=EXPRESSION)
    np.testing.assert_allclose(DUFFING.drift(X[3], backend), drift[3], rtol=EXPRESSION)
    gamma = np.zeros((20, 2, 2))
    gamma[:, 1, 1] = 100 * x1**2
    np.testing.assert_allclose(DUFFING.gamma(X, backend), gamma, rtol=EXPRESSION)
    assert DUFFING.gamma(X[0], backend).shape == (2, 2)
    np.testing.assert_allclose(DUFFING.diffusion(X, backend)[:, 1, 0], 10 * x1, rtol=EXPRESSION)
    assert (DUFFING.n_states, DUFFING.n_noise, DUFFING.noise_structure) == (2, 1, "scalar")


def test_numbers_and_names_of_states():
    sde = SDE([0, "-k q"], [[0.0], [np.float64(2)]], states=["q", "k"])
    assert sde.drift_expressions == ["0", "-k q"]
    assert sde.diffusion_expressions == [["0"], ["2"]]
    assert SDE(["x1"]).noise_structure == "none"
    assert SDE(["x1"]).n_noise == 0


def test_from_coefficients_of_a_library():
    library = Library.polynomials(3)
    theta = np.zeros((2, 10))
    theta[0, 2], theta[1, [1, 2, 6]] = 1, [-1000, -2, -1e5]
    gamma = np.zeros((2, 2, 10))
    gamma[1, 1, 3] = 100
    sde = SDE(theta, gamma=gamma, library=library, states=["x1", "x2"])
    np.testing.assert_allclose(sde.drift(X), DUFFING.drift(X), rtol=EXPRESSION)
    np.testing.assert_allclose(sde.gamma(X), DUFFING.gamma(X), rtol=EXPRESSION)
    assert sde.diffusion_expressions == [["0"], ["10 |x1|"]]
    g = np.zeros((2, 1, 3))
    g[1, 0, 1] = 10
    same = SDE(theta, g, ["x1", "x2"], library=library, diffusion_library=Library.polynomials(1))
    assert same.diffusion_expressions == [["0"], ["10 x1"]]


def test_from_terms():
    drift = {"x1": {"x2": 1}, "x2": {"x1": -1000, "x2": -2, "x1^3": -1e5}}
    sde = SDE.from_terms(["x1", "x2"], drift, {("x2", "x2"): {"x1^2": 100}})
    np.testing.assert_allclose(sde.drift(X), DUFFING.drift(X), rtol=EXPRESSION)
    np.testing.assert_allclose(sde.gamma(X), DUFFING.gamma(X), rtol=EXPRESSION)
    correlated = SDE.from_terms(
        ["a", "b"], {}, {("b", "a"): {"1": 1}, ("a", "a"): {"1": 2}, ("b", "b"): {"1": 3}}
    )
    np.testing.assert_allclose(correlated.gamma([0, 0]), [[2, 1], [1, 3]])
    awkward = SDE.from_terms(["x"], {"x": {"x + 1": -2, "2 x": 3, "-x": 0.5, "|x - 1|": 1}})
    np.testing.assert_allclose(awkward.drift([3.0]), -8 + 18 - 1.5 + 2)


@pytest.mark.parametrize(
    ("gamma", "structure", "n_noise"),
    [
        ([["2", "1"], ["1", "0.5"]], "additive", 1),  # semidefinite: one noise is enough
        ([["2", "1"], ["1", "3"]], "additive", 2),
        ([["0", "0"], ["0", "9"]], "additive", 1),
        ([["0", "0"], ["0", "4 x1^2"]], "scalar", 1),
        ([["1 + x1^2", "0"], ["0", "exp(x2)"]], "diagonal", 2),
        ([["1 + x2^2", "0"], ["0", "exp(x1)"]], "general", 2),
        ([["1 + x1^2", "0.1"], ["0.1", "2"]], "general", 2),
        ([["x1", "0"], ["0", "0"]], "general", 2),  # may be negative, so no root is taken in advance
    ],
)
def test_gamma_becomes_a_diffusion_where_one_is_evident(gamma, structure, n_noise):
    sde = SDE(["0", "0"], gamma=gamma)
    assert (sde.noise_structure, sde.n_noise) == (structure, n_noise)
    x = np.abs(X)
    expected = SDE(["0", "0"], [[row[0], row[1]] for row in gamma]).diffusion(x)
    np.testing.assert_allclose(sde.gamma(x), expected, rtol=EXPRESSION)
    g = sde.diffusion(x)
    np.testing.assert_allclose(g @ g.transpose(0, 2, 1), expected, rtol=1e-10, atol=1e-12)


def test_repr_prints_the_equations():
    assert repr(DUFFING) == (
        "SDE of 2 states and 1 scalar noise\n"
        "  dx1 = x2 dt\n"
        "  dx2 = (-1000 x1 - 2 x2 - 1e5 x1^3) dt + 10 x1 dB1"
    )
    assert "d<M_x1, M_x2> = 0.1 dt" in repr(SDE(["0", "0"], gamma=[["1+x1^2", "0.1"], ["0.1", "2"]]))
    assert repr(SDE(["-x"], states=["x"])) == "SDE of 1 state and 0 noises\n  dx = (-x) dt"


def test_latex():
    assert DUFFING.to_latex() == (
        "\\begin{aligned}\n"
        "\\mathrm{d}x_{1} &= x_{2} \\, \\mathrm{d}t \\\\\n"
        "\\mathrm{d}x_{2} &= \\left(-1000 x_{1} - 2 x_{2} - 100000 x_{1}^{3}\\right) \\, \\mathrm{d}t"
        " + 10 x_{1} \\, \\mathrm{d}B_{1}\n"
        "\\end{aligned}"
    )
    latex = SDE(
        ["-2(x - 1)^2 theta/|x|", "sgn(x) 1e-9"], gamma=[["1", "x"], ["x", "2"]], states=["x", "theta"]
    )
    text = latex.to_latex()
    assert r"\frac{-2 \left(x - 1\right)^{2} \theta}{\left|x\right|}" in text
    assert r"10^{-9} \operatorname{sgn}\left(x\right)" in text
    assert r"\langle M_{1}, M_{2} \rangle &= x" in text


def test_sympy():
    sympy = pytest.importorskip("sympy")
    states, drift, diffusion, gamma = DUFFING.to_sympy()
    x1, x2 = states
    assert drift == sympy.Matrix([x2, -1000 * x1 - 2 * x2 - 100000 * x1**3])
    assert diffusion == sympy.Matrix([0, 10 * x1])
    assert gamma[1, 1] == 100 * x1**2
    text = "sgn(x1) |x2| + sqrt(2) tanh(x1)/cos(pi x2) - log(1 + x1^2)^x2"
    value = sympy.lambdify(states, SDE([text, "0"]).to_sympy().drift[0], "numpy")
    np.testing.assert_allclose(value(*X.T), SDE([text, "0"]).drift(X)[:, 0], rtol=EXPRESSION)


@pytest.mark.parametrize(
    "sde", [DUFFING, SDE(["0", "x1"], gamma=[["x1^2", "0.1"], ["0.1", "2"]]), SDE(["-x1"])]
)
def test_save_and_load(sde, tmp_path):
    sde.save(tmp_path / "sde.json")
    again = SDE.load(tmp_path / "sde.json")
    assert again == sde
    assert repr(again) == repr(sde)
    assert json.loads((tmp_path / "sde.json").read_text())["version"] == 1


@pytest.mark.parametrize("text", ["no json", "[]", '{"format": "itoscope.SDE", "version": 2}'])
def test_load_of_something_else(text, tmp_path):
    (tmp_path / "sde.json").write_text(text)
    with pytest.raises(DataError, match=r"sde\.json: no "):
        SDE.load(tmp_path / "sde.json")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SDE("x1"), "drift = 'x1': a list of one expression per state"),
        (lambda: SDE([]), r"drift = \[\]: a list"),
        (lambda: SDE(["1", "2"], states=["x"]), r"drift = \['1', '2'\]: 1 expressions"),
        (lambda: SDE(["x1", None]), r"drift\[1\] = None: an expression or a finite number"),
        (lambda: SDE([np.nan]), r"drift\[0\] = nan: an expression or a finite number"),
        (lambda: SDE(["x1"], "x1"), "diffusion = 'x1': 1 rows of expressions, one per state"),
        (lambda: SDE(["x1", "x2"], [["1"]]), r"diffusion = \[\['1'\]\]: 2 rows"),
        (lambda: SDE(["x1", "x2"], [["1"], ["1", "2"]]), r"diffusion\[1\] = \['1', '2'\]: 1 expressions"),
        (lambda: SDE(["x1"], [["1"]], gamma=[["1"]]), "diffusion and gamma: one of the two"),
        (lambda: SDE(["x1", "x2"], gamma=[["1"], ["1"]]), "gamma = .*: 2 rows of 2 expressions"),
        (
            lambda: SDE(["x1", "x2"], gamma=[["1", "x1"], ["x2", "1"]]),
            r"gamma\[1\]\[0\] = 'x2': the same as gamma\[0\]\[1\], 'x1'",
        ),
        (lambda: SDE(["x"], states=["1x"]), r"states\[0\] = '1x': a name"),
        (lambda: SDE([[1.0]], library=Library.polynomials(2)), r"drift of shape \(1, 1\): \(1, 3\)"),
        (lambda: SDE([[np.inf]], library=Library.polynomials(0)), "drift: finite coefficients"),
        (lambda: SDE([[1.0]], library=Library.custom(np.sin, "f")), "library: expressions alone"),
        (lambda: SDE.from_terms(["x"], {"y": {"x": 1}}), r"drift = 'y': states \(x\) as keys"),
        (lambda: SDE.from_terms(["x"], {}, {"x": {"x": 1}}), r"gamma = 'x': pairs of states \(x\)"),
        (lambda: DUFFING.drift([1.0]), r"x of shape \(1,\): \(2,\) or \(n, 2\), states x1, x2"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    ("gamma", "message"),
    [
        ([["-1"]], r"gamma\[0\]\[0\] = -1.0: .*the least of this one is -1"),
        ([[1, 2], [2, 1]], r"gamma\[0\]\[1\] = 2.0: .*the least of this one is -1"),
        ([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]], r"gamma\[0\]\[1\].*-0.8"),
    ],
)
def test_a_constant_matrix_that_is_no_covariance_is_refused(gamma, message):
    with pytest.raises(ArgumentError, match=message):
        SDE(["0"] * len(gamma), gamma=gamma)


def test_semidefinite_and_rounded_covariances_are_taken():
    low = np.random.default_rng(2).normal(size=(4, 2))
    np.testing.assert_allclose(SDE(["0"] * 4, gamma=low @ low.T).gamma(np.zeros(4)), low @ low.T, atol=1e-12)
    assert SDE(["0"], gamma=[["0"]]).n_noise == 0


def test_a_covariance_that_is_none_along_the_paths_is_said_once(backend):
    fair = SDE(["0", "0"], gamma=[["1 + x1^2", "0.5"], ["0.5", "1"]])
    bad = SDE(["0", "0"], gamma=[["1 + x1^2", "2"], ["2", "1"]])
    settings = {"dt": 0.01, "n_steps": 20, "scheme": "euler-maruyama", "seed": 1, "backend": backend}
    with pytest.warns(RuntimeWarning, match="at 42 of 42 states of the paths, the worst -1") as seen:
        bad.simulate([[0.0, 0.0]] * 2, **settings)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fair.simulate([0.0, 0.0], **settings)


@pytest.mark.parametrize("noise", [{"gamma": [["4"]]}, {"diffusion": [["1e-200"]]}])
def test_noise_that_scaling_would_lose_is_refused(noise):
    with pytest.raises(ArgumentError, match="factor"):
        SDE(["0"], **noise).scaled_noise(1e-200)


def test_a_mistake_in_an_expression_is_shown():
    with pytest.raises(ExpressionError, match=r"unknown name 'y'.*\n  2 y\n    \^"):
        SDE(["2 y"])


def test_a_model_of_a_custom_term_is_refused_by_its_name():
    from results import with_custom_terms

    result = with_custom_terms()
    assert "wind load" in result.drift["x1"].terms
    for call in (
        result.model,
        lambda: result.sample_models(2, 1),
        lambda: result.simulate([1.0], n_steps=5),
        lambda: result.forecast([1.0], n_steps=5),
    ):
        with pytest.raises(
            ArgumentError, match=r"term 'wind load' of dx1 is a function of Python.*Library\.expressions"
        ):
            call()


def test_a_custom_term_named_like_an_expression_is_no_expression():
    data = problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=10, substeps=5, seed=1)
    library = Library.custom(lambda x: 2 * x[:, 0], "x1 x1") + Library.polynomials(0)
    result = discover(data, library, n_chains=2, n_samples=100, n_burn=50, seed=1)
    with pytest.raises(ArgumentError, match="term 'x1 x1' of dx1"):
        result.model()
