"""Recordings that a model makes beside the one that is there: alike if it is right, unlike where it is not."""

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.checks.simulated import DIFFERS, compare, simulation_checks
from itoscope.result.likeness import likenesses

DT, N = 0.02, 6000


def path(seed, drift, noise=1.0, n=N, x0=0.0):
    w = noise * np.sqrt(DT) * np.random.default_rng(seed).normal(size=n)
    x = np.full((n, 1), x0)
    for k in range(1, n):
        x[k] = x[k - 1] + drift(x[k - 1], k * DT) * DT + w[k]
    return x


def fit(paths, degree=3, **options):
    data = ito.Trajectories(paths, dt=DT)
    return ito.discover(data, ito.Library.polynomials(degree), seed=1, n_samples=300, **options)


def linear(x, t):
    return -x


@pytest.fixture(scope="module")
def result():
    return fit([path(1, linear)], degree=1)


def looks(result, data=None, seed=1):
    return {check.name: check for check in simulation_checks(compare(result, data or result.data, seed))}


def fired(found):
    return {name for name, check in found.items() if check.fired}


def test_a_right_model_makes_recordings_like_the_data(result):
    assert set(looks(result)) == {"explosions", "spread", "extremes", "spectrum"}
    alarms = [fired(looks(result, ito.Trajectories(path(seed, linear), dt=DT))) for seed in range(2, 12)]
    assert fired(looks(result)) == set() and sum(bool(one) for one in alarms) <= 1, alarms


@pytest.mark.parametrize(
    ("name", "recording", "words"),
    [
        ("spread", lambda: path(3, linear, noise=2.0), "the variance of x1 is "),
        ("spread", lambda: path(3, linear, noise=0.5), "the variance of x1 is "),
        ("spectrum", lambda: path(3, lambda x, t: -x + 3 * np.cos(3 * t)), "the power at periods of "),
        (
            "extremes",
            lambda: path(3, linear) + (np.random.default_rng(1).random((N, 1)) < 0.02) * 8,
            "above ",
        ),
    ],
    ids=["louder", "quieter", "forced", "outliers"],
)
def test_a_recording_of_another_kind_is_seen(result, name, recording, words):
    found = looks(result, ito.Trajectories(recording(), dt=DT))
    assert name in fired(found) and words in found[name].sentence and "{" not in found[name].sentence


def test_what_is_sure_but_small_is_silent(result):
    """A tenth of a spread is what the length of a step may leave over."""
    comparison = compare(result, result.data, 1)
    spread = comparison.columns["x1"]["spread"][0]
    sure = replace(spread, value=spread.mean * (1 + DIFFERS / 2), p_value=1e-20, outside=True)
    large = replace(sure, value=spread.mean * (1 + 2 * DIFFERS))
    inside = replace(large, outside=False)
    for one, fires in ((sure, False), (large, True), (inside, False)):
        found = simulation_checks(replace(comparison, columns={"x1": {"spread": [one]}}))
        assert [check.fired for check in found] == [False, fires]


def test_explosions_are_named():
    """A cubic that turns outward beyond the data, from a start out there."""
    wrong = ito.discover(
        ito.Trajectories(path(1, lambda x, t: -3 * x / (1 + x * x), n=20_000), dt=0.02),
        ito.Library.expressions("x1", "x1^3"), seed=1,
    )  # fmt: skip
    away = wrong.data.paths[0] * 1.3
    found = looks(wrong, ito.Trajectories([away[np.argmax(np.abs(away)) :][:2000]], dt=DT))
    assert "explosions" in fired(found) and "leave the finite range" in found["explosions"].sentence


def test_recordings_are_made_like_the_data(result):
    """Starts, lengths, gaps; each of its own model where they are drawn from the posterior."""
    first, second = path(4, linear, n=300), path(5, linear, n=200, x0=2.0)
    first[0], second[50:60] = np.nan, np.nan
    data = ito.Trajectories([first, second], dt=DT)
    made = likenesses(result, data, 3, seed=1, posterior=False)
    assert len(made) == 3 and all(one.lost == 0 for one in made)
    for one in made:
        assert [len(x) for x in one.paths] == [300, 200]
        assert np.isnan(one.paths[0][0]).all() and np.isnan(one.paths[1][50:60]).all()
        assert one.paths[1][0] == 2.0
        assert not np.array_equal(one.paths[1][1:50], second[1:50])


def test_uneven_times_are_those_of_the_data(result):
    """A tenth of the samples, here and there: increments grow with the time between them."""
    keep = np.sort(np.random.default_rng(2).choice(N, N // 10, replace=False))
    data = ito.Trajectories(path(6, linear)[keep], t=DT * keep)
    (made,) = likenesses(result, data, 1, seed=1, posterior=False)
    assert len(made.paths[0]) == len(keep)
    gaps, moved = np.diff(data.times[0]), np.diff(made.paths[0][:, 0])
    long = gaps > np.median(gaps)
    expected = 1 - np.exp(-gaps)  # half the mean squared increment over that gap, for rate 1 and Gamma 1
    for some in (long, ~long):
        assert np.mean(moved[some] ** 2) == pytest.approx(np.mean(expected[some]), rel=0.35)
    assert fired(looks(result, data)) == set()


def test_noisy_recordings_are_made_with_their_noise():
    exact = path(1, linear, n=3000)
    seen = exact + 0.1 * np.random.default_rng(3).normal(size=exact.shape)
    found = fit([seen], degree=1, measurement_noise=0.1, diffusion="constant")
    (made,) = likenesses(found, found.data, 1, seed=2, posterior=False)
    rough = [np.mean(np.diff(x[:, 0], n=2) ** 2) for x in (made.paths[0], seen, exact)]
    assert rough[0] == pytest.approx(rough[1], rel=0.15) and rough[0] > 1.4 * rough[2]
    assert fired(looks(found)) == set()
