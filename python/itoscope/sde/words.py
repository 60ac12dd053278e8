"""An SDE in print: as text, as LaTeX, as a fragment of HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itoscope.expressions.mathml import MATHML, STYLE, math
from itoscope.expressions.notation import LATEX, Notation
from itoscope.expressions.sums import in_brackets
from itoscope.expressions.typeset import typeset, typeset_factor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.sde.form import Form

__all__ = ["html", "latex", "text"]

#: Significant digits of the numbers before the terms, where they are typeset.
DIGITS = 6


def text(sde: Form) -> str:
    """What `print(sde)` shows: how many states and noises, then a line for each equation."""
    structure = "" if sde.noise_structure == "none" else f"{sde.noise_structure} "
    lines = [f"SDE of {_count(len(sde.states), 'state')} and {_count(sde.n_noise, f'{structure}noise')}"]
    for i, (name, drift) in enumerate(zip(sde.states, sde.drift_expressions)):
        parts = [f"{in_brackets(drift)} dt"]
        if sde.diffusion_expressions is not None:
            entries = enumerate(sde.diffusion_expressions[i])
            parts += [f"{in_brackets(entry)} dB{j + 1}" for j, entry in entries if entry != "0"]
        else:
            parts.append(f"dM_{name}")
        lines.append(f"  d{name} = {' + '.join(parts)}")
    for i, j, entry in _general_covariance(sde):
        lines.append(f"  d<M_{sde.states[i]}, M_{sde.states[j]}> = {in_brackets(entry)} dt")
    return "\n".join(lines)


def latex(sde: Form) -> str:
    """The equations as a LaTeX `aligned` block."""

    def factor(text: str) -> str:
        return typeset_factor(text, [*sde.states, *sde.inputs], LATEX, DIGITS)

    lines = []
    for i, (name, drift) in enumerate(zip(sde.states, sde.drift_expressions)):
        line = rf"\mathrm{{d}}{LATEX.name(name)} &= {factor(drift)} \, \mathrm{{d}}t"
        if sde.diffusion_expressions is not None:
            for j, entry in enumerate(sde.diffusion_expressions[i]):
                if entry != "0":
                    line += rf" + {factor(entry)} \, \mathrm{{d}}B_{{{j + 1}}}"
        else:
            line += rf" + \mathrm{{d}}M_{{{i + 1}}}"
        lines.append(line)
    for i, j, entry in _general_covariance(sde):
        bracket = rf"\mathrm{{d}}\langle M_{{{i + 1}}}, M_{{{j + 1}}} \rangle"
        lines.append(rf"{bracket} &= {factor(entry)} \, \mathrm{{d}}t")
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def html(sde: Form) -> str:
    """What a notebook shows."""
    lines = "".join(f'<p class="equation">{math(line)}</p>' for line in _pieces(sde, MATHML))
    return f'<div class="itoscope"><style>{STYLE}</style>{lines}</div>'


def _pieces(sde: Form, notation: Notation) -> list[list[str]]:
    """The rows in pieces: drift and one piece per Brownian motion; a general covariance on its own lines."""
    lines = []
    names = [*sde.states, *sde.inputs]
    roots = sde.diffusion_expressions
    for i, (state, drift) in enumerate(zip(sde.states, sde.drift_expressions)):
        line = [notation.differential(state) + notation.equals.rstrip()]
        line.append(typeset_factor(drift, names, notation, DIGITS) + notation.thin + notation.time)
        noises = [(f"M{i + 1}", "")]
        if roots is not None:
            noises = [(f"B{j + 1}", entry) for j, entry in enumerate(roots[i]) if entry != "0"]
        for name, entry in noises:
            factor = typeset_factor(entry, names, notation, DIGITS) + notation.thin if entry else ""
            line.append(notation.follow("", False, factor + notation.differential(name)).strip())
        lines.append(line)
    for i, j, entry in _general_covariance(sde):
        left = notation.indexed(notation.gamma, (sde.states[i], sde.states[j])) + notation.equals.rstrip()
        lines.append([left, typeset(entry, names, notation, DIGITS)])
    return lines


def _general_covariance(sde: Form) -> Iterator[tuple[int, int, str]]:
    """The entries of Gamma on and above the diagonal that are not zero, where no g is known."""
    if sde.diffusion_expressions is None and sde.gamma_expressions is not None:
        for i, row in enumerate(sde.gamma_expressions):
            for j in range(i, len(row)):
                if row[j] != "0":
                    yield i, j, row[j]


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
