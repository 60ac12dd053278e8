"""`Options`: the one list of what may be asked beside the data and its candidate terms, each checked by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from itoscope.common.prior import Prior
from itoscope.common.types import BackendName, Diffusion, Ensemble, Order, Sampler, Scheme, Weights
from itoscope.errors import argument_error
from itoscope.library.library import Library

__all__ = ["Options"]

CHOICES: dict[str, tuple[Any, ...]] = {
    "order": get_args(Order),
    "diffusion": get_args(Diffusion),
    "scheme": get_args(Scheme),
    "weights": ("auto", None),
    "ensemble": get_args(Ensemble),
    "sampler": get_args(Sampler),
}
WHOLE = {"n_chains": 1, "n_burn": 0, "max_rounds": 1}
"""Smallest value of the whole numbers."""


@dataclass(frozen=True)
class Options:
    """What `discover` was asked, as given; `discover` says what each means.

    A new option is a field here, a line in the signatures of `discover` and `SDEDiscovery`, which a test holds to this
    list, and is read where it matters.

    Raises
    ------
    ArgumentError
        For the first option outside its range.
    """

    library: Library | None = None
    order: Order = 1
    measurement_noise: float | Literal["estimate"] = 0.0
    diffusion_library: Library | None = None
    diffusion: Diffusion = "full"
    known_drift: Mapping[str, str] | None = None
    scheme: Scheme = "trapezoid"
    weights: Weights = "auto"
    ensemble: Ensemble = "pool"
    prior: Prior | None = None
    sampler: Sampler = "gibbs"
    n_chains: int = 4
    n_samples: int | Literal["auto"] = 2000
    n_burn: int = 1000
    threshold: float = 0.5
    seed: int | None = None
    backend: BackendName | None = None
    progress: Callable[[int], Any] | bool | None = None
    max_rounds: int = 8
    weight_floor: float = 1e-2
    states: Sequence[str] | None = None
    observed: Mapping[str, str] | Sequence[str] | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Those among the arguments of a call, by name."""
        return cls(**{f.name: arguments[f.name] for f in fields(cls) if f.name in arguments})

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if not any(value is choice or value == choice for choice in allowed):
                raise argument_error(name, value, "one of " + ", ".join(map(repr, allowed)))
        noise = self.measurement_noise
        if noise != "estimate" and not _is_number(noise, 0.0):
            raise argument_error(
                "measurement_noise", noise, "'estimate', or a standard deviation of at least 0"
            )
        for name, low in WHOLE.items():
            value = getattr(self, name)
            if not _is_whole(value, low):
                raise argument_error(name, value, f"a whole number of at least {low}")
        if not (_is_number(self.threshold, 0.0) and 0 < self.threshold < 1):
            raise argument_error("threshold", self.threshold, "a probability between 0 and 1")
        if not (_is_number(self.weight_floor, 0.0) and 0 < self.weight_floor < 1):
            raise argument_error("weight_floor", self.weight_floor, "a share between 0 and 1")
        if self.seed is not None and not _is_whole(self.seed, 0):
            raise argument_error("seed", self.seed, "a whole number of at least 0, or None")
        for name in ("library", "diffusion_library"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Library):
                raise argument_error(name, value, "a Library, such as Library.polynomials(3)")


def _is_whole(value: Any, low: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= low)


def _is_number(value: Any, low: float) -> bool:
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and bool(np.isfinite(value) and value >= low)
