"""The graph of operations that expressions become: hash-consed, evaluated and differentiated without
recursion.

One function is one node, whatever its spelling, so common factors are computed once. A node is made after its
arguments, hence the order of the nodes is an order of evaluation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.expressions import forms
from itoscope.expressions.forms import Form, Product

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array

__all__ = ["FUNCTIONS", "Graph", "Node"]

FUNCTIONS: dict[str, np.ufunc] = {
    "abs": np.abs,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "log": np.log,
    "sgn": np.sign,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}


class Node(NamedTuple):
    """One operation: `number`, `input`, `add`, `multiply`, `divide`, `power` or the name of a function."""

    operation: str
    arguments: tuple[int, ...] = ()
    value: float = 0.0  # of a number; the position of an input


class Graph:
    """Hash-consed operations over `inputs`; every method that makes a node returns its index in `nodes`.

    Nodes of one canonical form (see `forms.py`) are one node, which computes as it was first written.
    """

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = list(inputs)
        self.nodes: list[Node] = []
        self.forms: list[Form] = []
        self._known: dict[Node | Form, int] = {}
        self._signs: dict[int, int] = {}
        self._derivatives: dict[tuple[int, int], int] = {}

    def _make(self, node: Node, form: Form | None = None) -> int:
        """The node of this form, else of this operation; made unless there is one."""
        key: Node | Form = form or node
        if form is None and node.operation in ("add", "multiply"):  # a + b is b + a
            key = node._replace(arguments=tuple(sorted(node.arguments)))
        if key not in self._known:
            index = len(self.nodes)
            self._known[key] = index
            self.nodes.append(node)
            self.forms.append(forms.atom(index) if form is None else form)
            if form is None:
                self._known[self.forms[index]] = index
        return self._known[key]

    def constant(self, node: int) -> float | None:
        """The value of a node that is a number, else None."""
        operation, _, value = self.nodes[node]
        return value if operation == "number" else None

    def factors(self, node: int) -> Product:
        """A node as a product: a coefficient, and atoms with their exponents; a sum is one atom."""
        return forms.single(self.forms[node]) or Product(1.0, ((node, 1),))

    def _folded(self, operation: str, *arguments: int, form: Form | None = None) -> int:
        """The operation on these nodes, done at once if all of them are numbers."""
        values = [self.constant(argument) for argument in arguments]
        if None in values:
            return self._make(Node(operation, arguments), form)
        with np.errstate(all="ignore"):
            return self.number(float(_compute(operation, [np.float64(value) for value in values])))

    def number(self, value: float) -> int:
        """A constant; a whole number beyond the doubles is infinite."""
        try:
            value = float(value)
        except OverflowError:
            value = math.copysign(math.inf, value)
        return self._make(Node("number", (), value), forms.number(value) if math.isfinite(value) else None)

    def input(self, position: int) -> int:
        """The input at this position."""
        return self._make(Node("input", (), position))

    def add(self, a: int, b: int) -> int:
        """a + b; 0 + a is a."""
        if self.constant(a) == 0:
            return b
        if self.constant(b) == 0:
            return a
        return self._folded("add", a, b, form=forms.total(self.forms[a], self.forms[b]))

    def multiply(self, a: int, b: int) -> int:
        """a b; 0 a is 0 unless a is a number that is none, 1 a is a."""
        if self.constant(a) is not None and self.constant(b) is not None:
            return self._folded("multiply", a, b)
        for factor, other in ((a, b), (b, a)):
            if self.constant(factor) == 0:
                return factor
            if self.constant(factor) == 1:
                return other
        found = forms.product([self.factors(a), self.factors(b)], self._signs)
        return self._folded("multiply", a, b, form=found.form if found else None)

    def divide(self, a: int, b: int) -> int:
        """a / b; a / 1 is a, 0 / b is 0."""
        if self.constant(b) == 1 or (self.constant(a) == 0 and self.constant(b) is None):
            return a
        return self._folded("divide", a, b)

    def power(self, a: int, b: int) -> int:
        """a ^ b; a ^ 1 is a, a ^ 0 is 1, a ^ 0.5 is the square root."""
        exponent = self.constant(b)
        if exponent is not None and self.constant(a) is not None:
            return self._folded("power", a, b)
        if exponent == 0:
            return self.number(1.0)
        if exponent == 1:
            return a
        if exponent == 0.5:
            return self.call("sqrt", a)
        whole = exponent is not None and exponent > 0 and exponent.is_integer()
        found = forms.power(self.factors(a), int(exponent), self._signs) if exponent and whole else None
        return self._folded("power", a, b, form=found.form if found else None)

    def call(self, function: str, a: int) -> int:
        """function(a); `sign` is `sgn`, and the root of a square is a magnitude."""
        function = "sgn" if function == "sign" else function
        if self.constant(a) is not None:
            return self._folded(function, a)
        if function == "sgn":
            return self._sign(a)
        if function == "abs":
            return self._folded("abs", a, form=self._magnitude(self.factors(a)))
        if function == "sqrt" and (inner := forms.root(self.factors(a))):
            return self.call("abs", self._built(inner))
        return self._folded(function, a)

    def _sign(self, a: int) -> int:
        """sgn(a), and the signs of what `a` is a product of before."""
        factors = self.factors(a)
        if factors == Product(1.0, ((a, 1),)):
            if a in self._signs:
                return a
            sign = self._folded("sgn", a)
            self._signs[sign] = a
            return sign
        parts = [Product(float(np.sign(factors.coefficient)), ())]
        parts += [Product(1.0, ((self._sign(node), exponent),)) for node, exponent in factors.powers]
        found = forms.product(parts, self._signs)
        return self._folded("sgn", a, form=found.form if found else None)

    def _magnitude(self, factors: Product) -> Form | None:
        """The form of a magnitude, `|a| = a sgn(a)` for each atom."""
        parts = [Product(abs(factors.coefficient), factors.powers)]
        parts += [Product(1.0, ((self._sign(node), exponent),)) for node, exponent in factors.powers]
        found = forms.product(parts, self._signs)
        return found.form if found else None

    def _built(self, factors: Product) -> int:
        """A node that computes a product."""
        node = self.number(factors.coefficient)
        for base, exponent in factors.powers:
            node = self.multiply(node, self.power(base, self.number(exponent)))
        return node

    def negate(self, a: int) -> int:
        """The negative of a."""
        return self.multiply(self.number(-1.0), a)

    def below(self, roots: Sequence[int]) -> list[int]:
        """The nodes that `roots` need, themselves included, arguments first."""
        found: set[int] = set()
        waiting = list(roots)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting.extend(self.nodes[node].arguments)
        return sorted(found)

    def derivative(self, root: int, position: int) -> int:
        """The partial derivative of a node with respect to the input at `position`; d|a| = sgn(a), d sgn =
        0."""
        for node in self.below([root]):
            if (node, position) not in self._derivatives:
                self._derivatives[node, position] = self._rule(node, position)
        return self._derivatives[root, position]

    def _rule(self, node: int, position: int) -> int:
        operation, arguments, value = self.nodes[node]
        if operation == "number":
            return self.number(0.0)
        if operation == "input":
            return self.number(1.0 if value == position else 0.0)
        a, da = arguments[0], self._derivatives[arguments[0], position]
        if operation in FUNCTIONS:
            return self.multiply(_SLOPES[operation](self, a, node), da) if self.constant(da) != 0 else da
        b, db = arguments[1], self._derivatives[arguments[1], position]
        if operation == "add":
            return self.add(da, db)
        if operation == "multiply":
            return self.add(self.multiply(da, b), self.multiply(a, db))
        if operation == "divide":  # (da - (a/b) db) / b, in which no square of b overflows
            return self.divide(self.add(da, self.negate(self.multiply(node, db))), b)
        # a^b: b a^(b-1) da + a^b log(a) db
        by_base = self.multiply(self.multiply(b, self.power(a, self.add(b, self.number(-1.0)))), da)
        if self.constant(db) == 0:
            return by_base
        return self.add(by_base, self.multiply(self.multiply(node, self.call("log", a)), db))

    def inputs_of(self, node: int) -> set[int]:
        """Positions of the inputs that a node is computed from."""
        below = (self.nodes[k] for k in self.below([node]))
        return {int(value) for operation, _, value in below if operation == "input"}

    def evaluate(self, roots: Sequence[int], columns: Sequence[Array]) -> list[Array]:
        """Values of `roots`, each of the shape of the input columns (constants stay scalars)."""
        values: dict[int, Array] = {}
        with np.errstate(all="ignore"):
            for node in self.below(roots):
                operation, arguments, value = self.nodes[node]
                if operation == "number":
                    values[node] = np.asarray(value)
                elif operation == "input":
                    values[node] = columns[int(value)]
                else:
                    values[node] = _compute(operation, [values[argument] for argument in arguments])
        return [values[root] for root in roots]


def _power(a: Array, b: Array) -> Array:
    """a ^ b, NaN where either is: NumPy has 1 for NaN ^ 0 and 1 ^ NaN."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.power(a, b))


