"""Autocorrelation of residuals, with gaps."""

import numpy as np
from itoscope.stats.whiteness import autocorrelation


def test_autocorrelation_of_an_autoregression_and_of_noise():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(20_000)
    z = np.empty_like(noise)
    z[0] = noise[0]
    for k in range(1, len(z)):
        z[k] = 0.6 * z[k - 1] + noise[k]
    piece = np.zeros(len(z), dtype=int)
    # Bartlett's standard error of an autocorrelation is at most sqrt((1 + 2 sum rho^2) / n) = 0.0103; five of them.
    np.testing.assert_allclose(autocorrelation(z, piece, 4), 0.6 ** np.arange(1, 5), atol=0.052)
    np.testing.assert_allclose(autocorrelation(noise, piece, 4), 0, atol=5 / np.sqrt(len(noise)))


def test_products_across_gaps_and_pieces_are_left_out():
    z = np.array([1.0, 1, -1, np.nan, 1, 1, -1, -1])
    piece = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    mean, variance = np.nanmean(z), np.nanvar(z)
    d = z - mean
    # Pairs one apart: (0, 1), (1, 2), (5, 6), (6, 7); two apart: (0, 2), (2, 4), (5, 7).
    one = np.mean([d[0] * d[1], d[1] * d[2], d[5] * d[6], d[6] * d[7]]) / variance
    two = np.mean([d[0] * d[2], d[2] * d[4], d[5] * d[7]]) / variance
    np.testing.assert_allclose(autocorrelation(z, piece, 6)[:2], [one, two])
    assert autocorrelation(z, piece, 6)[5] == 0
