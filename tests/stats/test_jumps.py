"""Laws of the noise of steps: their densities, the likeliest of them, scores and probabilities."""

import math

import numpy as np
import pytest
from itoscope.stats.heavy import draws
from itoscope.stats.jumps import believed, jumping, likeliest, log_density, normal_scores

LAWS = [(0.25,), (0.02, 10.0)]


def drawn(law, n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * draws(law, n, rng)[:, None]


@pytest.mark.parametrize("law", [(), *LAWS])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_densities_are_densities_whose_slope_is_the_belief(law, d):
    r = np.geomspace(1e-4, 1e3, 40_001)
    surface = 2.0 * math.pi ** (0.5 * d) / math.gamma(0.5 * d)
    values = np.exp(log_density(law, r**2, d)) * surface * r ** (d - 1)
    assert np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(r)) == pytest.approx(1.0, abs=2e-3)
    if law:
        q, small = np.array([0.1, 1.0, 7.0, 60.0]), 1e-6
        slope = (log_density(law, q + small, d) - log_density(law, q - small, d)) / (2.0 * small)
        np.testing.assert_allclose(believed(law, q, d).weight, -2.0 * slope, rtol=1e-6)
        turned = (believed(law, q + small, d).weight - believed(law, q - small, d).weight) / (2.0 * small)
        np.testing.assert_allclose(believed(law, q, d).slope, turned, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("d", [1, 2])
def test_the_likeliest_law_is_that_of_the_steps_with_intervals_that_hold(law, d):
    kind, inside, scales, spreads = "student" if len(law) == 1 else "jumps", 0, [], []
    for seed in range(60):
        found = likeliest(kind, 3.0 * (drawn(law, 2000, d, seed) ** 2).sum(axis=1), d)
        inside += all(low <= true <= high for true, (low, high) in zip(law, found.intervals))
        scales.append(math.log(found.scale / 3.0))
        spreads.append(found.spread)
    each = 0.95 ** len(law)
    assert abs(inside / 60 - each) < 3.3 * math.sqrt(each * (1 - each) / 60)
    assert abs(np.mean(scales)) < 4.0 * np.std(scales) / math.sqrt(60)
    if len(law) == 1:  # given the law, Fisher's information of the scale, and what its own error adds
        known = 2.0 * (4.0 + d + 2.0) / (2000 * d * 4.0)
        total = np.var(scales) / (known + np.mean(spreads))
        assert 0.6 < total < 1.6  # chi-square of sixty over sixty, one in a thousand on either side
        assert np.var(scales) > known


def test_of_normal_steps_the_law_is_normal_and_none_is_a_jump():
    listed = 0
    for seed in range(20):
        q = (drawn((), 3000, 1, seed) ** 2).sum(axis=1)
        student, jumps = likeliest("student", q, 1), likeliest("jumps", q, 1)
        assert student.intervals[0][0] == 0.0 or student.law[0] < 0.1
        assert student.gain - 0.5 * math.log(3000) < 0.0 and jumps.gain - math.log(3000) < 0.0
        assert student.scale == pytest.approx(np.mean(q), rel=0.15)
        listed += int((jumping(student.law, q, 1) > 0.5).sum())
    assert listed == 0


def test_steps_that_are_far_are_jumps():
    z = np.clip(drawn((), 2000, 1, 1)[:, 0], -3.0, 3.0)
    z[[100, 900]] = 12.0, -30.0
    for law in LAWS:
        known = jumping(law, z**2, 1)
        assert set(np.flatnonzero(known > 0.5)) == {100, 900} and (known >= 0.0).all()
    assert np.isnan(jumping((0.25,), np.array([np.nan, 1.0]), 1)).tolist() == [True, False]


@pytest.mark.parametrize("law", LAWS)
def test_scores_of_the_right_law_are_normal_and_of_another_are_not(law):
    z = drawn(law, 20_000, 1, 3)[:, 0]
    scores = normal_scores(law, z)
    assert np.var(scores) == pytest.approx(1.0, abs=0.05)
    assert np.mean(scores**4) / np.var(scores) ** 2 == pytest.approx(3.0, abs=0.2)
    assert np.mean(z**4) / np.var(z) ** 2 > 4.0  # the control
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(z))
    assert normal_scores((), z) is z
