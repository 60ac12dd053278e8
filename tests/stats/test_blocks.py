"""Variance of block sums: one for independent residuals, by the right law, and not for slow ones."""

import numpy as np
import pytest
from itoscope.stats.blocks import block_ratio, block_ratios
from itoscope.stats.tails import chi_square_cdf


def white(seed, n=4000):
    return np.random.default_rng(seed).normal(size=n)


ONE = np.zeros(4000, dtype=int)


def test_the_ratio_is_that_of_the_sums_of_neighbours():
    z = white(1, 40)
    piece = np.repeat([0, 1], 20)
    sums = [z[k : k + 8].sum() for k in [*range(13), *range(20, 33)]]
    found = block_ratio(z, piece, 8)
    assert found.ratio == pytest.approx(np.mean(np.square(sums)) / 8 / np.mean(z**2))
    z[5] = np.nan
    there = [np.isfinite(z[k : k + 8]).sum() for k in [*range(13), *range(20, 33)]]
    sums = [np.nansum(z[k : k + 8]) for k in [*range(13), *range(20, 33)]]
    assert block_ratio(z, piece, 8).ratio == pytest.approx(
        np.square(sums).sum() / sum(there) / np.nanmean(z**2)
    )


@pytest.mark.parametrize("pieces", [1, 20])
def test_independent_residuals_have_the_chi_square_law(pieces):
    """Mean one, and the variance that the degrees of freedom say."""
    piece = np.arange(4000) // (4000 // pieces)
    for size in (2, 32, 128):
        found = [block_ratio(white(seed), piece, size) for seed in range(200)]
        ratios = np.array([one.ratio for one in found])
        sd = np.sqrt(2 / found[0].dof)
        assert ratios.mean() == pytest.approx(1.0, abs=4 * sd / np.sqrt(200))
        assert ratios.std() == pytest.approx(sd, rel=0.25)
        below = np.mean([chi_square_cdf(one.ratio * one.dof, one.dof) < 0.5 for one in found])
        assert below == pytest.approx(0.5, abs=0.15)


def test_what_is_small_at_each_step_and_lasts_is_seen():
    slow = white(2) + 0.15 * np.sin(np.arange(4000) / 60)
    assert min(found.p_value for found in block_ratios(slow, ONE)) < 1e-4
    assert min(found.p_value for found in block_ratios(white(2), ONE)) > 1e-2
    assert abs(np.corrcoef(slow[1:], slow[:-1])[0, 1]) < 0.04


def test_sums_that_vary_too_little_are_seen_where_there_are_many():
    back = np.diff(white(3, 4001))
    assert block_ratios(back, ONE)[0].p_value < 1e-8
    assert max(found.size for found in block_ratios(back, ONE)) == 128
    assert block_ratios(back[:30], ONE[:30]) == []
