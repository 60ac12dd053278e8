"""What is printed is the model: text, LaTeX, MathML and SymPy, read back, have its values."""

import itoscope as ito
import numpy as np
import pytest
from formulas import STATES, texts
from hypothesis import assume, given
from hypothesis import strategies as st
from itoscope.backends import get_backend
from itoscope.expressions.sums import broken, expression_of, lines, names
from printed import html_equations, latex_tokens, right_side, value
from results import artificial

X = np.random.default_rng(7).normal(size=(25, 2)) * [2.0, 3.0]
NAMES = dict(zip(STATES, X.T))
AWKWARD = [
    "x1 - 3", "3 - x1", "-x1 x2", "--x1", "x1 * -2", "x1 - -2", "-(x1 - 3)", "-(-x1 + x2)",
    "(x1 - 3)^2 (x2 + 1)", "(x1 - 3)", "(x1 - 3) - (x2 - (4 - x1))", "2^x1", "3 2^x1", "x1^2^2", "(x1^2)^3",
    "(-2)^2 x1", "-2^2 x1", "1/(1 + x1^2)", "1 + 1/2", "3 (1/2) x1", "3 * 1/2/x1", "(1/2)^2 x1", "x1/(x2/3)",
    "(x1 + 1)/(x2^2 + 1) x1", "1e-7 x1", "(1e-7)^2 x1", "x1 3", "2 x1 3", "pi x1", "2 pi", "sin(pi x1)^2",
    "-sin(-x1)", "sqrt(x1^2 + 1)", "|x1 - |x2||", "|x1||x2|", "|x1|^3", "x1|x2|", "sgn(x1) - 1",
    "exp(-x1^2) - 1", "tanh(x1 - 3)", "x1^-2", "x1^(1 + 1)", "(x1 + x2)(x1 - x2)", "5 - 2",
    "12345.678901234 x1", "(x1 - 12345.678901234)^2",
]  # fmt: skip
terms = st.one_of(st.sampled_from(AWKWARD), texts)


def of(text):
    return get_backend("reference").compile([text], STATES).evaluate(X)[:, 0]


def same(found, expected, rtol=1e-9):
    size = np.abs(expected) + 1
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape) / size, expected / size, atol=rtol)


# Three digits, of which the last is the second of the standard deviation: printed as they are.
coefficients = st.builds(
    lambda sign, size, power: (sign * size * 10.0**power, 10.0 ** (power + 1)),
    st.sampled_from([-1, 1]), st.integers(100, 999), st.integers(-8, 5),
)  # fmt: skip


def finite(*expressions):
    values = np.array([of(text) for text in expressions])
    assume(np.isfinite(values).all() and np.abs(values).max() < 1e6)


def read_text(line):
    """The right-hand side of a line of text as an expression: without standard deviations and `dt`."""
    body = line.split(" = ", 1)[1].removesuffix(" dt").replace("[", "(").replace("]", ")")
    parts = body.split(" ± ")
    return parts[0] + "".join(")" + part.split(")", 1)[1] for part in parts[1:])


def check_discovery(row):
    """A row of drift with these terms and coefficients reads as the model in every style."""
    result = artificial({"x1": row, "x2": {}}, {})
    expected = result.model().drift(X, backend="reference")[:, 0]
    same(of(read_text(result.equations()[0])), expected)
    shown = str(result).splitlines()[2:]
    printed = " ".join(line.strip() for line in shown[: next(i for i, s in enumerate(shown) if "dx2 =" in s)])
    assert printed == result.equations()[0]
    same(value(right_side(latex_tokens(result.equations("latex")[0])), NAMES), expected)
    same(value(right_side(html_equations(result._repr_html_())[0]), NAMES), expected)
    equation = result.drift["x1"]
    same(of(read_text(f"y = {equation.text()}")), expected)
    same(value(latex_tokens(equation._repr_latex_()[1:-1].removeprefix(r"\displaystyle")), NAMES), expected)
    same(value(html_equations(equation._repr_html_())[0], NAMES), expected)


