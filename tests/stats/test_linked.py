"""Correlation matrices by links: there and back, slopes, bounds, what is left alone."""

import numpy as np
import pytest
from itoscope.stats.linked import FURTHEST, correlations, left_alone, links_of, pairs_of, slopes


def _matrix(links, size):
    out = np.eye(size)
    for (i, j), value in zip(pairs_of(size), correlations(links, size)):
        out[i, j] = out[j, i] = value
    return out


@pytest.mark.parametrize("size", [2, 3, 5])
def test_links_make_a_correlation_matrix_and_are_found_again(size):
    links = np.random.default_rng(1).normal(size=len(pairs_of(size)))
    matrix = _matrix(links, size)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0
    np.testing.assert_allclose(links_of(matrix), links, rtol=1e-9)
    np.testing.assert_allclose(left_alone(links, size), 1.0 / np.diag(np.linalg.inv(matrix)), rtol=1e-9)


def test_the_link_of_two_is_fishers_z():
    np.testing.assert_allclose(correlations(np.array([0.7]), 2), np.tanh([0.7]))
    np.testing.assert_allclose(slopes(np.array([0.7]), 2), [[1.0 - np.tanh(0.7) ** 2]])


@pytest.mark.parametrize("size", [2, 3, 4])
def test_slopes_are_those_of_differences(size):
    links = 0.5 * np.random.default_rng(2).normal(size=len(pairs_of(size)))
    moved = [
        (correlations(links + 1e-6 * unit, size) - correlations(links - 1e-6 * unit, size)) / 2e-6
        for unit in np.eye(len(links))
    ]
    np.testing.assert_allclose(slopes(links, size), np.array(moved).T, atol=1e-9)


@pytest.mark.parametrize("far", [50.0, -50.0])
def test_links_beyond_bounds_leave_a_matrix_that_has_a_factor(far):
    matrix = _matrix(np.full(3, far), 3)
    assert np.linalg.eigvalsh(matrix)[0] > 1e-7
    assert abs(matrix[0, 1]) == pytest.approx(np.tanh(FURTHEST)) == pytest.approx(0.999)
