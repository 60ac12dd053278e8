"""The steps of a recording, and what a model leaves of them."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.result.steps import Steps, standardised, steps_of
from itoscope.stats.whiteness import autocorrelation
from results import measured, one_state


def test_steps_with_a_missing_end_are_left_out():
    first = np.array([[0.0, 1], [1, 2], [np.nan, 3], [3, 4], [5, 6]])
    data = ito.Trajectories([first, first[[0, 1, 3]]], t=[np.array([0, 1, 2, 3, 5]), np.array([0, 2, 3])])
    steps = Steps.of(data)
    assert steps.x.tolist() == [[0, 1], [3, 4], [0, 1], [1, 2]]
    assert steps.y.tolist() == [[1, 2], [5, 6], [1, 2], [3, 4]]
    assert (steps.dt.tolist(), steps.path.tolist()) == ([1, 2, 2, 1], [0, 0, 1, 1])
    few = steps.some(2)
    assert (few.dt.tolist(), few.path.tolist()) == ([1, 2], [0, 1])


def test_residuals_of_a_right_model_are_white_and_normal_and_those_of_a_wrong_one_are_not():
    result = one_state()
    steps = Steps.of(result.data)
    z = standardised(result, steps, "x1")
    n = len(z)
    # Five standard errors each: false alarms below 1e-5.
    assert abs(z.mean()) < 5 / np.sqrt(n) and abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert np.abs(autocorrelation(z, steps.path, 10)).max() < 5 / np.sqrt(n)
    shorter = Steps(steps.x, steps.y, 0.9 * steps.dt, steps.path)
    assert abs(standardised(result, shorter, "x1").var() - 1) > 5 * np.sqrt(2 / n)


def test_steps_need_all_states_of_the_model():
    with pytest.raises(
        ito.errors.ArgumentError, match="states x2: a picture needs all states of the model, x1, x2"
    ):
        steps_of(measured(), measured().data.select("x2"), "a picture")
