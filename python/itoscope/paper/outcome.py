"""What one study in one form gave: an estimate of each true term, and the terms that should not be there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from itoscope.expressions.grammar import renamed
from itoscope.result.findings import Key as Equated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.discovery.result import Discovery
    from itoscope.paper.studies import Key, Study
    from itoscope.posterior.equation import Equation

__all__ = ["Estimate", "Outcome", "equations_as_in", "outcome_of", "velocity_names"]


@dataclass(frozen=True)
class Estimate:
    """A coefficient, its standard deviation, the probability of its term, and whether the term was selected."""

    mean: float
    sd: float
    pip: float
    selected: bool

    def __str__(self) -> str:
        if not self.selected:
            return f"not found (PIP {self.pip:.2f})"
        return f"{_digits(self.mean, self.sd)} ± {_digits(self.sd, self.sd)} (PIP {self.pip:.2f})"


def _digits(value: float, sd: float) -> str:
    """`value` to the second digit of its standard deviation, at most six significant."""
    if not sd > 0:
        return f"{value:.6g}"
    decimals = 1 - int(f"{sd:.1e}".partition("e")[2])
    return f"{value:.{decimals}f}" if 0 <= decimals <= 6 else f"{round(value, decimals):.6g}"


@dataclass
class Outcome:
    """One study, form and seed."""

    study: str
    form: str
    seed: int
    seconds: float
    estimates: dict[Key, Estimate]
    """Of each true term; absent where the equation was not asked for."""
    false: dict[str, list[str]] = field(default_factory=dict)
    """Selected terms that are not true, by equation; an equation without any is not listed."""
    noise: float = 0.0
    """Measurement noise that was found, as a share of the simulated one; 0 where none was sought."""
    warnings: list[str] = field(default_factory=list)

    def exact(self, label: str) -> bool:
        """Whether the selected terms of an equation are exactly the true ones."""
        mine = [e.selected for (equation, _), e in self.estimates.items() if equation == label]
        return all(mine) and not self.false.get(label)


def velocity_names(result: Discovery, known_drift: Mapping[str, str]) -> dict[str, str]:
    """What the problem calls each velocity that `discover` named itself: `{"v1": "x2"}`."""
    called = {}
    for position, velocity in result.known_drift.items():
        if position in known_drift and velocity != known_drift[position]:
            called[velocity] = known_drift[position]
    return called


def equations_as_in(result: Discovery, names: Mapping[str, str]) -> list[tuple[str, Equation, list[str]]]:
    """The equations of a result with their labels and terms in other names of the states."""
    found = []
    for (row, column), equation in result.keyed():
        key = Equated(names.get(row, row), None if column is None else names.get(column, column))
        found.append((str(key), equation, [renamed(term, names) for term in equation.terms]))
    return found


def outcome_of(
    study: Study, form: str, seed: int, seconds: float, result: Discovery, known_drift: Mapping[str, str]
) -> Outcome:
    """Hold a result against the truth; velocities get the names they have in the problem."""
    names = velocity_names(result, known_drift)
    truth = {key: value for key, value in study.truth().items() if value != 0}
    found = Outcome(study.name, form, seed, seconds, {}, warnings=list(result.warnings))
    for called, equation, terms in equations_as_in(result, names):
        for k, term in enumerate(terms):
            inside = bool(equation.selected[k])
            if (called, term) in truth:
                found.estimates[called, term] = Estimate(
                    float(equation.mean[k]), float(equation.sd[k]), float(equation.pip[k]), inside
                )
            elif inside:
                found.false.setdefault(called, []).append(term)
    return found
