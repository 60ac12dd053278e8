"""Numbers of known expressions that are not known: found with the equation, with intervals, in everything shown."""

import json

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ItoscopeError
from itoscope.fit.filtered.answer import recorded
from itoscope.fit.filtered.model import Model
from itoscope.fit.options import Options
from itoscope.fit.question import Question

LINEAR = ito.Library.polynomials(1)
QUADRATIC = ito.Library.polynomials(2)
ASKED = {"diffusion": "constant", "seed": 1}


@pytest.fixture(scope="module")
def lift():
    """A float under gravity and a force, with a drag that is sought."""
    rng = np.random.default_rng(1)
    force = np.repeat(rng.normal(size=40), 50)
    sde = ito.SDE(["-9.81 + 3*force - 2*v"], [["0.5"]], ["v"], inputs=["force"])
    held = {"force": ito.Input(force, between="held")}
    path = sde.simulate([-5.0], dt=0.02, n_steps=1999, inputs=held, substeps=5, seed=1).paths[0]
    return ito.Trajectories(np.column_stack([path, force]), dt=0.02, names=["v", "force"])


@pytest.fixture(scope="module")
def gusts():
    """The displacement, with 2 % noise, of an oscillator under a force of correlation time 0.2."""
    sde = ito.SDE(["v1", "-9*x1 - v1 + u", "-5*u"], [["0"], ["0"], ["10.0"]], ["x1", "v1", "u"])
    run = {"dt": 0.05, "n_steps": 6000, "substeps": 10, "scheme": "taylor15", "seed": 4}
    path = sde.simulate([0.0, 0.0, 0.0], **run).paths[0][:, :1]
    noise = 0.02 * path.std() * np.random.default_rng(2).normal(size=path.shape)
    return ito.Trajectories(path + noise, dt=0.05, names=["x1"])


HIDDEN = {
    "states": ["x1", "v1", "u"],
    "measurement_noise": "estimate",
    "known_drift": {"x1": "v1", "v1": "u + ...", "u": "-u/tau"},
    "known_diffusion": {"u": "s^2"},
    "parameters": {"tau": (0.01, 1.0, 10.0), "s": (0.0, 1.0, None)},
    "diffusion": {"v1": "none"},
    "seed": 1,
}


@pytest.fixture(scope="module")
def found(gusts):
    return ito.discover(gusts, ito.Library.expressions("x1", "v1", "u"), **HIDDEN)


def test_the_coefficient_of_a_known_part_is_that_of_an_included_term(lift):
    """A parameter in a part of a row does what an included term does: the same number with the same error."""
    held = {"inputs": {"force": "held"}, **ASKED}
    named = ito.discover(
        lift, QUADRATIC, known_drift={"v": "-9.81 + a*force + ..."}, parameters={"a": 1.0}, **held
    )
    term = ito.discover(
        lift,
        QUADRATIC,
        scheme="filter",
        known_drift={"v": "-9.81 + ..."},
        include={"v": ["force"]},
        exclude={"v": ["1"]},
        **held,
    )
    k = term.drift["v"].terms.index("force")
    a = named.parameters["a"]
    assert a.mean == pytest.approx(term.drift["v"].mean[k], rel=1e-3)
    assert a.sd == pytest.approx(term.drift["v"].sd[k], rel=0.05)
    assert abs(a.mean - 3.0) < 3 * a.sd
    assert "force" not in [t for t, z in zip(named.drift["v"].terms, named.drift["v"].selected) if z]
    assert any("*force" in line for line in named.equations())


def test_a_hidden_row_and_its_noise_are_found(found):
    """Displacement alone: the time and the strength of the force within four standard errors, and the oscillator."""
    tau, s = found.parameters["tau"], found.parameters["s"]
    assert abs(tau.mean - 0.2) < 4 * tau.sd and 0 < tau.sd < 0.05
    assert abs(s.mean - 10.0) < 4 * s.sd and 0 < s.sd < 1.0
    row = found.drift["v1"]
    assert {t for t, z in zip(row.terms, row.selected) if z} == {"x1", "v1", "u"}
    correlations = found.parameters.correlations["tau"]
    assert set(correlations) == {"s", "dv1: x1", "dv1: v1"}
    assert max(map(abs, correlations.values())) <= 1.0
    low, high = tau.interval(0.95)
    assert low * high == pytest.approx(tau.mean**2)  # tau is positive: on the scale of its logarithm


