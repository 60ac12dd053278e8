"""The quadratic form of a regression against the rows that it came from."""

import numpy as np
import pytest
from itoscope.stats.quadratic import Quadratic


def quadratic(x, y):
    return Quadratic(x.T @ x, x.T @ y, float(y @ y), float(len(y)))


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 5)) * [1.0, 1e-8, 1e6, 1.0, 3.0]
    return x, x @ [1.0, 1e8, 0.0, -2.0, 0.5] + 0.1 * rng.normal(size=60)


def test_residual_and_least_squares_are_those_of_the_rows(rows):
    x, y = rows
    q = quadratic(x, y)
    theta, inverse = q.solve()
    scale = np.linalg.norm(x, axis=0)
    np.testing.assert_allclose(theta * scale, np.linalg.lstsq(x / scale, y, rcond=None)[0], rtol=1e-10)
    np.testing.assert_allclose(
        inverse * np.outer(scale, scale),
        np.linalg.inv(q.gram / np.outer(scale, scale)),
        rtol=1e-8,
        atol=1e-10,
    )
    assert q.residual(theta) == pytest.approx(float(np.sum((y - x @ theta) ** 2)), rel=1e-6)
    np.testing.assert_array_equal(q.solve().errors, np.sqrt(np.diag(inverse)))


def test_some_columns_are_solved_as_if_the_others_were_not_there(rows):
    x, y = rows
    q = quadratic(x, y)
    np.testing.assert_allclose(q.solve([3, 0]).theta, quadratic(x[:, [3, 0]], y).solve().theta, rtol=1e-12)
    np.testing.assert_array_equal(q.subset([3, 0]).solve().theta, q.solve([3, 0]).theta)


def test_disjoint_data_add(rows):
    x, y = rows
    both = quadratic(x[:20], y[:20]) + quadratic(x[20:], y[20:])
    whole = quadratic(x, y)
    np.testing.assert_allclose(both.gram, whole.gram, rtol=1e-9, atol=1e-12 * abs(whole.gram).max())
    assert (both.yy, both.n) == (pytest.approx(whole.yy), 60.0)


def test_columns_held_leave_the_regression_of_what_is_left(rows):
    x, y = rows
    held = quadratic(x, y).given([1, 3], np.array([1e8, -2.0]))
    left = quadratic(x[:, [0, 2, 4]], y - x[:, [1, 3]] @ [1e8, -2.0])
    np.testing.assert_allclose(held.gram, left.gram)
    np.testing.assert_allclose(held.moment, left.moment, rtol=1e-8)
    assert held.yy == pytest.approx(left.yy, rel=1e-8)


def test_profile_is_the_minimum_over_the_other_columns(rows):
    x, y = rows
    q = quadratic(x, y)
    kept, theta = q.profile(2), np.array([0.3, 2e7])
    rest = q.given([0, 1], theta).solve().theta
    assert kept.residual(theta) == pytest.approx(q.residual(np.concatenate([theta, rest])), rel=1e-8)
    assert kept.n == q.n - 3


def test_a_direction_without_data_gets_nothing():
    x = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    theta, inverse = quadratic(x, x[:, 0]).solve()
    # of the many solutions the one that splits evenly between columns of equal size
    np.testing.assert_allclose(theta, [0.5, 0.25], rtol=1e-12)
    assert np.linalg.matrix_rank(inverse, tol=1e-12) == 1


def test_columns_that_are_not_finite_have_no_coefficient():
    """A term whose sensitivity overflows is left out of a fit and named; nothing raises."""
    gram = np.array([[2.0, 1.0, np.inf], [1.0, 3.0, np.nan], [np.inf, np.nan, np.inf]])
    q = Quadratic(gram, np.array([1.0, 2.0, np.nan]), 5.0, 10.0)
    theta, inverse = q.solve()
    np.testing.assert_allclose(theta, [*np.linalg.solve(gram[:2, :2], [1.0, 2.0]), 0.0])
    assert np.all(np.isfinite(inverse))
    cleaned, bad = q.finite()
    assert bad == [2]
    assert np.all(np.isfinite(cleaned.gram))
    assert q.solve([]).theta.shape == (0,)


def test_columns_of_zeros_are_at_right_angles_to_all():
    q = Quadratic(np.diag([4.0, 0.0]), np.array([2.0, 0.0]), 1.0, 3.0)
    np.testing.assert_array_equal(q.correlation(), [[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(q.solve().theta, [0.5, 0.0])


def test_a_direction_above_rounding_is_kept_and_one_below_is_not():
    """A column and its copy with noise: 1e-6 leaves the eigenvalue 2.5e-13, 1e-8 nothing that rounding does not."""
    rng = np.random.default_rng(0)
    u, e = rng.normal(size=(2, 4000))
    for size, kept in ((1e-6, True), (1e-8, False)):
        copy = u + size * e
        y = u + (copy - u) / size
        (a, b), inverse = quadratic(np.stack([u, copy], axis=1), y).solve()
        left = y - ((a + b) * u + b * (copy - u))
        assert (np.linalg.norm(left) < 1e-2 * np.linalg.norm(y)) == kept
        assert np.linalg.matrix_rank(inverse, tol=1e-12, hermitian=True) == 1 + kept
