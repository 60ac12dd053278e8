"""How mathematics is written, apart from what is written: LaTeX here, `mathml.py` for browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GREEK", "LATEX", "Notation", "stem_and_index"]

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}  # fmt: skip


#: Characters that LaTeX would read as commands; those that it cannot show are left out.
_ESCAPES = str.maketrans({c: rf"\{c}" for c in "{}$&#%_"} | dict.fromkeys("\\^~", " "))


def stem_and_index(name: str) -> tuple[str, str]:
    """`x1` and `x_1` as stem and index: ("x", "1")."""
    digits = len(name)
    while digits and name[digits - 1].isdecimal():
        digits -= 1
    stem = name[:digits].removesuffix("_") if digits < len(name) else name
    return (stem, name[digits:]) if stem else (name, "")


class Notation:
    """LaTeX; a subclass writes the same as MathML."""

    plus, minus, equals, plus_minus = " + ", "-", " = ", r" \pm "
    thin = r"\,"
    open, close, open_round, close_round = r"\left[", r"\right]", "(", ")"

    def name(self, name: str) -> str:
        """A name: `x_{1}` for `x1`, a Greek letter for its name, upright letters for a word."""
        stem, digits = stem_and_index(name)
        stem = stem.replace("_", r"\_")
        if stem in GREEK:
            stem = rf"\{stem}"
        elif len(stem) > 1:
            stem = rf"\mathrm{{{stem}}}"
        return f"{stem}_{{{digits}}}" if digits else stem

    def word(self, text: str) -> str:
        """Text that is no expression, such as the name of a Python function."""
        return rf"\text{{{text.translate(_ESCAPES)}}}"

    def number(self, text: str) -> str:
        """A number that is not negative, as `1.5` or `1.5e-7`."""
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return mantissa
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else rf"{mantissa} \times {power}"

    def product(self, factors: Sequence[str]) -> str:
        """Factors side by side."""
        return " ".join(factors)

    def brackets(self, body: str) -> str:
        """In round brackets that grow with what they hold."""
        return rf"\left({body}\right)"

    def fraction(self, above: str, below: str) -> str:
        """A quotient."""
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: str) -> str:
        """A power."""
        return f"{base}^{{{exponent}}}"

    def raised_name(self, name: str, exponent: str) -> str:
        """A power of a name."""
        return self.power(self.name(name), exponent)

    def modulus(self, body: str) -> str:
        """An absolute value."""
        return rf"\left|{body}\right|"

    def root(self, body: str) -> str:
        """A square root."""
        return rf"\sqrt{{{body}}}"

    def function(self, name: str, body: str) -> str:
        """A function of one argument."""
        shown = r"\operatorname{sgn}" if name in ("sgn", "sign") else rf"\{name}"
        return rf"{shown}\left({body}\right)"

    def estimate(self, size: str, sd: str, spread: str = "") -> str:
        """A coefficient with its standard deviation, and with that over recordings of one that differs."""
        return f"({self._estimated(size, sd, spread)})"

    def _estimated(self, size: str, sd: str, spread: str) -> str:
        shown = f"{self.number(size)}{self.plus_minus}{self.number(sd)}" if sd else self.number(size)
        return (
            f"{shown}{self.word('; differs by recording, spread ')}{self.number(spread)}" if spread else shown
        )

    def signed(self, negative: bool, body: str) -> str:
        """The first term of a sum."""
        return f"-{body}" if negative else body

    def follow(self, text: str, negative: bool, body: str) -> str:
        """A further term of a sum."""
        return f"{text} - {body}" if negative else f"{text} + {body}"

    def differential(self, name: str) -> str:
        """`dx`."""
        return rf"\mathrm{{d}}{self.name(name)}"

    def indexed(self, symbol: str, names: Sequence[str]) -> str:
        """A capital Greek or Latin letter with names as indices."""
        inside = r",\,".join(self.name(name) for name in names)
        return f"{symbol}_{{{inside}}}"

    gamma, diffusion, time, brownian = r"\Gamma", "g", r"\mathrm{d}t", r"\mathrm{d}B"


LATEX = Notation()