def test_a_start_far_off_ends_at_the_same_place(gusts, found):
    far = HIDDEN | {"parameters": {"tau": (0.01, 8.0, 10.0), "s": (0.0, 100.0, None)}}
    other = ito.discover(gusts, ito.Library.expressions("x1", "v1", "u"), **far)
    for name in ("tau", "s"):
        assert (
            abs(other.parameters[name].mean - found.parameters[name].mean) < 0.2 * found.parameters[name].sd
        )


def test_what_is_shown_has_the_parameters(found, tmp_path):
    text = str(found)
    assert "parameters" in text and "(-u/0." in text and "τ" in found._repr_html_()
    assert [row["term"] for row in found.table().to_dict("records") if row["equation"] == "parameters"] == [
        "tau",
        "s",
    ]
    assert ("parameters", "s") in found.params.index and "parameters" in str(found.summary())
    loaded = ito.Discovery.load(found.save(tmp_path / "found.npz"))
    assert str(loaded) == text
    assert loaded.parameters.as_dict() == found.parameters.as_dict()
    assert loaded.parameters.correlations == found.parameters.correlations
    json.dumps(loaded.settings)
    assert loaded.settings["parameters"] == found.settings["parameters"]
    assert loaded.settings["known_drift"]["u"] == "-u/tau"


def test_drawn_models_have_drawn_parameters(found):
    drawn = found.draw_models(400, seed=1)
    sizes = drawn.gamma["u", "u"].values[:, 0]
    s, tau = found.parameters["s"], found.parameters["tau"]
    assert np.std(np.sqrt(sizes)) == pytest.approx(s.sd, rel=0.2)
    slope = drawn.drift["u"].values[:, 1]
    assert np.std(slope) == pytest.approx(tau.sd, rel=0.2)
    graph = ito.SDE([drawn.drift_of(7)[2].replace("u", "x")], [["0"]], ["x"])
    rate = -graph.simulate([1.0], dt=1e-6, n_steps=3).paths[0][1, 0] / 1e-6 + 1e6
    expected = 1.0 / tau.mean - slope[7] / tau.mean**2
    assert rate == pytest.approx(expected, rel=1e-3)
    assert ("-u/(" in found.model().drift_expressions[2]) and "tau" not in found.model().drift_expressions[2]


def test_what_cannot_be_told_is_said():
    sde = ito.SDE(["-6*x"], [["0.5"]], ["x"])
    data = sde.simulate([0.0], dt=0.02, n_steps=1500, substeps=5, seed=1)
    both = ito.discover(
        data, LINEAR, known_drift={"x": "-a*b*x + ..."}, parameters={"a": 1.0, "b": (0, 2.0, None)}, **ASKED
    )
    assert any("does not tell a, b apart" in warning for warning in both.warnings)
    assert both.parameters["a"].interval() == (-np.inf, np.inf)
    one = ito.discover(data, LINEAR, known_drift={"x": "-a*x + ..."}, parameters={"a": 1.0}, **ASKED)
    assert not [warning for warning in one.warnings if "tell" in warning]
    a, b = both.parameters["a"].mean, both.parameters["b"].mean
    assert a * b == pytest.approx(one.parameters["a"].mean, rel=2e-2)
    edge = ito.discover(
        data, LINEAR, known_drift={"x": "-a*x + ..."}, parameters={"a": (0, 1.0, 2.0)}, **ASKED
    )
    assert any("a lies at its bound 2" in warning for warning in edge.warnings)
    assert edge.parameters["a"].mean == pytest.approx(2.0)


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_information_of_numbers_is_the_slope_of_the_likelihood(gusts, backend):
    short = ito.Trajectories(gusts.paths[0][:120], dt=0.05, names=["x1"])
    options = HIDDEN | {"library": ito.Library.expressions("x1", "v1", "u"), "backend": backend}
    recording = recorded(Question.of(short, Options(**options)))
    among = recording.candidates
    drift, gamma = np.zeros((3, among.n_terms)), np.zeros((len(among.pairs), among.n_terms))
    drift[1, among.drift_terms[0]], drift[1, among.drift_terms[1]] = -8.0, -1.2
    model = Model(drift, gamma, np.array([1e-3]), np.zeros(3), np.eye(3), np.zeros(3), np.array([0.3, 8.0]))
    parameters = model.parameters(recording.free_noise)
    numbers = [p for p in parameters if p.kind == "number"]
    sums = recording.information(model, numbers, [1e-4, 1e-3])
    for k, (parameter, h) in enumerate(zip(numbers, (1e-5, 1e-4))):
        value = parameter.of(model)
        up, down = (recording.loglik(model.with_values([parameter], [value + s * h])) for s in (1, -1))
        assert sums.moment[k] == pytest.approx((up - down) / (2 * h), rel=1e-3)


