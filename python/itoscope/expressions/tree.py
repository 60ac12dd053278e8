"""The syntax tree: an expression as it was written, nothing simplified, so that it can be written in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.expressions.graph import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tree"]


class Tree:
    """Operations in the order of reading; arguments come before what is made of them, the last node is the whole.

    Operations are those of a `Graph` and `negate`; no two nodes are one. With `inputs=None` every name that is no
    function is an input.
    """

    def __init__(self, inputs: Sequence[str] | None = None) -> None:
        self.inputs: list[str] = list(inputs or ())
        self.grows = inputs is None
        self.nodes: list[Node] = []
        self.first = ""
        """The kind of the first token: "number", "name", "+", "-", "(" or "|"."""
        self.signs: list[int] = []
        """Where in the text a plus or minus stands between two terms."""
        self.open = False
        """Whether such a sign is outside of all brackets."""

    def _make(self, operation: str, *arguments: int, value: float = 0.0) -> int:
        self.nodes.append(Node(operation, arguments, value))
        return len(self.nodes) - 1

    def number(self, value: float) -> int:
        """A constant."""
        return self._make("number", value=float(value))

    def input(self, position: int) -> int:
        """The input at this position."""
        return self._make("input", value=position)

    def add(self, a: int, b: int) -> int:
        """a + b."""
        return self._make("add", a, b)

    def negate(self, a: int) -> int:
        """-a."""
        return self._make("negate", a)

    def multiply(self, a: int, b: int) -> int:
        """a b."""
        return self._make("multiply", a, b)

    def divide(self, a: int, b: int) -> int:
        """a / b."""
        return self._make("divide", a, b)

    def power(self, a: int, b: int) -> int:
        """a ^ b."""
        return self._make("power", a, b)

    def call(self, function: str, a: int) -> int:
        """function(a)."""
        return self._make("sgn" if function == "sign" else function, a)
