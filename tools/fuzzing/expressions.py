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
MISSING = 6  # the point that has a NaN


def tree(rng, depth):
    """(text, function of columns, binding strength)"""
    c = rng.integers(9) if depth else rng.integers(2)
    if c == 0:
        k = rng.integers(len(NAMES))
        return NAMES[k], lambda x, k=k: x[:, k], 9
    if c == 1:
        text = rng.choice(
            ["0", "1", "2", "3", "0.5", "1e-3", ".25", "7.", "1e300", "1e-300", "1e9", "2e0", "pi", "1E+2"]
        )
        value = math.pi if text == "pi" else float(text)
        return str(text), lambda x, v=value: np.full(len(x), v), 9
    t, f, _ = tree(rng, depth - 1)
    if c == 2:
        return f"({t})", f, 9
    if c == 3:
        name = rng.choice(list(FUN))
        return f"{name}({t})", lambda x: FUN[name](f(x)), 9
    if c == 4:
        return f"|{t}|" if "|" not in t else f"abs({t})", lambda x: np.abs(f(x)), 9
    if c == 5:
        return f"-({t})", lambda x: -f(x), 3
    u, g, _ = tree(rng, depth - 1)
    op = rng.choice(["+", "-", "*", "/", "^", "**", " "])
    text = f"({t}){op}({u})"
    h = {
        "+": np.add,
        "-": np.subtract,
        "*": np.multiply,
        " ": np.multiply,
        "/": np.divide,
        "^": np.power,
        "**": np.power,
    }[op]
    return text, lambda x: h(f(x), g(x)), 5


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


def values(rng):
    text, f, _ = tree(rng, int(rng.integers(1, 6)))
    answers = both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).evaluate(POINTS)[:, 0])
    if answers[0][0] != "ok":
        return {"text": text}
    with np.errstate(all="ignore"):
        want = f(POINTS)
        rounding = 1e4 * sum(np.abs(f(POINTS * (1 + size)) - want) for size in (1e-15, -1e-15, 3e-15))
    a, b = answers[0][1], answers[1][1]
    # who overflows on the way is a matter of the order of operations; that x is missing is not
    with np.errstate(all="ignore"):
        extreme = ((POINTS != 0) & ((np.abs(POINTS) < 1e-150) | (np.abs(POINTS) > 1e150))).any(axis=1)
        alike = (
            extreme | close(a, b) | ~np.isfinite(want) | ~np.isfinite(rounding) | (np.abs(a - b) <= rounding)
        )
    alike[MISSING] = "x1" not in text or np.isnan(a[MISSING]) == np.isnan(b[MISSING])
    if not alike.all():
        k = int(np.argmin(alike))
        raise Wrong(
            f"values rust/reference: {text!r} at {POINTS[k].tolist()}: {a[k]!r} {b[k]!r}, numpy {want[k]!r}"
        )
    tame = np.array([0, 1, 2, 3])
    right = close(a[tame], want[tame], 1e-6) | ~np.isfinite(want[tame])  # 0 times what is no number is 0
    if not right.all():
        k = tame[int(np.argmin(right))]
        raise Wrong(f"value vs numpy: {text!r} at {POINTS[k].tolist()}: {a[k]!r} numpy {want[k]!r}")


def slopes(rng):
    text, f, _ = tree(rng, int(rng.integers(1, 5)))
    answers = both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).gradient(POINTS[:4])[:, 0])
    if answers[0][0] != "ok":
        return
    a, b = answers[0][1], answers[1][1]
    with np.errstate(all="ignore"):
        there = np.isfinite(f(POINTS[:4]))[:, None]
        flat = np.abs(a - b) < (1e-13 if "tanh" in text else 0.0)  # 1 - tanh^2 against 1 / cosh^2
        # parts of the size of f / x that cancel: what is left is their rounding
        lost = np.abs(a - b) <= 1e-14 * np.abs(f(POINTS[:4]))[:, None] / np.abs(POINTS[:4])
    if not (close(a, b) | ~there | flat | lost).all():
        raise Wrong(f"gradients differ: {text!r} {a[~close(a, b)][:3]} {b[~close(a, b)][:3]}")
    if "1e300" in text or "1e9" in text:
        return  # a step in x is lost beside such numbers
    rows = rng.uniform(0.3, 1.9, (4, 3))
    got = ito.backends.get_backend("rust").compile([text], NAMES).gradient(rows)[:, 0]
    with np.errstate(all="ignore"):
        for j in range(3):
            h = 1e-6
            e = np.zeros(3)
            e[j] = h
            up, down, mid = f(rows + e), f(rows - e), f(rows)
            num = (up - down) / (2 * h)
            second = np.abs(up - 2 * mid + down) / h**2
            steep = np.abs(got[:, j]) * h > 0.01 * (1 + np.abs(mid))  # it swings within the step
            ok = (
                ~np.isfinite(num)
                | steep
                | ~np.isfinite(got[:, j])
                | (
                    np.abs(num - got[:, j])
                    <= 1e-4 * (1 + np.abs(num) + np.abs(mid)) + 1e-3 * second * h + 1e-9 * np.abs(mid) / h
                )
            )
            if not ok.all():
                k = int(np.argmin(ok))
                raise Wrong(
                    f"slope: {text!r} d/d{NAMES[j]} at {rows[k].tolist()}: {got[k, j]!r} numeric {num[k]!r}"
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
    answers = both(lambda b: ito.backends.get_backend(b).compile([text], NAMES).evaluate(POINTS)[:, 0])
    ordinary = ~((POINTS != 0) & (np.abs(POINTS) < 1e-300)).any(axis=1)  # half of the least number is none
    if answers[0][0] == "ok" and not close(answers[0][1], answers[1][1])[ordinary].all():
        raise Wrong(f"values: {text!r} {answers[0][1]} {answers[1][1]}")


KINDS = {"values": values, "slopes": slopes, "garbage": garbage, "mutated": mutated}
