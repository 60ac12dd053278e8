"""By what models are judged, and what a round leaves in the record."""

import math

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.selection import best_rival
from itoscope.fit.filtered.state import KINK, Round, State
from itoscope.stats.quadratic import Quadratic


@pytest.fixture
def task():
    return toy.task(toy.Parabola({"x": -1.0}, {"1": 0.4}, 0.2))


def test_a_coefficient_costs_half_the_logarithm_of_the_samples_and_that_of_the_choice(task):
    each = 0.5 * math.log(200) + math.log(4)
    assert task.evidence(toy.model({}, {"1": 1.0}), -7.0) == pytest.approx(-7.0 - each)
    assert task.evidence(toy.model({"x": 1.0, "x^3": 1.0}, {"1": 1.0}), -7.0) == pytest.approx(
        -7.0 - 3 * each
    )
    assert task.cost([]) == pytest.approx(0.5 * math.log(200))


def test_missing_samples_do_not_count():
    path = np.zeros((50, 1))
    path[::5] = np.nan
    assert toy.task(toy.Parabola({}, {}, 0.2), paths=[path, path[:10]]).n == 48


def test_a_kink_costs_more():
    terms = ("1", "x", "sgn(x)")
    task = toy.task(toy.Parabola({}, {}, 0.2, terms=terms), terms=terms)
    smooth = toy.model({"x": 1.0}, {"1": 1.0}, terms=terms)
    assert task.evidence(smooth, 0.0) - task.evidence(
        toy.model({"sgn(x)": 1.0}, {"1": 1.0}, terms=terms), 0.0
    ) == pytest.approx(KINK)
    assert task.evidence(smooth, 0.0) - task.evidence(
        toy.model({"x": 1.0}, {"sgn(x)": 1.0}, terms=terms), 0.0
    ) == pytest.approx(KINK)


def test_better_means_a_larger_evidence(task):
    state = State(toy.model({"x": 1.0}, {"1": 1.0}), -10.0)
    each = 0.5 * math.log(200) + math.log(4)
    more = toy.model({"x": 1.0, "x^2": 1.0}, {"1": 1.0})
    assert state.better(task, more, -10.0 + each + 0.01) and not state.better(task, more, -10.0 + each - 0.01)
    assert not state.better(task, state.model, state.loglik)


def test_a_state_is_passed_on_and_never_changed(task):
    state = State(toy.model({"x": 1.0}, {"1": 1.0}), -10.0)
    other = state.at(toy.model({}, {"1": 1.0}), -3.0).without(["x"])
    assert (other.loglik, other.overflowed) == (-3.0, {"x"}) and (state.loglik, state.overflowed) == (
        -10.0,
        set(),
    )
    with pytest.raises(AttributeError):
        state.loglik = 0.0


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


# -- of a few models, the likeliest ------------------------------------------------------------------------
def chosen(selected, visited):
    size = len(toy.TERMS)
    quadratic = Quadratic(np.eye(size), np.zeros(size), 1.0, 10.0)
    moments = type("Named", (), {"names": toy.TERMS, "quadratic": quadratic})()
    return toy.Chosen(moments, selected, visited)


def test_each_model_is_tried_once_the_present_one_first():
    found = chosen(["x"], [(["x"], 0.5), (["x^2", "1"], 0.3), (["x^3"], 0.02)])
    tried = []

    def evidence(columns, most):
        tried.append((columns, most))
        return {(3,): 1.0, (1,): 3.0, (0, 2): 2.0}[tuple(columns)]

    assert best_rival([1], found, evidence, [[3], [1]]) == [1]
    assert tried == [([3], -math.inf), ([1], 1.0), ([0, 2], 3.0)]


def test_nothing_is_tried_where_there_is_no_doubt():
    def evidence(columns, most):
        pytest.fail("tried")

    assert best_rival([1], chosen(["x"], [(["x"], 0.95), (["1"], 0.05)]), evidence, [[3]]) == [1]
    assert best_rival([1], chosen(["x"], [(["x"], 0.5)]), evidence, [[1]]) == [1]
