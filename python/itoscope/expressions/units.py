"""The unit of an expression, from the units of the names in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.common.units import ONE, power, product, quotient
from itoscope.errors import ExpressionError
from itoscope.expressions.grammar import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.common.units import Unit
    from itoscope.expressions.tree import Tree

__all__ = ["unit_of"]


def unit_of(text: str, units: Mapping[str, Unit]) -> Unit | None:
    """Return the unit of an expression, None where a name has none that is known, or where a sum mixes units.

    Functions such as `sin` give a pure number and stand for any unit inside; `sqrt` and `abs` keep theirs.

    Examples
    --------
    >>> from itoscope.common.units import read, write
    >>> write(unit_of("x|v| + 2 x v", {"x": read("mm"), "v": read("mm/s")}))
    'mm^2/s'
    """
    try:
        tree = read(text)
    except ExpressionError:
        return None
    found: list[Unit | None] = []
    plain: list[bool] = []
    for node in tree.nodes:
        plain.append(node.operation == "number" or (node.operation == "negate" and plain[node.arguments[0]]))
        inside = [found[k] for k in node.arguments]
        if node.operation == "number":
            found.append(ONE)
        elif node.operation == "input":
            found.append(units.get(tree.inputs[int(node.value)]))
        elif node.operation == "add":
            found.append(_sum(inside, [plain[k] for k in node.arguments]))
        else:
            found.append(_made(node.operation, inside, _exponent(tree, node.arguments)))
    return found[-1]


def _sum(inside: list[Unit | None], numbers: list[bool]) -> Unit | None:
    """The unit of a sum; a number in it has the unit of the other part."""
    left, right = inside
    if numbers[0] or left == right:
        return right
    return left if numbers[1] else None


def _made(operation: str, inside: list[Unit | None], exponent: float | None) -> Unit | None:
    if operation in ("sgn", "sin", "cos", "tan", "exp", "log", "tanh", "sinh", "cosh", "atan"):
        return ONE
    if any(unit is None for unit in inside):
        return None
    known = [unit for unit in inside if unit is not None]
    if operation == "multiply":
        return product(known)
    if operation == "divide":
        return quotient(*known)
    if operation == "power":
        return power(known[0], exponent) if exponent is not None else (None if known[0] else ONE)
    if operation == "sqrt":
        return power(known[0], 0.5)
    return known[0] if operation in ("negate", "abs") else ONE


def _exponent(tree: Tree, arguments: tuple[int, ...]) -> float | None:
    """A second argument that is a number, perhaps with a sign."""
    if len(arguments) < 2:
        return None
    node, sign = tree.nodes[arguments[1]], 1
    while node.operation == "negate":
        node, sign = tree.nodes[node.arguments[0]], -sign
    return sign * node.value if node.operation == "number" else None
