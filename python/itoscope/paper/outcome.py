"""What one study in one form gave: an estimate of each true term, and the terms that should not be there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from itoscope.discovery.result import Discovery
from itoscope.paper.studies import Key, Study

__all__ = ["Estimate", "Outcome", "outcome_of"]


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
    renamed = {}
    for position, velocity in result.known_drift.items():
        if position in known_drift and velocity != known_drift[position]:
            renamed[velocity] = known_drift[position]
    return renamed


def outcome_of(
    study: Study, form: str, seed: int, seconds: float, result: Discovery, known_drift: Mapping[str, str]
) -> Outcome:
    """Hold a result against the truth; velocities get the names they have in the problem."""
    names = velocity_names(result, known_drift)
    truth = {key: value for key, value in study.truth().items() if value != 0}
    found = Outcome(study.name, form, seed, seconds, {}, warnings=list(result.warnings))
    for label, equation in result.labelled():
        called = renamed(label, names)
        for k, term in enumerate(renamed(t, names) for t in equation.terms):
            inside = bool(equation.selected[k])
            if (called, term) in truth:
                found.estimates[called, term] = Estimate(
                    float(equation.mean[k]), float(equation.sd[k]), float(equation.pip[k]), inside
                )
            elif inside:
                found.false.setdefault(called, []).append(term)
    return found


def renamed(text: str, names: Mapping[str, str]) -> str:
    """`text` with whole names replaced: `dv1`, `Gamma[v1, v1]`, `sgn(v1)`, `x1^2 v1`."""
    for old, new in names.items():
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(old)}(?![A-Za-z0-9_])", new, text)
        text = f"d{new}" if text == f"d{old}" else text
    return text
