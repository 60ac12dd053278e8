"""`symmetry` and `ties`: coefficients that rows have in common, and the evidence for and against them."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends.records import Parameter
from itoscope.errors import ArgumentError
from itoscope.fit.filtered.answer import recorded
from itoscope.fit.filtered.common import in_common
from itoscope.fit.filtered.model import Model
from itoscope.fit.options import Options
from itoscope.fit.question import Question

POLY = ito.Library.polynomials
SHORT = {"seed": 1, "n_samples": 500, "n_burn": 200}
GAMMA = "0.6-0.1*(x^2+y^2)+0.01*(x^2+y^2)^2"


def fish(seed, stiff=1.0, steps=12_000):
    """A planar motion with the drift `(-stiff x, -y)` and a noise that falls with the distance."""
    sde = ito.SDE([f"-{stiff}*x", "-y"], gamma=[[GAMMA, "0"], ["0", GAMMA]], states=["x", "y"])
    return sde.simulate([0.3, 0.0], dt=0.02, n_steps=steps, substeps=10, scheme="euler-maruyama", seed=seed)


def chain(seed, third=9.0):
    """Three storeys of the stiffness 9, the third of another."""
    drift = [
        "v1",
        "v2",
        "v3",
        "9*(x2 - 2*x1) - v1",
        f"9*(x1 - x2) + {third}*(x3 - x2) - v2",
        f"{third}*(x2 - x3) - v3",
    ]
    noise = [["0"] * 3] * 3 + [["0.5", "0", "0"], ["0", "0.5", "0"], ["0", "0", "0.5"]]
    sde = ito.SDE(drift, noise, ["x1", "x2", "x3", "v1", "v2", "v3"])
    return sde.simulate([0.0] * 6, dt=0.02, n_steps=6000, substeps=5, seed=seed)


KNOWN = {"x1": "v1", "x2": "v2", "x3": "v3"}
STIFF = [{"v1": "x2 - 2*x1", "v2": "x1 - 2*x2 + x3", "v3": "x2 - x3"}]


def chosen(result, of):
    """The selected coefficients in common, by what they multiply."""
    orbits = result.diagnostics["symmetry"]["orbits"]
    return {one["terms"]: one for one in orbits if one["selected"] and one["of"] == of}


@pytest.fixture(scope="module")
def isotropic():
    return ito.discover(fish(1), POLY(3), diffusion_library=POLY(4), symmetry="rotation", **SHORT)


def test_isotropic_motion_has_one_equation(isotropic):
    drift, gamma = chosen(isotropic, "drift"), chosen(isotropic, "diffusion")
    assert set(drift) == {"(x, y)"} and set(gamma) == {"1", "(x^2 + y^2)"}
    assert abs(drift["(x, y)"]["mean"] + 1.0) < 3 * drift["(x, y)"]["sd"]
    assert isotropic.diagnostics["symmetry"]["log_evidence"] > 3
    one, two = isotropic.drift["x"], isotropic.drift["y"]
    assert one.mean[one.terms.index("x")] == two.mean[two.terms.index("y")]
    assert not isotropic.diffusion["x", "y"].selected.any()
    text = str(isotropic)
    assert "rotation: log evidence +" in text and "Gamma (x^2 + y^2)" in text


def test_evidence_speaks_against_a_rotation_that_is_none():
    result = ito.discover(fish(1, 2.5), POLY(3), diffusion_library=POLY(4), symmetry="rotation", **SHORT)
    assert result.diagnostics["symmetry"]["log_evidence"] < -3
    assert any("speak against" in warning for warning in result.warnings)


def test_error_in_common_is_that_of_both_rows(isotropic):
    """Two rows of the same information: the standard error is smaller by the root of two."""
    alone = ito.discover(fish(1), POLY(3), diffusion_library=POLY(4), **SHORT).drift["x"]
    both = isotropic.drift["x"]
    k = both.terms.index("x")
    assert both.sd[k] == pytest.approx(alone.sd[k] / np.sqrt(2.0), rel=0.15)


def test_a_swirl_has_a_rotated_term():
    sde = ito.SDE(["-x - 2*y", "2*x - y"], [["0.5", "0"], ["0", "0.5"]], ["x", "y"])
    data = sde.simulate([0.3, 0.0], dt=0.02, n_steps=6000, substeps=5, seed=2)
    result = ito.discover(data, POLY(3), symmetry="rotation", diffusion="constant", **SHORT)
    found = chosen(result, "drift")
    assert set(found) == {"(x, y)", "(-y, x)"}
    assert abs(found["(-y, x)"]["mean"] - 2.0) < 3.5 * found["(-y, x)"]["sd"]
    assert result.drift["x"].mean[result.drift["x"].terms.index("y")] < 0


def test_one_stiffness_of_all_storeys_and_a_damaged_one():
    right = ito.discover(chain(1), POLY(1), known_drift=KNOWN, ties=STIFF, diffusion="constant", **SHORT)
    found = chosen(right, "drift")["v1: x2 - 2*x1, v2: x1 - 2*x2 + x3, v3: x2 - x3"]
    assert abs(found["mean"] - 9.0) < 3 * found["sd"]
    assert right.diagnostics["symmetry"]["log_evidence"] > 3 and right.warnings == []
    wrong = ito.discover(chain(1, 6.3), POLY(1), known_drift=KNOWN, ties=STIFF, diffusion="constant", **SHORT)
    assert wrong.diagnostics["symmetry"]["log_evidence"] < -3
    assert any("speak against" in warning for warning in wrong.warnings)


def coupled(seed, second=1.0):
    drift = ["x - x^3 + 0.8*(y - x)", f"{second}*(y - y^3) + 0.8*(x - y)"]
    sde = ito.SDE(drift, [["0.5", "0"], ["0", "0.5"]], ["x", "y"])
    return sde.simulate([1.0, 1.0], dt=0.02, n_steps=10_000, substeps=5, seed=seed)


def test_particles_that_may_change_places():
    result = ito.discover(coupled(3), POLY(3), symmetry="exchange", diffusion="constant", **SHORT)
    found = chosen(result, "drift")
    assert {"x: y, y: x", "x: x^3, y: y^3"} <= set(found)
    assert result.diagnostics["symmetry"]["log_evidence"] > 3
    other = ito.discover(coupled(3, 2.5), POLY(3), symmetry="exchange", diffusion="constant", **SHORT)
    assert other.diagnostics["symmetry"]["log_evidence"] < -3


def test_an_odd_drift_has_no_even_term():
    result = ito.discover(
        coupled(3), POLY(3) + ito.Library.sign(), symmetry="odd", diffusion="constant", **SHORT
    )
    terms = set(result.settings["exclude"]["x"])
    assert {"1", "x^2", "x y", "y^2"} == terms
    assert all(result.drift["x"].pip[result.drift["x"].terms.index(term)] == 0.0 for term in terms)


def test_saved_asked_again_and_simulated(isotropic, tmp_path):
    again = ito.Discovery.load(isotropic.save(tmp_path / "r"))
    assert str(again) == str(isotropic) and again.settings["symmetry"] == "rotation"
    assert isotropic.simulate([0.1, 0.0], n_steps=20, seed=1).paths[0].shape == (21, 2)


def test_both_backends_say_the_same():
    data = fish(2, steps=2000)
    one, two = (
        ito.discover(
            data, POLY(1), symmetry="rotation", diffusion="constant", backend=name, sampler="exact", **SHORT
        )
        for name in ("rust", "reference")
    )
    np.testing.assert_allclose(one.drift["x"].mean, two.drift["x"].mean, rtol=1e-6)
    found = [r.diagnostics["symmetry"]["log_evidence"] for r in (one, two)]
    assert found[0] == pytest.approx(found[1], abs=0.5)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"symmetry": "mirror"}, "'rotation'"),
        ({"ties": [{"x": "y"}]}, "rows and what shares"),
        ({"ties": [{"x": "y", "z": "x"}]}, "a row that is sought"),
        ({"ties": [{"x": "sin(y)", "y": "sin(x)"}]}, "a sum of terms of the library"),
        ({"symmetry": "rotation", "ties": [{"x": "y", "y": "x"}]}, "one of them"),
        ({"symmetry": "rotation", "include": {"x": ["x"]}}, "nothing of the kind"),
        ({"symmetry": "rotation", "known_drift": {"y": "-y"}}, "two states"),
    ],
)
def test_what_cannot_be_asked(asked, words):
    with pytest.raises(ArgumentError, match=words):
        ito.discover(coupled(1)[:1], POLY(2), **asked)


DRIFT = ["v1", "v2", "-4*x1 + 2*x2 - v1", "2*x1 - {}*x2 - v2"]
NOISE = [["0", "0"], ["0", "0"], ["1", "0"], ["0", "1"]]


def unseen(second, seed=2):
    """Displacements of two coupled oscillators, the second of another stiffness, with noise."""
    drift = [text.format(second) for text in DRIFT]
    sde = ito.SDE(drift, NOISE, ["x1", "x2", "v1", "v2"])
    run = {"dt": 0.05, "n_steps": 3000, "substeps": 5, "scheme": "taylor15", "seed": seed}
    path = sde.simulate([0.0] * 4, **run).paths[0][:, :2]
    return ito.Trajectories(
        path + 0.01 * np.random.default_rng(seed).normal(size=path.shape), dt=0.05, names=["x1", "x2"]
    )


ALIKE = [{"v1": "x1", "v2": "x2"}, {"v1": "x2", "v2": "x1"}]


@pytest.mark.parametrize("asked", [{"ties": ALIKE}, {"symmetry": "exchange"}])
def test_behind_the_filter(asked, tmp_path):
    """Velocities that nobody sees: one coefficient of both rows, as sure as both make it, and evidence for that."""
    options = {"order": 2, "diffusion": "constant", "seed": 1, "n_samples": 300}
    result = ito.discover(unseen(4.0), ito.Library.polynomials(1), **asked, **options)
    found = result.coefficients()
    assert found["dv1"]["x1"] == pytest.approx(found["dv2"]["x2"], rel=1e-9)
    assert set(found["dv1"]) == {"x1", "x2", "v1"} and set(found["dv2"]) == {"x1", "x2", "v2"}
    common = result.diagnostics["symmetry"]
    assert common["log_evidence"] > 3 and "log evidence +" in str(result)
    stiff = next(one for one in common["orbits"] if one["terms"] in ("v1: x1, v2: x2",))
    assert stiff["low"] < -4.0 < stiff["high"]
    apart = ito.discover(unseen(4.0), ito.Library.polynomials(1), **options)
    row = apart.drift["v1"]
    assert stiff["sd"] < 0.85 * row.sd[row.terms.index("x1")]
    assert str(ito.Discovery.load(result.save(tmp_path / "r"))) == str(result)
    assert np.isfinite(result.simulate([0.0] * 4, n_steps=20, seed=1).paths[0]).all()


def test_behind_the_filter_what_is_not_alike_is_warned_of():
    result = ito.discover(
        unseen(6.0),
        ito.Library.polynomials(1),
        ties=ALIKE,
        order=2,
        diffusion="constant",
        seed=1,
        n_samples=300,
    )
    assert result.diagnostics["symmetry"]["log_evidence"] < -3
    assert any("speak against what rows were to have in common" in one for one in result.warnings)


def test_a_common_column_moves_all_of_its_rows_in_both_backends():
    """The score of a coefficient in common is the slope of the likelihood along it, whoever filters."""
    short = ito.Trajectories(unseen(4.0).paths[0][:80], dt=0.05, names=["x1", "x2"])
    asked = {"library": ito.Library.expressions("x1", "x2", "v1", "v2"), "order": 2, "symmetry": "exchange"}
    found = []
    for name in ("rust", "reference"):
        question, named = in_common(Question.of(short, Options(**asked, diffusion="constant", backend=name)))
        recording = recorded(question)
        among = recording.candidates
        assert [len(one) for one in named] == [2] * 4 and len(among.all_drift) == 4 == len(among.echoes)
        drift = np.zeros((4, among.n_terms))
        for column, value in zip(among.all_drift, (-4.0, 2.0, -1.0, 0.1)):
            drift[column] = value
        gamma = np.zeros((len(among.pairs), among.n_terms))
        gamma[[i == j for i, j in among.pairs], among.constant] = 1.0
        model = Model(drift, gamma, np.full(2, 1e-4), np.zeros(4), np.eye(4), np.zeros(4))
        wanted = Parameter("drift", *among.all_drift[0])
        score = recording.information(model, [wanted], [1e-4]).moment[0]
        ends = [recording.loglik(model.with_values([wanted], np.array([-4.0 + h]))) for h in (1e-3, -1e-3)]
        assert score == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-4)
        sums = recording.drift_moments(model, among.all_drift)
        found.append((sums.gram, sums.moment, recording.loglik(model)))
    for one, two in zip(*found):
        np.testing.assert_allclose(one, two, rtol=1e-6)
