"""Means and variances of series that are read a piece at a time."""

import numpy as np
import pytest
from itoscope.stats import running
from itoscope.stats.running import in_pieces, mean_and_variance


def test_pieces_are_all_values_in_their_order():
    series = [np.arange(7.0), np.arange(0.0), np.arange(3.0), np.arange(25.0)]
    pieces = list(in_pieces(series, 10))
    assert np.array_equal(np.concatenate(pieces), np.concatenate(series))
    assert max(map(len, pieces)) == 10 and len(pieces) == 4


@pytest.mark.parametrize("piece", [7, 2**18])
def test_they_are_those_of_all_values(monkeypatch, piece):
    monkeypatch.setattr(running, "PIECE", piece)
    x = 1e6 + np.random.default_rng(1).normal(size=1000)
    x[[3, 500]] = np.nan
    mean, variance = mean_and_variance([x[:100], x[100:]])
    assert mean == pytest.approx(np.nanmean(x), rel=1e-14) and variance == pytest.approx(
        np.nanvar(x), rel=1e-12
    )
    assert np.isnan(mean_and_variance([np.full(5, np.nan)])).all()
