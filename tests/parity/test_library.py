"""Both backends give the same values, gradients and complaints."""

import numpy as np
import pytest
from formulas import MISTAKES, STATES, texts
from hypothesis import given
from itoscope import Library
from itoscope.backends import get_backend
from itoscope.errors import ItoscopeError
from tolerances import EXPRESSION

rust, reference = get_backend("rust"), get_backend("reference")


X = np.random.default_rng(4).normal(size=(300, 2))


def assert_same(a, b):
    """Equal NaN and infinities, and finite values that differ by rounding alone."""
    assert a.shape == b.shape and a.dtype == b.dtype == np.float64
    size = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0.0))
    np.testing.assert_allclose(a, b, rtol=EXPRESSION, atol=EXPRESSION * size)


@given(text=texts)
def test_values_and_gradients(text):
    ours, theirs = rust.compile([text], STATES), reference.compile([text], STATES)
    assert_same(ours.evaluate(X), theirs.evaluate(X))
    assert_same(ours.gradient(X), theirs.gradient(X))


@pytest.mark.parametrize("n_rows", [0, 1, 255, 256, 257, 3000])
def test_libraries_of_any_number_of_rows(n_rows):
    library = (
        Library.paper(6)
        + Library.trig([1, 3])
        + Library.exponential()
        + Library.polynomials(3, origin=[9, -9])
    )
    bound = library.bind(STATES)
    x = np.random.default_rng(5).normal(size=(n_rows, 2))
    for method in ("evaluate", "gradient"):
        ours, theirs = (getattr(bound.program(name), method)(x) for name in ("rust", "reference"))
        assert ours.shape == theirs.shape
        # Relative, value by value: these terms have no cancellation but that of sums in brackets.
        np.testing.assert_allclose(ours, theirs, rtol=EXPRESSION)


def test_programs_say_what_they_are():
    for backend in (rust, reference):
        program = backend.compile(["x1", "2 x2"], STATES)
        assert (program.inputs, program.expressions) == (STATES, ["x1", "2 x2"])


@pytest.mark.parametrize("text", [text for text, *_ in MISTAKES])
def test_the_same_mistake_gets_the_same_message(text):
    caught = []
    for backend in (rust, reference):
        with pytest.raises(ItoscopeError) as error:
            backend.compile([text], STATES)
        caught.append((type(error.value), str(error.value)))
    assert caught[0] == caught[1]


@given(text=texts)
def test_cut_texts_get_the_same_message(text):
    cut = text[: len(text) // 2]
    outcomes = []
    for backend in (rust, reference):
        try:
            outcomes.append(backend.compile([cut], STATES).expressions)
        except ItoscopeError as error:
            outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("text", ["x1^(x2 - x2)", "1^x1", "x1^0", "|x1|^x2", "(x1 - x1)^0"])
def test_a_power_of_what_is_missing_is_missing(text):
    x = np.array([[np.nan, 0.0], [2.0, 0.0]])
    for backend in (rust, reference):
        values = backend.compile([text], STATES).evaluate(x)[:, 0]
        assert np.isnan(values[0]) and values[1] == 1.0, backend


@pytest.mark.parametrize("text", ["0*9e999 x1", "0/0*0", "tan(9e999)^0", "(0/0)^(0 x1)", "0*9e999"])
def test_numbers_that_are_none_stay_none(text):
    for backend in (rust, reference):
        assert np.isnan(backend.compile([text], STATES).evaluate(X[:2])).all(), backend
