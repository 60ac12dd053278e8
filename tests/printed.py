"""Readers of printed equations, which know no more of the package than what a person sees.

LaTeX and MathML become the same tokens: ("number", text), ("name", text), ("sign", "+" or "-" or "±" or "=" or "×"),
("open", "(" "[" or "|"), ("close", ")" "]" or "|"), ("fraction", above, below), ("raised", base, exponent),
("root", body). `value` reads them as a person would, and fails where two numbers stand side by side.
"""

import re
from xml.etree import ElementTree

import numpy as np

FUNCTIONS = {
    "sgn": np.sign, "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh,
}  # fmt: skip
GREEK = {"π": "pi", "α": "alpha", "λ": "lambda"}


class _Reader:
    """Sums of products of factors, from tokens."""

    def __init__(self, tokens, names):
        self.tokens, self.names, self.at = [*tokens, ("end", "")], names | {"pi": np.pi}, 0

    @property
    def next(self):
        return self.tokens[self.at]

    def take(self, *expected):
        token = self.next
        assert not expected or token == expected, (token, expected)
        self.at += 1
        return token

    def total(self):
        negative = self.next == ("sign", "-")
        if negative:
            self.take()
        found = self.product()
        found = -found if negative else found
        while self.next in (("sign", "+"), ("sign", "-")):
            _, sign = self.take()
            found = found + self.product() if sign == "+" else found - self.product()
        return found

    def product(self):
        found, digit = self.factor()
        while True:
            if self.next == ("sign", "×"):
                self.take()
                found = found * self.factor()[0]
            elif self.next[0] in ("number", "name", "open", "fraction", "raised", "root"):
                beginning = _begins_with_digit(self.next)
                assert not (digit and beginning), f"{self.tokens}: a number after a number"
                factor, digit = self.factor()
                found = found * factor
            else:
                return found

    def factor(self):
        kind, *parts = self.take()
        if kind == "number":
            return float(parts[0]), True
        if kind == "name":
            name = parts[0]
            if name in FUNCTIONS and self.next == ("open", "("):
                return FUNCTIONS[name](self.fenced("(", ")")), False
            return self.names[name], False
        if kind == "fraction":
            return value(parts[0], self.names) / value(parts[1], self.names), False
        if kind == "root":
            return np.sqrt(value(parts[0], self.names)), False
        if kind == "raised":
            base = _Reader(parts[0], self.names)
            below, _ = base.factor()
            assert base.next[0] == "end", f"{parts[0]}: one factor can be raised"
            return below ** value(parts[1], self.names), False
        assert kind == "open", (kind, parts)
        self.at -= 1
        closing = {"(": ")", "[": "]", "|": "|"}[parts[0]]
        inside = self.fenced(parts[0], closing)
        return (np.abs(inside) if closing == "|" else inside), False

    def fenced(self, opening, closing):
        self.take("open", opening)
        found = self.total()
        if self.next == ("sign", "±"):
            self.take()
            self.product()
        self.take("close", closing)
        return found


def _begins_with_digit(token):
    kind, *parts = token
    if kind == "fraction":
        return all(len(part) == 1 and part[0][0] == "number" for part in parts)
    return kind == "number" or (kind == "raised" and _begins_with_digit(parts[0][0]))


def value(tokens, names):
    """The value of a right-hand side, names being arrays."""
    reader = _Reader(tokens, names)
    found = reader.total()
    assert reader.next[0] == "end", f"{tokens} after {reader.at}"
    return found


def right_side(tokens):
    """What follows the sign of equality, without the `dt` at the end."""
    tokens = tokens[tokens.index(("sign", "=")) + 1 :]
    return tokens[:-2] if tokens[-2:] == [("name", "d"), ("name", "t")] else tokens


# -- LaTeX ---------------------------------------------------------------------------------------------------
_WORD = re.compile(r"\\left[(\[|]|\\right[)\]|]|\\[A-Za-z]+|\\.|[0-9.]+|[A-Za-z]|[-+=&^_{}()]|\s+")


