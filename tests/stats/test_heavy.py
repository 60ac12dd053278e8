"""Laws of noise that are not normal: as sums of normal ones, drawn, and who is an outlier."""

import numpy as np
import pytest
from itoscope.stats.heavy import draws, nodes, outlying, width


def test_nodes_of_students_law_sum_to_its_density():
    variances, shares = nodes((0.25,))
    for x in (0.0, 1.0, 6.0, 40.0):
        found = np.exp(shares - 0.5 * x**2 / variances) / np.sqrt(2 * np.pi * variances)
        assert found.sum() == pytest.approx(0.375 * (1 + x**2 / 4) ** -2.5, rel=1e-6)
    assert (np.diff(variances) < 0).all() and np.exp(shares).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("law", [(0.3,), (0.1, 12.0), ()])
def test_draws_have_the_width_that_is_said(law):
    """68.27 % of 40 000 within: 0.0023 is a standard error."""
    rng = np.random.default_rng(1)
    x = draws(law, 40_000, rng) * rng.standard_normal(40_000)
    inside = np.mean(np.abs(x) < width(law))
    wanted = 0.6827 if len(law) < 2 else 0.9 * 0.6827 + 0.1 * 0.0664
    assert abs(inside - wanted) < 4 * 0.0023


def test_outliers_are_of_the_wide_law_as_often_as_is_said():
    rng = np.random.default_rng(2)
    wide = rng.random(60_000) < 0.05
    z = np.where(wide, 6.0, 1.0) * rng.standard_normal(60_000)
    known = outlying((0.05, 6.0), z, np.zeros(60_000))
    for low, high in ((0.2, 0.5), (0.5, 0.8), (0.8, 0.95)):
        among = (known > low) & (known < high)
        share, error = wide[among].mean(), 0.5 / np.sqrt(among.sum())
        assert abs(share - known[among].mean()) < 4 * error
    wrong = outlying((0.3, 6.0), z, np.zeros(60_000))  # another share says something else
    among = (wrong > 0.5) & (wrong < 0.8)
    assert abs(wide[among].mean() - wrong[among].mean()) > 0.2


def test_readings_of_students_law_are_outliers_where_their_own_size_is_three_scales():
    rng = np.random.default_rng(3)
    size = draws((0.5,), 60_000, rng)
    z = size * rng.standard_normal(60_000)
    few = slice(None, 6000)
    known = outlying((0.5,), z[few], np.zeros(6000))
    among = known > 0.2
    assert abs(np.mean(size[few][among] > 3.0) - known[among].mean()) < 4 * 0.5 / np.sqrt(among.sum())


def test_nothing_is_known_of_what_was_not_read():
    assert np.isnan(outlying((0.1, 9.0), np.array([np.nan]), np.zeros(1)))[0]
    assert np.isnan(outlying((0.2,), np.array([np.nan]), np.zeros(1)))[0]
