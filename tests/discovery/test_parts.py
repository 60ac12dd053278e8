"""Known parts of rows whose other terms are sought, and known noise of given rows; measured, noisy, saved, refused."""

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ItoscopeError
from itoscope.fit.filtered.answer import recorded
from itoscope.fit.filtered.model import Model
from itoscope.fit.options import Options
from itoscope.fit.question import Question

QUADRATIC = ito.Library.polynomials(2)
ASKED = {"diffusion": "constant", "seed": 1}
SHORT = {"n_chains": 2, "n_samples": 300, "n_burn": 50}


@pytest.fixture(scope="module")
def lift():
    """A float under gravity and a known force, with a drag that is sought."""
    rng = np.random.default_rng(1)
    force = np.repeat(rng.normal(size=40), 50)
    sde = ito.SDE(["-9.81 + 3*force - 2*v"], [["0.5"]], ["v"], inputs=["force"])
    held = {"force": ito.Input(force, between="held")}
    path = sde.simulate([-5.0], dt=0.02, n_steps=1999, inputs=held, substeps=5, seed=1).paths[0]
    return ito.Trajectories(np.column_stack([path, force]), dt=0.02, names=["v", "force"])


@pytest.fixture(scope="module")
def swing():
    sde = ito.SDE(["v1", "-4*x1 - 0.5*v1 - 2*x1^3"], [["0"], ["1.0"]], ["x1", "v1"])
    path = sde.simulate([0.1, 0.0], dt=0.02, n_steps=4000, substeps=5, seed=1).paths[0][:, :1]
    return ito.Trajectories(
        path + 0.02 * np.random.default_rng(1).normal(size=(4001, 1)), dt=0.02, names=["x1"]
    )


@pytest.fixture(scope="module")
def pushed():
    """An oscillator pushed by a force of correlation time 0.2, of which its displacement alone is seen."""
    sde = ito.SDE(["v1", "-9*x1 - v1 + u", "-5*u"], [["0"], ["0"], ["10.0"]], ["x1", "v1", "u"])
    path = sde.simulate([0.0, 0.0, 0.0], dt=0.02, n_steps=6000, substeps=5, scheme="taylor15", seed=2).paths[
        0
    ][:, :1]
    noise = 0.02 * path.std() * np.random.default_rng(2).normal(size=path.shape)
    return ito.Trajectories(path + noise, dt=0.02, names=["x1"])


def selected(equation):
    return {term for term, inside in zip(equation.terms, equation.selected) if inside}


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_measured_part(lift, backend, tmp_path):
    asked = (
        ASKED | (SHORT if backend == "reference" else {}) | {"backend": backend, "inputs": {"force": "held"}}
    )
    result = ito.discover(lift, QUADRATIC, known_drift={"v": "-9.81 + 3*force + ..."}, **asked)
    equation = result.drift["v"]
    part = "-9.81 + 3*force"
    assert selected(equation) == {"v", part}
    low, high = equation.interval(0.95)[equation.terms.index("v")]
    assert low < -2.0 < high
    k = equation.terms.index(part)
    assert (equation.mean[k], equation.sd[k], equation.pip[k]) == (1.0, 0.0, 1.0) and equation.given[k]
    assert result.equations()[0].startswith("dv = [-(") and f"+ ({part})" in result.equations()[0]
    latex = result.equations(style="latex")[0]
    assert "given" in str(result) and r"+ \left(-9.81" in latex and r"(\left(" not in latex
    np.testing.assert_allclose(
        result.model().drift([[1.0, 2.0]])[0, 0], -9.81 + 6 + equation.mean[equation.terms.index("v")]
    )
    assert result.settings["known_drift"] == {"v": "-9.81 + 3*force + ..."}
    assert result.settings["library"] == QUADRATIC.bind(["v"], None, ["force"]).names
    loaded = ito.Discovery.load(result.save(tmp_path / "found"))
    assert str(loaded) == str(result)
    future = loaded.forecast([0.0], duration=1.0, inputs={"force": np.zeros(51)}, seed=1)
    assert np.isfinite(future.mean).all()


def test_a_part_saves_finding_it(lift):
    """With less known the same is found, with wider intervals: a known part adds what it tells."""
    asked = ASKED | {"inputs": {"force": "held"}}
    library = ito.Library.polynomials(1)
    free = ito.discover(lift, library, **asked).drift["v"]
    part = ito.discover(lift, library, known_drift={"v": "... + 3*force - 9.81"}, **asked).drift["v"]
    assert selected(free) == {"1", "v", "force"}
    assert part.sd[part.terms.index("v")] < free.sd[free.terms.index("v")]
    term = ito.discover(lift, library, known_drift={"v": "force + ..."}, **asked).drift["v"]
    assert term.given[term.terms.index("force")] and "force" in selected(term)


