"""An equation as fragments of LaTeX, MathML and HTML, from its arrays."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from itoscope.expressions.mathml import MATHML, STYLE, math
from itoscope.expressions.notation import LATEX, Notation
from itoscope.expressions.sums import names
from itoscope.expressions.typeset import typeset_term
from itoscope.posterior.words import Shown, head, near_notes, parts, term_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "equation_html",
    "latex_sum",
    "sum_pieces",
    "table_html",
    "warnings_html",
]


def sum_pieces(equation: Shown, states: Sequence[str] | None, notation: Notation) -> list[str]:
    """The selected terms with their coefficients, one piece each, between which a line may be broken.

    Without `states`, every name in a term counts as one.
    """
    found: list[str] = []
    states = names(*equation.terms) if states is None else states
    for sign, size, sd, term, spread in parts(equation):
        factors = (
            [notation.estimate(size, sd, spread)]
            if sd or spread
            else []
            if size == "1" and term != "1"
            else [notation.number(size)]
        )
        if term != "1":
            factors.append(typeset_term(term, states, notation))
        body = notation.thin.join(factors)
        if found:
            found.append(notation.follow("", sign == "-", body).strip())
        else:
            found.append(notation.signed(sign == "-", body))
    return found


def latex_sum(equation: Shown, states: Sequence[str] | None = None) -> str:
    """The right-hand side as LaTeX."""
    return " ".join(sum_pieces(equation, states, LATEX)) or "0"


def equation_html(equation: Shown) -> str:
    """What a notebook shows for an `Equation`."""
    notes = "".join(f'<p class="near">{escape(note)}</p>' for note in near_notes([("", equation)]))
    right = math(sum_pieces(equation, None, MATHML) or ["<mn>0</mn>"])
    return (
        f'<div class="itoscope"><style>{STYLE}</style><p class="equation">{right}</p>'
        f"{table_html([('', equation)])}{notes}{warnings_html(equation.warnings)}</div>"
    )


def table_html(
    named: Sequence[tuple[str, Shown]],
    states: Sequence[str] | None = None,
    units: Sequence[Sequence[str]] = (),
) -> str:
    """The selected terms: coefficient, standard deviation, interval, probability, and the `units` of coefficients.

    Equations come with their labels as HTML. Without `states`, every name in a term counts as one.
    """
    first = 0 if any(label for label, _ in named) else 1
    if states is None:
        states = names(*(term for _, equation in named for term in equation.terms))
    titles = head(units)[first:]
    top = "".join(_cell("th", escape(text), c + first) for c, text in enumerate(titles))
    body = ""
    for label, term, *numbers in term_rows(named, units):
        known = "" if term == "none" else f"<math>{typeset_term(term, states, MATHML)}</math>"
        cells = [
            label,
            known or term,
            *(escape(text).replace("-", "−").replace(" .. ", " … ") for text in numbers),
        ]
        row = "".join(_cell("td", cell, c + first) for c, cell in enumerate(cells[first:]))
        body += f'<tr class="first">{row}</tr>' if label else f"<tr>{row}</tr>"
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(tag: str, shown: str, column: int) -> str:
    return f'<{tag} class="word">{shown}</{tag}>' if column < 2 else f"<{tag}>{shown}</{tag}>"


def warnings_html(warnings: Sequence[str]) -> str:
    """Warnings, one paragraph each."""
    return "".join(f'<p class="warning">{escape(warning)}</p>' for warning in warnings)
