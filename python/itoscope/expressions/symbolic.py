"""Expressions in SymPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from itoscope.common.extras import require
from itoscope.expressions.grammar import read
from itoscope.expressions.graph import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["symbolic"]


def symbolic(text: str, inputs: Sequence[str]) -> Any:
    """An expression over named inputs as a SymPy expression in real symbols of these names.

    Raises
    ------
    MissingExtraError
        If SymPy is not installed.
    """
    sympy = require("sympy", "symbolic", "A symbolic expression")
    functions = {name: getattr(sympy, {"abs": "Abs", "sgn": "sign"}.get(name, name)) for name in FUNCTIONS}
    values: list[Any] = []
    for operation, arguments, value in read(text, inputs).nodes:
        parts = [values[argument] for argument in arguments]
        if operation == "number":
            exact = sympy.pi if value == math.pi else sympy.Float(value)
            found = sympy.Integer(int(value)) if value.is_integer() else exact
        elif operation == "input":
            found = sympy.Symbol(inputs[int(value)], real=True)
        elif operation == "add":
            found = parts[0] + parts[1]
        elif operation == "negate":
            found = -parts[0]
        elif operation == "multiply":
            found = parts[0] * parts[1]
        elif operation == "divide":
            found = parts[0] / parts[1]
        elif operation == "power":
            found = parts[0] ** parts[1]
        else:
            found = functions[operation](parts[0])
        values.append(found)
    return values[-1]
