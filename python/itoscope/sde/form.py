"""What a model is to those who run or show it: its equations as expressions, whoever wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Form"]


class Form(Protocol):
    """`dX = f(X) dt + g(X) dB` of m states, with `Gamma = g g^T`; `SDE` has it, and a `Family` with named numbers."""

    @property
    def states(self) -> list[str]:
        """m names."""

    @property
    def inputs(self) -> Sequence[str]:
        """Names of what drives the states."""

    @property
    def drift_expressions(self) -> list[str]:
        """f, one expression per state."""

    @property
    def diffusion_expressions(self) -> list[list[str]] | None:
        """g, m rows of n expressions; None where only a general Gamma is known."""

    @property
    def gamma_expressions(self) -> list[list[str]] | None:
        """Gamma, m rows of m expressions, where it was given in place of g."""

    @property
    def noise_structure(self) -> str:
        """Which schemes fit; see `Operators.structure`."""

    @property
    def n_noise(self) -> int:
        """Number of Brownian motions n; m where only a general Gamma is known."""
