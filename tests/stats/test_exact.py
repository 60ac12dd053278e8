"""Sums without rounding: nearest doubles of the true sum, whatever the order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from itoscope.errors import ArgumentError
from itoscope.stats.exact import Exact

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)


@given(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=12), st.randoms())
def test_any_order_gives_the_nearest_double_of_the_true_sum(rows, random):
    parts = [Exact.of(np.array(row)) for row in rows]
    while len(parts) > 1:  # two of them, anywhere
        a = parts.pop(random.randrange(len(parts)))
        b = parts.pop(random.randrange(len(parts)))
        parts.append(a + b)
    for k, found in enumerate(parts[0].rounded()):
        true = sum((Fraction(row[k]) for row in rows), Fraction(0))
        try:
            assert found == float(true)
        except OverflowError:
            assert np.isinf(found) and (found > 0) == (true > 0)


@given(st.lists(NUMBERS, max_size=20))
def test_one_number_and_its_bytes_are_the_number(values):
    exact = Exact.of(np.array(values, dtype=float))
    assert exact.rounded().tolist() == values
    assert Exact.from_bytes(exact.to_bytes()).units.tolist() == exact.units.tolist()


def test_a_plain_sum_would_depend_on_the_order():
    values = [1e16, 1.0, -1e16]
    assert (values[0] + values[1]) + values[2] != (values[0] + values[2]) + values[1]
    a, b, c = (Exact.of(np.array([value])) for value in values)
    assert ((a + b) + c).rounded()[0] == ((a + c) + b).rounded()[0] == 1.0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_sum(value):
    with pytest.raises(ArgumentError, match="finite"):
        Exact.of(np.array([1.0, value]))
