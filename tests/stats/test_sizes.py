"""Sizes of steps as a filter sums over them, and what it remembers of the last ones."""

import math

import numpy as np
import pytest
from itoscope.stats.jumps import log_density
from itoscope.stats.sizes import modes_of


@pytest.mark.parametrize("degrees", [2.0, 3.0, 5.0, 30.0])
def test_seven_sizes_have_the_density_of_students_law(degrees):
    """To 6 % wherever a step of a thousand falls; the shares are a law."""
    modes = modes_of((1.0 / degrees,))
    x = np.linspace(0.0, 8.0, 50)
    each = modes.shares - 0.5 * np.log(2.0 * math.pi * modes.variances)
    found = np.log(np.exp(each - 0.5 * x[:, None] ** 2 / modes.variances).sum(axis=1))
    np.testing.assert_allclose(found[x < 4], log_density((1.0 / degrees,), x**2, 1)[x < 4], atol=0.06)
    assert np.exp(modes.shares).sum() == pytest.approx(1.0)
    assert (np.diff(modes.variances) < 0.0).all()


def test_large_sizes_count_as_jumps():
    """Those of more than nine scales, in part where the next size is on the other side of that."""
    modes = modes_of((1.0 / 3.0,))
    assert modes.wide[modes.variances > 30.0].tolist() == [1.0, 1.0]
    assert (modes.wide[modes.variances < 4.0] == 0.0).all()
    assert modes_of((0.01, 20.0)).wide.tolist() == [1.0, 0.0]


def test_each_large_size_has_modes_of_its_own():
    """Three sizes for two steps each, and one without a large step of late."""
    after = modes_of((0.25,)).after
    assert after.shape == (7, 7)
    assert after[0].tolist() == [1, 3, 5, 0, 0, 0, 0]
    assert after[1].tolist() == [1, 3, 5, 2, 2, 2, 2]
    assert after[2].tolist() == [1, 3, 5, 0, 0, 0, 0]
