"""Checks of a fit to measured states, each with data that it is for and data that it is not for."""

from types import SimpleNamespace

import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Sums, Survey, Variance
from itoscope.checks.measured import (
    check_given,
    check_quiet,
    check_residuals,
    check_step,
    check_survey,
    no_noise,
    unstable_rounds,
)

RNG = np.random.default_rng(2)


def given(backend, text, factor, dt=0.01, steps=None):
    t = dt * np.arange(500) if steps is None else np.cumsum(steps)
    path = np.stack([factor * np.sin(t), factor * np.cos(t)], axis=1)
    program = get_backend(backend).compile([text], ["x", "v"])
    return check_given([path], [dt if steps is None else t], 0, "x", program)


def test_a_given_row_that_explains_its_increments_is_silent(backend):
    check = given(backend, "v", 3.0)
    assert not check.fired and check.value < 1e-6
    uneven = given(backend, "v", 3.0, steps=RNG.uniform(0.005, 0.015, size=500))
    assert not uneven.fired and uneven.value < 1e-6


def test_a_given_row_in_other_units_is_said_to_be_wrong(backend):
    check = given(backend, "2 v", 3.0)
    assert check.fired and check.value == pytest.approx(1.0, abs=0.01)
    assert "dx = 2 v leaves 100 % of the squared increments of x" in check.sentence


def survey(**changed):
    values = {
        "n": 1000, "mean": np.ones(2), "low": np.ones(2), "below": np.array([100, 300]), "indefinite": 0,
        "worst": 0.0, "path": 0, "sample": 0,
    }  # fmt: skip
    return Survey(**{**values, **changed})


def test_a_covariance_has_no_negative_eigenvalue_and_stays_above_its_floor():
    checks = check_survey(["x", "v"], survey(), np.zeros(2))
    assert [check.fired for check in checks] == [False, False, True]
    assert checks[2].value == 0.3 and "of v is under its floor on 30 %" in checks[2].sentence
    bad = check_survey(["x", "v"], survey(indefinite=5, worst=-0.1, path=2, sample=7), np.zeros(2))[0]
    assert bad.fired and bad.value == 0.005 and "sample 7 of path 2, eigenvalue -0.1" in bad.sentence


def stepped(difference, sd=1e-3):
    """Trapezoid coefficients 1, 2 on two orthogonal columns; Euler's differ by a share of the drift."""
    omega = np.eye(3)
    mean = np.array([1.0, 2.0, 9.0])
    c = np.array([1.0, 2.0, 0.0]) + difference * np.sqrt(5.0) * np.array([1.0, 0.0, 0.0])
    sums = Sums(omega, omega, omega, c, c, 1.0, 1.0, 100)
    equation = SimpleNamespace(selected=np.array([True, True, False]), mean=mean, cov=sd**2 * np.eye(3))
    return check_step("x", equation, sums)


def test_a_coarse_step_changes_the_drift_between_two_orders():
    assert stepped(0.1)[0].value == pytest.approx(0.1) and not stepped(0.1)[0].fired
    coarse = stepped(0.3)[0]
    assert coarse.fired and "changes by 30 %" in coarse.sentence and "about 9 %" in coarse.sentence
    assert not stepped(0.3, sd=0.5)[0].fired  # within its errors
    nothing = SimpleNamespace(selected=np.zeros(3, dtype=bool), mean=np.zeros(3), cov=np.eye(3))
    assert check_step("x", nothing, None) == []


def test_residuals_of_a_right_model_are_white_and_of_a_wrong_one_not(backend):
    """An Ornstein-Uhlenbeck path under its own drift and Gamma, and under another."""
    h, x = 0.01, np.zeros((4000, 1))
    for n in range(1, len(x)):
        x[n] = x[n - 1] - h * x[n - 1] + np.sqrt(0.5 * h) * RNG.normal()
    stages = get_backend(backend)
    program = stages.compile(["1", "x"], ["x"])

    def names(drift, gamma):
        fitted = Fitted(program, np.array([drift]))
        variance = Variance(program, np.array([gamma]), np.zeros(1))
        found, _, checks = check_residuals(stages, [x], [h], (0, "x"), fitted, variance)
        assert found.n == len(x) - 1
        return {check.name for check in checks if check.fired}

    assert names([0.0, -1.0], [0.5, 0.0]) == set()
    assert "slow scales" in names([0.0, -6.0], [0.5, 0.0])
    assert "residual mean" in names([5.0, -1.0], [0.5, 0.0])


def test_what_always_fires_says_why():
    assert unstable_rounds(8, True, 0.31).fired
    assert "a coefficient still moved by 0.31" in unstable_rounds(8, True, 0.31).sentence
    assert "after 8 weight rounds the selected terms still changed" in unstable_rounds(8, False, 0.0).sentence
    assert no_noise("x").fired and "selected for x" in no_noise("x").sentence


@pytest.mark.parametrize(
    ("gamma", "left", "moved", "fired"),
    [(1.0, 1.0, 100.0, True), (3.0, 1.0, 100.0, False), (1.0, 1.0, 10.0, False), (1.0, 0.0, 100.0, False)],
)
def test_a_row_is_without_noise_where_the_step_leaves_as_much_and_its_drift_explains_the_rest(
    gamma, left, moved, fired
):
    check = check_quiet("x", gamma, left, moved)
    assert check.fired is fired and (check.name, check.about) == ("row noise", "x")
