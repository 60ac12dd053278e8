"""`Library`: names, counts, values, and every rule that its arguments must keep."""

import numpy as np
import pytest
from itoscope import Library
from itoscope.errors import ArgumentError, ExpressionError
from itoscope.library.bound import readable_means
from tolerances import EXPRESSION

X = np.random.default_rng(2).normal(size=(30, 2))


@pytest.mark.parametrize(("degree", "n_states", "count"), [(6, 1, 10), (6, 2, 36), (3, 4, 59)])
def test_paper_counts(degree, n_states, count):
    states = [f"x{i + 1}" for i in range(n_states)]
    assert len(Library.paper(degree).names(states)) == count


def test_paper_order_and_names():
    assert Library.paper(3).names(["x1", "x2"]) == [
        *["1", "x1", "x2", "x1^2", "x1 x2", "x2^2", "x1^3", "x1^2 x2", "x1 x2^2", "x2^3"],
        *["sgn(x1)", "sgn(x2)", "|x1|", "|x2|", "x1|x1|", "x1|x2|", "x2|x1|", "x2|x2|"],
    ]


def test_paper_values(backend):
    x1, x2 = X.T
    columns = [x1**0, x1, x2, x1**2, x1 * x2, x2**2]
    columns += [np.sign(x1), np.sign(x2), abs(x1), abs(x2)]
    columns += [x1 * abs(x1), x1 * abs(x2), x2 * abs(x1), x2 * abs(x2)]
    values = Library.paper(2).evaluate(X, backend=backend)
    assert values.shape == (30, 14) and values.dtype == np.float64
    np.testing.assert_allclose(values, np.transpose(columns), rtol=EXPRESSION)


def test_paper_gradient(backend):
    x1, x2 = X.T
    zero, one = 0 * x1, 1 + 0 * x1
    by_x1 = [zero, one, zero, 2 * x1, x2, zero, zero, zero, np.sign(x1), zero, 2 * abs(x1), abs(x2)]
    by_x1 += [x2 * np.sign(x1), zero]
    gradient = Library.paper(2).gradient(X, backend=backend)
    assert gradient.shape == (30, 14, 2)
    np.testing.assert_allclose(gradient[:, :, 0], np.transpose(by_x1), rtol=EXPRESSION)


def test_other_parts_read_as_mathematics():
    library = Library.trig([1, 2.5]) + Library.exponential() + Library.tanh()
    assert library.names(["y"]) == ["sin(y)", "cos(y)", "sin(2.5 y)", "cos(2.5 y)", "exp(y)", "tanh(y)"]


def test_terms_are_expressions(backend):
    library = Library.paper(4) + Library.trig([2, 0.1]) + Library.polynomials(2, origin=[1e-7, -2.5])
    states = ["x", "v"]
    again = Library.expressions(*library.terms(states))
    assert again.names(states) == library.names(states)
    np.testing.assert_array_equal(again.evaluate(X, states, backend), library.evaluate(X, states, backend))


def test_user_expressions(backend):
    library = Library.expressions("x1*sin(x2)", "exp(-x1^2)")
    assert library.names(["x1", "x2"]) == ["x1*sin(x2)", "exp(-x1^2)"]
    expected = np.stack([X[:, 0] * np.sin(X[:, 1]), np.exp(-(X[:, 0] ** 2))], axis=1)
    np.testing.assert_allclose(library.evaluate(X, backend=backend), expected, rtol=EXPRESSION)


def test_custom_function(backend):
    def bump(x):
        return np.exp(-np.sum(x**2, axis=1))

    library = Library.polynomials(1) + Library.custom(bump, "bump") + Library.sign()
    assert library.names(["x1", "x2"]) == ["1", "x1", "x2", "bump", "sgn(x1)", "sgn(x2)"]
    assert library.terms(["x1", "x2"])[3] == "custom1"
    np.testing.assert_allclose(library.evaluate(X, backend=backend)[:, 3], bump(X), rtol=EXPRESSION)
    with pytest.raises(ArgumentError, match="custom term 'bump': has no gradient"):
        library.gradient(X, backend=backend)


def test_custom_functions_do_not_see_missing_samples():
    x = np.array([[1.0], [np.nan], [3.0]])
    bound = Library.custom(lambda x: 1 / x[:, 0], "1/x").bind(["x"])
    np.testing.assert_array_equal(bound.augment(x), [[1, 1], [np.nan, np.nan], [3, 1 / 3]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x, r"shape \(30, 2\): \(30,\)"),
        (lambda x: np.full(len(x), np.inf), "inf at row 0: finite"),
        (lambda x: x[:, 0] + 1j, "values of type complex128: real numbers"),
        (lambda x: ["a"] * len(x), "values of type <U1: real numbers"),
    ],
)
def test_custom_values_are_checked(function, message):
    bound = Library.custom(function, "mine").bind(["x1", "x2"])
    with pytest.raises(ArgumentError, match=f"custom term 'mine' returned {message}"):
        bound.augment(X)