def test_both_backends_have_the_same_moments(gusts):
    short = ito.Trajectories(gusts.paths[0][:80], dt=0.05, names=["x1"])
    found = []
    for backend in ("rust", "reference"):
        options = HIDDEN | {"library": ito.Library.expressions("x1", "v1", "u"), "backend": backend}
        recording = recorded(Question.of(short, Options(**options)))
        among = recording.candidates
        drift = np.zeros((3, among.n_terms))
        drift[1, among.drift_terms[0]] = -8.0
        gamma = np.zeros((len(among.pairs), among.n_terms))
        model = Model(
            drift, gamma, np.array([1e-3]), np.zeros(3), np.eye(3), np.zeros(3), np.array([0.3, 8.0])
        )
        sums, follow = recording.drift_and_numbers(model, among.all_drift)
        noise = recording.noise_moments(model, [], numbers=True)
        found.append((sums.gram, sums.moment, follow.base, follow.slope, noise.gram, noise.moment))
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_a_fit_again_asks_for_the_same_parameters(found):
    assert found.self_check(seed=2)["terms"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"parameters": {"x1": 1.0}}, "parameters = 'x1'"),
        ({"parameters": {"tau": 1.0}}, "unknown name 's'"),
        ({"parameters": HIDDEN["parameters"] | {"c": 1.0}}, "parameters = 'c'"),
        ({"parameters": {"tau": (2.0, 1.0, 3.0), "s": 1.0}}, "in this order"),
    ],
)
def test_refused(gusts, changed, words):
    with pytest.raises(ItoscopeError, match=words):
        ito.discover(gusts, LINEAR, **HIDDEN | changed)


def decays(rows, sd, seed=1, count=6):
    """Displacements of several free decays from starts of either side, with noise of 0.01; the last state is unseen."""
    rng, paths = np.random.default_rng(seed), []
    for k in range(count):
        start = [float(rng.uniform(0.5, 2.0) * rng.choice([-1, 1])), 0.0, 0.0]
        sde = ito.SDE(rows, [["0"], [str(sd)], ["0"]], ["x", "v", "z"])
        run = {"dt": 0.01, "n_steps": 1000, "substeps": 10, "scheme": "taylor15", "seed": 100 * seed + k}
        path = sde.simulate(start, **run).paths[0][:, :1]
        paths.append(path + 0.01 * rng.normal(size=path.shape))
    return ito.Trajectories(paths, dt=0.01, names=["x"])


@pytest.mark.parametrize(
    "begun",
    [{"tau": (0.01, 1.0, 20.0), "c": (0, 1.0, None)}, {"tau": (0.001, 10.0, 100.0), "c": (0, 300.0, None)}],
)
def test_free_decays_of_several_recordings_from_near_and_far(begun):
    """A Maxwell element that nobody sees, beside a spring and a damper."""
    data = decays(["v", "-25*x - 0.5*v - z", "-z/0.5 + 20*v"], 0.1)
    result = ito.discover(
        data, ito.Library.expressions("x", "v"), states=["x", "v", "z"], measurement_noise="estimate",
        known_drift={"x": "v", "v": "-z + ...", "z": "-z/tau + c*v"}, parameters=begun, **ASKED,
    )  # fmt: skip
    for name, value in {"tau": 0.5, "c": 20.0}.items():
        low, high = result.parameters[name].interval()
        assert low < value < high < 1.5 * value, name
    assert result.warnings == []


def test_a_row_that_was_asked_to_be_without_noise_is_not_said_to_have_little():
    data = decays(["v", "-25*x - 0.5*v - z", "-z/0.5 + 20*v"], 0.0)
    result = ito.discover(
        data, ito.Library.expressions("x", "v"), states=["x", "v", "z"], measurement_noise="estimate",
        known_drift={"x": "v", "v": "-z + ...", "z": "-z/tau + c*v"}, diffusion={"v": "none"}, seed=1,
        parameters={"tau": (0.01, 1.0, 20.0), "c": (0, 1.0, None)},
    )  # fmt: skip
    low, high = result.parameters["tau"].interval()
    assert low < 0.5 < high < 0.6
    assert not any("cannot be told from zero" in warning for warning in result.warnings)
    assert not result.diffusion
