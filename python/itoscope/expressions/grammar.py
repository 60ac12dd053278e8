"""The grammar of expressions: text over named inputs becomes a node of a graph.

Grammar (`[A-Za-z_]` stands for every Unicode letter as well)::

    expr     := term (('+' | '-') term)*
    term     := unary (('*' | '/') unary | power)*            a bare power multiplies: 2 x1, x1^2 x2, x1|x2|
    unary    := ('-' | '+') unary | power                     so -x^2 is -(x^2)
    power    := atom (('^' | '**') unary)?                    from the right: a^b^c is a^(b^c)
    atom     := number | name | function '(' expr ')' | '(' expr ')' | '|' expr '|'
    number   := 1, 1.5, .5, 1e-3
    name     := [A-Za-z_][A-Za-z0-9_]*

A `|` where an operand is expected opens a bar. Where an operand has just ended it closes the innermost open
bar, or, with no bar open, begins an implicit product; a parenthesis hides the bars outside it. Names of
inputs win over names of functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.common import checks
from itoscope.errors import ExpressionError
from itoscope.expressions.graph import FUNCTIONS, Graph
from itoscope.expressions.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["NAME", "check_inputs", "named", "parse", "read", "renamed"]

CONSTANTS = {"pi": np.pi}
MAX_DEPTH = 200

NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


# -- the parser ----------------------------------------------------------------------------------------------
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "sign +": 3, "sign -": 3, "^": 4}


class _Token(NamedTuple):
    kind: str  # number, name, end, or the character of an operator or bracket
    text: str
    start: int


def _mistake(message: str, text: str, position: int) -> ExpressionError:
    return ExpressionError(f"{message}\n  {text}\n  {' ' * position}^")


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens one by one, so that of several mistakes the first is reported."""
    position = 0
    while position < len(text):
        character = text[position]
        if character.isspace():
            position += 1
            continue
        if match := _NUMBER.match(text, position):
            token = _Token("number", match.group(), position)
        elif checks.is_name(character) and (match := NAME.match(text, position)):
            token = _Token("name", match.group(), position)
        elif text.startswith("**", position):
            token = _Token("^", "**", position)
        elif character in "+-*/^()|":
            token = _Token(character, character, position)
        else:
            raise _mistake(f"unexpected character '{character}'", text, position)
        yield token
        position += len(token.text)
    yield _Token("end", "", len(text))


