"""Models near the best one: which are tried, and that the best of them stays."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered import neighbours
from itoscope.fit.filtered.drift import drift_moments
from itoscope.fit.filtered.gamma import gamma_moments
from itoscope.fit.filtered.neighbours import BREADTH, compare, explore
from itoscope.fit.filtered.state import State

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.3}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def begin(task, drift, gamma=GAMMA):
    model = toy.model(drift, gamma, 0.2)
    return State(model, task.recording.loglik(model))


def posteriors(task, state, drift, gamma=None):
    """What the last chains say: the models `drift` with these masses, and those of Gamma."""
    state, moments = drift_moments(task, state)
    first = toy.Chosen(moments, drift[0][0], drift)
    if gamma is None:
        return first, None
    return first, toy.Chosen(gamma_moments(task, state)[1], gamma[0][0], gamma)


def terms(trial):
    return {toy.TERMS[k] for _, k in trial.model.drift_columns()}


def test_the_best_of_the_models_that_the_chains_visited_stays(parabola):
    task = toy.task(parabola)
    state = begin(task, {"x": -1.0})
    chains, _ = posteriors(task, state, [(["x"], 0.5), (["x", "x^3"], 0.3), (["x^2"], 0.1), (["1"], 0.04)])
    found = compare(task, state, chains, None)
    assert [terms(trial) for trial in found.tried] == [{"x"}, {"x", "x^3"}, {"x^2"}]
    np.testing.assert_allclose(found.state.model.drift, [[0.0, -1.0, 0.0, -0.5]], atol=1e-9)
    assert found.state.loglik == found.tried[1].loglik and found.settled
    for trial in found.tried:
        assert trial.evidence == task.evidence(trial.model, trial.loglik) and trial.fit is None


def test_the_present_model_stays_where_it_is_the_best(parabola):
    task = toy.task(parabola)
    state = begin(task, DRIFT)
    chains, _ = posteriors(task, state, [(["x^2"], 0.9), (["1", "x", "x^3"], 0.1)])
    found = compare(task, state, chains, None)
    assert found.state is state and len(found.tried) == 3


def test_models_of_gamma_are_tried_with_every_variance(parabola):
    """The chains say that Gamma is empty; the constant is put in, and that is the model of the moment."""
    task = toy.task(parabola)
    state = begin(task, DRIFT)
    chains = posteriors(task, state, [(["x", "x^3"], 1.0)], [([], 0.6), (["x^2"], 0.4)])
    found = compare(task, state, *chains)
    assert [trial.model.gamma_columns() for trial in found.tried] == [[(0, 0)], [(0, 2)]]


@pytest.mark.parametrize("start", [{"x^2": -0.7}, {"1": 0.1, "x^2": 0.4}, {}])
def test_the_true_terms_are_reached_from_wrong_ones_one_by_one(parabola, start):
    task = toy.task(parabola)
    state = begin(task, start)
    found = explore(task, state, *posteriors(task, state, [(list(start), 1.0)]))
    assert found.settled and terms(found.tried[0]) == {"x", "x^3"}
    np.testing.assert_allclose(found.state.model.drift, [[0.0, -1.0, 0.0, -0.5]], atol=1e-3)
    assert found.state.model is found.tried[0].model
    evidences = [trial.evidence for trial in found.tried]
    assert evidences == sorted(evidences, reverse=True)
    keys = [tuple(trial.model.drift_columns()) for trial in found.tried]
    assert len(set(keys)) == len(keys)
    assert all(trial.fit is not None and not trial.fit.observed for trial in found.tried)


def test_the_last_step_is_not_settled_where_the_moves_ran_out(parabola, monkeypatch):
    monkeypatch.setattr(neighbours, "MOVES", 1)
    task = toy.task(parabola)
    state = begin(task, {"1": 0.1, "x^2": 0.4})
    found = explore(task, state, *posteriors(task, state, [(["1", "x^2"], 1.0)]))
    assert not found.settled and found.state.model is found.tried[0].model


def test_neighbours_have_one_term_more_or_less_or_another(parabola):
    task = toy.task(parabola)
    state = begin(task, {"x": -1.0, "x^2": 0.1})
    _, near = neighbours._other_drifts(task, state)
    now = {1, 2}
    sets = [{k for _, k in model.drift_columns()} for model in near]
    assert len(sets) == BREADTH == len({frozenset(s) for s in sets})
    for other in sets:
        assert other != now and len(other - now) <= 1 and len(now - other) <= 1
    assert sets[0] == {1, 3}


def test_the_neighbours_are_ranked_by_what_the_regression_promises(parabola):
    task = toy.task(parabola)
    state = begin(task, {"x": -1.0, "x^2": 0.1})
    _, near = neighbours._other_drifts(task, state)
    promised = [task.evidence(model, task.recording.loglik(model)) for model in near]
    assert promised == sorted(promised, reverse=True)


def test_other_terms_of_gamma_are_tried_alone(parabola):
    task = toy.task(parabola)
    parabola.noise_top = np.array([0.0, 0.0, 0.4, 0.0, 0.2])
    state = begin(task, DRIFT, {"1": 0.5})
    found = explore(task, state, *posteriors(task, state, [(["x", "x^3"], 1.0)], [(["1"], 1.0)]))
    assert found.state.model.gamma_columns() == [(0, 2)]
    without = explore(task, state, *posteriors(task, state, [(["x", "x^3"], 1.0)]))
    assert {tuple(trial.model.gamma_columns()) for trial in without.tried} == {((0, 0),)}


def test_a_trial_is_kept_by_name(parabola):
    task = toy.task(parabola)
    state = begin(task, DRIFT)
    found = compare(task, state, *posteriors(task, state, [(["x", "x^3"], 1.0)]))
    assert found.tried[0].as_dict(task) == {
        "drift": ["x: x", "x: x^3"],
        "diffusion": ["x,x: 1"],
        "loglik": state.loglik,
        "log_evidence": task.evidence(state.model, state.loglik),
    }
