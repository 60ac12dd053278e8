"""Sets of columns by their evidence: the formula, all sets, and the best first."""

import itertools

import numpy as np
import pytest
from itoscope.common.prior import Prior
from itoscope.fit.filtered import ranking as module
from itoscope.fit.filtered.ranking import Ranking
from itoscope.fit.filtered.slab import log_sets, log_slab
from itoscope.stats.quadratic import Quadratic

PRIOR = Prior()


def regression(k, truth, n=400, seed=1, noise=1.0):
    """Columns with correlations, information in units of the noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, k)) + 0.5 * rng.normal(size=(n, 1))
    y = rows @ truth + noise * rng.normal(size=n)
    return Quadratic(rows.T @ rows, rows.T @ y, float(y @ y), n)


def ranking(quadratic, equation=None, full=(), sizes=None, means=None):
    k = len(quadratic.moment)
    equation = np.zeros(k, dtype=int) if equation is None else np.asarray(equation)
    sizes = np.ones(k) if sizes is None else np.asarray(sizes, float)
    return Ranking(quadratic, sizes, equation, frozenset(full), PRIOR, [f"u{i}" for i in range(k)], means)


def test_evidence_is_the_gain_the_slab_and_the_prior_of_the_set():
    quadratic = regression(4, np.array([0.5, 0.0, -0.3, 0.0]))
    found = ranking(quadratic).rank([0, 2])
    gram, moment = quadratic.gram[np.ix_([0, 2], [0, 2])], quadratic.moment[[0, 2]]
    theta = np.linalg.solve(gram, moment)
    np.testing.assert_allclose(found.theta, theta)
    expected = 0.5 * theta @ moment + log_slab(theta, gram, PRIOR) + log_sets(2, 4, PRIOR)
    assert found.log_mass == pytest.approx(expected)


def test_an_equation_sees_the_information_that_the_others_leave():
    quadratic = regression(4, np.array([0.5, 0.2, -0.3, 0.4]))
    found = ranking(quadratic, [0, 0, 1, 1]).rank([0, 1, 2])
    gram, moment = quadratic.gram[:3, :3], quadratic.moment[:3]
    theta, inverse = np.linalg.solve(gram, moment), np.linalg.inv(gram)
    expected = (
        0.5 * theta @ moment
        + log_slab(theta[:2], np.linalg.inv(inverse[:2, :2]), PRIOR)
        + log_slab(theta[2:], np.linalg.inv(inverse[2:, 2:]), PRIOR)
        + log_sets(2, 2, PRIOR)
        + log_sets(1, 2, PRIOR)
    )
    assert found.log_mass == pytest.approx(expected)


def test_units_of_the_columns_change_nothing():
    quadratic = regression(3, np.array([0.5, 0.0, -0.3]))
    scale = np.array([1e-6, 1.0, 1e9])
    other = Quadratic(
        quadratic.gram * np.outer(scale, scale), quadratic.moment * scale, quadratic.yy, quadratic.n
    )
    for columns in ([0], [0, 2], [0, 1, 2]):
        a, b = ranking(quadratic).rank(columns), ranking(other, sizes=1 / scale).rank(columns)
        assert b.log_mass == pytest.approx(a.log_mass)
        np.testing.assert_allclose(b.theta * scale[columns], a.theta)


def test_all_sets_of_few_columns_and_the_same_best_ones_of_many(monkeypatch):
    truth = np.zeros(9)
    truth[[1, 4, 7]] = 0.4, -0.3, 0.15
    quadratic = regression(9, truth)
    every = ranking(quadratic).explore([])
    assert len(every) == 2**9
    monkeypatch.setattr(module, "ALL", 3)
    some = ranking(quadratic).explore([])
    assert len(some) < 2**9
    assert [one.columns for one in some[:5]] == [one.columns for one in every[:5]]
    heights = np.array([one.log_mass for one in every])
    mass = dict(zip((one.columns for one in every), np.exp(heights - heights.max())))
    assert sum(mass[one.columns] for one in some) > 0.98 * sum(mass.values())
    quick = ranking(quadratic).explore([(1, 4, 7)], quick=True)
    assert quick[0].columns == every[0].columns and len(quick) < len(some)


def test_columns_that_coincide_or_are_zero_are_in_no_set_together():
    quadratic = regression(3, np.array([0.5, 0.0, -0.3]))
    twice = np.array([0, 1, 2, 0])
    doubled = Quadratic(
        quadratic.gram[np.ix_(twice, twice)], quadratic.moment[twice], quadratic.yy, quadratic.n
    )
    found = ranking(doubled)
    assert found.usable == [0, 1, 2] and not np.isfinite(found.rank([0, 3]).log_mass)
    assert ranking(doubled, sizes=[1.0, np.nan, 1.0, 1.0]).usable == [0, 2]


def test_a_full_equation_is_never_empty_and_has_a_positive_mean():
    quadratic = regression(4, np.array([0.5, -0.5, -0.3, 0.0]))
    found = ranking(quadratic, [0, 0, 1, 1], full=[0], means=np.ones(4))
    sets = [one.columns for one in found.explore([(0,)])]
    for columns in sets:
        theta = found.rank(columns).theta
        assert sum(value for value, c in zip(theta, columns) if c < 2) > 0
    assert (2, 3) not in sets and (1,) not in sets and (0,) in sets


def test_a_variance_of_one_candidate_may_come_out_below_zero():
    """It has no other; one that has a choice may not."""
    quadratic = Quadratic(np.eye(3), np.array([-3.0, 3.0, 1.0]), 0.0, 100.0)
    found = ranking(quadratic, [0, 1, 1], full=[0, 1], means=np.ones(3))
    assert np.isfinite(found.rank([0, 1]).log_mass)
    quadratic = Quadratic(np.eye(3), np.array([3.0, -3.0, 1.0]), 0.0, 100.0)
    found = ranking(quadratic, [0, 1, 1], full=[0, 1], means=np.ones(3))
    assert not np.isfinite(found.rank([0, 1]).log_mass) and np.isfinite(found.rank([0, 2]).log_mass)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_right_when_the_prior_is(seed):
    """Of problems drawn from the prior itself, terms of probability p are there in a share p: 5 sd of the sum."""
    rng = np.random.default_rng(seed)
    k, expected, there, spread = 3, 0.0, 0, 0.0
    for case in range(200):
        p0 = rng.beta(PRIOR.a_p, PRIOR.b_p)
        inside = rng.random(k) < p0
        v = PRIOR.b_v / rng.gamma(PRIOR.a_v)
        truth = np.where(inside, np.sqrt(v) * rng.normal(size=k) * 1.0, 0.0)
        every = ranking(regression(k, truth, n=30, seed=1000 * seed + case)).explore([])
        heights = np.array([one.log_mass for one in every])
        mass = np.exp(heights - heights.max())
        for one, w in zip(every, mass / mass.sum()):
            expected += w * len(one.columns)
        there += inside.sum()
        pip = [sum(w for one, w in zip(every, mass / mass.sum()) if j in one.columns) for j in range(k)]
        spread += sum(p * (1 - p) for p in pip)
    assert abs(there - expected) < 5 * np.sqrt(spread + 1e-9) + 1e-9


def test_every_pair_of_neighbours_is_reached_from_both_sides():
    quadratic = regression(5, np.array([0.5, 0.0, -0.3, 0.0, 0.2]))
    found = ranking(quadratic)
    for columns in itertools.combinations(range(5), 2):
        near = found._neighbours(columns, quick=False)
        assert {tuple(c for c in columns if c != k) for k in columns} <= set(near)
        assert {tuple(sorted((*columns, k))) for k in range(5) if k not in columns} <= set(near)


def test_sets_ranked_together_get_what_each_gets_alone(monkeypatch):
    """With sets whose columns coincide, an equation that may not be empty, and stacks that end within the sets."""
    quadratic = regression(6, np.array([0.5, 0.0, -0.3, 0.2, 0.0, 0.1]))
    quadratic.gram[5], quadratic.gram[:, 5] = quadratic.gram[4], quadratic.gram[:, 4]
    quadratic.gram[5, 5], quadratic.moment[5] = quadratic.gram[4, 4], quadratic.moment[4]
    sets = [s for size in range(7) for s in itertools.combinations(range(6), size)]
    alone = ranking(quadratic, [0, 0, 0, 1, 1, 1], full=[1])
    monkeypatch.setattr(module, "STACK", 7)
    together = ranking(quadratic, [0, 0, 0, 1, 1, 1], full=[1]).rank_all(sets)
    for columns, found in zip(sets, together):
        wanted = alone.rank(columns)
        assert found.columns == wanted.columns == columns
        assert found.log_mass == wanted.log_mass
        np.testing.assert_array_equal(found.theta, wanted.theta)
        hopeless = not set(columns) & {3, 4, 5} or {4, 5} <= set(columns)
        assert np.isfinite(found.log_mass) != hopeless
