"""Roots of covariances, semidefinite ones too, and of the nearest one to a matrix that is none."""

import numpy as np
from itoscope.stats.covariance import nearest_covariance, negative_part, root_of_covariance


def square(root):
    return root @ np.swapaxes(root, -1, -2)


def test_a_root_gives_the_covariance_again():
    a = np.random.default_rng(2).normal(size=(50, 4, 4))
    gamma = square(a)
    np.testing.assert_allclose(root_of_covariance(gamma), np.linalg.cholesky(gamma), rtol=1e-8, atol=1e-12)
    a[:, :, 2:] = 0  # rank 2
    np.testing.assert_allclose(square(root_of_covariance(square(a))), square(a), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(root_of_covariance(np.diag([0.0, 4.0])), [[0, 0], [0, 2]])


def test_what_is_no_covariance_gives_the_nearest_one():
    # Eigenvalues 3 and -1 along (1, 1) and (1, -1); a Cholesky factor that cuts off would give [[1, 2], [2, 4]].
    gamma = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(square(root_of_covariance(gamma)), np.full((2, 2), 1.5), atol=1e-12)
    np.testing.assert_allclose(root_of_covariance(np.diag([-1.0, 4.0])), np.diag([0, 2]), atol=1e-12)
    several = np.random.default_rng(3).normal(size=(40, 3, 3))
    several = several + np.swapaxes(several, -1, -2)
    wanted = np.where((negative_part(several) < 0)[:, None, None], nearest_covariance(several), several)
    np.testing.assert_allclose(square(root_of_covariance(several)), wanted, atol=1e-10)
    assert 0 < np.count_nonzero(negative_part(several)) <= 40


def test_what_is_no_number_stays_none():
    gamma = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    root = root_of_covariance(gamma)
    np.testing.assert_array_equal(root[0], np.eye(2))
    assert np.isnan(root[1]).all()
