"""Mathematics as MathML, which browsers show without a script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from itoscope.expressions.notation import GREEK, Notation, stem_and_index

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MATHML", "STYLE", "math"]

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


class _MathML(Notation):
    # The form is said, because a sign at the start of a piece would else stand as close as a prefix does.
    plus, minus = '<mo form="infix">+</mo>', '<mo form="infix">−</mo>'
    equals, plus_minus = '<mo form="infix">=</mo>', "<mo>±</mo>"
    thin = '<mspace width="0.17em"></mspace>'
    open, close = '<mo form="prefix" stretchy="false">[</mo>', '<mo form="postfix" stretchy="false">]</mo>'
    open_round = '<mrow><mo form="prefix" stretchy="false">(</mo>'
    close_round = '<mo form="postfix" stretchy="false">)</mo></mrow>'

    def _stem(self, name: str) -> tuple[str, str]:
        """Stem and index of a name, each as an element, the index empty where there is none."""
        stem, digits = stem_and_index(name)
        # One letter is slanted, a word upright.
        return f"<mi>{escape(GREEK.get(stem, stem))}</mi>", f"<mn>{digits}</mn>" if digits else ""

    def name(self, name: str) -> str:
        stem, digits = self._stem(name)
        return f"<msub>{stem}{digits}</msub>" if digits else stem

    def word(self, text: str) -> str:
        return f"<mtext>{escape(text)}</mtext>"

    def number(self, text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        shown = f"<mn>{mantissa}</mn>"
        if not exponent:
            return shown
        size = f"<mn>{abs(int(exponent))}</mn>"
        raised = f"<mrow><mo>−</mo>{size}</mrow>" if int(exponent) < 0 else size
        power = f"<msup><mn>10</mn>{raised}</msup>"
        return power if mantissa == "1" else f"<mrow>{shown}<mo>×</mo>{power}</mrow>"

    def product(self, factors: Sequence[str]) -> str:
        return f"<mrow>{self.thin.join(factors)}</mrow>" if len(factors) > 1 else factors[0]

    def _fenced(self, left: str, body: str, right: str) -> str:
        return f'<mrow><mo form="prefix">{left}</mo>{body}<mo form="postfix">{right}</mo></mrow>'

    def brackets(self, body: str) -> str:
        return self._fenced("(", body, ")")

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"

    def power(self, base: str, exponent: str) -> str:
        return f"<msup><mrow>{base}</mrow><mrow>{exponent}</mrow></msup>"

    def raised_name(self, name: str, exponent: str) -> str:
        stem, digits = self._stem(name)
        if not digits:
            return self.power(stem, exponent)
        return f"<msubsup>{stem}{digits}<mrow>{exponent}</mrow></msubsup>"  # the exponent above the index

    def modulus(self, body: str) -> str:
        return self._fenced("|", body, "|")

    def root(self, body: str) -> str:
        return f"<msqrt>{body}</msqrt>"

    def function(self, name: str, body: str) -> str:
        return f"<mrow><mi>{'sgn' if name == 'sign' else name}</mi>{self.brackets(body)}</mrow>"

    def estimate(self, size: str, sd: str, spread: str = "") -> str:
        return self._fenced("(", self._estimated(size, sd, spread), ")")

    def signed(self, negative: bool, body: str) -> str:
        return f'<mo form="prefix">−</mo>{body}' if negative else body

    def follow(self, text: str, negative: bool, body: str) -> str:
        return f"{text}{self.minus if negative else self.plus}{body}"

    def differential(self, name: str) -> str:
        return f'<mrow><mi mathvariant="normal">d</mi>{self.name(name)}</mrow>'

    def indexed(self, symbol: str, names: Sequence[str]) -> str:
        inside = "<mo>,</mo>".join(self.name(name) for name in names)
        return f"<msub>{symbol}<mrow>{inside}</mrow></msub>"

    gamma, diffusion = '<mi mathvariant="normal">Γ</mi>', "<mi>g</mi>"
    time = f'{thin}<mi mathvariant="normal">d</mi><mi>t</mi>'
    brownian = f'{thin}<mi mathvariant="normal">d</mi><mi>B</mi>'


MATHML = _MathML()


def math(pieces: Sequence[str]) -> str:
    """One `math` element per piece, so that lines break between terms."""
    return " ".join(f"<math>{piece}</math>" for piece in pieces)
