"""Units as labels: read from a heading, multiplied and raised to powers, written again; nothing is converted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

__all__ = ["ONE", "Unit", "is_unit", "power", "product", "quotient", "read", "write"]

Unit: TypeAlias = Mapping[str, float]
"""Labels with their exponents, in the order in which they are written; empty for a pure number."""

ONE: Unit = {}

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PREFIXES = ("", *"yzafpnuµμmcdhkMGTPEZY", "da")
_KNOWN = _words_of(
    "m g s A K mol cd Hz N Pa J W C V F Ω ohm S Wb T H lm lx rad sr bar L l eV Da M cal Torr B bit"
)
_PLAIN = _words_of(
    "permil permille permill promille VPDB VSMOW "
    "% ‰ ° °C °F °K degC degF deg degree degrees ppm ppb ppt px pixel pixels frame frames min h hr hrs hour "
    "hours d day days week weeks wk month months yr yrs year years y a ka kyr Ma Myr sec secs second seconds "
    "msec usec rpm dB dBm mph kt kts ft in inch inches mi lb lbs psi atm mmHg mb mbar au a.u. arb counts count "
    "cfs USD EUR GBP JPY $ € £ ¥ Sekunden Stunden Tage Jahre psu PSU dimensionless Celsius Kelvin Fahrenheit "
    "metre meter metres meters bpm cm/s unitless"
)
_NONE = frozenset({"", "1", "-", "none", "dimensionless", "unitless", "n/a"})


def read(text: str) -> Unit:
    """Return the unit that a label spells; what has no such form is one label as it stands.

    Examples
    --------
    >>> write(read("m s^-2")), write(read("mm²/s³")), write(read("a.u.")), write(read("1/s"))
    ('m/s^2', 'mm^2/s^3', 'a.u.', '1/s')
    """
    text = text.strip()
    if text.lower() in _NONE:
        return ONE
    found: dict[str, float] = {}
    sign = 1
    for word in _split(text):
        if word == "/":
            sign = -1
            continue
        if word in ("·", "*", "×"):
            continue
        label, exponent = _exponent(word)
        if exponent is None or not label:
            return {text: 1.0}
        if label != "1":
            found[label] = found.get(label, 0.0) + sign * exponent
        if "/" in text and "(" not in text:
            sign = 1
    return {label: exponent for label, exponent in found.items() if exponent}


def _split(text: str) -> list[str]:
    for sign in "/·×":
        text = text.replace(sign, f" {sign} ")
    text = text.replace("**", "^").replace("*", " * ").replace("(", " ").replace(")", " ")
    return text.split()


def _exponent(word: str) -> tuple[str, float | None]:
    """Split `s^-2`, `s-2`, `s2` and `s⁻²` into label and exponent; an exponent of None is none that can be read."""
    label, caret, raised = word.partition("^")
    if not caret:
        label = word.rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
        raised = word[len(label) :].translate(_RAISED)
        if not raised:
            label = word.rstrip("0123456789")
            raised = word[len(label) :]
            if raised and label.endswith(("-", "+")):
                label, raised = label[:-1], label[-1] + raised
            if not label:
                label, raised = word, ""
    try:
        return label, float(raised.strip("()")) if raised else 1.0
    except ValueError:
        return label, None


def is_unit(text: str) -> bool:
    """Whether every label of a text is a unit that people use, so that brackets around it are no part of a name."""
    if text.strip() in _PLAIN:
        return True
    labels = read(text)
    return bool(labels) and all(_is_known(label) for label in labels)


def _is_known(label: str) -> bool:
    if label in _PLAIN:
        return True
    return any(label.startswith(prefix) and label[len(prefix) :] in _KNOWN for prefix in _PREFIXES)


def product(units: Iterable[Unit]) -> Unit:
    """The unit of a product."""
    found: dict[str, float] = {}
    for unit in units:
        for label, exponent in unit.items():
            found[label] = found.get(label, 0.0) + exponent
    return {label: exponent for label, exponent in found.items() if exponent}


def power(unit: Unit, exponent: float) -> Unit:
    """The unit of a power."""
    return {label: own * exponent for label, own in unit.items()} if exponent else ONE


def quotient(above: Unit, below: Unit) -> Unit:
    """The unit of a quotient."""
    return product([above, power(below, -1)])


def write(unit: Unit) -> str:
    """Return a unit as text: `mm^2/s^3`, `1/s`, `m/(K s)`; nothing for a pure number."""
    above = [_raised(label, exponent) for label, exponent in unit.items() if exponent > 0]
    below = [_raised(label, -exponent) for label, exponent in unit.items() if exponent < 0]
    if not below:
        return " ".join(above)
    bottom = below[0] if len(below) == 1 else f"({' '.join(below)})"
    return f"{' '.join(above) or '1'}/{bottom}"


def _raised(label: str, exponent: float) -> str:
    return label if exponent == 1 else f"{label}^{exponent:g}"
