"""Canonical forms: a function is one node in every spelling, and two functions never are."""

import numpy as np
import pytest
from formulas import STATES, texts
from hypothesis import given
from hypothesis import strategies as st
from itoscope.backends import get_backend
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from tolerances import EXPRESSION

X = np.random.default_rng(3).normal(size=(2, 30))


def spell(tree, choose):
    """A tree as text, with a random choice among the spellings of every operation; safe as a factor."""
    kind, *parts = tree
    if kind == "leaf":
        return choose([parts[0], f"({parts[0]})"])
    parts = [spell(part, choose) for part in parts]
    if kind in ("+", "*"):
        parts = choose([parts, parts[::-1]])
        sign = " + " if kind == "+" else choose([" ", "*", " * "])
        return f"({sign.join(parts)})"
    (a,) = parts
    if kind == "square":
        return choose([f"{a}^2", f"({a})**2", f"({a} {a})", f"|{a}|^2"])
    if kind == "abs":
        return choose([f"|{a}|", f"abs({a})", f"(|{a}|)", f"sqrt({a}^2)", f"({a} sgn({a}))"])
    if kind == "sgn":
        return choose([f"sgn({a})", f"sign({a})", f"(sign(({a})))", f"sgn(2 {a})"])
    return f"{kind}({a})"


trees = st.recursive(
    st.sampled_from(["x1", "x2", "2", "0.5", "3"]).map(lambda text: ("leaf", text)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "*"]), inner, inner),
        st.tuples(st.sampled_from(["square", "abs", "sgn", "sin", "exp"]), inner),
    ),
    max_leaves=6,
)


@given(tree=trees, data=st.data())
def test_spellings_are_one_node(tree, data):
    graph = Graph(STATES)
    one, other = (spell(tree, lambda ways: data.draw(st.sampled_from(ways))) for _ in range(2))
    first, second = parse(one, graph), parse(other, graph)
    if graph.constant(first) is None:
        assert first == second, (one, other)


@given(one=texts, other=texts)
def test_a_shared_graph_changes_no_value(one, other):
    alone, shared = Graph(STATES), Graph(STATES)
    expected = alone.evaluate([parse(other, alone)], list(X))[0]
    parse(one, shared)
    found = shared.evaluate([parse(other, shared)], list(X))[0]
    size = 1 + np.abs(expected)
    np.testing.assert_allclose(found / size, expected / size, atol=EXPRESSION)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x1 x2", "x1^2"),
        ("x1 - x1", "x2 - x2"),
        ("x1 + x2 - x1", "2 x2"),
        ("sgn(x1)^2", "1"),
        ("x1/x1", "1"),
        ("|x1 + x2|", "|x1| + |x2|"),
        ("x1|x2|", "x2|x1|"),
        ("sqrt(x1)^2", "|x1|"),
        ("-x1^2", "(-x1)^2"),
        ("1e200 x1 1e200", "x1"),
        ("x1 - 3", "3 - x1"),
    ],
)
def test_other_functions_are_other_nodes(one, other):
    graph = Graph(STATES)
    assert parse(one, graph) != parse(other, graph)


def test_values_at_zero_are_those_of_the_spelling():
    graph = Graph(["x"])
    nodes = [parse(text, graph) for text in ("sgn(x)^2", "|x|", "sqrt(x^2)", "x^2 sgn(x)", "|x| sgn(x)")]
    assert np.all(np.array(graph.evaluate(nodes, [np.zeros(2)])) == 0)
    slope = graph.derivative(parse("sqrt(x^2)", graph), 0)
    np.testing.assert_array_equal(graph.evaluate([slope], [np.array([-2.0, 0.0, 3.0])])[0], [-1, 0, 1])


def test_a_long_sum_of_different_terms_is_quick():
    graph = Graph(["x"])
    text = " + ".join(f"sin({k} x)" for k in range(2000))
    assert parse(text, graph) == parse(text, graph)


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_the_root_of_a_power_beyond_the_whole_numbers(backend):
    program = get_backend(backend).compile(["sqrt(x^1e300)"], ["x"])
    np.testing.assert_array_equal(program.evaluate(np.array([[0.5], [1.0], [2.0]]))[:, 0], [0.0, 1.0, np.inf])
