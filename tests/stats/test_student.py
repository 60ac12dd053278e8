"""Quantiles of Student's t against closed forms and the normal limit."""

import math
from statistics import NormalDist

import pytest
from itoscope.stats.student import student_quantile, student_tails


@pytest.mark.parametrize("p", [0.5, 0.6, 0.75, 0.9, 0.975, 0.9999, 0.01])
def test_closed_forms(p):
    assert student_quantile(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-11, abs=1e-15)
    a = 2 * p - 1
    assert student_quantile(p, 2) == pytest.approx(a * math.sqrt(2 / (1 - a * a)), rel=1e-11, abs=1e-15)
    assert student_quantile(p, 1e12) == pytest.approx(NormalDist().inv_cdf(p), rel=1e-10, abs=1e-12)
    # Both sides of the switch to the expansion.
    assert student_quantile(p, 99_999) == pytest.approx(student_quantile(p, 100_001), rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("df", [3, 49])
def test_tails_are_those_beyond_the_quantiles(df):
    for p in (0.6, 0.95, 1 - 1e-5):
        assert student_tails(student_quantile(p, df), df) == pytest.approx(2 * (1 - p), rel=1e-6)
        assert student_tails(-student_quantile(p, df), df) == student_tails(student_quantile(p, df), df)
    assert student_tails(0.0, df) == 1.0 and student_tails(math.inf, df) == 0.0


def test_degrees_of_freedom_whose_square_overflows_are_those_of_a_normal_law():
    assert student_quantile(0.975, 1e200) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-15)
