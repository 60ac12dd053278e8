"""Ensembles from a discovery, with its mean model or with models drawn from its posterior."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from itoscope.common import checks
from itoscope.common.progress import Reporter
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, argument_error
from itoscope.expressions.ito import SCHEMES
from itoscope.result.forecast import Forecast, summed_up
from itoscope.result.sizes import sizes_of
from itoscope.result.units import shown_units
from itoscope.sde.family import Family, families
from itoscope.sde.run import Run, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from itoscope.common.types import Array, DiscreteScheme, Integers, Progress
    from itoscope.result.findings import Findings
    from itoscope.result.sizes import Sizes
    from itoscope.sde.family import Draws
    from itoscope.sde.form import Form

__all__ = ["Asked", "best_scheme", "forecast", "simulate", "walked"]

#: Models drawn from the posterior for one ensemble; more paths than that share them in turn.
MAX_MODELS = 100
#: Substeps where only Euler-Maruyama fits: its own bias is of the order of the step.
EULER_SUBSTEPS = 10
#: The scheme that takes noise of any size, for it has no terms of its square.
SIZED: DiscreteScheme = "euler-maruyama"
#: Numbers of noise that are held at a time, where they are drawn beforehand.
MOST_NOISE = 10_000_000
#: Probabilities of the central bands of a forecast, unless others are asked for.
LEVELS = (0.5, 0.9)


@dataclass(frozen=True)
class Asked:
    """What an ensemble was asked beside its starts, not checked yet; see `Discovery.simulate`."""

    duration: float | None = None
    n_steps: int | None = None
    dt: float | None = None
    n_paths: int = 1
    posterior: bool = True
    scheme: DiscreteScheme | None = None
    substeps: int | None = None
    keep_every: int = 1
    seed: int | None = None
    backend: str | None = None
    progress: bool | Progress = None
    models: int = MAX_MODELS
    """Models drawn from the posterior, at most; path i has model `i % models`."""
    inputs: Mapping[str, Any] | None = None
    start: float = 0.0
    sizes: Sizes | None = None
    """What the steps of rows are multiplied by, where their noise is not normal."""

    def grid(self, dt: float | None) -> tuple[float, int]:
        """Length and number of steps; `dt` is that of the data."""
        step = self.dt if self.dt is not None else dt
        if step is None:
            raise ArgumentError("dt: give the time step of the simulation, the data have uneven steps")
        if (self.duration is None) == (self.n_steps is None):
            raise ArgumentError("simulate needs one of duration and n_steps")
        step = checks.positive("dt", step)
        if self.n_steps is not None:
            return step, checks.count("n_steps", self.n_steps)
        return step, round(checks.positive("duration", self.duration) / step)

    def scheme_for(self, form: Form) -> tuple[DiscreteScheme, int]:
        """Scheme and substeps for equations of one form."""
        if self.scheme is not None:
            checks.choice("scheme", self.scheme, tuple(SCHEMES))
        if self.sizes is not None:
            if self.scheme not in (None, SIZED):
                raise argument_error("scheme", self.scheme, f"{SIZED!r} beside a diffusion_law")
            return SIZED, checks.count("substeps", EULER_SUBSTEPS if self.substeps is None else self.substeps)
        name = self.scheme if self.scheme is not None else best_scheme(form)
        usual = EULER_SUBSTEPS if name == "euler-maruyama" else 1
        return name, checks.count("substeps", usual if self.substeps is None else self.substeps)


class Share(NamedTuple):
    """The paths that have models of one form, and how they are stepped."""

    form: Family
    paths: Integers
    """Their numbers."""
    values: Array
    """`(n_paths, n_parameters)`: the numbers of their models."""
    scheme: DiscreteScheme
    substeps: int


def best_scheme(sde: Form) -> DiscreteScheme:
    """Name of the scheme of the highest strong order that the noise of `sde` allows."""
    fits = [scheme for scheme in SCHEMES.values() if sde.noise_structure in scheme.structures]
    return max(fits, key=lambda scheme: scheme.strong_order).name


def simulate(result: Findings, x0: ArrayLike, asked: Asked) -> Trajectories:
    """Simulate; see `Discovery.simulate`."""
    step, count = asked.grid(result.data_summary.get("dt"))
    n_paths = checks.count("n_paths", asked.n_paths)
    seed = checks.seed(asked.seed)
    starts = _starts(_of_all(result, x0), n_paths, len(result.states))
    drawn = checks.choice("posterior", asked.posterior, (True, False))
    models = result.draw_models(min(n_paths, asked.models), seed) if drawn else result.mean_model()
    asked = _of_the_mean(result, asked)
    found, diverged = _paths(models, np.arange(n_paths) % len(models), starts, asked, (step, count, seed))
    if diverged:
        warnings.warn(
            f"{len(diverged)} of {n_paths} paths left the finite range, path {min(diverged)} first; they end there "
            "(see Trajectories.diverged)",
            RuntimeWarning,
            stacklevel=3,
        )
    made = Trajectories(
        found,
        dt=step * asked.keep_every,
        names=result.states,
        units=shown_units(result, result.states),
        diverged=sorted(diverged),
        seed=seed,
    )
    made.time_unit = result.data_summary.get("time_unit", "")
    return made


def walked(
    result: Findings, models: Draws, owner: Integers, starts: Array, asked: Asked, seed: int
) -> list[Array]:
    """Samples of paths `(n + 1, m)` from their starts, path `i` of the model `owner[i]`; one that diverges is cut."""
    asked = _of_the_mean(result, asked)
    return _paths(models, owner, starts, asked, (*asked.grid(result.data_summary.get("dt")), seed))[0]


def _of_the_mean(result: Findings, asked: Asked) -> Asked:
    """The same with nothing that a recording has of its own, unless told, and with the laws of its steps."""
    asked = replace(asked, sizes=sizes_of(result))
    none = dict.fromkeys(result.differences, 0.0)
    return replace(asked, inputs=none | dict(asked.inputs or {})) if none else asked


def _paths(
    models: Draws, owner: Integers, starts: Array, asked: Asked, going: tuple[float, int, int]
) -> tuple[list[Array], list[int]]:
    """Simulated paths, and the numbers of those that left the finite range; `going`: step, number of steps, seed."""
    step, count, seed = going
    shares = _shares(models, owner, asked)
    total = count * sum(len(share.paths) * share.substeps for share in shares)
    found: dict[int, Array] = {}
    diverged: list[int] = []
    with (
        Reporter(asked.progress).stage("simulating", total, "path-steps") as report,
        warnings.catch_warnings(),
    ):
        # One sentence about all paths that left the finite range, not one per form.
        warnings.filterwarnings("ignore", message=".* left the finite range", category=RuntimeWarning)
        before = 0
        for number, share in enumerate(shares):
            run = Run(
                step, count, len(share.paths), share.scheme, share.substeps, asked.keep_every,
                seed=(seed + number) % 2**63, backend=asked.backend, inputs=asked.inputs, start=asked.start,
                progress=False if report is None else partial(_add, report, before),
            )  # fmt: skip
            for part, own in _parts(share, starts, run, asked.sizes):
                found |= dict(zip(own.tolist(), part.paths))
                diverged += [int(own[i]) for i in part.diverged or ()]
            before += len(share.paths) * count * share.substeps
    return [found[i] for i in range(len(owner))], diverged


def _parts(
    share: Share, starts: Array, run: Run, sizes: Sizes | None
) -> Iterator[tuple[Trajectories, Integers]]:
    """The paths of a share, some at a time where their noise is drawn beforehand, and their numbers."""
    if sizes is None:
        named = (share.form.parameters, share.values)
        yield simulated(share.form, starts[share.paths], run, parameters=named), share.paths
        return
    rng = np.random.default_rng(run.seed)
    fine = run.n_steps * run.substeps
    many = max(1, MOST_NOISE // (fine * share.form.n_noise))
    for first in range(0, len(share.paths), many):
        some = slice(first, first + many)
        own = share.paths[some]
        noise = sizes.noise(share.form, len(own), fine, run.dt / run.substeps, rng)
        named = (share.form.parameters, share.values[some])
        part = replace(run, n_paths=len(own), noise=noise, progress=False)
        yield simulated(share.form, starts[own], part, parameters=named), own


def forecast(result: Findings, x0: ArrayLike, asked: Asked, levels: Sequence[float] = LEVELS) -> Forecast:
    """Simulate an ensemble and sum it up; see `Discovery.forecast`."""
    if not checks.is_list(levels):
        raise argument_error("levels", levels, "a list of probabilities, as (0.5, 0.9)")
    levels = tuple(levels)
    for level in levels:
        checks.share("levels", level)
    return summed_up(simulate(result, x0, asked), tuple(levels), result.circles)


def _of_all(result: Findings, x0: ArrayLike) -> ArrayLike:
    """Starts with zeros for what recordings have of their own, where they have none."""
    starts, more = checks.reals("x0", x0), len(result.standing)
    if not more or starts.ndim not in (1, 2) or starts.shape[-1] != len(result.states) - more:
        return x0
    return np.concatenate([starts, np.zeros((*starts.shape[:-1], more))], axis=-1)


def _starts(x0: ArrayLike, n_paths: int, m: int) -> Array:
    """Where each path starts, `(n_paths, m)`."""
    starts = checks.reals("x0", x0)
    if starts.shape == (m,):
        starts = np.broadcast_to(starts, (n_paths, m))
    if starts.shape != (n_paths, m):
        raise argument_error("x0", f"shape {starts.shape}", f"one state, or shape {(n_paths, m)}")
    return starts


def _shares(models: Draws, owner: Integers, asked: Asked) -> list[Share]:
    """The paths by the form of their models; path `i` has the model `owner[i]`."""
    shares = []
    for form in families(models):
        mine = np.flatnonzero(np.isin(owner, form.members)).astype(np.int64)
        if len(mine):
            values = form.values[np.searchsorted(form.members, owner[mine])]
            shares.append(Share(form, mine, values, *asked.scheme_for(form)))
    return shares


def _add(report: Callable[[int], Any], before: int, done: int) -> None:
    report(before + done)
