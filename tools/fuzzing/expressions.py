"""Expressions: both backends agree with each other and with an evaluator of our own, on values, slopes and refusals."""

import math

import itoscope as ito
import numpy as np
from itoscope.errors import ItoscopeError
from wrong import Wrong

FUN = {
    "abs": np.abs,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "log": np.log,
    "sgn": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
NAMES = ["x1", "x2", "v"]
POINTS = np.array(
    [
        [0.5, -1.5, 2.0],
        [0.0, 1.0, -2.0],
        [-0.3, 0.0, 3.0],
        [1.7, 2.3, 0.1],
        [1e-310, -1e-310, 1.0],
        [1e200, -1e200, 1e-200],
        [np.nan, 1.0, 1.0],
        [-0.0, 5e-324, -5e-324],
        [1e308, 2.0, -1e308],
    ]
)
NUDGES = (1e-15, -1e-15, 3e-15)
MISSING = 6  # the point that has a NaN


class Values:
    """What an expression means: its values at the rows of `x`, in doubles, in the order in which it is written.

    Columns, and what functions and powers give, are moved by the share `nudge`, to see what hangs on their last digits.
    """

    def __init__(self, x, nudge=0.0):
        self.x, self.nudge = x * (1 + nudge), nudge
        self.lost = np.zeros(
            len(x), dtype=bool
        )  # where a part is no number: 1 / -0 is, in another order, 1 / 0

    def column(self, k):  # noqa: D102
        return self.x[:, k]

    def number(self, value):  # noqa: D102
        return np.full(len(self.x), value)

    def call(self, name, a):  # noqa: D102
        return self._seen(FUN[name](a) * (1 + self.nudge))

    def pair(self, op, a, b):  # noqa: D102
        value = PAIRS[op](a, b)
        # what became zero on the way has a sign in another order
        self.lost |= (value == 0) & (a != 0) & ((b != 0) | (op in ("^", "**"))) & (op not in ("+", "-"))
        return self._seen(value * (1 + self.nudge) if op in ("^", "**") else value)

    def _seen(self, value):
        self.lost |= ~np.isfinite(value)
        return value


class Slopes:
    """The same with derivatives, forward.

    Of each part its value `(n,)`, its slopes `(n, 3)`, the sizes of what these are sums of, which columns it is written
    with, and where anything on the way was out of the range in which the order of operations does not matter.
    """

    def __init__(self, x, nudge=0.0):
        self.x, self.nudge = x * (1 + nudge), nudge

    def _with(self, value, slope, size, named, *out):
        return value, slope, size, named, np.any([*out, _far(value), _far(slope).any(axis=1)], axis=0)

    def column(self, k):  # noqa: D102
        unit = np.tile(np.eye(len(NAMES))[k], (len(self.x), 1))
        return self._with(self.x[:, k], unit, unit, unit[0] > 0)

    def number(self, value):  # noqa: D102
        none = np.zeros((len(self.x), len(NAMES)))
        return self._with(np.full(len(self.x), value), none, none, none[0] > 0)

    def call(self, name, a):  # noqa: D102
        found = self._chain(FUN[name](a[0]) * (1 + self.nudge), (STEEP[name](a[0]), a))
        if name == "tanh":  # 1 - tanh^2 against 1 / cosh^2: the rounding of one
            found = (*found[:2], found[2] + 1e-4 * a[2], *found[3:])
        jumps = (a[0] == 0) & (
            name == "sgn"
        )  # there |sgn(x)| x is x for who simplifies, and has no slope for others
        return (*found[:4], found[4] | jumps)

    def pair(self, op, a, b):  # noqa: D102
        value = PAIRS[op](a[0], b[0])
        if op in "+-":
            by_a, by_b = np.ones_like(value), np.full_like(value, 1.0 if op == "+" else -1.0)
        elif op in "* ":
            by_a, by_b = b[0], a[0]
        elif op == "/":
            by_a, by_b = 1 / b[0], -value / b[0]
        else:
            value = value * (1 + self.nudge)
            by_a, by_b = b[0] * np.power(a[0], b[0] - 1), value * np.log(a[0])
        return self._chain(value, (by_a, a), (by_b, b))

    def _chain(self, value, *parts):
        """The rule of the chain; what is not written with a column has no slope along it, however steep."""
        slope = sum(np.where(part[3], steep[:, None] * part[1], 0.0) for steep, part in parts)
        size = sum(np.where(part[3], np.abs(steep[:, None]) * part[2], 0.0) for steep, part in parts)
        named = np.any([part[3] for _, part in parts], axis=0)
        return self._with(value, slope, size, named, *(part[4] for _, part in parts))


def _far(part):
    """Where a part is so large or small, or no number, that another order of operations may lose it."""
    return ~np.isfinite(part) | ((part != 0) & ((np.abs(part) < 1e-60) | (np.abs(part) > 1e60)))


def power(a, b):
    """a ^ b, of which nothing is known where one of them is missing."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.power(a, b))


STEEP = {
    "abs": np.sign,
    "cos": lambda a: -np.sin(a),
    "cosh": np.sinh,
    "exp": np.exp,
    "log": lambda a: 1 / a,
    "sgn": np.zeros_like,
    "sin": np.cos,
    "sinh": np.cosh,
    "sqrt": lambda a: 0.5 / np.sqrt(a),
    "tan": lambda a: 1 / np.cos(a) ** 2,
    "tanh": lambda a: 1 / np.cosh(a) ** 2,
}
PAIRS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    " ": np.multiply,
    "/": np.divide,
    "^": power,
    "**": power,
}


def tree(rng, depth):
    """An expression: its text, and what it is in `Values` or `Slopes`."""
    c = rng.integers(9) if depth else rng.integers(2)
    if c == 0:
        k = rng.integers(len(NAMES))
        return NAMES[k], lambda in_: in_.column(k)
    if c == 1:
        text = rng.choice(
            ["0", "1", "2", "3", "0.5", "1e-3", ".25", "7.", "1e300", "1e-300", "1e9", "2e0", "pi", "1E+2"]
        )
        value = math.pi if text == "pi" else float(text)
        return str(text), lambda in_: in_.number(value)
    t, f = tree(rng, depth - 1)
    if c == 2:
        return f"({t})", f
    if c == 3:
        name = rng.choice(list(FUN))
        return f"{name}({t})", lambda in_: in_.call(name, f(in_))
    if c == 4:
        return f"|{t}|" if "|" not in t else f"abs({t})", lambda in_: in_.call("abs", f(in_))
    if c == 5:
        return f"-({t})", lambda in_: in_.pair("*", in_.number(-1.0), f(in_))
    u, g = tree(rng, depth - 1)
    op = str(rng.choice(["+", "-", "*", "/", "^", "**", " "]))
    return f"({t}){op}({u})", lambda in_: in_.pair(op, f(in_), g(in_))


def both(make):
    answers = []
    for name in ("rust", "reference"):
        try:
            answers.append(("ok", make(name)))
        except ItoscopeError as e:
            answers.append((type(e).__name__, str(e)))
    if answers[0][0] != answers[1][0] or (answers[0][0] != "ok" and answers[0][1] != answers[1][1]):
        raise Wrong(f"backends disagree: rust {str(answers[0])[:150]} reference {str(answers[1])[:150]}")
    return answers


def close(a, b, tol=1e-9):
    with np.errstate(all="ignore"):
        return (
            (a == b)
            | (np.isnan(a) & np.isnan(b))
            | (np.abs(a - b) <= tol * np.maximum(np.abs(a), np.abs(b)) + 1e-300)
        )


def extreme(points):
    """Rows with numbers so large or small that who overflows on the way is a matter of the order of operations."""
    return ((points != 0) & ((np.abs(points) < 1e-150) | (np.abs(points) > 1e150))).any(axis=1)


def values(rng):
    text, tell = tree(rng, int(rng.integers(1, 6)))
    answers = both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).evaluate(POINTS)[:, 0])
    if answers[0][0] != "ok":
        return {"text": text}
    with np.errstate(all="ignore"):
        plain = Values(POINTS)
        want = tell(plain)
        rounding = 1e4 * sum(np.abs(tell(Values(POINTS, nudge)) - want) for nudge in NUDGES)
    a, b = answers[0][1], answers[1][1]
    with np.errstate(all="ignore"):
        alike = (
            extreme(POINTS) | close(a, b) | plain.lost | ~np.isfinite(rounding) | (np.abs(a - b) <= rounding)
        )
    # that x1 is missing is no matter of an order
    alike[MISSING] = "x1" not in text or np.isnan(a[MISSING]) == np.isnan(b[MISSING])
    if not alike.all():
        k = int(np.argmin(alike))
        raise Wrong(
            f"values rust/reference: {text!r} at {POINTS[k].tolist()}: {a[k]!r} {b[k]!r}, numpy {want[k]!r}"
        )
    tame = np.array([0, 1, 2, 3])
    right = close(a[tame], want[tame], 1e-6) | (np.abs(a - want) <= rounding)[tame]
    right |= plain.lost[tame]  # 0 times what is no number is 0
    if not right.all():
        k = tame[int(np.argmin(right))]
        raise Wrong(f"value vs numpy: {text!r} at {POINTS[k].tolist()}: {a[k]!r} numpy {want[k]!r}")


def slopes(rng):
    """Both backends against derivatives of our own, where these exist and nothing on the way leaves the range.

    Where `|x1|^(v - v)` is taken at 0 the rule has 0 times infinity: a backend that simplified first has an answer.
    """
    text, tell = tree(rng, int(rng.integers(1, 5)))
    points = np.vstack([POINTS[:4], rng.uniform(0.3, 1.9, (4, 3))])
    answers = both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).gradient(points)[:, 0])
    if answers[0][0] != "ok":
        return
    with np.errstate(all="ignore"):
        _, want, size, _, out = tell(Slopes(points))
        # parts that cancel leave the rounding of their sizes, and so do the arguments of what is steep
        rounding = 1e-11 * size + 1e4 * sum(np.abs(tell(Slopes(points, nudge))[1] - want) for nudge in NUDGES)
    for got, who in zip(answers, ("rust", "reference")):
        with np.errstate(all="ignore"):
            right = (
                out[:, None]
                | ~np.isfinite(rounding)
                | close(got[1], want)
                | (np.abs(got[1] - want) <= rounding)
            )
        if not right.all():
            k, j = np.argwhere(~right)[0]
            place = points[k].tolist()
            raise Wrong(
                f"slope of {who}: {text!r} d/d{NAMES[j]} at {place}: {got[1][k, j]!r}, ours {want[k, j]!r}"
            )


PIECES = [
    "x1",
    "x2",
    "(",
    ")",
    "|",
    "||",
    "^",
    "**",
    "*",
    "/",
    "+",
    "-",
    " ",
    "1",
    "1e",
    "e5",
    ".",
    "..",
    "1.2.3",
    "sin",
    "sin(",
    "sin (",
    "exp(",
    "log",
    "sgn(",
    "__import__",
    "('os')",
    ".system",
    "lambda",
    "\t",
    "\n",
    "\x00",
    "\u200b",
    "é",
    "²",
    "½",
    "∞",
    "٣",
    "１",
    "x１",
    "−",
    "×",
    "pi",
    "%",
    "&",
    ",",
    ";",
    "'",
    '"',
    "\\",
    "{}",
    "[",
    "]",
    "=",
    "==",
    "<",
    "!",
    "@",
    "#",
    "$",
    "?",
    "`",
    "~",
    "if",
    "0x10",
    "1_000",
    "1j",
    "inf",
    "nan",
    "1e999",
    "1e-999",
    "9" * 400,
    "x1(",
    "x3",
    "\ud800",
    "\U0001d4ea",
    "ª",
    "x1^1e9",
    "^-1",
    "^(-0.5)",
    "^0.5",
    "0^0",
    "0/0",
    "\u3000",
    "\x85",
    "\u2028",
    "_",
    "__class__",
    "ß",
    "İ",
]


def garbage(rng):
    text = "".join(PIECES[rng.integers(len(PIECES))] for _ in range(rng.integers(1, 9)))
    both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).evaluate(POINTS).shape)
    return {"text": text}


def mutated(rng):
    text = list(tree(rng, 4)[0])
    for _ in range(rng.integers(1, 4)):
        k = rng.integers(len(text) + 1)
        c = rng.integers(3)
        if c == 0 and k < len(text):
            del text[k]
        elif c == 1:
            text.insert(k, PIECES[rng.integers(len(PIECES))])
        elif k < len(text):
            text[k] = PIECES[rng.integers(len(PIECES))]
        if not text:
            text = ["x1"]
    text = "".join(text)
    values_of = lambda b, x: ito.backends.get_backend(b).compile([text], NAMES).evaluate(x)[:, 0]
    answers = both(lambda b: values_of(b, POINTS))
    if answers[0][0] != "ok":
        return
    a, b = answers[0][1], answers[1][1]
    with np.errstate(all="ignore"):
        moved = [values_of("rust", POINTS * (1 + nudge)) for nudge in (1e-12, -1e-12)]
        rounding = 1e-280 + 100 * sum(np.abs(one - a) for one in moved)
        lost = np.abs(a - b) <= rounding
    # 0 times infinity is 0 for who simplified first; `values` knows the parts and is stricter
    alike = close(a, b) | lost | extreme(POINTS) | ~np.isfinite(a) | ~np.isfinite(b)
    alike[MISSING] &= np.isnan(a[MISSING]) == np.isnan(b[MISSING]) or not np.isfinite([a[0], b[0]]).all()
    if not alike.all():
        raise Wrong(f"values: {text!r} {a} {b}")


KINDS = {"values": values, "slopes": slopes, "garbage": garbage, "mutated": mutated}