class _Parser:
    """Reads one text into a graph or tree with two stacks, so that no depth of brackets can exhaust Python's own.

    `done` holds the nodes of finished operands; `waiting` the operators whose right side is not complete
    yet and the brackets still open: `(`, `|`, or the name of a function for the parenthesis of its
    argument.
    """

    def __init__(self, text: str, graph: Graph | Tree) -> None:
        self.text = text
        self.graph = graph
        self.done: list[int] = []
        self.waiting: list[str] = []
        self.depth = 0
        self.first = ""
        self.signs: list[int] = []
        self.open = False

    def read(self) -> int:
        """The node of the whole text."""
        tokens = _tokens(self.text)
        operand_expected = True
        for token in tokens:
            self.first = self.first or token.kind
            if not operand_expected and self.begins_product(token):
                self.operator("*", token)
                operand_expected = True
            if operand_expected:
                operand_expected = self.operand(token, tokens)
            elif token.kind in _BINDING:
                self.operator(token.kind, token)
                operand_expected = True
            else:
                self.close(token)
        return self.done.pop()

    def begins_product(self, token: _Token) -> bool:
        """Whether a token that follows an operand is the start of another one."""
        return token.kind in ("number", "name", "(") or (token.kind == "|" and self.innermost() != "|")

    def operand(self, token: _Token, following: Iterator[_Token]) -> bool:
        """Takes the token where an operand is expected; says whether one is still expected after it."""
        kind, word, start = token
        if kind in ("+", "-"):
            self.deeper(f"sign {kind}", start)
            return True
        if kind in ("(", "|"):
            self.deeper(kind, start)
            return True
        if kind == "number":
            self.done.append(self.graph.number(float(word)))
            return False
        if kind != "name":
            raise _mistake("expected a term", self.text, start)
        if word in self.graph.inputs:
            self.done.append(self.graph.input(self.graph.inputs.index(word)))
            return False
        if word in CONSTANTS:
            self.done.append(self.graph.number(CONSTANTS[word]))
            return False
        if word not in FUNCTIONS and isinstance(self.graph, Tree) and self.graph.grows:
            self.graph.inputs.append(word)
            self.done.append(self.graph.input(len(self.graph.inputs) - 1))
            return False
        if word not in FUNCTIONS:
            known = ", ".join(self.graph.inputs) + " and " if self.graph.inputs else ""
            known += f"the functions {', '.join(FUNCTIONS)}"
            raise _mistake(f"unknown name '{word}'; known are {known}", self.text, start)
        parenthesis = next(following)
        if parenthesis.kind != "(":
            raise _mistake(f"function '{word}' needs '('", self.text, start + len(word))
        self.deeper(word, parenthesis.start)
        return True

    def operator(self, operator: str, token: _Token) -> None:
        """Finishes what binds at least as tightly to the left (powers group from the right), then waits."""
        if operator == "^":
            self.deeper(operator, token.start)
        else:
            self.finish(_BINDING[operator])
            self.waiting.append(operator)
            if operator in "+-":
                self.signs.append(token.start)
                self.open = self.open or self.innermost() is None

    def deeper(self, entry: str, start: int) -> None:
        if self.depth == MAX_DEPTH:
            raise _mistake("the expression is nested too deeply", self.text, start)
        self.depth += 1
        self.waiting.append(entry)

    def innermost(self) -> str | None:
        """The bracket opened last, or None."""
        return next((entry for entry in reversed(self.waiting) if entry not in _BINDING), None)

    def close(self, token: _Token) -> None:
        """Closes the innermost bracket, or the text, after finishing everything inside."""
        bracket = self.innermost()
        if bracket == "|" and token.kind != "|":
            raise _mistake("expected a closing '|'", self.text, token.start)
        if bracket is None and token.kind == ")":
            raise _mistake("unexpected ')'", self.text, token.start)
        if bracket is not None and token.kind == "end":
            raise _mistake("expected ')'", self.text, token.start)
        self.finish(0)
        if bracket is not None:
            self.waiting.pop()
            self.depth -= 1
        if bracket is not None and bracket != "(":
            function = "abs" if bracket == "|" else bracket
            self.done.append(self.graph.call(function, self.done.pop()))

    def finish(self, binding: int) -> None:
        """Applies the waiting operators that bind at least this tightly, back to the innermost bracket."""
        while self.waiting and _BINDING.get(self.waiting[-1], -1) >= binding:
            operator = self.waiting.pop()
            right = self.done.pop()
            if operator.startswith("sign"):
                self.depth -= 1
                self.done.append(self.graph.negate(right) if operator == "sign -" else right)
                continue
            left = self.done.pop()
            if operator == "+":
                node = self.graph.add(left, right)
            elif operator == "-":
                node = self.graph.add(left, self.graph.negate(right))
            elif operator == "*":
                node = self.graph.multiply(left, right)
            elif operator == "/":
                node = self.graph.divide(left, right)
            else:
                self.depth -= 1
                node = self.graph.power(left, right)
            self.done.append(node)


def parse(text: str, graph: Graph) -> int:
    """The node of an expression in `graph`, over the inputs of that graph.

    Raises
    ------
    ExpressionError
        With the text and a caret under the character at fault.
    """
    return _Parser(text, graph).read()


def read(text: str, inputs: Sequence[str] | None = None) -> Tree:
    """An expression as it is written; see `parse`. Without `inputs`, every name that is no function is one."""
    tree = Tree(inputs)
    parser = _Parser(text, tree)
    parser.read()
    tree.first, tree.signs, tree.open = parser.first, parser.signs, parser.open
    return tree


def named(text: str, inputs: Sequence[str]) -> set[int]:
    """Positions of the inputs that an expression names."""
    words = {token.text for token in _tokens(text) if token.kind == "name"}
    return {position for position, name in enumerate(inputs) if name in words}


def renamed(text: str, names: Mapping[str, str]) -> str:
    """An expression with other names, all of them exchanged at once.

    Examples
    --------
    >>> renamed("v1|x1| + v10", {"v1": "x2", "x1": "v1"})
    'x2|v1| + v10'
    """
    found, at = "", 0
    for token in _tokens(text):
        if token.kind == "name" and token.text in names:
            found += text[at : token.start] + names[token.text]
            at = token.start + len(token.text)
    return found + text[at:]


def check_inputs(inputs: Sequence[str]) -> list[str]:
    """The names of the inputs as a list, each a name of the grammar and none twice."""
    return list(checks.names(inputs, "inputs", number=len(inputs)))
