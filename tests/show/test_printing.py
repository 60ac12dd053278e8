"""Discoveries as people read them: text, LaTeX, MathML, SymPy; what is printed is said once and fits 100 columns."""

import re

import itoscope as ito
import numpy as np
import pytest
from itoscope.posterior.words import MOST_NEAR
from markup import Tags
from results import artificial, four_states, measured, with_custom_terms


def texts(result):
    return str(result).splitlines()


def test_equations_of_one_unknown_row():
    result = measured()
    text, latex = result.equations(), result.equations(style="latex")
    assert text[0] == "dx1 = x2 dt"
    assert re.fullmatch(
        r"dx2 = \[-\(\S+ ± \S+\) x1 - \(\S+ ± \S+\) x2 - .*\] dt \+ sqrt\(Gamma\) dB", text[1]
    )
    assert latex[0] == r"\mathrm{d}x_{1} = x_{2}\,\mathrm{d}t"
    assert r"x_{1}^{3}\right]\,\mathrm{d}t + \sqrt{\Gamma}\,\mathrm{d}B" in latex[1]
    assert latex[2].startswith(r"\Gamma_{x_{2},\,x_{2}} = (")
    with pytest.raises(ito.errors.ArgumentError, match="style = 'html'"):
        result.equations(style="html")


def test_equations_in_sympy_have_the_means():
    sympy = pytest.importorskip("sympy")
    result = measured()
    found = result.equations(style="sympy")
    x1 = sympy.Symbol("x1", real=True)
    k = result.drift["x2"].terms.index("x1")
    assert float(found[1].rhs.coeff(x1, 1)) == pytest.approx(result.drift["x2"].mean[k])
    assert str(found[0]) == "Eq(dx1/dt, x2)"


def test_a_row_without_terms():
    result = artificial({"x1": {}}, {("x1", "x1"): {"1": (0.25, 0.01)}})
    assert result.equations()[0] == "dx1 = sqrt(Gamma) dB"
    assert r"\sqrt{\Gamma}" in result.equations("latex")[0]
    assert any(re.fullmatch(r"  dx1 +none", line) for line in texts(result))


def test_custom_functions_are_words():
    result = with_custom_terms()
    assert "wind load" in result.equations()[0]
    assert r"\text{wind load}" in result.equations("latex")[0]
    assert "<mtext>wind load</mtext>" in result._repr_html_()
    sympy = pytest.importorskip("sympy")
    assert sympy.Function("wind load")(sympy.Symbol("x1", real=True)) in result.equations("sympy")[
        0
    ].rhs.atoms(sympy.Function)


def test_four_states_say_what_g_is():
    result = four_states()
    assert result.equations()[2].endswith("dt + (g dB)[v1]")
    assert "g g^T = Gamma" in str(result)
    assert len(result.equations()) == len(result.equations("latex")) == 4 + 3


def test_nothing_is_wider_than_100_columns():
    names = ito.Library.paper(6).names(["x1", "x2"])
    rng = np.random.default_rng(1)
    values = rng.normal(size=30) * 10.0 ** rng.integers(-6, 8, size=30)
    terms = {name: (float(value), abs(float(value)) / 20) for name, value in zip(names, values)}
    result = artificial({"x1": terms, "x2": {}}, {("x1", "x1"): terms}, library=names, near=0.3)
    result.warnings.append("a long warning of many words " * 12)
    assert max(map(len, texts(result))) <= 100
    assert max(map(len, repr(result.drift["x1"]).splitlines())) <= 100
    # A line is broken before a sign and nowhere else: every line of the first equation starts a term.
    first = texts(result)[2:][: next(i for i, line in enumerate(texts(result)[3:]) if "dx2" in line) + 1]
    assert all(re.match(r" +[-+] \(", line) for line in first[1:])
    assert " ".join(line.strip() for line in first) == result.equations()[0]


def test_near_misses_are_a_handful():
    names = ito.Library.paper(6).names(["x1", "x2"])
    result = artificial({"x1": {"x1": (1.0, 0.1)}, "x2": {}}, {}, library=names, near=0.3)
    note = next(" ".join(texts(result)[i:]) for i, line in enumerate(texts(result)) if "not selected" in line)
    assert note.split("not selected")[1].count("(0.30)") == MOST_NEAR
    assert f"and {len(names) - 1 - MOST_NEAR} more" in note


def test_each_thing_is_said_once():
    """Data of one sign: |x1| is x1 in both equations, and one warning says so."""
    sde = ito.SDE(["0.1*x1"], [["0.3*x1"]], ["x1"])
    data = sde.simulate([1.0], dt=0.01, n_steps=300, n_paths=10, seed=1)
    result = ito.discover(data, ito.Library.paper(2), n_chains=2, n_samples=200, seed=1)
    text = " ".join(str(result).split())
    assert text.count("x1 = |x1|") == 1
    assert "dx1, Gamma[x1, x1]: on these data" in text


@pytest.mark.parametrize("make", [measured, four_states, with_custom_terms])
def test_html_is_well_formed(make):
    result = make()
    tags = Tags(result._repr_html_()).seen
    assert tags.count("table") == 1 and tags.count("math") > len(result.states)
    assert "script" not in tags and "http" not in result._repr_html_()
    for equation in [*result.drift.values(), *result.diffusion.values()]:
        Tags(equation._repr_html_())
        assert equation._repr_latex_().startswith("$")
    if "my x" not in str(result) and make is not with_custom_terms:
        assert "math" in Tags(result.model()._repr_html_()).seen


def test_latex_that_matplotlib_can_set():
    mathtext = pytest.importorskip("matplotlib.mathtext")
    for make in (measured, four_states, with_custom_terms):
        for line in make().equations("latex"):
            mathtext.MathTextParser("path").parse(f"${line}$")


@pytest.mark.parametrize("terms", [3, 90])
def test_no_more_than_sixty_lines_are_printed(terms):
    names = {f"x1^{k + 1}": (float(k + 1), 0.1) for k in range(terms)}
    result = artificial({"x1": names}, {("x1", "x1"): dict(list(names.items())[:40])})
    result.warnings += [
        f"warning number {k} is of some length, as such warnings are" for k in range(30 * (terms > 3))
    ]
    lines = texts(result)
    cut = [line for line in lines if "more lines: result." in line]
    if terms == 3:
        assert not cut
        return
    assert 55 < len(lines) <= 60
    assert [line.split("result.")[1] for line in cut] == ["equations()", "table()", "warnings"]
    assert max(map(len, lines)) <= 100


def test_what_has_no_noise_is_an_ordinary_differential_equation():
    result = artificial({"x1": {"x1": (-1.0, 0.1)}}, {})
    assert texts(result)[0].startswith("Ordinary differential equation")
    assert texts(measured())[0].startswith("Stochastic differential equation")
