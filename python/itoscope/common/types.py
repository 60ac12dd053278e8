"""The types that every floor shares: arrays, times, what listens to progress, the words an argument may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "BackendName",
    "Bools",
    "Diffusion",
    "DiffusionLaw",
    "DiscreteScheme",
    "Draw",
    "Ensemble",
    "Fitting",
    "Forcing",
    "Integers",
    "Kernel",
    "Level",
    "NoiseGroups",
    "NoiseLaw",
    "Offset",
    "OnDivergence",
    "Order",
    "Progress",
    "Sampler",
    "Scheme",
    "Style",
    "Symmetry",
    "Times",
    "Weights",
]

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]
#: The times of a path: its step length where it is even, else its time stamps `(n,)`.
Times = float | Array
#: Receives the units of work done, over and over; None where nobody listens.
Progress = Callable[[int], Any] | None
#: One recorded random draw: kind ("uniform", "normal", "gamma", "beta"), its shapes (zero if none), its value.
Draw = tuple[str, float, float, float]

#: How a regression takes its rows from the samples.
Scheme = Literal["trapezoid", "euler"]
#: How measured states are fitted: by a regression, by the filter, or by that where the step is too coarse for one.
Fitting = Literal["auto", "trapezoid", "euler", "filter"]
#: How an SDE is stepped.
DiscreteScheme = Literal["euler-maruyama", "milstein", "taylor15"]
#: Which entries of the diffusion covariance are sought.
Forcing = Literal["white", "coloured", "peaked", "memory"]
Kernel = tuple[Literal["memory"], int]
Symmetry = Literal["rotation", "exchange", "odd"]
Diffusion = Literal["full", "diagonal", "constant", "none"]
#: Chains, enumeration of all models, or that of the two which costs less.
Sampler = Literal["auto", "gibbs", "exact"]
#: Every step of every path is a row, or the paths are averaged at each time first.
Ensemble = Literal["pool", "mean"]
#: The law of the noise of a column.
NoiseLaw = Literal["normal", "student", "outliers"]
DiffusionLaw = Literal["normal", "student", "jumps"]
#: The zero of a sensor: a constant, or a slow random walk.
Offset = Literal["estimate", "drift", "slow"]
#: How noisy a column is.
Level = float | Literal["estimate"]
NoiseGroups = Sequence[Sequence[str] | str] | Mapping[Any, Any]
"""Groups of columns, or by groups of columns a correlation, a matrix of these, or "estimate"."""
#: Whether steps are weighed by the inverse noise variance, found in rounds.
Weights = Literal["auto"] | None
#: The data are states, or positions whose velocities were not measured.
Order = Literal[1, 2]
#: How equations are given.
Style = Literal["text", "latex", "sympy"]
#: A path that left the finite range ends there with a warning, or the call with an error.
OnDivergence = Literal["cut", "raise"]
BackendName = Literal["rust", "reference"]
