"""By what models are judged, and what a round leaves in the record."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.drift import best_rival
from itoscope.fit.filtered.ranking import Ranked
from itoscope.fit.filtered.state import Round, State


@pytest.fixture
def task():
    return toy.task(toy.Parabola({"x": -1.0}, {"1": 0.4}, 0.2))


def judged(task, drift=None):
    """A state whose regressions were made."""
    state = State(toy.model({"x": -1.0} if drift is None else drift, {"1": 0.4}, 0.2), -10.0)
    state, _ = task.drift_ranking(state)
    return task.gamma_ranking(state)[0]


def test_before_a_regression_the_likelihood_judges(task):
    state = State(toy.model({"x": 1.0}, {"1": 1.0}), -10.0)
    assert state.evidence(task, toy.model({"x": 1.0, "x^2": 3.0}), -9.0) == -9.0


def test_evidence_is_the_likelihood_and_what_the_terms_cost(task):
    state = judged(task)
    model = state.model
    columns = [1]
    _, inverse = state.drift.sums.solve(columns)
    drift = state.drift.cost(columns, np.array([-1.0]), inverse)
    _, inverse = state.gamma.sums.solve([0])
    gamma = state.gamma.cost([0], np.array([0.4]), inverse)
    assert state.evidence(task, model, -7.0) == pytest.approx(-7.0 + drift + gamma)
    assert drift < -1.0


def test_a_kink_costs_what_any_term_costs():
    terms = ("1", "x", "sgn(x)")
    parabola = toy.Parabola({"x": 1.0}, {"1": 0.4}, 0.2, terms=terms)
    parabola.curvature = 100.0 * np.eye(3)
    task = toy.task(parabola, terms=terms)
    state = State(toy.model({"x": 1.0}, {"1": 0.4}, 0.2, terms=terms), -10.0)
    state, _ = task.drift_ranking(state)
    sizes = state.drift.sizes
    found = [
        state.drift.cost([k], np.array([sizes[k]]), np.array([[sizes[k] ** 2 / 50.0]])) for k in range(3)
    ]
    np.testing.assert_allclose(found, found[0])


def test_better_means_a_larger_evidence(task):
    state = judged(task)
    more = toy.model({"x": -1.0, "x^2": 1e-3}, {"1": 0.4}, 0.2)
    price = state.evidence(task, state.model, 0.0) - state.evidence(task, more, 0.0)
    assert price > 1.0
    assert state.better(task, more, state.loglik + price + 0.01)
    assert not state.better(task, more, state.loglik + price - 0.01)
    assert not state.better(task, state.model, state.loglik)


def test_a_state_is_passed_on_and_never_changed(task):
    state = State(toy.model({"x": 1.0}, {"1": 1.0}), -10.0)
    other = state.at(toy.model({}, {"1": 1.0}), -3.0).without(["x"])
    assert (other.loglik, other.overflowed) == (-3.0, {"x"})
    assert (state.loglik, state.overflowed) == (-10.0, set())
    with pytest.raises(AttributeError):
        state.loglik = 0.0


def test_missing_samples_do_not_count():
    path = np.zeros((50, 1))
    path[::5] = np.nan
    assert toy.task(toy.Parabola({}, {}, 0.2), paths=[path, path[:10]]).n == 48


def test_a_round_is_kept_by_name(task):
    state = State(toy.model({"x": -1.5}, {"1": 0.4}, noise=0.25), -3.0)
    assert Round("drift", state, (1,), ("x",), 0.5, 2.0).as_dict(task) == {
        "stage": "drift",
        "chosen": ["x"],
        "step": 0.5,
        "loglik": -3.0,
        "drift": {"x: x": -1.5},
        "diffusion": {"x,x: 1": 0.4},
        "noise": [0.5],
    }


def test_gamma_is_sought_where_it_has_more_than_its_constants():
    assert toy.task(toy.Parabola({}, {}, 0.2)).gamma_sought
    assert not toy.task(toy.Parabola({}, {}, 0.2, terms=("1",)), terms=("1",)).gamma_sought


# -- of a few sets, the likeliest --------------------------------------------------------------------------
def ranked(columns, log_mass):
    return Ranked(tuple(columns), np.ones(len(columns)), log_mass)


def test_rivals_near_the_best_and_the_present_set_are_compared():
    sets = [ranked([1], 0.0), ranked([0, 2], -2.9), ranked([3], -3.1)]
    heights = {(1,): 1.0, (0, 2): 2.0, (3,): 5.0}
    assert best_rival(sets, [], lambda one: heights[one.columns]).columns == (0, 2)
    assert best_rival(sets, sets[2:], lambda one: heights[one.columns]).columns == (3,)


def test_nothing_is_tried_where_there_is_no_doubt():
    assert best_rival(
        [ranked([1], 0.0), ranked([0], -9.0)], [ranked([1], 0.0)], lambda one: pytest.fail("tried")
    ).columns == (1,)
