"""A discovery as it is shown: given expressions with their parameters rounded, and these among the equations' terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from itoscope.common.numbers import Rounding
from itoscope.expressions.grammar import renamed
from itoscope.result.findings import Diffusion, Drift, Findings
from itoscope.result.units import coefficient_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.common.types import Array, Bools
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.words import Shown
    from itoscope.result.parameters import Parameters

__all__ = ["LABEL", "ParameterRows", "rows_shown", "units_shown", "written"]

LABEL = "parameters"
"""What stands in the place of an equation before the parameters."""
Some = TypeVar("Some", bound=Findings)


@dataclass(frozen=True)
class ParameterRows:
    """Parameters as terms of a table: in no model and in all, their `pip` is no number."""

    parameters: Parameters

    @property
    def terms(self) -> list[str]:
        """Their names."""
        return list(self.parameters)

    @property
    def mean(self) -> Array:
        """Their values `(P,)`."""
        return np.array([one.mean for one in self.parameters.values()])

    @property
    def sd(self) -> Array:
        """Their standard errors `(P,)`."""
        return np.array([one.sd for one in self.parameters.values()])

    @property
    def pip(self) -> Array:
        """No numbers `(P,)`."""
        return np.full(len(self.parameters), np.nan)

    @property
    def pip_mcse(self) -> Array:
        """No numbers `(P,)`."""
        return self.pip

    @property
    def selected(self) -> Bools:
        """All `(P,)`."""
        return np.ones(len(self.parameters), dtype=bool)

    @property
    def given(self) -> Bools:
        """None `(P,)`."""
        return np.zeros(len(self.parameters), dtype=bool)

    @property
    def warnings(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def differs(self) -> Mapping[str, tuple[str, float]]:
        """None."""
        return {}

    @property
    def doubtful(self) -> bool:
        """Never."""
        return False

    def leading(self, count: int = 5) -> list[tuple[tuple[str, ...], float]]:
        """No models."""
        return []

    def interval(self, probability: float = 0.95) -> Array:
        """Their intervals `(P, 2)`."""
        return np.array([one.interval(probability) for one in self.parameters.values()])


def rows_shown(result: Findings) -> list[tuple[str, Shown]]:
    """All equations with their labels as they are shown, and after them the parameters."""
    rows: list[tuple[str, Shown]] = [(label, equation) for label, equation in written(result).labelled()]
    return [*rows, (LABEL, ParameterRows(result.parameters))] if result.parameters else rows


def units_shown(result: Findings) -> list[list[str]]:
    """The units of the coefficients of `rows_shown`, none where they are not known."""
    found = [*coefficient_units(result).values()]
    return [*found, [""] * len(result.parameters)] if found and result.parameters else found


def written(result: Some) -> Some:
    """The same result, the numbers in its given expressions rounded as their errors allow."""
    found = result.parameters
    if not found:
        return result
    shown = {name: _rounded(one.mean, one.sd) for name, one in found.items()}

    def filled(texts: Mapping[str, str]) -> dict[str, str]:
        return {key: renamed(text, shown) for key, text in texts.items()}

    drift, parts = filled(found.written["drift"]), filled(found.written["parts"])
    rows = {
        state: equation if state not in parts else _called(equation, parts[state])
        for state, equation in result.drift.items()
    }
    named = {key: text for key, text in found.written["noise"].items() if found.slopes(text)}
    noise = {tuple(key.split(",")): text for key, text in filled(named).items()}
    diffusion = {
        pair: equation if pair not in noise else _called(equation, noise[pair])
        for pair, equation in result.diffusion.items()
    }
    return replace(result, known_drift=drift, drift=Drift(rows), diffusion=Diffusion(diffusion))


def _rounded(value: float, sd: float) -> str:
    text = Rounding.of(value, sd).write(value)
    return f"({text})" if text.startswith("-") else text


def _called(equation: Equation, text: str) -> Equation:
    """An equation whose given term is written in another way, with the coefficient 1."""
    given = equation.given
    terms = [text if own else term for own, term in zip(given, equation.terms)]
    limits = None if equation.limits is None else np.where(given[:, None], 1.0, equation.limits)
    return replace(equation, terms=terms, mean=np.where(given, 1.0, equation.mean), limits=limits)