def test_noisy_part(swing):
    asked = ASKED | {"order": 2}
    library = ito.Library.expressions("1", "x1", "v1", "x1^3")
    result = ito.discover(swing, library, known_drift={"v1": "-4*x1 + ..."}, **asked)
    equation = result.drift["v1"]
    assert selected(equation) == {"-4*x1", "v1", "x1^3"}
    for term, value in (("v1", -0.5), ("x1^3", -2.0)):
        low, high = equation.interval(0.95)[equation.terms.index(term)]
        assert low < value < high
    drift = result.model().drift([[0.5, 0.0]])[0, 1]
    assert drift == pytest.approx(-2.0 + 0.125 * equation.mean[equation.terms.index("x1^3")])
    assert np.isfinite(result.smoothed().mean[0]).all()


def test_hidden_force_of_known_noise(pushed):
    result = ito.discover(
        pushed, ito.Library.expressions("x1", "v1"), states=["x1", "v1", "u"], measurement_noise="estimate",
        known_drift={"x1": "v1", "v1": "u + ...", "u": "-5*u"}, known_diffusion={"u": 100},
        diffusion="none", include={"v1": ["x1", "v1"]}, seed=1,
    )  # fmt: skip
    equation = result.drift["v1"]
    for term, value in (("x1", -9.0), ("v1", -1.0)):
        low, high = equation.interval(0.999)[equation.terms.index(term)]
        assert low < value < high
    assert result.diffusion["u"].terms == ["1"] and result.diffusion["u"].given.all()
    assert "Gamma[u, u] = 100\n" in str(result) and list(result.diffusion) == [("u", "u")]
    assert not any("cannot be told from zero" in warning for warning in result.warnings)
    np.testing.assert_array_equal(result.model().gamma([[0.0, 0.0, 0.0]])[0], np.diag([0.0, 0.0, 100.0]))
    assert result.settings["known_diffusion"] == {"u": "100.0"}


def test_backends_see_the_same_given_parts_and_noise(pushed):
    """The likelihood of a model with a known part, a given row and noise of it that varies with a state."""
    heights = []
    for backend in ("rust", "reference"):
        asked = Options(
            library=ito.Library.expressions("x1", "v1"), states=["x1", "v1", "u"], measurement_noise=0.01,
            known_drift={"x1": "v1", "v1": "u - v1 + ...", "u": "-5*u"}, known_diffusion={"u": "20 + u^2"},
            diffusion="constant", backend=backend, seed=1,
        )  # fmt: skip
        data = ito.Trajectories(pushed.paths[0][:60], dt=0.02, names=["x1"])
        recording = recorded(Question.of(data, asked))
        among = recording.candidates
        drift, gamma = np.zeros((3, among.n_terms)), np.zeros((1, among.n_terms))
        drift[1, among.drift_terms[0]], gamma[0, among.constant] = -9.0, 0.1
        model = Model(drift, gamma, np.array([1e-4]), np.zeros(3), np.eye(3), np.zeros(3))
        less = replace(model, drift=0.0 * drift)
        heights.append((recording.loglik(model), recording.loglik(less)))
    np.testing.assert_allclose(heights[0], heights[1], rtol=1e-9)
    assert abs(heights[0][0] - heights[0][1]) > 1.0


def test_white_noise_beside_the_known_force_is_none(pushed):
    """Where the known force is all there is, the noise of the row comes out small; without the force it is large."""
    asked = {"measurement_noise": "estimate", "diffusion": "constant", "seed": 1}
    library, rows = ito.Library.expressions("x1", "v1"), {"x1": "v1"}
    force = {"v1": "u + ...", "u": "-5*u"}
    with_it = ito.discover(
        pushed,
        library,
        states=["x1", "v1", "u"],
        known_drift=rows | force,
        known_diffusion={"u": "100"},
        **asked,
    )
    without = ito.discover(pushed, library, states=["x1", "v1"], known_drift=rows, **asked)
    assert with_it.diffusion["v1"].mean[0] < 0.1 * without.diffusion["v1"].mean[0]
    assert with_it.diagnostics["loglik"] > without.diagnostics["loglik"] + 20


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"known_drift": {"v": "3*force ..."}}, r"known_drift\['v'\] = '3\*force ...': ... as one summand"),
        ({"known_drift": {"v": "2*... + 1"}}, r"... as one summand"),
        ({"known_drift": {"v": "... + 1 + ..."}}, r"... as one summand"),
        ({"known_drift": {"v": "3*wind + ..."}}, r"known_drift\['v'\]: unknown name 'wind'"),
        (
            {"known_drift": {"v": "v + ..."}, "exclude": {"v": ["v"]}},
            r"exclude\['v'\] = 'v': a term that is not the known",
        ),
        ({"known_diffusion": {"v": "1"}}, r"known_diffusion = 'v': a given row"),
        ({"known_diffusion": {"w": "1"}}, r"known_diffusion = 'w': a state or a pair of states"),
        ({"known_diffusion": "v"}, r"known_diffusion = 'v': states and the noise"),
    ],
)
def test_what_cannot_be_known(lift, said, message):
    with pytest.raises(ItoscopeError, match=message):
        ito.discover(lift, QUADRATIC, inputs={"force": "held"}, **said, **ASKED)
