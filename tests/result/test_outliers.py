"""Which readings are listed as outliers."""

import numpy as np
import pytest
from itoscope.result.outliers import outliers_of


def _look(noise, law=(0.02, 20.0), doubt=0.0):
    n = len(noise)
    fitted = np.full(n, 3.0), np.full(n, doubt)
    return outliers_of("gps", law, [np.arange(n) * 0.5], [3.0 + noise], [fitted], [np.full(n, 2.0)])


@pytest.mark.parametrize("law", [(0.02, 20.0), (0.25,)])
def test_a_reading_far_away_is_listed_with_all_of_it(law):
    noise = np.zeros(100)
    noise[7], noise[50] = 30.0, -40.0
    first, second = _look(noise, law)
    assert second[:7] == ("gps", 0, 50, 25.0, -37.0, 3.0, -20.0)
    assert (first.sample, first.distance) == (7, 15.0)
    assert 0.5 < first.probability <= second.probability <= 1.0


def test_missing_readings_are_none():
    assert _look(np.full(10, np.nan)) == []


def test_where_the_motion_is_in_doubt_a_reading_tells_less():
    noise = np.zeros(9)
    noise[4] = 8.0
    assert len(_look(noise)) == 1 and _look(noise, doubt=16.0) == []
