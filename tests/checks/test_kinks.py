"""Kinks that a library of smooth terms lacks are named, of measured and of noisy recordings, where they are."""

import itoscope as ito
import pytest
from itoscope.checks.kinks import KINKED, kinks_of, looked_for_kinks

SHORT = {"seed": 1, "n_chains": 2, "n_samples": 300, "n_burn": 100}


def oscillator(friction, seed):
    drift = f"-40*x1 - 0.5*x2 - {friction}*sgn(x2)" if friction else "-40*x1 - x2"
    sde = ito.SDE(["x2", drift], [["0"], ["2"]], ["x1", "x2"])
    return sde.simulate([0.5, 0.0], dt=0.002, n_steps=20_000, substeps=4, seed=seed)


def looks(result):
    return {check["about"]: check for check in result.diagnostics["checks"] if check["name"] == "kinks"}


def test_dry_friction_of_a_building_is_named_with_the_call_that_takes_it_in():
    building = ito.problems.two_storey_building()
    data = building.simulate(duration=1.0, dt=1e-3, n_paths=100, seed=1)
    result = ito.discover(data, known_drift=building.known_drift, **SHORT)
    found = looks(result)
    assert found["x2"]["fired"] and not found["x4"]["fired"]
    (advice,) = [one for one in result.advice if one.about == "x2"]
    assert advice.cause == "library of the drift too small" and advice.arguments == {"library": ["sgn(x2)"]}
    assert 'library=Library.polynomials(3) + Library.expressions("sgn(x2)")' in advice.sentence
    assert any("has a kink, most likely sgn(x2)" in warning for warning in result.warnings)
    trial = result.try_advice(result.advice.index(advice))
    assert "sgn(x2)" in trial.result.coefficients()["dx2"]


def test_friction_behind_a_noisy_displacement_is_named_too():
    data = oscillator(4.0, 3).positions(noise=0.01, seed=2)
    result = ito.discover(data, order=2, **SHORT)
    assert "sgn(v1)" in result.diagnostics["kinks"]["v1"]
    assert any('Library.expressions("sgn(v1)"' in advice.sentence for advice in result.advice)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_smooth_drift_has_none(noise):
    data = oscillator(0.0, 1)
    asked = {"known_drift": {"x1": "x2"}}
    if noise:
        data, asked = data.positions(noise=noise, seed=2), {"order": 2}
    result = ito.discover(data, **asked, **SHORT)
    (look,) = looks(result).values()
    assert look["value"] < KINKED and "kinks" not in result.diagnostics


def test_who_chose_a_library_is_not_looked_at():
    data = oscillator(4.0, 3)
    for library in (ito.Library.polynomials(3), ito.Library.paper()):
        assert not looks(ito.discover(data, library, known_drift={"x1": "x2"}, **SHORT))
    assert looks(ito.discover(data, known_drift={"x1": "x2"}, **SHORT))
    tied = ito.discover(data, known_drift={"x1": "x2"}, exclude={"x2": ["x1^2"]}, **SHORT)
    assert looked_for_kinks(tied) is tied and not looks(tied)


def test_kinks_are_of_every_state():
    assert kinks_of(["x", "v"]) == ["sgn(x)", "sgn(v)", "x|x|", "v|v|"]
