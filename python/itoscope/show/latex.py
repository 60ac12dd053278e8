"""The equations of a discovery typeset (LaTeX, MathML) and symbolic (SymPy)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itoscope.common.extras import require
from itoscope.errors import ExpressionError
from itoscope.expressions.notation import LATEX, Notation
from itoscope.expressions.symbolic import symbolic
from itoscope.expressions.typeset import typeset_term
from itoscope.posterior.fragments import sum_pieces
from itoscope.result.written import written

if TYPE_CHECKING:
    from itoscope.posterior.equation import Equation
    from itoscope.result.findings import Findings

__all__ = ["latex_block", "latex_equations", "pieces", "sympy_equations"]


def pieces(result: Findings, notation: Notation) -> list[tuple[str, list[str]]]:
    """Every equation: its left side, and its right side in pieces."""
    lines, result = [], written(result)
    noisy = [a for a, b in result.diffusion if a == b]
    for state in result.states:
        if state in result.standing:
            continue
        left = notation.differential(state)
        given = result.known_drift.get(state)
        if given is not None:
            terms = [typeset_term(given, result.variables, notation)]
        else:
            terms = sum_pieces(result.drift[state], result.variables, notation)
        if len(terms) > 1:
            terms[0] = notation.open + terms[0]
            terms[-1] += notation.close
        if terms:
            terms[-1] += notation.thin + notation.time
        if state in noisy:
            root = notation.root(notation.gamma)
            mixed = notation.indexed(f"{notation.open_round}{notation.diffusion}{notation.thin}{notation.brownian}"
                                     f"{notation.close_round}", [state])  # fmt: skip
            noise = mixed if len(noisy) > 1 else root + notation.thin + notation.brownian
            terms.append(notation.follow("", False, noise).strip() if terms else noise)
        lines.append((left, terms or [notation.number("0")]))
    for pair, equation in result.diffusion.items():
        right = sum_pieces(equation, result.variables, notation) or [notation.number("0")]
        lines.append((notation.indexed(notation.gamma, pair), right))
    return lines


def latex_equations(result: Findings) -> list[str]:
    """Every equation as LaTeX."""
    return [f"{left} = {' '.join(right)}" for left, right in pieces(result, LATEX)]


def latex_block(result: Findings) -> str:
    """The equations below each other, aligned at the signs of equality."""
    lines = " \\\\\n".join(f"{left} &= {' '.join(right)}" for left, right in pieces(result, LATEX))
    return f"\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"


def sympy_equations(result: Findings) -> list[Any]:
    """Every equation as `sympy.Eq` with mean coefficients; a custom function is an unknown function of the states."""
    sympy = require("sympy", "symbolic", "equations(style='sympy')")
    states, names = result.states, result.variables
    symbols = [sympy.Symbol(state, real=True) for state in states]

    def term(name: str) -> Any:
        try:
            return symbolic(name, names)
        except ExpressionError:
            return sympy.Function(name)(*symbols)

    def total(equation: Equation) -> Any:
        inside = zip(equation.terms, equation.mean, equation.selected)
        return sympy.Add(*(sympy.Float(float(c)) * term(name) for name, c, z in inside if z))

    found = []
    for state in states:
        given = result.known_drift.get(state)
        right = symbolic(given, names) if given is not None else total(result.drift[state])
        found.append(sympy.Eq(sympy.Symbol(f"d{state}/dt"), right, evaluate=False))
    for (a, b), equation in result.diffusion.items():
        found.append(sympy.Eq(sympy.Symbol(f"Gamma[{a}, {b}]"), total(equation), evaluate=False))
    return found
