"""Which states a recording is of, and how its columns come from them."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.errors import ArgumentError, DataError
from itoscope.fit.channels import observation_matrix, observed_texts, state_names


def test_states_are_the_columns_their_velocities_or_as_given():
    assert state_names(["a", "b"], 1, None) == (["a", "b"], ["a", "b"])
    assert state_names(["a", "b"], 2, None) == (["a", "b", "v1", "v2"], ["a", "b"])
    assert state_names(["a"], 1, ["u", "a"])[0] == ["u", "a"]
    assert state_names(["gauge"], 1, ["u", "a"], ["a - u"])[0] == ["u", "a"]


def test_states_that_nobody_named_are_those_that_the_columns_show():
    assert state_names(["laser", "camera"], 1, None, ["x1", "x1"])[0] == ["x1"]
    assert state_names(["gap", "roof"], 2, None, ["x10 - x2", "x2"]) == (
        ["x2", "x10", "v1", "v2"],
        ["x2", "x10"],
    )
    assert state_names(["laser", "gyro"], 2, None, ["x1", "v1"])[0] == ["x1", "v1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], 1, ["u"]), "states = ['u']"),
        ((["a"], 1, ["a", "a"]), "different names"),
        ((["a"], 2, ["a", "u"]), "with order=1"),
        ((["v1"], 2, None), "names = 'v1'"),
        ((["a"], 1, None, ["1"]), "expressions of the states"),
    ],
)
def test_states_that_do_not_fit_are_refused(arguments, words):
    with pytest.raises(ArgumentError) as caught:
        state_names(*arguments)
    assert words in str(caught.value)


def test_columns_that_are_not_named_show_the_state_of_their_name():
    assert observed_texts(["a", "b"], {"b": "b - a"}) == ["a", "b - a"]
    assert observed_texts(["a", "b"], ("a", "b - a")) == ["a", "b - a"]
    assert observed_texts(["a"], None) is None
    with pytest.raises(ArgumentError, match="observed = 'c': a column of the data: a, b"):
        observed_texts(["a", "b"], {"c": "a"})


def test_the_matrix_holds_the_slopes(backend):
    stages = get_backend(backend)
    np.testing.assert_array_equal(observation_matrix(["b"], ["a", "b"], None, stages), [[0.0, 1.0]])
    found = observation_matrix(["g", "h"], ["a", "b"], ["2 b - a", "a/4"], stages)
    np.testing.assert_allclose(found, [[-1.0, 2.0], [0.25, 0.0]], rtol=1e-12)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a^2"], "linear combinations"),
        (["a + 1"], r"linear combinations .* or average\(x1\), acceleration\(x1\), angle\(x1\)"),
        (["a b"], "linear combinations"),
        (["a", "2 a"], "one expression for each"),
        ("ab", "one expression for each"),
    ],
)
def test_what_is_no_linear_combination_is_refused(backend, texts, words):
    with pytest.raises(ArgumentError, match=words):
        observation_matrix(["g"], ["a", "b"], texts, get_backend(backend))


def test_a_measured_column_that_never_changes_is_named():
    walk = np.random.default_rng(1).normal(size=(60, 1)).cumsum(axis=0)
    still = ito.Trajectories(np.hstack([walk, np.full_like(walk, 3.0)]), dt=0.1, names=["x", "load"])
    short = dict(n_chains=2, n_samples=20, n_burn=5, seed=1)
    with pytest.raises(DataError, match=r"load never changes, it is 3 .*inputs="):
        ito.discover(still, ito.Library.polynomials(2), **short)
    moving = ito.Trajectories(np.hstack([walk, 3 + 0.01 * walk[::-1]]), dt=0.1, names=["x", "load"])
    assert ito.discover(moving, ito.Library.polynomials(1), **short).states == ("x", "load")


@pytest.mark.parametrize("more", [[ito.Average("x1", exposure=0.05)], ["x1", "x1"], []])
def test_what_columns_show_is_said_once_of_each(more):
    data = ito.Trajectories(np.arange(12.0), dt=0.1)
    observed = ["x1", *more] if more else ["x1"] * 3
    with pytest.raises(ArgumentError, match=r"observed = .*one expression for each of the columns \['x1'\]"):
        ito.discover(data, ito.Library.polynomials(1), observed=observed, measurement_noise="estimate")
