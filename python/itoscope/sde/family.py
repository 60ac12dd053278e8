"""Models that differ in their numbers alone: one compiled system whose paths have their own parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.common.types import Array

if TYPE_CHECKING:
    from itoscope.sde.sde import SDE

__all__ = ["NUMBER", "Family", "families"]

# A number that is not part of a name, and no exponent.
NUMBER = re.compile(r"(?<![\w.^])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")


@dataclass(frozen=True)
class Family:
    """Equations of one form.

    Attributes
    ----------
    states : list of str
    drift_expressions, diffusion_expressions, gamma_expressions
        As of an `SDE`, with names where the members have different numbers.
    noise_structure : str
    members : list of int
        Which of the models are of this form.
    parameters : list of str
        The names.
    values : (n_members, n_parameters) array
        What they stand for in each member.
    """

    states: list[str]
    drift_expressions: list[str]
    diffusion_expressions: list[list[str]] | None
    gamma_expressions: list[list[str]] | None
    noise_structure: str
    members: list[int]
    parameters: list[str]
    values: Array

    @property
    def n_noise(self) -> int:
        """Number of Brownian motions."""
        return len(self.states) if self.diffusion_expressions is None else len(self.diffusion_expressions[0])


def families(models: Sequence[SDE]) -> list[Family]:
    """The models grouped by their form, in the order in which the forms first come.

    Examples
    --------
    >>> from itoscope.sde.sde import SDE
    >>> (family,) = families([SDE(["-1.5*x^3"], [["0.5"]], ["x"]), SDE(["-2*x^3"], [["0.5"]], ["x"])])
    >>> family.drift_expressions, family.values.tolist()
    (['-c_1*x^3'], [[1.5], [2.0]])
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, model in enumerate(models):
        drift, diffusion, gamma = _mapped(model, lambda text: NUMBER.sub("#", text))
        form = (tuple(drift), _hashable(diffusion), _hashable(gamma), model.noise_structure)
        groups.setdefault(form, []).append(number)
    return [_family(models, members) for members in groups.values()]


def _family(models: Sequence[SDE], members: list[int]) -> Family:
    first = models[members[0]]
    numbers = np.array([_numbers(models[member]) for member in members])
    differ = (numbers != numbers[0]).any(axis=0) if numbers.size else np.zeros(numbers.shape[1], dtype=bool)
    prefix = "c_"
    while any(name.startswith(prefix) for name in first.states):
        prefix += "_"
    names = [f"{prefix}{i + 1}" for i in range(int(differ.sum()))]
    waiting = iter(names)
    place = iter(differ)
    drift, diffusion, gamma = _mapped(
        first, lambda text: NUMBER.sub(lambda match: next(waiting) if next(place) else match[0], text)
    )
    return Family(
        list(first.states),
        drift,
        diffusion,
        gamma,
        first.noise_structure,
        members,
        names,
        np.ascontiguousarray(numbers[:, differ]),
    )


Rows = list[list[str]] | None


def _mapped(model: SDE, change: Callable[[str], str]) -> tuple[list[str], Rows, Rows]:
    """The expressions that are simulated, changed one after the other."""
    drift = [change(text) for text in model.drift_expressions]
    rows = model.diffusion_expressions
    if rows is not None:
        return drift, [[change(text) for text in row] for row in rows], None
    return drift, None, [[change(text) for text in row] for row in model.gamma_expressions or []]


def _numbers(model: SDE) -> list[float]:
    found: list[float] = []

    def collect(text: str) -> str:
        found.extend(float(match) for match in NUMBER.findall(text))
        return text

    _mapped(model, collect)
    return found


def _hashable(rows: Rows) -> tuple[tuple[str, ...], ...] | None:
    return None if rows is None else tuple(map(tuple, rows))
