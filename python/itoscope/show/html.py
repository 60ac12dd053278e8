"""Equations and tables as fragments of HTML, for notebooks and for the report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from itoscope.expressions.mathml import MATHML
from itoscope.expressions.typeset import typeset_term
from itoscope.show import latex as equations
from itoscope.show import text as summary

if TYPE_CHECKING:
    from itoscope.discovery.result import Discovery
    from itoscope.posterior.equation import Equation
    from itoscope.sde.sde import SDE

__all__ = [
    "STYLE",
    "discovery_html",
    "equation_html",
    "equations_html",
    "sde_html",
    "table_html",
    "warnings_html",
]

#: Of the fragments alone: colours are those of the page around them, so that dark notebooks stay dark.
STYLE = """
.itoscope { font-family: inherit; line-height: 1.45; }
.itoscope .equation { margin: 0.45em 0; padding-left: 2.2em; text-indent: -2.2em; font-size: 1.12em; }
.itoscope .equation math { text-indent: 0; margin-right: 0.12em; }
.itoscope msub > :nth-child(2), .itoscope msubsup > :nth-child(2) { position: relative; top: 0.15em; }
.itoscope .given { font-size: 0.8em; opacity: 0.7; margin-left: 0.8em; }
.itoscope .scroll { overflow-x: auto; }
.itoscope table { border-collapse: collapse; margin: 0.9em 0; font-variant-numeric: tabular-nums; }
.itoscope table th, .itoscope table td { padding: 0.22em 0.7em; text-align: right; white-space: nowrap; border: 0;
  background: none; }
.itoscope table th { font-weight: 600; border-bottom: 1px solid currentColor; }
.itoscope table .word { text-align: left; }
.itoscope table tr.first td { border-top: 1px solid rgba(128, 128, 128, 0.35); }
.itoscope .near { font-size: 0.92em; opacity: 0.8; margin: 0.3em 0; }
.itoscope .warning { border-left: 3px solid #d55e00; padding: 0.25em 0.8em; margin: 0.6em 0; }
"""


def discovery_html(result: Discovery) -> str:
    """What a notebook shows for a `Discovery`."""
    near = "".join(f'<p class="near">{escape(note)}</p>' for note in summary.near_notes(result.labelled()))
    noise = ""
    if result.measurement_noise:
        noise = f"<p>Measurement noise: {escape(summary.noise_text(result))}</p>"
    return (
        f'<div class="itoscope"><style>{STYLE}</style><p>{escape(summary.headline(result))}</p>'
        f"{equations_html(result)}{table_html(result.labelled())}{noise}{near}{warnings_html(result.warnings)}</div>"
    )


def equation_html(equation: Equation) -> str:
    """What a notebook shows for an `Equation`."""
    notes = "".join(f'<p class="near">{escape(note)}</p>' for note in summary.near_notes([("", equation)]))
    right = _math(equations.sum_pieces(equation, None, MATHML) or ["<mn>0</mn>"])
    return (
        f'<div class="itoscope"><style>{STYLE}</style><p class="equation">{right}</p>'
        f"{table_html([('', equation)])}{notes}{warnings_html(equation.warnings)}</div>"
    )


def sde_html(sde: SDE) -> str:
    """What a notebook shows for an `SDE`."""
    lines = "".join(f'<p class="equation">{_math(line)}</p>' for line in equations.sde_pieces(sde, MATHML))
    return f'<div class="itoscope"><style>{STYLE}</style>{lines}</div>'


def _math(pieces: Sequence[str]) -> str:
    """One `math` element per piece, so that lines break between terms."""
    return " ".join(f"<math>{piece}</math>" for piece in pieces)


def equations_html(result: Discovery) -> str:
    """The equations, one paragraph each."""
    given = [state in result.known_drift for state in result.states]
    lines = []
    for number, line in enumerate(equations.pieces(result, MATHML)):
        remark = '<span class="given">given</span>' if number < len(given) and given[number] else ""
        lines.append(f'<p class="equation">{_math(line)}{remark}</p>')
    return "".join(lines)


def table_html(named: Sequence[tuple[str, Equation]], states: Sequence[str] | None = None) -> str:
    """The selected terms: coefficient, standard deviation, interval, probability."""
    first = 0 if any(label for label, _ in named) else 1
    every = equations.names_in([term for _, equation in named for term in equation.terms])
    names = every if states is None else list(states)
    head = "".join(_cell("th", escape(text), c + first) for c, text in enumerate(summary.HEAD[first:]))
    body = ""
    for label, term, *numbers in summary.term_rows(named):
        known = "" if term == "none" else f"<math>{typeset_term(term, names, MATHML)}</math>"
        cells = [
            _label(label),
            known or term,
            *(escape(text).replace("-", "−").replace(" .. ", " … ") for text in numbers),
        ]
        row = "".join(_cell("td", cell, c + first) for c, cell in enumerate(cells[first:]))
        body += f'<tr class="first">{row}</tr>' if label else f"<tr>{row}</tr>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _label(label: str) -> str:
    """The label of an equation as mathematics."""
    if label.startswith("Gamma["):
        return f"<math>{MATHML.indexed(MATHML.gamma, label[6:-1].split(', '))}</math>"
    return f"<math>{MATHML.differential(label[1:])}</math>" if label.startswith("d") else escape(label)


def _cell(tag: str, shown: str, column: int) -> str:
    return f'<{tag} class="word">{shown}</{tag}>' if column < 2 else f"<{tag}>{shown}</{tag}>"


def warnings_html(warnings: Sequence[str]) -> str:
    """Warnings, one paragraph each."""
    return "".join(f'<p class="warning">{escape(warning)}</p>' for warning in warnings)
