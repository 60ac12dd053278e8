"""Angles behind the filter: innovations within half a turn, counted readings where nothing tells, one count for all
models of a derivative."""

from dataclasses import replace

import numpy as np
import pytest
import tolerances
from itoscope.backends import get_backend
from itoscope.backends.records import Parameter, StateSpace
from itoscope.errors import ArgumentError

TURN, STEP = 2 * np.pi, 0.5


def _motor(backend, **other):
    stages = get_backend(backend)
    space = StateSpace(
        program=stages.compile(["1", "sin(x1)"], ["x1"]),
        drift=np.array([[3.0, 0.5]]),
        gamma=np.array([[0.25, 0.0]]),
        pairs=((0, 0),),
        observation=np.array([[1.0]]),
        noise=np.array([0.3]),
        mean0=np.array([1.0]),
        cov0=np.array([[4.0]]),
        floor=np.zeros(1),
        max_step=0.26,
        periods=(TURN,),
    )
    return stages, replace(space, **other)


def _turning(n=150):
    """Readings that go on and on, a gap of three turns and one without a fifth of its samples."""
    rng = np.random.default_rng(3)
    y = 1.0 + 3.0 * STEP * np.arange(n) + 0.5 * rng.standard_normal(n)
    y[40:53] = np.nan
    y[100:][rng.random(n - 100) < 0.2] = np.nan
    return y[:, None]


def test_readings_within_one_turn_are_those_that_go_on(backend):
    stages, space = _motor(backend)
    whole = _turning()
    asked, true = ([np.mod(whole, TURN)], [STEP]), ([whole], [STEP])
    plain = replace(space, periods=())
    found, wanted = stages.filter_loglik(space, *asked)[0], stages.filter_loglik(plain, *true)[0]
    assert found == pytest.approx(wanted, rel=1e-10)
    assert stages.filter_loglik(plain, *asked)[0] < wanted - 500.0
    (mean, cov), (going, spread) = stages.filter_smooth(space, *asked), stages.filter_smooth(plain, *true)
    np.testing.assert_allclose(mean[0], going[0], rtol=1e-10)
    np.testing.assert_allclose(cov[0], spread[0], rtol=1e-9)
    assert np.abs(np.diff(mean[0][:, 0])).max() < np.pi
    for moments, columns in (
        (stages.filter_drift_moments, [(0, 0), (0, 1)]),
        (stages.filter_noise_moments, [(0, 0)]),
    ):
        (a, _), (b, _) = moments(space, *asked, columns), moments(plain, *true, columns)
        np.testing.assert_allclose(a.gram, b.gram, rtol=1e-8, atol=1e-8 * np.abs(b.gram).max())
        np.testing.assert_allclose(a.moment, b.moment, rtol=1e-7, atol=1e-8 * np.abs(b.moment).max())


def _walk(backend, spread, noise=1e-6, **other):
    """A walk that is at zero, and then anywhere with a standard deviation."""
    return _motor(
        backend, drift=np.zeros((1, 2)), gamma=np.array([[spread**2 / STEP, 0.0]]), noise=np.array([noise]),
        mean0=np.zeros(1), cov0=np.zeros((1, 1)), **other,
    )  # fmt: skip


def _second(backend, spread, reading):
    """The innovation of a second reading, in standard deviations, and what it is for."""
    stages, space = _walk(backend, spread)
    z = stages.filter_innovations(space, [np.array([[0.0], [reading * TURN]])], [STEP])[0][1, 0]
    return z * np.sqrt(spread**2 + space.noise[0]) / TURN


@pytest.mark.parametrize(
    ("doubt", "reading", "innovation"),
    [
        (0.1, 0.3, 0.3),
        (0.1, 0.7, -0.3),
        (0.1, -3.2, -0.2),
        (0.1, 0.5, 0.5),  # of two places that are as near the one ahead
        (0.1, -0.5, 0.5),
        (0.49, 0.7, -0.3),
        (0.51, 0.7, 0.7),  # nothing tells the nearest place, and the counted one is as good
        (0.51, 1.5, 1.5),
        (0.51, 1.6, -0.4),  # which is not to be believed beyond three standard deviations
    ],
)
def test_an_innovation_is_within_half_a_turn_where_the_model_tells(backend, doubt, reading, innovation):
    found = _second(backend, doubt * TURN, reading)
    assert found == pytest.approx(innovation, abs=1e-9)


def test_turns_that_were_added_are_kept_through_doubt(backend):
    """A turn is taken off, then the walk is lost for a sample: what comes is counted on from where it was."""
    stages, space = _walk(backend, 0.1 * TURN)
    y = TURN * np.array([[0.0], [0.8], [0.9]])
    z = stages.filter_innovations(space, [y], [np.array([0.0, STEP, 30 * STEP])])[0][:, 0]
    moved = z[1:] * 0.1 * TURN * np.sqrt([1.0, 29.0]) / TURN
    np.testing.assert_allclose(moved, [-0.2, 0.1], atol=1e-5)


def test_the_first_reading_is_as_it_was_counted(backend):
    stages, space = _walk(backend, 0.1 * TURN, noise=1.0)
    y = TURN * np.array([[5.0], [5.1], [5.2]])
    plain = replace(space, periods=())
    found = [stages.filter_loglik(model, [y], [STEP])[0] for model in (space, plain)]
    assert found[0] > found[1]  # of the others each is the nearest
    y[0] = np.nan
    start = replace(space, cov0=np.array([[1.0]]))
    mean = stages.filter_smooth(start, [y], [STEP])[0][0]
    assert mean[1, 0] > 2 * np.pi


@pytest.mark.parametrize("parameter", [("drift", 0, 0), ("gamma", 0, 0), ("noise", 0, 0)])
def test_scores_are_slopes_of_the_likelihood(backend, parameter):
    stages, space = _motor(backend)
    y = np.mod(_turning(120), TURN)
    y[0] = np.nan  # the first sample is not foreseen
    asked = ([y], [STEP])
    up, down = (stages.filter_loglik(space.moved(Parameter(*parameter), s), *asked)[0] for s in (1e-6, -1e-6))
    score, _ = stages.filter_information(space, *asked, [Parameter(*parameter)], [1e-5])
    assert score.moment[0] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=tolerances.FILTER_DIFFERENCES)


def test_scores_are_those_of_one_count(backend):
    """A step of the difference after which another place of a reading is the nearest does not turn it over."""
    stages, space = _walk(backend, 0.1 * TURN)
    asked, r = ([np.array([[0.0], [0.499 * TURN]])], [STEP]), 0.499 * TURN
    score, _ = stages.filter_information(space, *asked, [Parameter("drift", 0, 0)], [0.1])
    variance = (0.1 * TURN) ** 2 + space.noise[0]
    assert score.moment[0] == pytest.approx(r * STEP / variance, rel=1e-6)
    assert score.gram[0, 0] == pytest.approx(STEP**2 / variance, rel=1e-6)
    moved = [
        stages.filter_innovations(space.moved(Parameter("drift", 0, 0), s), *asked)[0][1, 0]
        for s in (0.1, -0.1)
    ]
    assert moved[0] > 0.0 > moved[1]


@pytest.mark.parametrize("periods", [(1.0, 0.0), (-1.0,), (np.inf,)])
def test_periods_that_are_none(periods):
    stages, space = _motor("rust", periods=periods)
    with pytest.raises(ArgumentError, match="periods"):
        stages.filter_loglik(space, [np.zeros((10, 1))], [STEP])
