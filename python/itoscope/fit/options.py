"""`Options`: the one list of what may be asked beside the data and its candidate terms, each checked by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from itoscope.common import checks
from itoscope.common.prior import Prior
from itoscope.common.types import (
    BackendName,
    Diffusion,
    DiffusionLaw,
    Ensemble,
    Fitting,
    Forcing,
    Kernel,
    Level,
    NoiseGroups,
    NoiseLaw,
    Offset,
    Order,
    Sampler,
    Symmetry,
    Weights,
)
from itoscope.errors import ArgumentError, argument_error
from itoscope.fit.numbers import check_parameters
from itoscope.fit.sensors.groups import check_groups
from itoscope.fit.sensors.hidden import check_offsets
from itoscope.fit.sensors.levels import check_noise
from itoscope.fit.sensors.resolution import check_resolution
from itoscope.fit.shapers import check_forcing
from itoscope.fit.symmetry import check_symmetry, check_ties
from itoscope.fit.terms import check_bounds, check_named
from itoscope.library.library import Library
from itoscope.posterior.sampling import Sampling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.fit.sensors.listed import Sensor


__all__ = ["Options", "beyond_streams", "check_streamed"]

CHOICES: dict[str, tuple[Any, ...]] = {
    "order": get_args(Order),
    "scheme": get_args(Fitting),
    "weights": ("auto", None),
    "ensemble": get_args(Ensemble),
}
"""The words that some options may be; those of the chains are checked where they are sampled."""

NAMED_CHOICES: dict[str, tuple[Any, ...]] = {
    "diffusion": get_args(Diffusion),
    "noise_law": get_args(NoiseLaw),
    "diffusion_law": get_args(DiffusionLaw),
}
"""The words that some may be for all rows or columns, or by their names."""

STREAMED: dict[str, Any] = {
    "order": 1,
    "ensemble": "pool",
    "inputs": None,
    "states": None,
    "observed": None,
    "noise_law": "normal",
    "diffusion_law": "normal",
    "noise_groups": None,
    "resolution": None,
    "offset": None,
    "forcing": "white",
    "vary": None,
    "parameters": None,
}
"""What options are of a recording that is read in blocks, beside noise, of which there is none."""


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
    measurement_noise: Level | Mapping[str, Any] | None = None
    noise_law: NoiseLaw | Mapping[str, NoiseLaw] = "normal"
    noise_groups: NoiseGroups | None = None
    resolution: Mapping[str, float] | None = None
    offset: Mapping[str, Offset] | None = None
    diffusion_library: Library | None = None
    diffusion: Diffusion | Mapping[str, Diffusion] = "full"
    diffusion_law: DiffusionLaw | Mapping[str, DiffusionLaw] = "normal"
    known_drift: Mapping[str, str] | None = None
    known_diffusion: Mapping[str | tuple[str, str], str | float] | None = None
    scheme: Fitting = "auto"
    weights: Weights = "auto"
    ensemble: Ensemble = "pool"
    prior: Prior | None = None
    sampler: Sampler = "auto"
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
    observed: Mapping[str, str | Sensor] | Sequence[str | Sensor] | None = None
    inputs: Sequence[str] | Mapping[str, Any] | None = None
    forcing: Forcing | Mapping[str, Forcing | Kernel] = "white"
    exclude: Mapping[str, Sequence[str]] | None = None
    include: Mapping[str, Sequence[str]] | None = None
    bounds: Mapping[str, Mapping[str, tuple[float | None, float | None]]] | None = None
    vary: Mapping[str, Sequence[str]] | None = None
    symmetry: Symmetry | None = None
    ties: Sequence[Mapping[str, str]] | None = None
    parameters: Mapping[str, float | tuple[float | None, float, float | None]] | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Those among the arguments of a call, by name."""
        return cls(**{f.name: arguments[f.name] for f in fields(cls) if f.name in arguments})

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            checks.choice(name, getattr(self, name), allowed)
        for name, allowed in NAMED_CHOICES.items():
            checks.choices(name, getattr(self, name), allowed)
        check_noise(self.measurement_noise)
        check_groups(self.noise_groups)
        check_resolution(self.resolution)
        check_offsets(self.offset)
        checks.count("max_rounds", self.max_rounds)
        checks.share("weight_floor", self.weight_floor)
        if self.states is not None:
            object.__setattr__(self, "states", checks.names(self.states, "states"))
        if self.prior is not None and not isinstance(self.prior, Prior):
            raise argument_error("prior", self.prior, "a Prior, such as Prior(a_p=1.0)")
        if self.known_drift is not None and not isinstance(self.known_drift, Mapping):
            raise argument_error("known_drift", self.known_drift, "states and their drift, as {'x1': 'x2'}")
        if self.known_diffusion is not None and not isinstance(self.known_diffusion, Mapping):
            wanted = "states and the noise of their rows, as {'u': '0.04'}"
            raise argument_error("known_diffusion", self.known_diffusion, wanted)
        check_forcing(self.forcing)
        check_named(self.exclude, "exclude")
        check_named(self.include, "include")
        check_bounds(self.bounds)
        check_named(self.vary, "vary")
        check_symmetry(self.symmetry)
        check_ties(self.ties)
        if self.symmetry in ("rotation", "exchange") and self.ties:
            raise ArgumentError(
                f"ties: beside symmetry={self.symmetry!r}, which ties all coefficients; give one of them"
            )
        check_parameters(self.parameters)
        for name in ("library", "diffusion_library"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Library):
                raise argument_error(name, value, "a Library, such as Library.polynomials(3)")

    def sampling(self) -> Sampling:
        """How the posterior of each equation is sampled.

        Raises
        ------
        ArgumentError
            For a setting of the chains outside its range.
        """
        return Sampling(
            sampler=self.sampler,
            n_chains=self.n_chains,
            n_samples=self.n_samples,
            n_burn=self.n_burn,
            seed=self.seed,
            threshold=self.threshold,
            backend=self.backend,
        )


def beyond_streams(arguments: Mapping[str, Any]) -> str | None:
    """The first of the options by name that cannot be asked of a recording that is read in blocks, or None."""
    beyond = (name for name, allowed in STREAMED.items() if arguments.get(name, allowed) != allowed)
    noisy = "measurement_noise" if arguments.get("measurement_noise") not in (None, 0) else None
    return next(beyond, noisy)


def check_streamed(options: Options, *, streamed: bool = True) -> None:
    """Raise for what cannot be asked of a recording that is read in blocks, where it is one.

    Raises
    ------
    ArgumentError
        For an option of noisy or driven recordings, or of means over them.
    """
    name = beyond_streams(vars(options)) if streamed else None
    if name is not None:
        whole = "of a stream; read the recording whole, itoscope.read(...)"
        raise argument_error(name, getattr(options, name), f"{STREAMED.get(name, 0)!r} {whole}")
