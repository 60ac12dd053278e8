"""The climb over Gamma and the noise with the drift held."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.noise import maximise_noise


@pytest.fixture
def parabola():
    return toy.Parabola({"x": -1.0}, {"1": 0.4, "x^2": 0.3}, 0.2, strength=1e4)


def test_gamma_and_the_noise_reach_the_top_and_the_drift_stays(parabola):
    recording = toy.recording(parabola)
    start = toy.model({"x": -7.0}, {"1": 1.0, "x^2": 0.01}, noise=3.0)
    found, loglik = maximise_noise(recording, start, 30)
    np.testing.assert_allclose(found.gamma[0], [0.4, 0.0, 0.3, 0.0], atol=0.01)
    assert found.noise[0] == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(found.drift, start.drift)
    assert loglik == recording.loglik(found) > recording.loglik(start)


def test_a_given_noise_level_stays(parabola):
    found, _ = maximise_noise(toy.recording(parabola, free_noise=False), toy.model(noise=3.0), 30)
    assert found.noise[0] == 3.0


def test_a_single_variance_and_the_noise_stay_positive(parabola):
    """Their tops are below zero, where the parabola would take them."""
    parabola.noise_top = np.array([-5.0, 0.0, 0.0, 0.0, -3.0])
    found, _ = maximise_noise(toy.recording(parabola), toy.model(noise=3.0), 30)
    assert 0 < found.gamma[0, 0] < 1e-2 and 0 < found.noise[0] < 1e-2


def test_terms_of_a_gamma_of_several_may_change_sign(parabola):
    parabola.noise_top = np.array([0.4, -0.2, 0.3, 0.0, 0.2])
    start = toy.model({}, {"1": 1.0, "x": 0.1, "x^2": 0.1})
    found, _ = maximise_noise(toy.recording(parabola), start, 30)
    assert found.gamma[0, 1] == pytest.approx(-0.2, abs=0.02)


def test_the_likelihood_that_is_known_is_not_computed_again(parabola):
    recording = toy.recording(parabola)
    top = toy.model({"x": -1.0}, {"1": 0.4, "x^2": 0.3}, noise=0.2)
    found, loglik = maximise_noise(recording, top, 8, 0.0)
    assert found is top and loglik == 0.0 and parabola.calls == {**parabola.calls, "loglik": 0, "noise": 1}
    maximise_noise(recording, top, 8)
    assert parabola.calls["loglik"] == 1


def test_the_moments_are_taken_at_the_model_of_the_moment(parabola):
    """A model that leaves the drift's terms out of the likelihood would climb elsewhere."""
    seen = []
    inner = parabola.filter_noise_moments
    parabola.filter_noise_moments = lambda space, *rest: (
        seen.append(space.gamma.copy()) or inner(space, *rest)
    )
    maximise_noise(toy.recording(parabola), toy.model({}, {"1": 3.0}), 4)
    assert len(seen) > 1 and not np.array_equal(seen[0], seen[1])
