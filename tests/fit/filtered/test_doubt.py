"""Doubt about the terms: the sentence, the rule of what is shown, and what it adds to the covariance."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.doubt import between, doubt
from itoscope.fit.filtered.family import Family, Member
from itoscope.fit.filtered.likelihood import Maximum
from itoscope.fit.filtered.selection import chosen
from itoscope.fit.filtered.state import State


def member(drift, log_mass, sd=0.1, climbed=True):
    """A model of these terms of the drift; Gamma is the constant."""
    model = toy.model(drift, {"1": 1.0}, 0.5)
    columns = tuple(k for k, term in enumerate(toy.TERMS) if term in drift)
    theta = np.array([drift[toy.TERMS[k]] for k in columns])
    if not climbed:
        return Member(columns, (0,), theta, np.ones(1), log_mass)
    cov = sd**2 * np.eye(len(columns))
    return Member(columns, (0,), theta, np.ones(1), log_mass, 0.0, model, cov, np.eye(1) * 0.01)


def family(*members):
    ordered = sorted(members, key=lambda one: -one.log_mass)
    known = {one.key: one for one in members if one.model is not None}
    return Family(ordered, State(ordered[0].model, 0.0), known=known)


def maximum(one):
    parameters = one.model.parameters(np.array([True]))
    return Maximum(one.model, parameters, 0.0, 0.01 * np.eye(len(parameters)), True)


@pytest.fixture
def task():
    return toy.task(toy.Parabola({}, {"1": 1.0}, 0.5))


def added(task, best, *others):
    return between(family(best, *others), task, best.key, maximum(best))


def test_two_models_of_equal_evidence_add_the_mean_square_of_their_difference(task):
    """x is 1.0 in one and 1.6 in the other: half the weight is at a distance of 0.6."""
    extra = added(task, member({"x": 1.0}, 0.0), member({"x": 1.6, "x^2": 0.3}, 0.0))
    assert extra.shape == (3, 3)
    assert extra[0, 0] == pytest.approx(0.5 * 0.6**2) and extra[1, 1] == pytest.approx(0.0)


def test_only_models_with_the_parameter_count_for_it(task):
    extra = added(task, member({"x": 1.0, "x^2": 2.0}, 0.0), member({"x^2": 2.4}, 0.0))
    assert extra[0, 0] == 0.0 and extra[1, 1] == pytest.approx(0.5 * 0.4**2) and extra[0, 1] == 0.0


def test_weights_are_those_of_the_evidence(task):
    best, other = member({"x": 1.0}, 0.0), member({"x": 2.0, "x^3": 0.1}, -np.log(3.0))
    assert added(task, best, other)[0, 0] == pytest.approx(0.25)


def test_what_other_models_know_less_is_added(task):
    best, other = member({"x": 1.0}, 0.0, sd=0.1), member({"x": 1.0, "x^3": 1.0}, 0.0, sd=0.3)
    assert added(task, best, other)[0, 0] == pytest.approx((0.1**2 + 0.3**2) / 2 - 0.1**2)
    sharp = member({"x": 1.0, "x^3": 1.0}, 0.0, sd=0.01)
    assert added(task, best, sharp)[0, 0] == pytest.approx(0.0, abs=1e-12)


def test_models_that_were_not_climbed_add_nothing(task):
    assert not added(task, member({"x": 1.0}, 0.0), member({"x": 2.0}, 0.0, climbed=False)).any()


def test_models_are_named_with_their_masses_where_none_has_most(task):
    models = family(member({"x": 1.0}, 0.0), member({"x^2": 1.0}, -0.5), member({"x^3": 1.0}, -6.0))
    (said,) = doubt(models, task)
    assert "x: x, Gamma x,x: 1 (0.62); x: x^2, Gamma x,x: 1 (0.38)" in said and "x^3" not in said
    assert doubt(family(member({"x": 1.0}, 0.0), member({"x^2": 1.0}, -3.0)), task) == []


def shown(models, threshold=0.5):
    pip = models.probabilities("drift", 4)
    return chosen(models, "drift", (0, 1, 2, 3), pip, threshold, full=False)


def test_the_median_model_is_shown_unless_hardly_any_model_is_it():
    clear = family(member({"x": 1.0}, 0.0), member({"x": 1.0, "x^2": 1.0}, -1.0))
    assert shown(clear) == (1,)
    split = family(
        member({"1": 1.0, "x": 1.0}, 0.0),
        member({"x": 1.0, "x^2": 1.0}, -0.1),
        member({"x": 1.0, "x^3": 1.0}, -0.2),
    )
    pip = split.probabilities("drift", 4)
    assert pip[1] == pytest.approx(1.0) and max(pip[[0, 2, 3]]) < 0.5
    assert shown(split) == (0, 1)
    assert shown(split, 0.4) == tuple(np.flatnonzero(pip > 0.4))
    assert shown(split, 0.999999) == (1,)


def test_a_variance_is_shown_with_its_most_probable_term_where_none_passes():
    models = family(member({"x": 1.0}, 0.0), member({"x^2": 1.0}, -0.1))
    pip = models.probabilities("drift", 4)
    assert chosen(models, "drift", (0, 1, 2, 3), pip, 0.9, full=True) == (1,)
    assert chosen(models, "drift", (0, 1, 2, 3), pip, 0.9, full=False) == ()
