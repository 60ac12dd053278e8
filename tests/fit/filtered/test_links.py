"""Correlated noises of a fit: covariances of a model, the regression on links, scores by links and variances."""

from dataclasses import replace

import numpy as np
import pytest
from itoscope.backends.records import Parameter
from itoscope.fit.filtered.links import Links
from itoscope.stats.quadratic import Quadratic

LINKS = Links(((0, 2), (1, 3, 4)), (0.3, 0.2, -0.4, 0.7), (True, False))
NOISE = np.array([0.5, 2.0, 1.0, 0.1, 4.0])


def _raw(noise, links):
    return LINKS.with_covariances(noise, noise, links)


def test_groups_become_pairs_and_covariances():
    assert LINKS.pairs == ((0, 2), (1, 3), (1, 4), (3, 4))
    assert LINKS.free.tolist() == [0] and LINKS.held().free.size == 0 and LINKS and not Links()
    raw = _raw(NOISE, np.array(LINKS.start))
    assert raw[:5].tolist() == NOISE.tolist()
    assert raw[5] == pytest.approx(np.tanh(0.3) * np.sqrt(0.5))
    assert raw[6] == pytest.approx(np.tanh(0.2) * np.sqrt(0.2))


def test_the_jacobian_is_that_of_differences():
    at = np.concatenate([NOISE, LINKS.start])
    moved = [
        (_raw(*np.split(at + 1e-6 * unit, [5])) - _raw(*np.split(at - 1e-6 * unit, [5]))) / 2e-6
        for unit in np.eye(len(at))
    ]
    np.testing.assert_allclose(LINKS.jacobian(*np.split(at, [5])), np.array(moved).T, atol=1e-8)


def test_a_turned_regression_has_its_residual_at_the_model_and_its_slope_there():
    rng = np.random.default_rng(3)
    rows, target = rng.normal(size=(40, 11)), rng.normal(size=40)
    whole = Quadratic(rows.T @ rows, rows.T @ target, float(target @ target), 40.0)
    links = np.array(LINKS.start)
    turned = LINKS.turned(whole, NOISE, links)
    gamma = rng.normal(size=2)
    at = np.concatenate([gamma, NOISE, links])
    assert turned.residual(at) == pytest.approx(whole.residual(np.concatenate([gamma, _raw(NOISE, links)])))
    for place in range(len(at)):
        step = 1e-6 * np.eye(len(at))[place]
        ends = []
        for moved in (at + step, at - step):
            own, noise, linked = np.split(moved, [2, 7])
            ends.append(whole.residual(np.concatenate([own, _raw(noise, linked)])))
        slope = 2.0 * (turned.gram @ at - turned.moment)[place]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)


def test_steps_of_differences_leave_the_noises_possible():
    links = np.full(1, 3.7)
    pair = Links(((0, 1),), (0.0,), (True,))
    noise = np.array([1.0, 1e-6])
    steps = pair.steps(noise, links)
    raw = pair.with_covariances(noise, noise, links)
    for place in range(3):
        for sign in (1.0, -1.0):
            a, b, c = raw + sign * steps * np.eye(3)[place]
            assert c**2 < a * b


def test_what_a_link_and_a_variance_move():
    pair = Links(((0, 1),), (0.0,), (True,))
    found = pair.moving(Parameter("link", 0), np.array([4.0, 9.0]), np.array([0.0]))
    assert found == {Parameter("noise", 2): pytest.approx(6.0)}
    found = pair.moving(Parameter("noise", 0), np.array([4.0, 9.0]), np.array([np.arctanh(0.5)]))
    assert found == {Parameter("noise", 0): 1.0, Parameter("noise", 2): pytest.approx(0.375)}
    assert replace(pair).pairs == ((0, 1),)
