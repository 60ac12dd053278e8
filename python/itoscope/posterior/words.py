"""An equation as text, from its arrays: the sum of its terms, the table of them, near misses, lines of a width."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from itoscope.common.numbers import Rounding, exact, number
from itoscope.expressions import sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from itoscope.common.types import Array, Bools

__all__ = [
    "HEAD",
    "MOST_NEAR",
    "WIDTH",
    "Part",
    "Shown",
    "aligned",
    "columns",
    "equation_text",
    "grouped_warnings",
    "head",
    "near_misses",
    "near_notes",
    "parts",
    "probability",
    "sum_text",
    "sum_words",
    "term_rows",
    "wrap",
]

#: No line is wider.
WIDTH = 100
#: A term that was not selected is worth naming from this inclusion probability on, and so many of them at most.
NEAR_MISS, MOST_NEAR = 0.05, 5
#: Of an equation in doubt so many models are listed, those with a mass of at least so much.
MOST_MODELS, LEAST_MASS = 4, 0.02
#: A model of more terms is told by how it differs from the one that is shown.
MOST_TERMS = 6
#: Titles of the columns of `term_rows`.
HEAD = ("equation", "term", "coefficient", "sd", "95 % interval", "probability")


class Shown(Protocol):
    """What is shown of an equation of K terms; `Equation` has it."""

    @property
    def terms(self) -> list[str]:
        """K names."""

    @property
    def pip(self) -> Array:
        """Inclusion probabilities `(K,)`."""

    @property
    def selected(self) -> Bools:
        """Which terms are in the equation `(K,)`."""

    @property
    def mean(self) -> Array:
        """Coefficients `(K,)`, zero for terms that are not selected."""

    @property
    def sd(self) -> Array:
        """Their standard deviations `(K,)`."""

    @property
    def given(self) -> Bools:
        """Which coefficients were given `(K,)`."""

    @property
    def differs(self) -> Mapping[str, tuple[str, float]]:
        """Terms of what recordings have of their own, with the term that each adds to, and its spread."""

    @property
    def warnings(self) -> Sequence[str]:
        """What a reader should know."""

    @property
    def doubtful(self) -> bool:
        """Whether no model has most of the probability."""

    def interval(self, probability: float = 0.95) -> Array:
        """Central intervals of the coefficients `(K, 2)`."""

    def leading(self, count: int = 5) -> list[tuple[tuple[str, ...], float]]:
        """Terms and masses of the most probable models."""


class Part(NamedTuple):
    """One selected term, ready to be written: sign `""` or `"-"`, size and standard deviation rounded together.

    Of a coefficient that was given the standard deviation is empty, and the size exact. `spread` is the standard
    deviation over recordings of one that differs.
    """

    sign: str
    size: str
    sd: str
    term: str
    spread: str = ""


def parts(equation: Shown) -> Iterator[Part]:
    """The selected terms of an equation, in the order of its library."""
    spreads = {term: number(spread, 2) for term, spread in equation.differs.values()}
    for k in _shown(equation):
        write = Rounding.of(equation.mean[k], equation.sd[k]).write
        sign, spread = "-" if equation.mean[k] < 0 else "", spreads.get(equation.terms[k], "")
        if not equation.selected[k]:
            yield Part("", "0", "", equation.terms[k], spread)
            continue
        if equation.given[k]:
            yield Part(sign, exact(abs(equation.mean[k])), "", equation.terms[k])
            continue
        yield Part(sign, write(abs(equation.mean[k])), write(equation.sd[k]), equation.terms[k], spread)


def _shown(equation: Shown) -> list[int]:
    """The selected terms, those with a coefficient that differs even if its mean is zero, without the differences."""
    named = {term for term, _ in equation.differs.values()}
    return [
        k
        for k, term in enumerate(equation.terms)
        if (equation.selected[k] or term in named) and term not in equation.differs
    ]


def sum_words(equation: Shown) -> list[str]:
    """The right-hand side in pieces, between which a line may be broken: its terms, or `0`."""
    selected = parts(equation)
    return sums.signed_terms(
        (sign == "-", _coefficient(size, sd, spread), term) for sign, size, sd, term, spread in selected
    ) or ["0"]


def _coefficient(size: str, sd: str, spread: str) -> str:
    shown = f"{size} ± {sd}" if sd else size
    if spread:
        return f"({shown}; differs by recording, spread {spread})"
    return f"({shown})" if sd else shown


def sum_text(equation: Shown) -> str:
    """The right-hand side: `-(998.5 ± 2.4) x1 - (2.005 ± 0.010) x2`, or `0`."""
    return " ".join(sum_words(equation))


def probability(p: float) -> str:
    """An inclusion probability to three digits, `> 0.999` where that rounds to one; nothing where there is none."""
    if p != p:
        return ""
    return "> 0.999" if p > 0.999 else f"{p:.3f}"


def near_misses(equation: Shown) -> list[tuple[str, float]]:
    """The most probable terms that were not selected, with their probability, a handful at most."""
    order = [k for k in np.argsort(-equation.pip, kind="stable") if not equation.selected[k]]
    return [
        (equation.terms[k], float(equation.pip[k])) for k in order[:MOST_NEAR] if equation.pip[k] > NEAR_MISS
    ]


def head(units: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The titles of `term_rows`."""
    return (*HEAD, "unit") if units else HEAD


