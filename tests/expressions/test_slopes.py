"""Slopes of expressions, against central differences."""

import numpy as np
import pytest
from itoscope.expressions.grammar import parse
from itoscope.expressions.graph import Graph
from itoscope.expressions.slopes import multiples, slope

NAMES = ["x", "y", "a", "b"]
TEXTS = [
    "a*x", "-x/a", "a^2 x - b|y|", "sin(a*x + b)", "exp(-x/a)*b", "x^a", "sqrt(a + x^2)", "2 - y", "-(b)*x|y||x|^2",
    "tanh(x/a)/b", "log(a) x", "(x - a)^3",
]  # fmt: skip


def values(text, point):
    graph = Graph(NAMES)
    node = parse(text, graph)
    return float(graph.evaluate([node], [np.array(v) for v in point])[0])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_slope_is_the_derivative(text, name):
    point, h = np.array([0.7, -1.3, 1.9, 0.4]), 1e-6
    k = NAMES.index(name)
    up, down = point.copy(), point.copy()
    up[k] += h
    down[k] -= h
    expected = (values(text, up) - values(text, down)) / (2 * h)
    assert values(slope(text, NAMES, name), point) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_what_a_name_is_not_in_has_no_slope():
    assert slope("2 - y", NAMES, "a") == "0"


def test_multiples_are_found_in_any_spelling():
    assert multiples("-2*x*y", ["x", "y x", "x y + x", "-x|y|", "3*y*x"], ["x", "y"]) == [1, 4]
    assert multiples("0", ["0", "x"], ["x"]) == []
