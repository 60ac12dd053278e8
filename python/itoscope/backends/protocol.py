"""What a backend module must provide: the list of stages, one section per stage, plain arrays in and out.

Conventions: `paths` is a sequence of C-contiguous float64 arrays `(n_i, n_inputs)`; `times` a sequence of
the same length holding the step length of an even path (a float) or its time stamps (`(n_i,)` float64).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Backend", "Program", "Progress"]

Array = NDArray[np.float64]
Progress = Callable[[int], Any] | None


class Program(Protocol):
    """Expressions compiled over named inputs: the terms of a library, or the coefficients of an SDE."""

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs: the states, then one per custom column."""

    @property
    def expressions(self) -> list[str]:
        """The expressions as given, one per output."""

    def evaluate(self, x: Array) -> Array:
        """Values `(n, K)` at the rows of `x` `(n, n_inputs)`."""

    def gradient(self, x: Array) -> Array:
        """Derivatives `(n, K, n_inputs)` at the rows of `x` `(n, n_inputs)`."""


class Backend(Protocol):
    """The stages."""

    # -- library ---------------------------------------------------------------------------------------------
    def compile(self, expressions: Sequence[str], inputs: Sequence[str]) -> Program:
        """Compile expressions over the named inputs.

        Raises
        ------
        ExpressionError
            With the character at fault.
        """
