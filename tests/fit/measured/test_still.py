"""Recordings without noise: their ordinary differential equation, and what the error of the step may not add."""

import itoscope as ito
import numpy as np
import pytest

QUICK = {"seed": 1, "n_samples": 300, "n_burn": 200, "n_chains": 2}
HUNTERS = ["x1 - 0.5*x1*x2", "0.4*x1*x2 - 0.8*x2"]


def recorded(drift, start, dt, n, noise="0"):
    states = [f"x{k + 1}" for k in range(len(drift))]
    sde = ito.SDE(drift, [[noise]] * len(drift), states)
    scheme = {"scheme": "taylor15"} if noise == "0" else {}
    return sde.simulate(start, dt=dt, n_steps=n, substeps=50, seed=1, **scheme)


def selected(equation):
    return {
        t: (m, s) for t, m, s, z in zip(equation.terms, equation.mean, equation.sd, equation.selected) if z
    }


def test_lorenz_by_the_default_call_is_three_lines():
    drift = ["10*(x2 - x1)", "x1*(28 - x3) - x2", "x1*x2 - 8/3*x3"]
    result = ito.discover(recorded(drift, [-8.0, 8.0, 27.0], 0.002, 5000), seed=1)
    truth = {
        "x1": {"x1": -10.0, "x2": 10.0},
        "x2": {"x1": 28.0, "x2": -1.0, "x1 x3": -1.0},
        "x3": {"x3": -8 / 3, "x1 x2": 1.0},
    }
    for state, terms in truth.items():
        found = selected(result.drift[state])
        assert set(found) == set(terms)
        for term, value in terms.items():
            mean, sd = found[term]
            assert abs(mean - value) < 4 * sd < 5e-3 * abs(value), (state, term)
    assert not result.diffusion
    lines = str(result).splitlines()
    assert lines[0].startswith("Ordinary differential equation from 1 path, 5000 steps")
    assert len(lines) < 40 and [line[:6] for line in lines[2:5]] == ["  dx1 ", "  dx2 ", "  dx3 "]
    assert not any("rounds" in warning for warning in result.warnings)
    (said,) = [warning for warning in result.warnings if "no noise that can be seen" in warning]
    assert said.startswith("x1, x2 and x3 have") and "diffusion='none'" in said


@pytest.mark.parametrize("asked", [{}, {"diffusion": "none"}])
def test_what_the_error_of_the_step_brings_in_is_left_out_and_told(asked):
    data = recorded(HUNTERS, [1.0, 1.0], 0.04, 1000)
    result = ito.discover(data, ito.Library.polynomials(3), **asked, **QUICK)
    assert {state: set(selected(equation)) for state, equation in result.drift.items()} == {
        "x1": {"x1", "x1 x2"},
        "x2": {"x2", "x1 x2"},
    }
    assert any("that the error of the step would bring in" in warning for warning in result.warnings)
    assert result.check() is not None


def test_a_small_term_that_the_step_resolves_stays():
    data = recorded(["x2 - 0.01*x1^3", "-x1"], [1.5, 0.0], 0.01, 3000)
    result = ito.discover(data, ito.Library.polynomials(3), **QUICK)
    found = selected(result.drift["x1"])
    assert set(found) == {"x2", "x1^3"}
    assert found["x1^3"][0] == pytest.approx(-0.01, rel=0.02)


def test_rows_with_noise_keep_what_they_have():
    """The negative control: a row that noise moves is not smooth, whatever was said of its noise."""
    data = recorded(["-x1 + 0.1*x2", "-x2"], [0.5, 0.5], 0.01, 4000, "0.5")
    result = ito.discover(data, ito.Library.polynomials(1), diffusion="none", **QUICK)
    assert not any("error of the step" in warning for warning in result.warnings)
    noisy = ito.discover(data, ito.Library.polynomials(1), **QUICK)
    assert set(noisy.diffusion) and not any("reported as deterministic" in one for one in noisy.warnings)


def test_the_errors_count_that_of_the_step_and_fall_with_its_square():
    sds = []
    for dt in (0.02, 0.04):
        data = recorded(["x2", "-x1"], [1.0, 0.0], dt, round(60 / dt))
        found = selected(ito.discover(data, ito.Library.polynomials(2), **QUICK).drift["x2"])
        mean, sd = found["x1"]
        assert abs(mean + 1) < 2 * sd
        sds.append(sd)
    assert sds[1] / sds[0] == pytest.approx(4, rel=0.1)


def test_a_recording_with_a_gap_is_one_too():
    data = recorded(HUNTERS, [1.0, 1.0], 0.02, 2000)
    path = data.paths[0].copy()
    path[700:720] = np.nan
    result = ito.discover(ito.Trajectories(path, dt=0.02), ito.Library.polynomials(2), **QUICK)
    assert not result.diffusion and set(selected(result.drift["x1"])) == {"x1", "x1 x2"}
