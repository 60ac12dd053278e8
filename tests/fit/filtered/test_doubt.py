"""Doubt about the terms: the sentence, and what it adds to the covariance."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.doubt import MOST_NAMED, NEGLIGIBLE, between, doubt
from itoscope.fit.filtered.likelihood import Maximum
from itoscope.fit.filtered.neighbours import Trial


def fitted(drift, evidence, sd=0.1, noise=0.5):
    model = toy.model(drift, {"1": 1.0}, noise)
    parameters = model.parameters(np.array([True]))
    fit = Maximum(model, parameters, 0.0, sd**2 * np.eye(len(parameters)), True)
    return Trial(model, 0.0, evidence, fit)


def test_two_models_of_equal_evidence_add_the_mean_square_of_their_difference():
    """x is 1.0 in one and 1.6 in the other: half the weight is at a distance of 0.6."""
    best, other = fitted({"x": 1.0}, 0.0), fitted({"x": 1.6, "x^2": 0.3}, 0.0)
    extra = between([best, other], best.fit)
    assert extra.shape == (3, 3)
    assert extra[0, 0] == pytest.approx(0.5 * 0.6**2) and extra[1, 1] == pytest.approx(0.0)


def test_covariances_between_parameters_are_added_too():
    best, other = fitted({"x": 1.0}, 0.0, noise=0.5), fitted({"x": 1.6}, 0.0, noise=0.3)
    extra = between([best, other], best.fit)
    assert extra[0, 2] == extra[2, 0] == pytest.approx(0.5 * 0.6 * -0.2)


def test_only_models_with_the_parameter_count_for_it():
    best, without = fitted({"x": 1.0, "x^2": 2.0}, 0.0), fitted({"x^2": 2.4}, 0.0)
    extra = between([best, without], best.fit)
    assert extra[0, 0] == 0.0 and extra[1, 1] == pytest.approx(0.5 * 0.4**2) and extra[0, 1] == 0.0


def test_weights_are_those_of_the_evidence():
    best, other = fitted({"x": 1.0}, 0.0), fitted({"x": 2.0}, -np.log(3.0))
    assert between([best, other], best.fit)[0, 0] == pytest.approx(0.25)
    far = fitted({"x": 2.0}, -NEGLIGIBLE - 0.1)
    assert between([best, far], best.fit)[0, 0] == 0.0


def test_what_other_models_know_less_is_added():
    best, other = fitted({"x": 1.0}, 0.0, sd=0.1), fitted({"x": 1.0, "x^3": 1.0}, 0.0, sd=0.3)
    assert between([best, other], best.fit)[0, 0] == pytest.approx((0.1**2 + 0.3**2) / 2 - 0.1**2)
    sharp = fitted({"x": 1.0, "x^3": 1.0}, 0.0, sd=0.01)
    assert between([best, sharp], best.fit)[0, 0] == 0.0


def test_models_that_were_not_climbed_add_nothing():
    best = fitted({"x": 1.0}, 0.0)
    bare = Trial(best.model, 0.0, 0.0)
    assert not between([bare], best.fit).any()


def test_models_within_reach_are_named():
    task = toy.task(toy.Parabola({}, {"1": 1.0}, 0.5))
    best, near, far = fitted({"x": 1.0}, 0.0), fitted({"x^2": 1.0}, -2.9), fitted({"x^3": 1.0}, -3.1)
    (said,) = doubt([far, near, best], task)
    assert "x: x^2, Gamma x,x: 1;" in said and "x^3" not in said and "the intervals count" in said
    assert doubt([best, far], task) == []
    (blind,) = doubt([Trial(t.model, t.loglik, t.evidence) for t in (best, near)], task)
    assert blind.endswith("the intervals hold given the terms shown")


def test_no_more_than_a_handful_is_named():
    task = toy.task(toy.Parabola({}, {"1": 1.0}, 0.5))
    trials = [fitted({"x": 1.0 + n}, -0.1 * n) for n in range(MOST_NAMED + 3)]
    (said,) = doubt(trials, task)
    assert said.count("x: x") == MOST_NAMED and "and 2 more;" in said
