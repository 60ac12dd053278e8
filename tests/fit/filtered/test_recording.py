"""A recording turns models into state-space models over the terms in use, and hands them to the stages."""

import itoscope as ito
import numpy as np
import pytest
import toy_recording as toy
from itoscope.backends import get_backend
from itoscope.backends.records import Parameter
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.model import Model
from itoscope.fit.filtered.recording import KEPT, Recording


@pytest.fixture
def parabola():
    return toy.Parabola({"x": -1.0, "x^3": -0.5}, {"1": 0.4}, 0.2)


def test_the_space_holds_the_terms_of_the_model_and_those_that_are_asked_about(parabola):
    recording = toy.recording(parabola)
    space, place = recording.space(toy.model({"x^3": -2.0}, {"1": 0.3}), [(0, 1)])
    assert space.program.expressions == ["1", "x", "x^3"] and place == {0: 0, 1: 1, 3: 2}
    np.testing.assert_array_equal(space.drift, [[0.0, 0.0, -2.0]])
    np.testing.assert_array_equal(space.gamma, [[0.3, 0.0, 0.0]])
    assert space.noise[0] == 0.5 and space.max_step == 0.01


def test_given_rows_are_always_in_the_drift_and_kinks_find_their_place():
    library = ito.Library.expressions("x", "v|x|", "sgn(v)")
    among = Candidates.of(library.bind(["x", "v"]), known={0: "v"})
    recording = Recording(
        [np.zeros((5, 1))],
        [0.1],
        among,
        np.array([[1.0, 0.0]]),
        np.array([True]),
        0.1,
        get_backend("reference"),
    )
    k = among.n_terms
    drift = np.zeros((2, k))
    drift[1, 2] = -3.0
    model = Model(drift, np.zeros((1, k)), np.ones(1), np.zeros(2), np.eye(2), np.zeros(2))
    space, _ = recording.space(model)
    assert space.program.expressions == ["sgn(v)", "v"]
    np.testing.assert_array_equal(space.drift, [[0.0, 1.0], [-3.0, 0.0]])
    assert [(kink.term, kink.kind, kink.i, kink.j) for kink in space.kinks] == [(0, "sgn", 1, 1)]
    space, _ = recording.space(model, [(1, 1)])
    assert [(kink.term, kink.kind) for kink in space.kinks] == [(0, "product"), (1, "sgn")]


def test_each_set_of_terms_is_compiled_once(parabola):
    made = []
    inner = parabola.compile
    parabola.compile = lambda expressions, inputs: (
        made.append(tuple(expressions)) or inner(expressions, inputs)
    )
    recording = toy.recording(parabola)
    for _ in range(3):
        recording.loglik(toy.model({"x": 1.0}))
    recording.subset([0]).loglik(toy.model({"x": 2.0}))
    recording.loglik(toy.model({"x^2": 1.0}))
    assert made == [("1", "x"), ("1", "x^2")]


def test_a_given_noise_level_is_taken_out_of_the_moments(parabola):
    """What is left is the regression on Gamma alone, around the level that is held."""
    model = toy.model({}, {"1": 1.0}, noise=0.7)
    free = toy.recording(parabola).noise_moments(model, [(0, 0), (0, 2)])
    held = toy.recording(parabola, free_noise=False).noise_moments(model, [(0, 0), (0, 2)])
    assert len(free.moment) == 3 and len(held.moment) == 2
    np.testing.assert_allclose(held.moment, free.moment[:2] - 0.7 * free.gram[:2, 2])
    gamma = np.array([0.3, -0.2])
    assert held.residual(gamma) == pytest.approx(free.residual(np.append(gamma, 0.7)))


def test_parameters_are_asked_for_by_their_place_in_the_program(parabola):
    recording = toy.recording(parabola)
    model = toy.model({"x^3": 1.0}, {"x^2": 2.0})
    parameters = (Parameter("drift", 0, 3), Parameter("gamma", 0, 2), Parameter("noise", 0))
    found = recording.information(model, parameters, [1e-3] * 3)
    places = [3, 4 + 2, 8]
    whole = np.zeros((9, 9))
    whole[:4, :4], whole[4:, 4:] = parabola.curvature, parabola.noise_curvature
    np.testing.assert_array_equal(found.gram, whole[np.ix_(places, places)])


def test_passes_are_told_and_a_part_of_the_paths_counts_as_such(parabola):
    told = []
    paths = [np.zeros((n, 1)) for n in (50, 30, 20)]
    recording = toy.recording(parabola, paths=paths, passed=told.append)
    model = toy.model({"x": 1.0})
    recording.loglik(model)
    recording.subset([0, 2]).drift_moments(model, [(0, 1)])
    recording.information(model, model.parameters(np.array([True])), [1e-3] * 3)
    assert told == [100, 70, 700]
    assert parabola.samples == [100]


def test_nothing_about_a_recording_can_be_set(parabola):
    with pytest.raises(AttributeError):
        toy.recording(parabola).max_step = 1.0


def test_what_a_pass_found_is_kept_for_the_same_model_and_columns_alone(parabola):
    told = []
    recording = toy.recording(parabola, passed=told.append)
    found = [recording.loglik(toy.model({"x": value})) for value in (1.0, 1.0, 1.5, 1.0)]
    assert len(told) == 2 and found[0] == found[1] == found[3] != found[2]
    one = recording.drift_moments(toy.model({"x": 1.0}), [(0, 1)])
    assert recording.drift_moments(toy.model({"x": 1.0}), [(0, 1)]) is one and len(told) == 3
    assert recording.drift_moments(toy.model({"x": 1.0}), [(0, 1), (0, 3)]).gram.shape == (2, 2)
    assert recording.noise_moments(toy.model({"x": 1.0}), [(0, 0)]).gram.shape == (2, 2)
    part = recording.subset([0])
    part.loglik(toy.model({"x": 1.0}))
    assert len(told) == 6


def test_only_the_last_passes_are_kept(parabola):
    told = []
    recording = toy.recording(parabola, passed=told.append)
    for value in [*range(KEPT + 1), KEPT, 0]:
        recording.loglik(toy.model({"x": float(value + 1)}))
    assert len(told) == KEPT + 2 and len(recording.kept) == KEPT
