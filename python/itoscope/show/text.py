"""A discovery as text: equations, the table of their terms, near misses, warnings; no line wider than 100 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.common.numbers import Rounding, join_terms, number
from itoscope.expressions.typeset import in_brackets

if TYPE_CHECKING:
    from itoscope.discovery.result import Discovery
    from itoscope.posterior.equation import Equation

__all__ = [
    "HEAD", "WIDTH", "Part", "equation_lines", "equation_text", "grouped_warnings", "headline", "near_misses",
    "near_notes", "noise_text", "parts", "probability", "sum_text", "term_rows", "text",
]  # fmt: skip

WIDTH = 100
#: A term that was not selected is worth naming from this inclusion probability on, and so many of them at most.
NEAR_MISS, MOST_NEAR = 0.05, 5


HEAD = ("equation", "term", "coefficient", "sd", "95 % interval", "probability")


class Part(NamedTuple):
    """One selected term, ready to be written: sign `""` or `"-"`, size and standard deviation rounded together."""

    sign: str
    size: str
    sd: str
    term: str


def parts(equation: Equation) -> Iterator[Part]:
    """The selected terms of an equation, in the order of its library."""
    for k in np.flatnonzero(equation.selected):
        write = Rounding.of(equation.mean[k], equation.sd[k]).write
        sign = "-" if equation.mean[k] < 0 else ""
        yield Part(sign, write(abs(equation.mean[k])), write(equation.sd[k]), equation.terms[k])


def sum_text(equation: Equation) -> str:
    """The right-hand side: `-(998.5 ± 2.4) x1 - (2.005 ± 0.010) x2`, or `0`."""
    return join_terms([(f"{sign}({size} ± {sd})", term) for sign, size, sd, term in parts(equation)])


def probability(p: float) -> str:
    """An inclusion probability to three digits; what rounds to one is said to be above 0.999."""
    return "> 0.999" if p > 0.999 else f"{p:.3f}"


def equation_lines(result: Discovery) -> list[tuple[str, str]]:
    """Each equation as text, and what is to be said beside it."""
    lines = []
    for state in result.states:
        if state in result.known_drift:
            lines.append((f"d{state} = {in_brackets(result.known_drift[state])} dt", "given"))
            continue
        count = int(result.drift[state].selected.sum())
        total = sum_text(result.drift[state])
        noise = _noise(result, state)
        drift = f"[{total}] dt" if count > 1 else f"{total} dt"
        lines.append(
            (f"d{state} = " + (" + ".join(x for x in (drift if count else "", noise) if x) or "0"), "")
        )
    for (a, b), equation in result.diffusion.items():
        lines.append((f"Gamma[{a}, {b}] = {sum_text(equation)}", ""))
    return lines


def _noise(result: Discovery, state: str) -> str:
    """How the noise of a row is written: its own Brownian motion, or a part of `g dB` with `g g^T = Gamma`."""
    noisy = [a for a, b in result.diffusion if a == b]
    if state not in noisy:
        return ""
    return "sqrt(Gamma) dB" if len(noisy) == 1 else f"(g dB)[{state}]"


def headline(result: Discovery) -> str:
    """What was found, and from how much data."""
    about = result.data_summary
    if not about:
        return "Stochastic differential equation"
    paths = "1 path" if about["n_paths"] == 1 else f"{about['n_paths']} paths"
    step = f"dt = {number(about['dt'])}" if about.get("dt") else "uneven steps"
    return f"Stochastic differential equation from {paths}, {about['n_steps']} steps, {step}"


def near_misses(equation: Equation) -> list[tuple[str, float]]:
    """The most probable terms that were not selected, with their probability, a handful at most."""
    order = [k for k in np.argsort(-equation.pip, kind="stable") if not equation.selected[k]]
    return [
        (equation.terms[k], float(equation.pip[k])) for k in order[:MOST_NEAR] if equation.pip[k] > NEAR_MISS
    ]


def grouped_warnings(named: Sequence[tuple[str, Equation]]) -> list[str]:
    """The warnings of all equations, each sentence once behind the names of the equations that it is about."""
    about: dict[str, list[str]] = {}
    for label, equation in named:
        for sentence in equation.warnings:
            about.setdefault(sentence, []).append(label)
    return [f"{', '.join(labels)}: {sentence}" for sentence, labels in about.items()]


def term_rows(named: Sequence[tuple[str, Equation]]) -> list[tuple[str, str, str, str, str, str]]:
    """Selected terms as rows `equation, term, coefficient, sd, 95 % interval, probability`, written and rounded."""
    rows = []
    for label, equation in named:
        name, interval = label, equation.interval(0.95)
        for k in np.flatnonzero(equation.selected):
            write = Rounding.of(equation.mean[k], equation.sd[k]).write
            value, sd, low, high = map(write, (equation.mean[k], equation.sd[k], *interval[k]))
            rows.append(
                (name, equation.terms[k], value, sd, f"{low} .. {high}", probability(equation.pip[k]))
            )
            name = ""
        if name:
            rows.append((name, "none", "", "", "", ""))
    return rows


def text(result: Discovery) -> Iterator[str]:
    """The lines that `print(result)` shows."""
    yield headline(result)
    yield ""
    yield from _aligned(equation_lines(result))
    noisy = [a for a, b in result.diffusion if a == b]
    if len(noisy) > 1:
        yield from _wrap(
            f"g is any matrix with g g^T = Gamma, dB are {len(noisy)} independent Brownian motions"
        )
    yield ""
    yield from _table(result.labelled())
    if result.measurement_noise:
        yield ""
        yield from _wrap(f"measurement noise: {noise_text(result)}")
    notes = near_notes(result.labelled())
    if notes:
        yield ""
        for note in notes:
            yield from _wrap(note)
    for warning in result.warnings:
        yield ""
        yield from _wrap(f"warning: {warning}")


def equation_text(equation: Equation) -> Iterator[str]:
    """The lines that `print(equation)` shows."""
    yield from (line[2:] for line in _aligned([(sum_text(equation), "")]))
    rows = [row[1:] for row in term_rows([("equation", equation)])]
    yield from _columns([HEAD[1:], *rows], 1)
    for note in [*near_notes([("", equation)]), *(f"note: {warning}" for warning in equation.warnings)]:
        yield from _wrap(note)


def noise_text(result: Discovery) -> str:
    """The level of the measurement noise of each channel, with its interval where it was estimated."""
    levels: Mapping[str, Any] = result.diagnostics.get("measurement_noise") or {}
    if not levels:
        return f"{number(float(result.measurement_noise))} (one standard deviation)"
    shown = []
    for name, level in levels.items():
        value, low, high = (float(level[key]) for key in ("sd", "low", "high"))
        head = f"{name} " if len(levels) > 1 else ""
        if high > low:
            write = Rounding.of(value, (high - low) / 4).write
            interval = f"{write(low)} .. {write(high)}"
            shown.append(f"{head}{write(value)}, 95 % interval {interval}")
        else:
            shown.append(f"{head}{number(value)}, as given")
    return "; ".join(shown) + " (one standard deviation)"


def near_notes(named: Sequence[tuple[str, Equation]]) -> list[str]:
    """A sentence for each equation that has terms which were nearly selected."""
    return [_near_note(label, equation) for label, equation in named if near_misses(equation)]


def _near_note(label: str, equation: Equation) -> str:
    where = f" in {label}" if label else ""
    named = ", ".join(f"{term} ({p:.2f})" for term, p in near_misses(equation))
    rest = int(((equation.pip > NEAR_MISS) & ~equation.selected).sum()) - MOST_NEAR
    more = f", and {rest} more" if rest > 0 else ""
    return f"not selected{where}, but possible (probability): {named}{more}"


def _aligned(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Equations below each other, long ones broken between terms, remarks in one column."""
    short = [len(line) for line, _ in lines if len(line) <= WIDTH - 10]
    width = max([len(line) for line, remark in lines if remark], default=0)
    width = max([width, *(n for n in short if n <= 60)], default=0)
    for line, remark in lines:
        if len(line) + 2 <= WIDTH:
            yield f"  {line:<{width}}   {remark}".rstrip()
            continue
        indent = " " * (line.find("=") + 4)
        # A line may end before a sign that starts a term, nowhere else.
        held = re.sub(r" (?![-+] [^ ])", "\0", line)
        held = re.sub(r" ([-+]) ", " \\1\0", held)
        for broken in textwrap.wrap(
            held, WIDTH, initial_indent="  ", subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        ):  # fmt: skip
            yield broken.replace("\0", " ")


def _table(named: Sequence[tuple[str, Equation]]) -> Iterator[str]:
    return _columns([HEAD, *term_rows(named)], 2)


def _columns(rows: Sequence[Sequence[str]], words: int) -> Iterator[str]:
    """Rows as aligned columns, of which the first are words and the others numbers."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{cell:<{w}}" if c < words else f"{cell:>{w}}" for c, (cell, w) in enumerate(zip(row, widths))
        ]
        yield ("  " + "  ".join(cells)).rstrip()


def _wrap(sentence: str) -> Iterator[str]:
    yield from textwrap.wrap(
        sentence,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
