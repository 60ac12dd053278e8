"""Kinks are found by what a term means, in any spelling, and only where there is one."""

import pytest
from itoscope import Library
from itoscope.expressions.kinks import Kink, closed_kinks, distinct, kinked

STATES = ["x1", "x2"]
SPELLINGS = {
    ("sgn", 0, 0): ["sgn(x1)", "sign(x1)", "(sgn((x1)))", "sgn(2 x1)", "sgn(x1)^3"],
    ("abs", 1, 1): [
        "|x2|", "abs(x2)", "(|x2|)", "|(x2)|", "sqrt(x2^2)", "(x2 x2)^0.5", "x2 sgn(x2)", "|-x2|", "||x2||",
    ],
    ("product", 0, 0): ["x1|x1|", "|x1|x1", "x1 abs(x1)", "abs(x1)*x1", "x1^2 sign(x1)", "(x1) sqrt(x1 x1)"],
    ("product", 0, 1): ["x1|x2|", "|x2| x1", "(x1)*(abs(x2))", "x1 x2 sgn(x2)"],
}  # fmt: skip


@pytest.mark.parametrize("kink", SPELLINGS)
def test_every_spelling_is_the_same_kink(kink):
    texts = SPELLINGS[kink]
    assert closed_kinks(texts, STATES) == tuple(Kink(k, *kink) for k in range(len(texts)))
    assert kinked(texts, STATES) == set(range(len(texts)))
    assert distinct(texts, STATES) == (texts[:1], [0] * len(texts))


def test_other_terms_with_a_kink_have_no_closed_form():
    texts = [
        "|x1 - 1|",
        "exp(sgn(x1))",
        "2 |x1|",
        "x1^2|x1|",
        "sgn(x1 x2)",
        "1 + |x2|",
        "sqrt((x1 - 3)^2)",
        "x1/|x1|",
    ]
    assert closed_kinks(texts, STATES) == ()
    assert kinked(texts, STATES) == set(range(len(texts)))


def test_smooth_terms_have_none():
    texts = ["1", "x1", "x1 x2", "|x1|^2", "|x1||x1|", "|x1| sgn(x1)", "0 sgn(x1)", "sqrt(x1)", "tanh(x1)"]
    assert closed_kinks(texts, STATES) == ()
    assert kinked(texts, STATES) == set()


def test_the_names_of_functions_can_be_states():
    assert closed_kinks(["sgn", "|abs|", "sgn abs"], ["sgn", "abs"]) == (Kink(1, "abs", 1, 1),)


def test_a_library_keeps_one_spelling_of_a_term():
    written = ["x1|x1|", "x1 x1", "sgn(x1)", "abs(x1)*x1", "sign(x1)", "x1^2", "1", "x2 + 1", "1 + x2", "2/2"]
    kept = ["x1|x1|", "x1 x1", "sgn(x1)", "1", "x2 + 1"]
    assert Library.expressions(*written).names(STATES) == kept
