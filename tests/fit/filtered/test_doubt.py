"""Doubt about the terms: the sentence, and the rule of what is shown."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.doubt import doubt
from itoscope.fit.filtered.family import Family, Member
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


@pytest.fixture
def task():
    return toy.task(toy.Parabola({}, {"1": 1.0}, 0.5))


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
