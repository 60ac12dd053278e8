"""A discovery as fragments of HTML, for notebooks and for the report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from itoscope.expressions.mathml import MATHML, STYLE, math
from itoscope.posterior.fragments import table_html, warnings_html
from itoscope.posterior.words import near_notes
from itoscope.result.written import rows_shown, units_shown
from itoscope.show import latex as equations
from itoscope.show import text as summary

if TYPE_CHECKING:
    from itoscope.result.findings import Findings, Key

__all__ = ["advice_html", "discovery_html", "equations_html", "terms_html"]


def discovery_html(result: Findings) -> str:
    """What a notebook shows for a `Discovery`."""
    near = "".join(f'<p class="near">{escape(note)}</p>' for note in near_notes(result.labelled()))
    noise = ""
    if result.measurement_noise:
        noise = f"<p>Measurement noise: {escape(summary.noise_text(result))}</p>"
    return (
        f'<div class="itoscope"><style>{STYLE}</style><p>{escape(summary.headline(result))}</p>'
        f"{equations_html(result)}{terms_html(result)}{noise}{near}{advice_html(result)}{warnings_html(result.warnings)}</div>"
    )


def advice_html(result: Findings) -> str:
    """What to do, one paragraph each."""
    found = summary.advice_sentences(result)
    return "".join(f'<p class="warning advice"><b>Advice:</b> {escape(sentence)}</p>' for sentence in found)


def equations_html(result: Findings) -> str:
    """The equations, one paragraph each."""
    given = [state in result.known_drift for state in result.states if state not in result.standing]
    lines = []
    for number, (left, right) in enumerate(equations.pieces(result, MATHML)):
        remark = '<span class="given">given</span>' if number < len(given) and given[number] else ""
        lines.append(f'<p class="equation">{math([left + MATHML.equals, *right])}{remark}</p>')
    return "".join(lines)


def terms_html(result: Findings) -> str:
    """The table of the selected terms of all equations."""
    labels = {str(key): _label(key) for key, _ in result.keyed()}
    named = [(labels.get(label, label), equation) for label, equation in rows_shown(result)]
    return table_html(named, [*result.states, *result.parameters], units_shown(result))


def _label(key: Key) -> str:
    """The left side of an equation."""
    if key.column is None:
        return math([MATHML.differential(key.row)])
    return math([MATHML.indexed(MATHML.gamma, (key.row, key.column))])
