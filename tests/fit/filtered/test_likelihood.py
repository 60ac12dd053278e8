"""The last climb, over everything, and what its top says of the errors."""

from dataclasses import replace

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.likelihood import FULL, SMALL, differences, maximise, observed_information
from itoscope.stats.positive import EDGE

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def information(parabola, parameters):
    whole = np.zeros((9, 9))
    whole[:4, :4], whole[4:, 4:] = parabola.curvature, parabola.noise_curvature
    first = {"drift": 0, "gamma": 4, "noise": 8}
    places = [first[p.kind] + p.term for p in parameters]
    return whole[np.ix_(places, places)]


def test_the_top_is_found_and_its_errors_are_those_of_the_parabola(parabola):
    start = toy.model({"x": 1.0, "x^3": 1.0}, {"1": 0.5}, noise=0.3)
    found = maximise(toy.recording(parabola), start)
    assert found.parameters == start.parameters(np.array([True]))
    np.testing.assert_allclose(found.model.values(found.parameters), [-1.0, -0.5, 0.4, 0.2], atol=1e-2)
    assert found.converged and found.observed and found.loglik == pytest.approx(0.0, abs=0.02)
    cov = np.linalg.inv(information(parabola, found.parameters))
    np.testing.assert_allclose(found.cov, cov, rtol=1e-6, atol=1e-9)
    x, cube = found.parameters[:2]
    assert found.cov_of(x, cube) == pytest.approx(cov[0, 1]) and found.sd_of(x) == pytest.approx(
        cov[0, 0] ** 0.5
    )


def test_a_term_outside_the_model_stays_out(parabola):
    found = maximise(toy.recording(parabola), toy.model({"x": 1.0}, {"1": 0.5}))
    np.testing.assert_array_equal(found.model.drift != 0, [[False, True, False, False]])


def test_errors_are_fishers_where_the_fit_is_not_the_last(parabola):
    found = maximise(toy.recording(parabola), toy.model(DRIFT, GAMMA, 0.2), final=False)
    passes = parabola.calls["loglik"]
    assert not found.observed
    np.testing.assert_allclose(found.cov, np.linalg.inv(information(parabola, found.parameters)), rtol=1e-6)
    maximise(toy.recording(parabola), toy.model(DRIFT, GAMMA, 0.2))
    assert parabola.calls["loglik"] - passes == passes + 4 + 4**2


def test_observed_information_is_that_of_the_likelihood_and_not_of_the_scoring(parabola):
    """The likelihood is bent to half its curvature, which the moments do not say."""
    parabola.bend = lambda value, space: 0.5 * value
    found = maximise(toy.recording(parabola), toy.model(DRIFT, GAMMA, 0.2))
    np.testing.assert_allclose(
        found.cov, 2.0 * np.linalg.inv(information(parabola, found.parameters)), rtol=1e-6, atol=1e-9
    )


def test_a_saddle_has_no_observed_information(parabola):
    recording, top = toy.recording(parabola), toy.model(DRIFT, GAMMA, 0.2)
    parameters = top.parameters(np.array([True]))
    fisher = np.linalg.inv(information(parabola, parameters))
    assert observed_information(recording, top, parameters, fisher, 0.0) is not None
    parabola.bend = lambda value, space: -value
    assert observed_information(recording, top, parameters, fisher, 0.0) is None


def test_a_likelihood_that_ends_beside_the_top_has_no_observed_information(parabola):
    recording, top = toy.recording(parabola), toy.model(DRIFT, GAMMA, 0.2)
    parameters = top.parameters(np.array([True]))
    fisher = np.linalg.inv(information(parabola, parameters))
    parabola.bend = lambda value, space: -np.inf
    assert observed_information(recording, top, parameters, fisher, 0.0) is None


def test_a_noise_level_at_its_edge_keeps_fishers_error_and_what_others_owe_to_it(parabola):
    """Second differences would step below zero; held there, they would take Gamma to be known as if the noise was."""
    parabola.bend = lambda value, space: value if space.noise[0] > 0 else pytest.fail("a variance below zero")
    recording = toy.recording(parabola)
    parameters = toy.model(DRIFT, GAMMA, 1.0).parameters(np.array([True]))
    fisher = np.linalg.inv(information(parabola, parameters))
    edge = toy.model(DRIFT, GAMMA, 0.9 / EDGE * float(np.sqrt(fisher[-1, -1])))
    found = observed_information(recording, edge, parameters, fisher, recording.loglik(edge))
    np.testing.assert_allclose(found, fisher, rtol=1e-6, atol=1e-9)
    held = np.linalg.inv(information(parabola, parameters)[:-1, :-1])
    assert found[2, 2] > 1.01 * held[2, 2]


def test_of_many_parameters_the_mixed_differences_are_left_out():
    terms = tuple(f"x^{k}" for k in range(1, FULL + 1))
    parabola = toy.Parabola(dict.fromkeys(terms, 1.0), {}, 0.2, terms=(*terms, "1"))
    recording = toy.recording(parabola, terms=(*terms, "1"))
    top = toy.model(dict.fromkeys(terms, 1.0), {"1": 0.5}, terms=(*terms, "1"))
    parameters = top.parameters(np.array([True]))
    before = parabola.calls["loglik"]
    observed_information(recording, top, parameters, 1e-4 * np.eye(len(parameters)), recording.loglik(top))
    assert len(parameters) > FULL and parabola.calls["loglik"] - before == 1 + 2 * len(parameters)


def test_differences_are_a_part_of_the_errors_or_of_the_value(parabola):
    model = toy.model(DRIFT, GAMMA, 1e-4)
    parameters = model.parameters(np.array([True]))
    steps = differences(toy.recording(parabola), model, parameters)
    errors = np.sqrt(np.diag(np.linalg.inv(information(parabola, parameters))))
    np.testing.assert_allclose(steps[:2], 0.05 * errors[:2])
    assert 0.05 * errors[3] > SMALL * 1e-4 and steps[3] == pytest.approx(SMALL * 1e-4)
    parabola.curvature[:] = 0.0
    blind = differences(toy.recording(parabola), model, parameters)
    np.testing.assert_allclose(blind[:2], SMALL * np.array([1.0, 0.5]))


def test_a_likelihood_that_still_rises_is_said_to(parabola):
    """The scoring goes a thousandth of the way and says that the whole of it is left."""
    inner = parabola.filter_information

    def timid(*arguments):
        sums, loglik = inner(*arguments)
        return replace(sums, gram=1e3 * sums.gram, moment=sums.moment), loglik

    parabola.filter_information = timid
    parabola.curvature *= 1e3
    found = maximise(toy.recording(parabola), toy.model({"x": 30.0}, GAMMA, 0.2), final=False)
    assert not found.converged
    assert found.loglik > toy.recording(parabola).loglik(toy.model({"x": 30.0}, GAMMA, 0.2))
