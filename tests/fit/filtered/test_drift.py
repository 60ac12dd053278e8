"""One round of the drift on a parabola: which terms, how far, and what is left alone."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.drift import drift_round, drift_support
from itoscope.fit.filtered.state import State

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def begin(task, drift=None, gamma=GAMMA, noise=0.2):
    model = toy.model(drift, gamma, noise)
    return State(model, task.recording.loglik(model))


def coefficients(state):
    return dict(zip(toy.TERMS, state.model.drift[0].tolist()))


def test_the_selected_terms_are_taken_at_their_least_squares(parabola):
    task = toy.task(parabola)
    state, done = drift_round(task, begin(task), rivals=False)
    assert coefficients(state) == pytest.approx({"1": 0.0, "x": -1.0, "x^2": 0.0, "x^3": -0.5})
    assert state.loglik == task.recording.loglik(state.model) == pytest.approx(0.0, abs=1e-9)
    assert (done.stage, done.chosen, done.terms, done.step) == ("drift", (1, 3), ("x", "x^3"), 1.0)
    assert done.state is state
    assert drift_support(task, state.model) == (1, 3)


def test_how_far_it_moved_is_in_standard_errors(parabola):
    task = toy.task(parabola)
    _, done = drift_round(task, begin(task), rivals=False)
    errors = np.sqrt(np.diag(np.linalg.inv(parabola.curvature[np.ix_([1, 3], [1, 3])])))
    assert done.moved == pytest.approx(max(1.0 / errors[0], 0.5 / errors[1]))


def test_a_step_that_overshoots_is_halved_and_the_record_says_so(parabola):
    """Beyond a third of the way the likelihood falls off a cliff; a whole step and a half are too far."""
    parabola.bend = lambda value, space: value - 1e9 * max(0.0, abs(space.drift[0, -1]) - 0.17)
    task = toy.task(parabola)
    before = parabola.calls["loglik"]
    state, done = drift_round(task, begin(task), rivals=False)
    assert done.step == 0.25 and parabola.calls["loglik"] - before == 1 + 3
    assert coefficients(state)["x^3"] == pytest.approx(-0.125)


def test_a_term_that_is_not_needed_is_taken_out(parabola):
    task = toy.task(parabola)
    state, done = drift_round(task, begin(task, {**DRIFT, "x^2": 1e-4}), rivals=False)
    assert done.step == 1.0 and drift_support(task, state.model) == (1, 3)


def test_other_terms_are_taken_with_a_gamma_of_their_own(parabola):
    """At the Gamma of the moment they are worse; once Gamma is climbed they are better."""
    parabola.bend = lambda value, space: (
        value - (1e7 * (space.gamma[0, 0] - 0.4) ** 2 if space.drift.any() else 0.0)
    )
    task = toy.task(parabola)
    start = begin(task, {}, {"1": 0.45})
    state, done = drift_round(task, start, rivals=False)
    assert done.step == 1.0 and coefficients(state)["x"] == pytest.approx(-1.0)
    assert state.model.gamma[0, 0] == pytest.approx(0.4, abs=0.02)


def test_at_the_top_nothing_is_tried(parabola):
    task = toy.task(parabola)
    start = begin(task, DRIFT)
    before = parabola.calls["loglik"]
    state, done = drift_round(task, start, rivals=False)
    assert state.model is start.model and (done.step, done.moved) == (0.0, 0.0)
    assert parabola.calls["loglik"] == before


def test_where_no_step_helps_the_round_counts_as_still(parabola):
    here = np.array([0.0, 1.0, 0.0, 1.0])
    parabola.bend = lambda value, space: -1e9 * float(np.sum((parabola.wide(space, space.drift) - here) ** 2))
    task = toy.task(parabola)
    _, done = drift_round(task, begin(task, {"x": 1.0, "x^3": 1.0}), rivals=False)
    assert (done.step, done.moved) == (0.0, 0.0)


def test_terms_that_leave_the_finite_range_are_named_and_in_no_set(parabola):
    inner = parabola.filter_drift_moments

    def overflowing(*arguments):
        sums, loglik = inner(*arguments)
        sums.gram[2, :], sums.gram[:, 2], sums.moment[2] = np.inf, np.inf, np.nan
        return sums, loglik

    parabola.filter_drift_moments = overflowing
    task = toy.task(parabola)
    state, ranking = task.drift_ranking(begin(task))
    assert state.overflowed == {"x^2"} and ranking.usable == [0, 1, 3]
    assert state.without(["x"]).overflowed == {"x", "x^2"}
    assert not np.isfinite(ranking.rank([2]).log_mass)
