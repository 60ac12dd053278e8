"""Expressions to test with: drawn at random by hypothesis, and the mistakes that people make."""

from hypothesis import strategies as st

STATES = ["x1", "x2"]

# Functions that are smooth and finite on the range that the tests draw from.
SMOOTH = ["cos", "cosh", "exp", "sin", "sinh", "tanh"]


def _combine(inner):
    brackets = st.one_of(inner.map("({})".format), inner.map("|{}|".format))
    return st.one_of(
        brackets,
        st.builds("{}({})".format, st.sampled_from(SMOOTH), inner),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["+", "-", "*", ""]), inner),
        st.builds("({}) / (1 + |{}|)".format, inner, inner),
        st.builds("({})^{}".format, inner, st.integers(0, 4)),
        st.builds("-{}".format, brackets),
        st.builds("(tanh({}) {})".format, inner, brackets),
    )


texts = st.recursive(
    st.one_of(
        st.sampled_from([*STATES, "pi", "2", "0.5", "1e-3", ".25", "2 x1", "x1^2 x2", "(x1|x2|)", "sgn(x1)"]),
        st.floats(0.1, 9.9).map("{:.3f}".format),
    ),
    _combine,
    max_leaves=8,
)

KNOWN = "known are x1, x2 and the functions abs, cos, cosh, exp, log, sgn, sign, sin, sinh, sqrt, tan, tanh"

# text, message, position of the caret
MISTAKES = [
    ("", "expected a term", 0),
    ("   ", "expected a term", 3),
    ("x1 +", "expected a term", 4),
    ("x1 * * x2", "expected a term", 5),
    ("* x1", "expected a term", 0),
    (")", "expected a term", 0),
    ("()", "expected a term", 1),
    ("sin()", "expected a term", 4),
    ("x1^", "expected a term", 3),
    ("||", "expected a term", 2),
    ("x1 |", "expected a term", 4),
    ("foo", f"unknown name 'foo'; {KNOWN}", 0),
    ("x1 + foo * 2", f"unknown name 'foo'; {KNOWN}", 5),
    ("x1 + ²x", "unexpected character '²'", 5),
    ("2e", f"unknown name 'e'; {KNOWN}", 1),
    ("x1 $ 2", "unexpected character '$'", 3),
    ("x1 + ,", "unexpected character ','", 5),
    ("(x1", "expected ')'", 3),
    ("sin(x1", "expected ')'", 6),
    ("((x1) + 2", "expected ')'", 9),
    ("x1)", "unexpected ')'", 2),
    ("(x1))", "unexpected ')'", 4),
    ("|x1", "expected a closing '|'", 3),
    ("|x1 + x2)", "expected a closing '|'", 8),
    ("(|x1)", "expected a closing '|'", 4),
    ("sin x1", "function 'sin' needs '('", 3),
    ("x1 sqrt", "function 'sqrt' needs '('", 7),
    ("ä + sin 2", "unknown name 'ä'; " + KNOWN, 0),
    ("foo + $", f"unknown name 'foo'; {KNOWN}", 0),
    ("sin $", "unexpected character '$'", 4),
    ("|(x1|) + 2", "expected a term", 5),
    ("2 * sgn |x1|", "function 'sgn' needs '('", 7),
]