_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": _power,
}


def _compute(operation: str, arguments: Sequence[Array | np.float64]) -> Array:
    ufunc = _OPERATIONS.get(operation) or FUNCTIONS[operation]
    value: Array = ufunc(*map(np.asarray, arguments))
    return value


# f'(a) as a node, given the graph, the node a and the node f(a).
_SLOPES: dict[str, Callable[[Graph, int, int], int]] = {
    "abs": lambda graph, a, f: graph.call("sgn", a),
    "cos": lambda graph, a, f: graph.negate(graph.call("sin", a)),
    "cosh": lambda graph, a, f: graph.call("sinh", a),
    "exp": lambda graph, a, f: f,
    "log": lambda graph, a, f: graph.divide(graph.number(1.0), a),
    "sgn": lambda graph, a, f: graph.number(0.0),
    "sin": lambda graph, a, f: graph.call("cos", a),
    "sinh": lambda graph, a, f: graph.call("cosh", a),
    "sqrt": lambda graph, a, f: graph.divide(graph.number(0.5), f),
    "tan": lambda graph, a, f: graph.divide(
        graph.number(1.0), graph.power(graph.call("cos", a), graph.number(2.0))
    ),
    # 1 / cosh^2 has more digits where tanh is near 1, and a slope of infinity over infinity where cosh overflows.
    "tanh": lambda graph, a, f: graph.add(graph.number(1.0), graph.negate(graph.power(f, graph.number(2.0)))),
}
