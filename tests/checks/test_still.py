"""Checks of rows without noise: silent on right equations of motion, speaking where something is missing."""

from functools import cache

import itoscope as ito
import numpy as np
import pytest

OSCILLATOR = ["v", "-x - 0.2*v - x^3"]
VAN_DER_POL = ["v", "(1 - x^2)*v - x"]
QUICK = {"diffusion": "none", "seed": 1, "n_samples": 100, "n_burn": 100}


@cache
def motion(drift, dt=0.05, paths=3, forced=None, noise=0.0):
    """Paths by fine steps of a scheme of order 1.5; `forced` is a function of time added to the second row."""
    states = ["x", "v"] + (["clock"] if forced else [])
    rows = [drift[0], drift[1] + (f" + {forced}" if forced else "")] + (["1"] if forced else [])
    diffusion = [["0"] for _ in rows]
    diffusion[1] = [str(noise)]
    sde = ito.SDE(rows, diffusion, states)
    starts = [[1.0 + 0.3 * k, 0.2 * k] + ([0.0] if forced else []) for k in range(paths)]
    scheme = "taylor15"
    found = [
        sde.simulate(start, dt=dt, n_steps=round(40 / dt), substeps=20, scheme=scheme, seed=k).paths[0][:, :2]
        for k, start in enumerate(starts)
    ]
    return ito.Trajectories(found, dt=dt, names=["x", "v"])


def fired(result):
    return {check["name"] for check in result.diagnostics["checks"] if check["fired"]} - {"slight terms"}


def look(result, name, about="v"):
    (found,) = (c for c in result.diagnostics["checks"] if c["name"] == name and c["about"] == about)
    return found


@pytest.mark.parametrize("drift", [tuple(OSCILLATOR), tuple(VAN_DER_POL)])
@pytest.mark.parametrize("dt", [0.02, 0.1])
@pytest.mark.parametrize("digits", [None, 5])
def test_right_equations_of_motion_are_let_pass(drift, dt, digits):
    data = motion(drift, dt)
    if digits:
        data = ito.Trajectories([np.round(x, digits) for x in data.paths], dt=dt, names=["x", "v"])
    result = ito.discover(data, ito.Library.polynomials(3), **QUICK)
    assert fired(result) == set()
    assert look(result, "row residual")["value"] < 1e-4
    assert 0 < look(result, "step bias")["value"] < 1.2  # it is part of the standard error


@pytest.mark.parametrize(
    ("make", "degree", "seen"),
    [
        (lambda: motion(tuple(VAN_DER_POL)), 2, {"row residual", "drift shape"}),
        (lambda: motion(tuple(OSCILLATOR), forced="0.5*cos(2.3*clock)"), 3, {"row residual"}),
        (lambda: motion(tuple(OSCILLATOR), forced="0.05*clock"), 3, {"row residual", "trend"}),
        (lambda: motion(("v", "-sin(x) - 0.1*v")), 1, {"drift shape"}),
        (lambda: motion(tuple(OSCILLATOR), noise=0.5), 3, {"row residual"}),
    ],
    ids=["a term", "a force", "a trend", "another shape", "noise"],
)
def test_what_is_missing_is_seen(make, degree, seen):
    result = ito.discover(make(), ito.Library.polynomials(degree), **QUICK)
    assert seen <= fired(result)
    assert all(
        check["about"] == "v"
        for check in result.diagnostics["checks"]
        if check["fired"] and check["name"] in seen
    )


def test_one_row_beside_a_noisy_one():
    data = motion(tuple(OSCILLATOR), noise=0.5)
    options = {**QUICK, "diffusion": {"x": "none"}}
    right = ito.discover(data, ito.Library.polynomials(3), **options)
    assert look(right, "row residual", "x")["fired"] is False
    lags = ito.Trajectories(
        [np.column_stack([x[1:, 0], x[:-1, 1] ** 2]) for x in data.paths], dt=data.dt, names=["x", "v"]
    )
    wrong = ito.discover(lags, ito.Library.polynomials(1), **options)
    assert look(wrong, "row residual", "x")["fired"] is True


def test_noise_of_the_sensor_is_told_from_a_missing_force():
    data = motion(tuple(OSCILLATOR))
    noisy = ito.discover(data.add_noise(sd=0.02 * data.sd(), seed=1), ito.Library.polynomials(3), **QUICK)
    assert "noise of the sensor" in look(noisy, "row residual")["sentence"]
    forced = ito.discover(
        motion(tuple(OSCILLATOR), forced="0.5*cos(2.3*clock)"), ito.Library.polynomials(3), **QUICK
    )
    assert "a term, a force or a state is missing" in look(forced, "row residual")["sentence"]
    driven = ito.discover(motion(tuple(OSCILLATOR), noise=0.5), ito.Library.polynomials(3), **QUICK)
    assert "the row has noise" in look(driven, "row residual")["sentence"]


def test_the_bias_of_the_step_is_held_against_the_standard_error():
    data = motion(tuple(OSCILLATOR))
    euler = ito.discover(data, ito.Library.polynomials(3), scheme="euler", **QUICK)
    found = look(euler, "step bias")
    assert found["fired"] and 'scheme="trapezoid"' in found["sentence"]
    equation = euler.drift["v"]
    k = equation.terms.index("v")
    # what it says is there: coefficients miss the truth by many standard errors
    assert abs(equation.mean[k] + 0.2) > 3 * equation.sd[k]
    right = ito.discover(data, ito.Library.polynomials(3), **QUICK)
    assert not look(right, "step bias")["fired"]
    assert abs(right.drift["v"].mean[k] + 0.2) < 3 * right.drift["v"].sd[k]


def test_another_recording_is_held_against_the_equation():
    result = ito.discover(motion(tuple(OSCILLATOR)), ito.Library.polynomials(3), **QUICK)
    looks = {(c["name"], c["about"]): c["fired"] for c in result.check(motion(tuple(OSCILLATOR), dt=0.02))}
    assert not any(looks.values())
    stiffer = motion(("v", "-1.3*x - 0.2*v - x^3"))
    again = {c["name"] for c in result.check(stiffer) if c["fired"]}
    assert "same drift" in again
