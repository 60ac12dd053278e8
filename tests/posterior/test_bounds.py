"""Normal laws within bounds against numerical integrals; terms of every model against least squares."""

import math

import numpy as np
import pytest
from itoscope.common.prior import Prior
from itoscope.posterior.bounds import log_share, truncated, weights
from itoscope.posterior.said import Always, Said
from itoscope.posterior.sampling import Sampling, sample
from itoscope.stats.quadratic import Quadratic

NONE = (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [(0.3, 1.0, -np.inf, 0.0), (2.0, 0.5, 0.0, np.inf), (-1.0, 2.0, -0.5, 0.7), (5.0, 1.0, -np.inf, 0.0)],
)
def test_one_coefficient_against_the_integral(mean, sd, low, high):
    x = np.linspace(max(low, mean - 12 * sd), min(high, mean + 12 * sd), 200_001)
    density = np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
    mass = (density.sum() - 0.5 * (density[0] + density[-1])) * (x[1] - x[0])
    share = density / density.sum()
    centre = share @ x
    spread = np.sqrt(share @ (x - centre) ** 2)
    limits = np.array([(low, high)])
    signed = math.log(2) if low >= 0 or high <= 0 else 0.0
    assert log_share(np.array([mean]), np.array([[sd**2]]), limits) == pytest.approx(
        math.log(mass) + signed, rel=1e-6
    )
    found, cov = truncated(np.array([mean]), np.array([[sd**2]]), limits)
    assert found[0] == pytest.approx(centre, rel=1e-4) and math.sqrt(cov[0, 0]) == pytest.approx(
        spread, rel=1e-3
    )


@pytest.mark.parametrize(("low", "high"), [(-np.inf, 0.0), (1.0, np.inf), (-2.0, 3.0)])
def test_what_nobody_knows_is_as_likely_within_bounds_as_beforehand(low, high):
    mean, limits = np.array([5.0, -0.5]), np.array([(low, high), NONE])
    cov = np.array([[np.inf, np.nan], [np.nan, 0.3]])
    assert log_share(mean, cov, limits) == pytest.approx(0.0)
    found, kept = truncated(mean, cov, limits)
    assert found.tolist() == [min(max(5.0, low), high), -0.5]
    assert np.isinf(kept[0, 0]) and kept[1, 1] == 0.3


def test_far_outside_the_law_lies_at_the_bound():
    limits = np.array([(-np.inf, 0.0)])
    found, cov = truncated(np.array([50.0]), np.eye(1), limits)
    assert -0.05 < found[0] < 0.0 and math.sqrt(cov[0, 0]) < 0.05
    assert log_share(np.array([50.0]), np.eye(1), limits) < -1000
    same, unchanged = truncated(np.array([-50.0]), np.eye(1), limits)
    assert same[0] == -50.0 and unchanged[0, 0] == 1.0


def test_other_coefficients_follow_their_correlation():
    rng = np.random.default_rng(1)
    mean, cov = np.array([0.5, 1.0]), np.array([[1.0, 0.6], [0.6, 2.0]])
    draws = rng.multivariate_normal(mean, cov, 400_000)
    draws = draws[draws[:, 0] < 0.0]
    found, matrix = truncated(mean, cov, np.array([(-np.inf, 0.0), NONE]))
    np.testing.assert_allclose(found, draws.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(matrix, np.cov(draws.T), atol=0.02)


def test_draws_of_one_sign_count_twice():
    samples = np.array([[[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]])
    limits = np.array([(0.0, np.inf), (-5.0, 5.0)])
    np.testing.assert_array_equal(weights(samples, samples != 0.0, limits), [[2.0, 0.0, 1.0]])


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 4))
    y = 1.5 * x[:, 0] + 0.25 * x[:, 1] - 0.3 * x[:, 2] + rng.normal(size=60)
    return x, y, Quadratic(x.T @ x, x.T @ y, float(y @ y), 60)


TERMS = ["a", "b", "c", "d"]
EXACT = Sampling(sampler="exact", seed=1, n_samples=20_000)


def test_terms_of_every_model_are_least_squares(regression):
    x, y, quadratic = regression
    found = sample(quadratic, TERMS, Prior(), EXACT, None, Said(included=frozenset(TERMS)))
    theta, cov = np.linalg.solve(x.T @ x, x.T @ y), np.linalg.inv(x.T @ x)
    variance = float(np.sum((y - x @ theta) ** 2)) / (60 - 4 - 2)
    np.testing.assert_allclose(found.mean, theta, rtol=1e-9)
    np.testing.assert_allclose(found.cov, variance * cov, rtol=1e-2)
    assert found.selected.all() and (found.pip == 1.0).all() and found.included.all()
    draws = found.samples.reshape(-1, 4)
    np.testing.assert_allclose(draws.mean(axis=0), theta, atol=0.01)
    np.testing.assert_allclose(np.cov(draws.T), found.cov, rtol=0.1, atol=5e-4)


