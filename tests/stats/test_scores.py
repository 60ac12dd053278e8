"""Score tests: chi-square under the model, loud on what is left out, blind to what is held."""

import numpy as np
import pytest
from itoscope.stats.scores import Score, agreement, of_rows, rarer, score
from itoscope.stats.tails import chi_square_tail

RNG = np.random.default_rng(4)
N = 2000
U = RNG.normal(size=(N, 5)) @ RNG.normal(size=(5, 5))
Z = RNG.normal(size=N)


def test_the_sum_of_squares_is_that_of_least_squares():
    held, tested = [0, 1], [2, 3, 4]
    found = score(of_rows(U, Z), held, tested)
    fits = [U[:, c] @ np.linalg.lstsq(U[:, c], Z, rcond=None)[0] for c in (held, held + tested)]
    assert found.chi_square == pytest.approx(fits[1] @ Z - fits[0] @ Z) and found.dof == 3
    assert found.p_value == pytest.approx(chi_square_tail(found.chi_square, 3))
    one = score(of_rows(U, Z), held, [3])
    assert one.z**2 == pytest.approx(one.chi_square)


def test_a_missing_column_is_named_and_a_held_one_is_not_seen():
    z = Z + 0.3 * U[:, 3]
    assert score(of_rows(U, z), [0, 1], [2, 3, 4]).column == 1
    assert score(of_rows(U, z), [0, 1], [2, 3, 4]).p_value < 1e-8
    assert score(of_rows(U, z), [0, 3], [1, 2, 4]).p_value > 1e-3


def test_columns_that_add_nothing_count_for_nothing():
    double = np.hstack([U, U[:, :2], np.zeros((N, 1))])
    found = score(of_rows(double, Z), [0], [1, 5, 6, 7])
    assert found.dof == 1
    assert score(of_rows(double, Z), [0], [5, 7]) == (0.0, 0, 1.0, -1, 0.0)


def test_rows_with_a_gap_are_left_out():
    u, z = U.copy(), Z.copy()
    u[3, 2], z[7] = np.nan, np.nan
    assert of_rows(u, z).n == N - 2 and np.isfinite(of_rows(u, z).gram).all()


def test_parts_agree_or_not():
    parts = np.split(np.arange(N), 4)
    same = agreement([of_rows(U[part, :2], Z[part]) for part in parts])
    assert same.dof == 6 and same.p_value > 1e-3
    z = Z.copy()
    z[parts[2]] += 0.2 * U[parts[2], 0]
    other = agreement([of_rows(U[part, :2], z[part]) for part in parts])
    assert other.p_value < 1e-6 and other.column == 2
    everywhere = Z + 0.2 * U[:, 0]
    assert agreement([of_rows(U[part, :2], everywhere[part]) for part in parts]).p_value > 1e-3
    assert agreement([of_rows(U, Z)]).dof == 0


def test_the_rarer_of_two_looks_pays_for_both():
    one, other = Score(10.0, 1, 0.001, 2, 3.2), Score(4.0, 2, 0.1)
    assert rarer(one, other) == one._replace(p_value=0.002) == rarer(other, one)
    assert rarer(one, Score(0.0, 0, 1.0)) == one == rarer(Score(0.0, 0, 1.0), one)
    assert rarer(other, other._replace(p_value=0.8)).p_value == 0.2
