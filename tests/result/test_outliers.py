"""Which readings are listed as outliers, and how often one is of normal noise."""

import numpy as np
from itoscope.result.outliers import beyond


def _look(noise):
    n = len(noise)
    return beyond("gps", [np.arange(n) * 0.5], [3.0 + noise], [np.full(n, 3.0)], [np.full(n, 2.0)])


def test_a_reading_far_away_is_listed_with_all_of_it():
    noise = np.zeros(100)
    noise[7], noise[50] = 20.0, -30.0
    first, second = _look(noise)
    assert first == ("gps", 0, 50, 25.0, -27.0, 3.0, -15.0)
    assert (second.sample, second.distance) == (7, 10.0)


def test_missing_readings_are_none():
    noise = np.full(10, np.nan)
    assert _look(noise) == []


def test_one_in_a_hundred_recordings_has_one_of_normal_noise():
    """Of 2000 recordings 20 are expected; 8 to 34 have a probability above 0.998."""
    rng = np.random.default_rng(1)
    assert 8 <= sum(bool(_look(2.0 * rng.standard_normal(200))) for _ in range(2000)) <= 34
