"""Intervals of quantities that cannot be negative."""

import numpy as np
import pytest
from itoscope.stats.positive import EDGE, positive_interval


def test_on_the_scale_of_the_logarithm_where_the_value_is_known():
    low, high = positive_interval(4.0, 1.0, 2.0, 1.6)
    assert low * high == pytest.approx(16.0) and high == pytest.approx(4.0 * np.exp(0.5))


def test_from_zero_up_to_a_bound_of_its_own_at_the_edge():
    low, high = positive_interval(1.0, EDGE, 1.96, 1.645)
    assert low == 0.0 and high == pytest.approx(1.0 + 1.645 * EDGE)
    assert positive_interval(0.0, 2.0, 1.96, 1.645).tolist() == [0.0, 3.29]