def term_rows(
    named: Sequence[tuple[str, Shown]], units: Sequence[Sequence[str]] = ()
) -> list[tuple[str, ...]]:
    """Selected terms as rows `equation, term, coefficient, sd, 95 % interval, probability`, written and rounded.

    With `units`, those of the K coefficients of each equation, a row ends in its unit.
    """
    rows: list[tuple[str, ...]] = []
    for place, (label, equation) in enumerate(named):
        name, interval = label, equation.interval(0.95)
        for k in np.flatnonzero(equation.selected):
            if equation.terms[k] in equation.differs:
                continue
            unit = (units[place][int(k)],) if units else ()
            if equation.given[k]:
                size = "" if equation.mean[k] == 1.0 else exact(equation.mean[k])
                rows.append((name, equation.terms[k], size, "", "", "given", *unit))
                name = ""
                continue
            write = Rounding.of(equation.mean[k], equation.sd[k]).write
            value, sd, low, high = map(write, (equation.mean[k], equation.sd[k], *interval[k]))
            rows.append(
                (name, equation.terms[k], value, sd, f"{low} .. {high}", probability(equation.pip[k]), *unit)
            )
            name = ""
        if name:
            rows.append((name, "none", *[""] * (len(head(units)) - 2)))
    return rows


def equation_text(equation: Shown) -> Iterator[str]:
    """The lines that `print(equation)` shows."""
    yield from (line[2:] for line in aligned([("", sum_words(equation), "")]))
    rows = [row[1:] for row in term_rows([("equation", equation)])]
    yield from columns([HEAD[1:], *rows], 1)
    for note in [*near_notes([("", equation)]), *(f"note: {warning}" for warning in equation.warnings)]:
        yield from wrap(note)


def near_notes(named: Sequence[tuple[str, Shown]]) -> list[str]:
    """A sentence for each equation that has terms which were nearly selected, and one for each in doubt."""
    notes = []
    for label, equation in named:
        if near_misses(equation):
            notes.append(_near_note(label, equation))
        if equation.doubtful:
            notes.append(_doubt_note(label, equation))
    return notes


def _doubt_note(label: str, equation: Shown) -> str:
    where = f" of {label}" if label else ""
    found = [one for one in equation.leading(MOST_MODELS) if one[1] >= LEAST_MASS]
    if not found:
        return (
            f"no model{where} has as much as {LEAST_MASS} of the probability; intervals are averaged over all"
        )
    shown = [equation.terms[k] for k in np.flatnonzero(equation.selected)]
    shown = [term for term in shown if term not in equation.differs]
    listed = ", ".join(
        f"{_model_words([term for term in terms if term not in equation.differs], shown)} {mass:.2f}"
        for terms, mass in found
    )
    return f"the models{where} that lead, with their probability: {listed}; intervals are averaged over all"


def _model_words(terms: Sequence[str], shown: Sequence[str]) -> str:
    """A model by its terms, a long one by what it has more and less than the one that is shown."""
    if len(terms) <= MOST_TERMS:
        return f"{{{', '.join(terms) or '0'}}}"
    changed = [f"+ {term}" for term in terms if term not in shown]
    changed += [f"- {term}" for term in shown if term not in terms]
    if len(changed) > MOST_TERMS:
        return f"{{{len(terms)} terms, {len(changed)} of them changed}}"
    return f"{{as shown{''.join(f', {change}' for change in changed)}}}"


def _near_note(label: str, equation: Shown) -> str:
    where = f" in {label}" if label else ""
    named = ", ".join(f"{term} ({p:.2f})" for term, p in near_misses(equation))
    rest = int(((equation.pip > NEAR_MISS) & ~equation.selected).sum()) - MOST_NEAR
    more = f", and {rest} more" if rest > 0 else ""
    return f"not selected{where}, but possible (probability): {named}{more}"


def aligned(lines: Sequence[tuple[str, list[str], str]]) -> Iterator[str]:
    """Equations below each other, long ones broken between their pieces, remarks in one column.

    Parameters
    ----------
    lines : sequence of (left side with its sign of equality, pieces of the right side, remark)
    """
    whole = [left + " ".join(pieces) for left, pieces, _ in lines]
    width = max((len(line) for line, (_, _, remark) in zip(whole, lines) if remark), default=0)
    width = max([width, *(len(line) for line in whole if len(line) <= 60)], default=0)
    for line, (left, pieces, remark) in zip(whole, lines):
        if len(line) + 2 <= WIDTH:
            yield f"  {line:<{width}}   {remark}".rstrip()
        else:
            yield from sums.lines(pieces, WIDTH, f"  {left}", " " * max(len(left) + 2, 3))


def columns(rows: Sequence[Sequence[str]], words: int) -> Iterator[str]:
    """Rows as aligned columns, of which the first are words and the others numbers."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{cell:<{w}}" if c < words else f"{cell:>{w}}" for c, (cell, w) in enumerate(zip(row, widths))
        ]
        yield ("  " + "  ".join(cells)).rstrip()


def wrap(sentence: str) -> Iterator[str]:
    """A sentence in lines, the further ones indented."""
    yield from textwrap.wrap(
        sentence,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def grouped_warnings(named: Sequence[tuple[str, Shown]]) -> list[str]:
    """The warnings of all equations, each sentence once behind the names of the equations that it is about."""
    about: dict[str, list[str]] = {}
    for label, equation in named:
        for sentence in equation.warnings:
            about.setdefault(sentence, []).append(label)
    return [f"{', '.join(labels)}: {sentence}" for sentence, labels in about.items()]
