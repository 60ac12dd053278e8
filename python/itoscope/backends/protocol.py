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

    # -- integrate -------------------------------------------------------------------------------------------
    def simulate(
        self,
        drift: Sequence[str],
        diffusion: Sequence[Sequence[str]] | None,
        gamma: Sequence[Sequence[str]] | None,
        states: Sequence[str],
        x0: Array,
        *,
        dt: float,
        n_steps: int,
        scheme: str,
        substeps: int,
        keep_every: int,
        seed: int,
        noise: Array | None,
        progress: Progress,
    ) -> tuple[Array, NDArray[np.int64]]:
        """Simulate paths of an SDE.

        Parameters
        ----------
        drift : m expressions over `states`
        diffusion : m x n expressions, or None when `gamma` is given
        gamma : m x m expressions of the covariance, or None; takes "euler-maruyama" and n = m noises, which
            a Cholesky factor mixes at every step (the lower triangle is read, semidefinite is allowed)
        states : m names
        x0 : (n_paths, m)
        dt : time between two steps, each made of `substeps` steps of the scheme of length dt / substeps
        n_steps : every `keep_every`-th of them is kept
        scheme : "euler-maruyama", "milstein" or "taylor15"
        seed : one stream per path; per fine step it gives n normals for dW, then for "taylor15" n for dZ
        noise : increments dW (n_paths, n_steps * substeps, n) in place of the stream's, or None. For
            "taylor15" it may have 2 n columns, dW and then dZ; with n columns dZ is drawn given dW.
        progress : is called with the number of path-steps done

        Returns
        -------
        samples : (n_paths, n_steps // keep_every + 1, m), first `x0`; NaN once a path left the finite range
        lengths : (n_paths,) number of finite samples of each path
        """
