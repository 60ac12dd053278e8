"""Whole systems with their probability: a model of every equation at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itoscope.common import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.posterior.equation import Equation

__all__ = ["SystemModel", "system_models"]


@dataclass(frozen=True)
class SystemModel:
    """The `terms` of every unknown equation by its label, `dx2` or `Gamma[x2, x2]`, and their `mass` together."""

    terms: dict[str, tuple[str, ...]]
    mass: float


def system_models(named: Sequence[tuple[str, Equation]], count: int = 10) -> list[SystemModel]:
    """The `count` most probable systems, the most probable first.

    Equations are independent given their moments: the mass of a system is the product of those of its equations'
    models, and the best of a product are among the best of its factors.
    """
    checks.count("count", count)
    systems: list[tuple[tuple[tuple[str, ...], ...], float]] = [((), 1.0)]
    for _, equation in named:
        joined = [
            ((*models, terms), mass * share)
            for models, mass in systems
            for terms, share in equation.leading(count)
        ]
        systems = sorted(joined, key=lambda one: -one[1])[:count]
    labels = [label for label, _ in named]
    return [SystemModel(dict(zip(labels, models)), mass) for models, mass in systems]
