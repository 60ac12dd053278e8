"""Jumps: steps whose noise is of the wide part of its law rather than of its bulk; and that law, as a result has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from itoscope.result.diagnostics import StepLaw

__all__ = ["Jump", "numbers_of", "variance_of"]


class Jump(NamedTuple):
    """A step that is a jump: whose, where it ends, how far it goes beyond the drift.

    `distance` is in standard deviations of Gamma over the step, `probability` that of being a jump.
    """

    row: str
    path: int
    sample: int
    time: float
    size: float
    distance: float
    probability: float


def numbers_of(law: StepLaw) -> tuple[float, ...]:
    """What shapes a law, as `stats.heavy` has it."""
    shape = law["shape"]
    return (1.0 / shape["degrees"][0],) if "degrees" in shape else (shape["share"][0], shape["width"][0])


def variance_of(law: tuple[float, ...]) -> float:
    """Variance of a law over the square of its scale.

    Examples
    --------
    >>> variance_of((0.25,)), variance_of((0.5,)), variance_of((0.01, 10.0))
    (2.0, inf, 1.99)
    """
    if len(law) == 2:
        return 1.0 + law[0] * (law[1] ** 2 - 1.0)
    return 1.0 / (1.0 - 2.0 * law[0]) if law[0] < 0.5 else float("inf")