def latex_tokens(text):
    """The tokens of LaTeX."""
    words, end = [], 0
    for match in _WORD.finditer(text):
        assert match.start() == end, text[end:]
        end = match.end()
        words.append(match[0].strip())
    assert end == len(text), text[end:]
    words = [word for word in words if word not in ("", r"\,", "&")]
    tokens, at = _latex(words, 0)
    assert at == len(words)
    return tokens


def _group(words, at):
    assert words[at] == "{", words[at:]
    tokens, at = _latex(words, at + 1)
    assert words[at] == "}", words[at:]
    return tokens, at + 1


def _latex(words, at):
    tokens = []
    while at < len(words) and words[at] != "}":
        word = words[at]
        at += 1
        if word in (r"\frac", r"\sqrt"):
            parts = []
            for _ in range(2 if word == r"\frac" else 1):
                part, at = _group(words, at)
                parts.append(part)
            tokens.append(("fraction" if word == r"\frac" else "root", *parts))
        elif word in (r"\mathrm", r"\operatorname"):
            letters = words[at + 1 : words.index("}", at)]
            at = words.index("}", at) + 1
            tokens.append(("name", "".join(letters).replace(r"\_", "_")))
        elif word == "_":
            part, at = _group(words, at)
            tokens[-1] = ("name", tokens[-1][1] + part[0][1])
        elif word == "^":
            part, at = _group(words, at)
            tokens, base = _last_factor(tokens)
            tokens.append(("raised", base, part))
        elif word.startswith((r"\left", r"\right")):
            tokens.append(("open" if word.startswith(r"\left") else "close", word[-1]))
        elif word in "()":
            tokens.append(("open" if word == "(" else "close", word))
        elif word in "+-=" or word in (r"\pm", r"\times"):
            tokens.append(("sign", {r"\pm": "±", r"\times": "×"}.get(word, word)))
        elif word[0] in "0123456789.":
            tokens.append(("number", word))
        else:
            tokens.append(("name", word.removeprefix("\\")))
    return tokens, at


def _last_factor(tokens):
    """What an exponent stands behind: the last token, or all within the brackets that it closes."""
    depth = 0
    for start in range(len(tokens) - 1, -1, -1):
        depth += {"close": 1, "open": -1}.get(tokens[start][0], 0)
        if depth == 0:
            return tokens[:start], tokens[start:]
    raise AssertionError(tokens)


# -- MathML --------------------------------------------------------------------------------------------------
def html_equations(text):
    """The tokens of each paragraph of equations in HTML."""
    shown = re.findall(r'<p class="equation">(.*?)</p>', text, re.S)
    shown = [re.sub(r"<span.*?</span>", "", paragraph) for paragraph in shown]
    return [_mathml(ElementTree.fromstring(f"<p>{paragraph}</p>")) for paragraph in shown]


def _mathml(element):
    return [token for child in element for token in _tokens_of(child)]


def _tokens_of(child):
    kind = child.tag
    if kind in ("math", "mrow"):
        return _mathml(child)
    if kind == "mo":
        sign = child.text.replace("−", "-")
        if sign in "([|" and child.get("form") == "prefix":
            return [("open", sign)]
        return [("close", sign) if sign in ")]|" else ("sign", sign)]
    readers = {
        "mspace": lambda: (),
        "mn": lambda: ("number", child.text),
        "mi": lambda: ("name", GREEK.get(child.text, child.text)),
        "msub": lambda: ("name", "".join(part[1] for part in _mathml(child))),
        "mfrac": lambda: ("fraction", *map(_mathml, child)),
        "msqrt": lambda: ("root", _mathml(child)),
        "msup": lambda: ("raised", *map(_inside, child)),
        "msubsup": lambda: ("raised", [("name", child[0].text + child[1].text)], _mathml(child[2])),
    }
    token = readers[kind]()
    return [token] if token else []


def _inside(element):
    return _mathml(element) if element.tag == "mrow" else _mathml([element])
