"""The expression language of both backends: what it means, how it is differentiated, how it complains."""

import numpy as np
import pytest
from formulas import KNOWN, MISTAKES, SMOOTH, STATES, texts
from hypothesis import assume, given
from itoscope.backends import get_backend
from itoscope.errors import ArgumentError, ExpressionError
from tolerances import DIFFERENCE_QUOTIENT, EXPRESSION

X = np.random.default_rng(1).uniform(0.2, 1.5, (40, 2)) * [1, -1]
X1, X2 = X.T


def value(backend, text, x=X):
    return get_backend(backend).compile([text], STATES).evaluate(x)[:, 0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", np.ones(40)),
        ("x1 x2", X1 * X2),
        ("x1^2 x2", X1**2 * X2),
        ("2 x1", 2 * X1),
        ("2(x1+1)", 2 * (X1 + 1)),
        ("x1|x2|", X1 * np.abs(X2)),
        ("|x1||x2|", np.abs(X1 * X2)),
        ("|x1 - |x2||", np.abs(X1 - np.abs(X2))),
        ("|(x1|x2|)|", np.abs(X1 * X2)),
        ("-x1^2", -(X1**2)),
        ("2^-x1", 2**-X1),
        ("2^3^2", np.full(40, 512.0)),
        ("2**3", np.full(40, 8.0)),
        ("x1/x2 x1", X1 / X2 * X1),
        ("x1/2/x2", X1 / 2 / X2),
        ("x1 - x2 - 1", X1 - X2 - 1),
        ("x1 - -x2", X1 + X2),
        ("x1 * -x2", -X1 * X2),
        ("--x1", X1),
        ("+x1", X1),
        ("sin(2 x1)^2", np.sin(2 * X1) ** 2),
        ("(x1 - 100)^3", (X1 - 100) ** 3),
        ("1e-3 x1 + .5", 1e-3 * X1 + 0.5),
        ("cos(pi x1)", np.cos(np.pi * X1)),
        ("sgn(x2) + sign(x1)", np.zeros(40)),
        ("abs(x2)^x1", np.abs(X2) ** X1),
        ("log(x1) sqrt(x1) tan(x1)", np.log(X1) * np.sqrt(X1) * np.tan(X1)),
    ],
)
def test_value(backend, text, expected):
    np.testing.assert_allclose(value(backend, text), expected, rtol=EXPRESSION, atol=EXPRESSION)


@pytest.mark.parametrize("function", SMOOTH)
def test_functions_are_those_of_numpy(backend, function):
    expected = getattr(np, function)(X1)
    np.testing.assert_allclose(value(backend, f"{function}(x1)"), expected, rtol=EXPRESSION)


def test_names_of_inputs_win_over_functions(backend):
    program = get_backend(backend).compile(["sin(pi)", "Größe_1 sin"], ["sin", "pi", "Größe_1"])
    np.testing.assert_allclose(program.evaluate([[2.0, 3.0, 5.0]]), [[6.0, 10.0]])


def test_sign_and_magnitude_at_zero(backend):
    program = get_backend(backend).compile(["sgn(x)", "|x|"], ["x"])
    np.testing.assert_array_equal(program.evaluate(np.array([[0.0], [-2.0]])), [[0, 0], [-1, 2]])
    np.testing.assert_array_equal(program.gradient(np.array([[0.0], [-2.0]])), [[[0], [0]], [[0], [-1]]])


def test_missing_values_stay_missing(backend):
    program = get_backend(backend).compile(["sgn(x)", "|x|", "x^2", "exp(x)"], ["x"])
    assert np.isnan(program.evaluate(np.array([[np.nan]]))).all()


@given(text=texts)
def test_gradient_is_the_limit_of_difference_quotients(text):
    for backend in ("rust", "reference"):
        program = get_backend(backend).compile([text], STATES)
        step = 1e-5
        quotients = [
            (program.evaluate(X + step * e) - program.evaluate(X - step * e))[:, 0] / (2 * step)
            for e in np.eye(2)
        ]
        second = [
            (program.gradient(X + step * e) - program.gradient(X - step * e)) / (2 * step) for e in np.eye(2)
        ]
        size = 1 + np.abs(program.evaluate(X)).max() + np.abs(second).max()
        assume(np.isfinite(size) and size < 1e4)  # no kink near a sample, no explosive composition
        difference = program.gradient(X)[:, 0] - np.transpose(quotients)
        # A kink between two samples breaks the quotient there, so nearly all rows must agree, not all.
        agrees = np.abs(difference).max(axis=1) < DIFFERENCE_QUOTIENT * size
        assert agrees.mean() > 0.9


@pytest.mark.parametrize(("text", "message", "position"), MISTAKES)
def test_a_mistake_is_shown_where_it_is(backend, text, message, position):
    with pytest.raises(ExpressionError) as caught:
        get_backend(backend).compile(["x1", text], STATES)
    assert str(caught.value) == f"{message}\n  {text}\n  {' ' * position}^"


@pytest.mark.parametrize("opening", ["(", "|1+", "-", "sin(", "2^", "1+2*("])
def test_nesting_has_a_limit(backend, opening):
    with pytest.raises(ExpressionError, match=r"^the expression is nested too deeply\n"):
        get_backend(backend).compile([opening * 5000 + "x1"], STATES)


def test_depth_that_people_reach_is_fine(backend):
    text = "1 + 0.5 sin(" * 60 + "x1" + ")" * 60
    assert np.isfinite(get_backend(backend).compile([text], STATES).gradient(X)).all()


def test_a_long_sum_is_not_deep(backend):
    assert value(backend, "+".join(["x1"] * 3000))[0] == pytest.approx(3000 * X1[0])


def test_unknown_name_without_inputs(backend):
    functions = KNOWN.removeprefix("known are x1, x2 and ")
    with pytest.raises(ExpressionError, match=f"^unknown name 'x'; known are {functions}\n"):
        get_backend(backend).compile(["x"], [])


@pytest.mark.parametrize("name", ["", "1x", "²x", "x y", "x-y", "x|"])
def test_inputs_need_names_that_expressions_can_use(backend, name):
    with pytest.raises(ArgumentError, match=r"inputs\[1\]"):
        get_backend(backend).compile(["1"], ["x", name])


def test_inputs_need_different_names(backend):
    with pytest.raises(ArgumentError, match=r"inputs\[1\] = 'x': names that differ"):
        get_backend(backend).compile(["1"], ["x", "x"])


@pytest.mark.parametrize("shape", [(3,), (3, 1), (2, 3, 2)])
def test_rows_need_one_column_per_input(backend, shape):
    program = get_backend(backend).compile(["1"], STATES)
    with pytest.raises(ArgumentError, match=r"\(n, 2\)"):
        program.evaluate(np.zeros(shape))
    with pytest.raises(ArgumentError, match=r"\(n, 2\)"):
        program.gradient(np.zeros(shape))
