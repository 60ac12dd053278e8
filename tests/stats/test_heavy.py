"""The width of noise of Student's law."""

import numpy as np
import pytest
from itoscope.stats.heavy import width


def test_width_holds_as_much_as_a_standard_deviation_of_normal_noise():
    assert width(1e9) == pytest.approx(1.0)
    assert width(1.0) == pytest.approx(np.tan(np.pi * 0.3413447), rel=1e-6)  # Cauchy
    rng = np.random.default_rng(1)
    for nu in (2.0, 6.0):
        inside = np.mean(np.abs(rng.standard_t(nu, 200_000)) < width(nu))
        assert abs(inside - 0.6827) < 0.005
