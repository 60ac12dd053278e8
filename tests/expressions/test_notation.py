"""Names and words in print."""

import pytest
from itoscope.expressions.mathml import MATHML
from itoscope.expressions.notation import LATEX


@pytest.mark.parametrize(
    ("name", "latex", "mathml"),
    [
        ("x", "x", "<mi>x</mi>"),
        ("x1", "x_{1}", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("x_12", "x_{12}", "<msub><mi>x</mi><mn>12</mn></msub>"),
        ("x_", r"\mathrm{x\_}", "<mi>x_</mi>"),
        ("_1", r"\mathrm{\_1}", "<mi>_1</mi>"),
        ("omega2", r"\omega_{2}", "<msub><mi>ω</mi><mn>2</mn></msub>"),
        ("wind_speed", r"\mathrm{wind\_speed}", "<mi>wind_speed</mi>"),
    ],
)
def test_names(name, latex, mathml):
    assert LATEX.name(name) == latex
    assert MATHML.name(name) == mathml


def test_words_cannot_break_the_markup():
    assert LATEX.word(r"50 % of {a}\b^2 & c_1") == r"\text{50 \% of \{a\} b 2 \& c\_1}"
    assert MATHML.word("a < b & c") == "<mtext>a &lt; b &amp; c</mtext>"


def test_numbers():
    assert [LATEX.number(text) for text in ("1.5", "1.5e-07", "1e+20")] == [
        "1.5",
        r"1.5 \times 10^{-7}",
        "10^{20}",
    ]
