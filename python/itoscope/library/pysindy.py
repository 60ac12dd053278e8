"""Taking libraries over from other packages: `from_pysindy`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

from itoscope.common import checks
from itoscope.errors import ArgumentError, argument_error
from itoscope.library.library import Library
from itoscope.library.parts import PerState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array

__all__ = ["from_pysindy"]

KNOWN = "PolynomialLibrary, FourierLibrary, IdentityLibrary, CustomLibrary, ConcatLibrary"


def from_pysindy(library: Any, states: Sequence[str] | None = None) -> Library:
    """The library of PySINDy as an `itoscope.Library` with the same terms in the same order.

    Parameters
    ----------
    library : pysindy feature library
        `PolynomialLibrary`, `FourierLibrary`, `IdentityLibrary`, `CustomLibrary`, or their sum (`ConcatLibrary`).
        Told by class name and attributes: PySINDy is not imported, and it need not be fitted.
    states : sequence of str, optional
        Names of the states; needed for what a recipe without names cannot say: custom functions, and polynomials
        without bias or with `interaction_only`. `x1, x2, ...` in the number of `n_features_in_` if it was fitted.

    Returns
    -------
    Library

    Raises
    ------
    ArgumentError
        For a library of another kind, such as those of weak forms, partial derivatives or control inputs, or when
        `states` are needed and missing.

    Examples
    --------
    >>> class PolynomialLibrary:
    ...     degree, include_interaction, interaction_only, include_bias = 2, True, False, True
    >>> from_pysindy(PolynomialLibrary()).names(["x", "v"])
    ['1', 'x', 'v', 'x^2', 'x v', 'v^2']
    """
    if states is None and isinstance(getattr(library, "n_features_in_", None), int):
        states = [f"x{i + 1}" for i in range(library.n_features_in_)]
    kind = type(library).__name__
    if kind not in READERS:
        raise argument_error("library", kind, f"one of {KNOWN}")
    return READERS[kind](library, states)


def _polynomial(library: Any, states: Sequence[str] | None) -> Library:
    degree, bias = library.degree, library.include_bias
    low, high = (0, degree) if isinstance(degree, int) else degree
    if not library.include_interaction:
        powers = [
            Library((PerState(f"power{p}", "{x}" if p == 1 else f"{{x}}^{p}"),)) for p in range(1, high + 1)
        ]
        return _joined([Library.polynomials(0)] * bool(bias) + powers)
    if low == 0 and bias and not library.interaction_only:
        return Library.polynomials(high)
    choose = combinations if library.interaction_only else combinations_with_replacement
    names = _needed(states, "polynomials without bias, or of interactions only")
    terms = ["1"] * bool(bias)
    for d in range(max(low, 1), high + 1):
        terms += [_monomial(factors) for factors in choose(names, d)]
    return Library.expressions(*terms)


def _monomial(factors: Sequence[str]) -> str:
    powers = {name: factors.count(name) for name in factors}
    return " ".join(name if p == 1 else f"{name}^{p}" for name, p in powers.items())


def _fourier(library: Any, states: Sequence[str] | None) -> Library:
    patterns = []
    for frequency in range(1, library.n_frequencies + 1):
        inside = "{x}" if frequency == 1 else f"{frequency} {{x}}"
        patterns += [f"sin({inside})"] * bool(library.include_sin) + [f"cos({inside})"] * bool(
            library.include_cos
        )
    if len(patterns) <= 1 or (states is not None and len(states) == 1):
        return _joined([Library((PerState(p, p),)) for p in patterns])
    # PySINDy goes through the states within a frequency, and through sin and cos within a state.
    names = _needed(states, "the order of several Fourier terms")
    per_frequency = len(patterns) // library.n_frequencies
    groups = [patterns[i : i + per_frequency] for i in range(0, len(patterns), per_frequency)]
    return Library.expressions(*(p.format(x=name) for group in groups for name in names for p in group))


def _identity(library: Any, states: Sequence[str] | None) -> Library:
    return Library((PerState("identity", "{x}"),))


@dataclass(frozen=True)
class _OfColumns:
    """A function of some states as a function of all of them."""

    function: Callable[..., Any]
    columns: tuple[int, ...]

    def __call__(self, x: Array) -> Array:
        return checks.reals(
            "a function of the library", self.function(*(x[:, c] for c in self.columns)), missing=True
        )


def _custom(library: Any, states: Sequence[str] | None) -> Library:
    names = _needed(states, "custom functions")
    choose = combinations if library.interaction_only else combinations_with_replacement
    parts = [Library.polynomials(0)] * bool(library.include_bias)
    shown = library.function_names or [None] * len(library.functions)
    for i, (function, name) in enumerate(zip(library.functions, shown)):
        count = len(inspect.signature(function).parameters)
        for columns in choose(range(len(names)), count):
            chosen = [names[c] for c in columns]
            called = name(*chosen) if callable(name) else f"f{i}({', '.join(chosen)})"
            parts.append(Library.custom(_OfColumns(function, columns), called))
    return _joined(parts)


def _concat(library: Any, states: Sequence[str] | None) -> Library:
    return _joined([from_pysindy(part, states) for part in library.libraries])


def _joined(parts: Sequence[Library]) -> Library:
    whole = Library()
    for part in parts:
        whole = whole + part
    return whole


def _needed(states: Sequence[str] | None, purpose: str) -> list[str]:
    if states is None:
        raise ArgumentError(
            f"states: their names are needed for {purpose}; from_pysindy(library, ['x1', 'x2'])"
        )
    return list(states)


READERS: dict[str, Callable[[Any, Sequence[str] | None], Library]] = {
    "PolynomialLibrary": _polynomial,
    "FourierLibrary": _fourier,
    "IdentityLibrary": _identity,
    "CustomLibrary": _custom,
    "ConcatLibrary": _concat,
}
