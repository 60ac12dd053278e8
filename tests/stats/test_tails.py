"""Tails of the normal and the chi-square law against closed forms."""

import math

import pytest
from itoscope.stats.tails import chi_square_cdf, chi_square_tail, normal_tails


@pytest.mark.parametrize("x", [0.01, 0.5, 2.0, 5.0, 30.0, 200.0])
def test_tails_are_those_of_the_closed_forms(x):
    assert chi_square_tail(x, 1) == pytest.approx(math.erfc(math.sqrt(x / 2)), rel=1e-10)
    assert chi_square_tail(x, 2) == pytest.approx(math.exp(-x / 2), rel=1e-12)
    assert chi_square_tail(x, 4) == pytest.approx(math.exp(-x / 2) * (1 + x / 2), rel=1e-12)
    assert chi_square_cdf(x, 2) == pytest.approx(-math.expm1(-x / 2), rel=1e-12)
    assert normal_tails(-math.sqrt(x)) == pytest.approx(chi_square_tail(x, 1), rel=1e-10)


def test_many_degrees_of_freedom_are_nearly_normal():
    """With 20 000 degrees the median lies two thirds below the mean."""
    assert chi_square_tail(20_000 - 2 / 3, 20_000) == pytest.approx(0.5, abs=1e-4)


def test_no_degree_of_freedom_is_no_surprise():
    assert chi_square_tail(3.0, 0) == 1.0 and chi_square_tail(0.0, 3) == 1.0 and chi_square_cdf(0.0, 3) == 0.0