def test_a_column_of_every_model_changes_the_others_as_taking_it_out_first(regression):
    """The posterior of the rest is that of what is left of them beside the term, with a row less."""
    x, y, quadratic = regression
    found = sample(quadratic, TERMS, Prior(), EXACT, None, Said(included=frozenset("b")))
    b = x[:, 1]
    rest = x[:, [0, 2, 3]] - np.outer(b, b @ x[:, [0, 2, 3]]) / (b @ b)
    left = y - b * (b @ y) / (b @ b)
    alone = sample(
        Quadratic(rest.T @ rest, rest.T @ left, float(left @ left), 59), ["a", "c", "d"], Prior(), EXACT
    )
    np.testing.assert_allclose(found.pip[[0, 2, 3]], alone.pip, atol=1e-10)
    np.testing.assert_allclose(found.mean[[0, 2, 3]], alone.mean, atol=1e-10)
    assert found.selected[1] and found.pip[1] == 1.0
    assert sample(quadratic, TERMS, Prior(), EXACT).pip[1] < 0.99


def test_held_coefficients_are_taken_off_the_target(regression):
    x, y, quadratic = regression
    found = sample(quadratic, TERMS, Prior(), EXACT, None, Said(held={"a": 1.0}))
    shifted = y - x[:, 0]
    q = Quadratic(quadratic.gram[1:, 1:], x[:, 1:].T @ shifted, float(shifted @ shifted), 60)
    alone = sample(q, TERMS[1:], Prior(), EXACT)
    np.testing.assert_allclose(found.pip[1:], alone.pip, atol=1e-10)
    assert found.mean[0] == 1.0 and found.sd[0] == 0.0 and (found.samples[..., 0] == 1.0).all()
    assert tuple(found.interval()[0]) == (1.0, 1.0)


def test_a_bound_on_the_right_side_doubles_the_odds(regression):
    """A half of the slab has all of its mass: nearly all draws with the term are within, the odds double."""
    _, _, quadratic = regression
    free = sample(quadratic, TERMS, Prior(), EXACT)
    bound = sample(quadratic, TERMS, Prior(), EXACT, None, Said(bounds={"c": (-np.inf, 0.0)}))
    inside = float(((free.samples[..., 2] < 0) & free.included[..., 2]).mean())
    out = 1.0 - float(free.included[..., 2].mean())
    assert bound.pip[2] == pytest.approx(2 * inside / (2 * inside + out), abs=0.01)
    assert (bound.samples[..., 2] <= 0.0).all() and bound.interval()[2, 1] <= 0.0


def test_what_the_data_contradict_is_out_or_at_its_bound(regression):
    _, _, quadratic = regression
    out = sample(quadratic, TERMS, Prior(), EXACT, None, Said(bounds={"a": (-np.inf, 0.0)}))
    assert out.pip[0] == 0.0 and not out.selected[0]
    said = Said(included=frozenset("a"), bounds={"a": (-np.inf, 0.0)})
    at = sample(quadratic, TERMS, Prior(), EXACT, None, said)
    assert at.selected[0] and -0.1 < at.mean[0] <= 0.0
    assert any("contradict the bounds of a" in note for note in at.warnings)
    fine = sample(
        quadratic, TERMS, Prior(), EXACT, None, Said(frozenset(), frozenset("a"), {}, {"a": (0.0, np.inf)})
    )
    assert fine.mean[0] > 1.0 and not any("contradict" in note for note in fine.warnings)


def test_a_candidate_beside_its_double_is_not_tried(regression):
    _, _, quadratic = regression
    twice = np.array([0, 1, 2, 3, 0])
    q = Quadratic(quadratic.gram[np.ix_(twice, twice)], quadratic.moment[twice], quadratic.yy, 60)
    found = sample(q, [*TERMS, "e"], Prior(), EXACT, None, Said(included=frozenset("e")))
    assert found.pip[0] == 0.0 and found.selected[4]
    assert any("leave nothing of them: a" in note for note in found.warnings)
    always, _ = Always.of(q, [*TERMS, "e"], Said(included=frozenset("e")))
    assert always.coincide == [0]
