"""The records that stages take and give."""

import numpy as np
import pytest
from itoscope.backends.records import Parameter, StateSpace, Sums


@pytest.fixture
def model():
    return StateSpace(
        program=None,
        drift=np.array([[1.0, 2.0], [3.0, 4.0]]),
        gamma=np.array([[5.0, 6.0]]),
        pairs=((0, 0),),
        observation=np.eye(2),
        noise=np.array([7.0, 8.0]),
        mean0=np.zeros(2),
        cov0=np.eye(2),
        floor=np.zeros(2),
        max_step=1.0,
    )


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (Parameter("drift", 1, 0), 3.0),
        (Parameter("gamma", 0, 1), 6.0),
        (Parameter("noise", 1), 8.0),
    ],
)
def test_a_parameter_is_one_number_of_a_model(model, parameter, value):
    assert parameter.of(model) == value
    moved = model.moved(parameter, 0.25)
    assert parameter.of(moved) == value + 0.25
    assert parameter.of(model) == value, "the model itself stays"
    changed = [np.count_nonzero(getattr(moved, k) != getattr(model, k)) for k in ("drift", "gamma", "noise")]
    assert sum(changed) == 1


def test_sums_add_entry_by_entry():
    one = Sums(*(np.full((2, 2), float(i)) for i in range(3)), np.ones(2), np.zeros(2), 1.5, 2.5, 3)
    both = one + one + Sums.zeros(2)
    assert (both.s, both.total, both.n) == (3.0, 5.0, 6)
    np.testing.assert_array_equal(both.inner, 2 * one.inner)