@given(row=st.dictionaries(terms, coefficients, min_size=1, max_size=4))
def test_a_discovery_reads_as_its_model(row):
    finite(*row)
    check_discovery(row)


@given(
    origin=st.one_of(st.floats(-100, 100), st.tuples(*[st.floats(-100, 100)] * 2)),
    coefficients=st.lists(coefficients, min_size=10, max_size=10),
    chosen=st.lists(st.booleans(), min_size=10, max_size=10),
)
def test_polynomials_about_any_origin(origin, coefficients, chosen):
    library = ito.Library.polynomials(3, origin=origin).names(STATES)
    row = {term: c for term, c, inside in zip(library, coefficients, chosen) if inside}
    assume(row)
    check_discovery(row)


@given(text=terms, other=terms)
def test_an_sde_reads_as_itself(text, other):
    finite(text, other)
    sde = ito.SDE([text, "x1"], [["1"], [other]], STATES)
    drift, noise = of(text), of(other)
    first, second = str(sde).splitlines()[1:]
    same(of(first.split(" = ", 1)[1].split(" dt + ")[0]), drift)
    if not np.all(noise == 0):
        same(of(second.split(" dt + ")[1].removesuffix(" dB1")), noise)
    rounded = 1e-5 * (1 + np.abs(drift).max())  # numbers before the terms have six digits
    assume(rounded < 0.1)
    first = sde.to_latex().splitlines()[1].split(r" \, \mathrm{d}t")[0]
    same(value(right_side(latex_tokens(first)), NAMES), drift, rounded)
    tokens = html_equations(sde._repr_html_())[0]
    same(value(right_side(tokens[: tokens.index(("name", "t")) + 1]), NAMES), drift, rounded)


@given(row=st.dictionaries(terms, coefficients, min_size=1, max_size=3))
def test_sympy_has_the_values_of_the_model(row):
    sympy = pytest.importorskip("sympy")
    finite(*row)
    result = artificial({"x1": row, "x2": {}}, {})
    expected = result.model().drift(X, backend="reference")[:, 0]
    symbols = [sympy.Symbol(name, real=True) for name in STATES]
    for shown in (result.equations("sympy")[0].rhs, result.model().to_sympy().drift[0]):
        same(sympy.lambdify(symbols, shown, "numpy")(*X.T), expected, 1e-7)


@given(row=st.dictionaries(terms, st.floats(-1e3, 1e3), min_size=1, max_size=4))
def test_a_sum_as_expression_has_the_values_of_its_terms(row):
    finite(*row)
    expected = sum((value * of(term) for term, value in row.items()), np.zeros(len(X)))
    same(of(expression_of(row)), expected)


@given(text=terms)
def test_pieces_of_a_text_are_the_text(text):
    pieces = broken(text)
    assert " ".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(piece[0] in "+-" for piece in pieces[1:])
    assert set(names(text)) <= set(STATES)


def test_a_sum_keeps_its_brackets():
    row = {"(x - 3)": (-2.02, 0.1)}
    at = np.array([[4.0, 0.5]])
    result = artificial({"x": row, "y": {}}, {})
    given = {"x": at[:, 0], "y": at[:, 1]}
    assert value(right_side(latex_tokens(result.equations("latex")[0])), given) == pytest.approx(-2.02)
    result = artificial({"x": {"x - 3": (-2.05, 0.1)}, "y": {}}, {})
    assert result.equations()[0] == "dx = -(2.05 ± 0.10) (x - 3) dt"


def test_names_of_inputs_in_terms():
    assert names("x1^2 sin(wind_2)", "pi |Größe|", "not an expression!", "x1") == ["x1", "wind_2", "Größe"]


def test_lines_are_filled_and_never_split_a_piece():
    pieces = ["a" * 5, "+ " + "b" * 30, "- c", "+ d"]
    assert lines(pieces, 12, "y = ", "    ") == ["y = aaaaa", "    + " + "b" * 30, "    - c + d"]
