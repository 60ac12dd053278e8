"""A gap of any length is one step of a linear model, and pieces of a bounded length for any other."""

import math
import time

import numpy as np
import pytest
import toy_recording as toy
from itoscope.backends import get_backend


@pytest.fixture
def gappy():
    """An Ornstein-Uhlenbeck path of two stretches, a million steps apart."""
    rng = np.random.default_rng(1)
    x = np.zeros((400, 1))
    for n in range(1, 400):
        x[n] = 0.9 * x[n - 1] + 0.1 * rng.normal()
    t = 0.01 * np.concatenate([np.arange(200.0), 1e6 + np.arange(200.0)])
    recording = toy.recording(get_backend("rust"), paths=[x])
    return toy.replace(recording, times=[t])


def test_linear_models_have_no_longest_step(gappy):
    linear = toy.model({"1": 0.1, "x": -1.0}, {"1": 0.4}, 0.01)
    assert gappy.space(linear)[0].max_step == math.inf
    for other in (toy.model({"x^3": -1.0}, {"1": 0.4}), toy.model({"x": -1.0}, {"x^2": 0.4})):
        assert gappy.space(other)[0].max_step == 0.01
    assert gappy.space(linear, [(0, 2)])[0].max_step == 0.01


def test_a_gap_costs_one_step_and_forgets_what_was_before(gappy):
    model = toy.model({"x": -1.0}, {"1": 0.4}, 0.01)
    begin = time.process_time()
    whole = gappy.loglik(model)
    assert time.process_time() - begin < 0.1
    path, times = gappy.paths[0], gappy.times[0]
    apart = toy.replace(gappy, paths=[path[:200], path[200:]], times=[times[:200], times[200:]])
    stationary = toy.replace(model, mean0=np.zeros(1), cov0=np.array([[0.2]]))
    first = toy.replace(gappy, paths=[path[:200]], times=[times[:200]])
    expected = first.loglik(model) + apart.loglik(stationary) - first.loglik(stationary)
    assert whole == pytest.approx(expected, abs=1e-6)