def test_origin(backend):
    library = Library.polynomials(3, origin=100)
    assert library.names(["x1"]) == ["1", "(x1 - 100)", "(x1 - 100)^2", "(x1 - 100)^3"]
    assert Library.polynomials(2, origin=[0, -1.5]).names(["a", "b"])[1:] == [
        *["a", "(b + 1.5)", "a^2", "a (b + 1.5)", "(b + 1.5)^2"]
    ]
    x = np.array([[101.0], [98.0]])
    np.testing.assert_allclose(library.evaluate(x, backend=backend), [[1, 1, 1, 1], [1, -2, 4, -8]])


def test_origin_at_the_mean(backend):
    library = Library.polynomials(2, origin="mean")
    assert library.names(["x"], origin_values=[3.25]) == ["1", "(x - 3.25)", "(x - 3.25)^2"]
    x = np.array([[9.0], [10.0], [11.0]])
    np.testing.assert_allclose(library.evaluate(x, backend=backend)[:, 1], [-1, 0, 1])
    with pytest.raises(ArgumentError, match="origin = 'mean': needs the data"):
        library.names(["x"])


def test_readable_means_lie_within_a_hundredth_of_the_spread():
    x = np.random.default_rng(3).normal([1e6, 1e-9, -273.15], [1, 1e-10, 20], (500, 3))
    x[7] = np.nan
    means = readable_means([x[:200], x[200:]])
    assert np.all(np.abs(means - np.nanmean(x, axis=0)) <= 0.01 * np.nanstd(x, axis=0))
    assert all(len(repr(mean)) <= 10 for mean in means)
    assert readable_means([np.full((4, 1), 0.1)]) == [0.1]


def test_a_term_that_comes_twice_is_kept_once():
    library = Library.polynomials(2) + Library.expressions("x2*x1", "x1^3") + Library.polynomials(3)
    assert library.names(["x1", "x2"]).count("x1 x2") == 1
    assert "x2*x1" not in library.names(["x1", "x2"])
    assert library.names(["x1", "x2"])[6] == "x1^3"


def test_two_customs_cannot_share_a_name():
    library = Library.custom(np.sum, "f") + Library.custom(np.prod, "f")
    with pytest.raises(ArgumentError, match="name = 'f'"):
        library.bind(["x"])
    same = Library.custom(np.sum, "f") + Library.custom(np.sum, "f")
    assert same.names(["x"]) == ["f"]


def test_repr_and_equality():
    library = Library.polynomials(3, origin="mean") + Library.sign() + Library.trig(2)
    text = "Library.polynomials(3, origin='mean') + Library.sign() + Library.trig([2])"
    assert repr(library) == text
    assert eval(text) == library
    assert Library.paper(3) == Library.paper(3) != Library.paper(4)
    assert repr(Library.custom(np.sum, "s")) == "Library.custom(sum, 's')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Library.polynomials(-1), "degree = -1: a whole number, at least 0"),
        (lambda: Library.polynomials(2.5), "degree = 2.5: a whole number"),
        (lambda: Library.polynomials(True), "degree = True: a whole number"),
        (lambda: Library.polynomials(2, origin="median"), "origin = 'median': None, 'mean', a finite number"),
        (lambda: Library.polynomials(2, origin=np.inf), "origin = inf"),
        (
            lambda: Library.polynomials(2, origin=[1, 2]).names(["x"]),
            r"origin = \(1.0, 2.0\): one number per",
        ),
        (lambda: Library.trig([]), r"frequencies = \[\]: one or more positive"),
        (lambda: Library.trig([1, -2]), r"frequencies = \[1, -2\]: one or more positive"),
        (lambda: Library.expressions(), r"texts = \(\): at least one"),
        (lambda: Library.expressions("x", 3), r"texts\[1\] = 3: an expression"),
        (lambda: Library.custom(3, "f"), "func = 3: a function"),
        (lambda: Library.custom(np.sin, ""), "name = '': a text"),
        (lambda: Library().names(["x"]), "at least one term"),
        (lambda: Library.sign().names([]), r"states = \[\]: a list of one or more names"),
        (lambda: Library.sign().names("xy"), "states = 'xy': a list"),
        (lambda: Library.sign().names(["x", "2y"]), r"states\[1\] = '2y': a name of letters"),
        (lambda: Library.sign().names(["x", "x"]), r"states\[1\] = 'x': names that differ"),
        (lambda: Library.custom(np.sin, "f").names(["custom1"]), "states = 'custom1'"),
        (lambda: Library.sign().evaluate(np.zeros((2, 2, 2))), r"x of shape \(2, 2, 2\)"),
        (lambda: Library.sign().evaluate(X, ["x"]), r"states = \['x'\]: one name per column of x \(2\)"),
        (lambda: Library.sign().evaluate(X, backend="numpy"), "backend = 'numpy'"),
        (lambda: Library.polynomials(1, origin="mean").names(["x"], [1, 2]), r"means = \[1, 2\]: one finite"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_expressions_in_unknown_names_point_at_them():
    with pytest.raises(ExpressionError, match=r"unknown name 'y'; known are x1, x2 .*\n  x1\*y\n     \^"):
        Library.expressions("x1*y").names(["x1", "x2"])
