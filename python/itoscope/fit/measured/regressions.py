"""The regressions on measured states: what is regressed on what, and their moments, shared where they may."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Program, Sums, Target, Variance, Weights
from itoscope.common.progress import Reporter
from itoscope.posterior.moments import Moments
from itoscope.posterior.said import Said
from itoscope.posterior.streamed import BlockSums, streamed_sums
from itoscope.stats.correlation import recorded_correlation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.common.types import Array, Ensemble, Scheme, Times
    from itoscope.data.streams import Stream
    from itoscope.fit.jumps import SharedSteps
    from itoscope.fit.symmetry import Orbits
    from itoscope.library.bound import BoundLibrary
    from itoscope.posterior.equation import Equation
    from itoscope.posterior.path_sums import PathSums

__all__ = ["Measured", "Pair", "coefficients", "regress"]

Pair = tuple[int, int]

CONSTANT = "1"


@dataclass(frozen=True)
class Measured:
    """What is regressed on what, and how.

    Parameters
    ----------
    paths, times : sequences
        The recording, with a column for each input and each custom term.
    pieces : pair of sequences or None
        Paths and times in the place of those in the sums of the pooled steps: cut where a held input changes.
    whole : pair of sequences or None
        Paths and times of a long recording in memory, of which `paths` and `times` are stretches that are looked at.
    drift_terms, diffusion_terms : sequences of str
        Names of the candidates.
    drift_program, diffusion_program : Program
        The candidates.
    rows : tuple of int
        The states whose drift is unknown.
    pairs : tuple of (int, int)
        The entries of the diffusion covariance, as pairs of states, the diagonal first.
    said : mapping of int to Said
        What is known of the terms of rows of the drift.
    varying : mapping of int to tuple of int
        Numbers of the terms whose coefficients differ by recording, of rows that have some.
    orbits, diffusion_orbits : Orbits or None
        What rows of the drift, and entries of Gamma, have in common.
    groups : tuple of SharedSteps
        Rows whose steps have a law of their sizes that is not normal, see `kicks`.
    driven : tuple of int
        The columns of `paths` that are inputs.
    constant : frozenset of (int, int)
        Those whose one candidate is the constant, one of the `diffusion_terms`.
    scheme : {"trapezoid", "euler"}
    weighted : bool
        Without weights there is one round only.
    ensemble : {"pool", "mean"}
    floor : float
        A predicted variance is held above this share of its mean over the data.
    max_rounds : int
        Rounds after which the search for stable terms ends with a warning.
    backend : Backend
    reporter : Reporter
    stream : Stream or None
        The recording in blocks, where `paths` are stretches of it: what is summed is summed over these.
    library : BoundLibrary or None
        What a block of a stream gets its custom columns from.
    backend_name : str or None
        What `backend` is called where blocks are summed by other processes.
    """

    paths: Sequence[Array]
    times: Sequence[Times]
    drift_terms: Sequence[str]
    diffusion_terms: Sequence[str]
    drift_program: Program
    diffusion_program: Program
    rows: tuple[int, ...]
    pairs: tuple[Pair, ...]
    backend: Backend
    said: Mapping[int, Said] = field(default_factory=dict)
    varying: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    orbits: Orbits | None = None
    diffusion_orbits: Orbits | None = None
    groups: tuple[SharedSteps, ...] = ()
    driven: tuple[int, ...] = ()
    constant: frozenset[Pair] = frozenset()
    scheme: Scheme = "trapezoid"
    weighted: bool = True
    ensemble: Ensemble = "pool"
    floor: float = 1e-2
    max_rounds: int = 8
    reporter: Reporter = field(default_factory=Reporter)
    pieces: tuple[Sequence[Array], Sequence[Times]] | None = None
    whole: tuple[Sequence[Array], Sequence[Times]] | None = None
    stream: Stream | None = None
    library: BoundLibrary | None = None
    backend_name: str | None = None

    @property
    def summed(self) -> tuple[Sequence[Array], Sequence[Times]]:
        """Paths and times of the steps that are summed."""
        pooled = self.pieces is not None and self.ensemble == "pool"
        return self.pieces if pooled and self.pieces is not None else self.recorded

    @property
    def recorded(self) -> tuple[Sequence[Array], Sequence[Times]]:
        """Paths and times of all that is in memory."""
        return (self.paths, self.times) if self.whole is None else self.whole

    @cached_property
    def slab_scales(self) -> dict[int, float]:
        """By row, a step over the correlation time of the state; the mean of P paths is known P times as well."""
        paths, times = self.recorded
        known = len(paths) if self.ensemble == "mean" else 1
        found = {row: recorded_correlation(self._about(row), times, row) for row in self.rows}
        return {row: known * step / tau for row, (tau, step) in found.items()}

    def _about(self, row: int) -> Sequence[Array]:
        """The paths, those of a row with coefficients that differ each about its own mean."""
        if row not in self.varying:
            return self.recorded[0]
        return [x - np.nanmean(x, axis=0) if np.isfinite(x).any(axis=0).all() else x for x in self.paths]

    def said_of(self, row: int) -> Said:
        """What is known of the terms of a row."""
        return self.said.get(row, Said())

    @cached_property
    def by_path(self) -> dict[tuple[object, ...], PathSums]:
        """Sums without weights that were made so far, recording by recording, by what they are of."""
        return {}

    @cached_property
    def noisy(self) -> tuple[int, ...]:
        """The rows that carry noise."""
        return tuple(row for row in self.rows if (row, row) in self.pairs)

    @cached_property
    def unweighted(self) -> dict[tuple[object, ...], Sums]:
        """Sums without weights that were made so far, by what else they are of: see `regress`."""
        return {}

    def level(self, weights: Weights) -> float | None:
        """The weight of all steps, where they have one."""
        if weights is None:
            return 1.0
        if not isinstance(weights, Variance) or CONSTANT not in self.diffusion_terms:
            return None
        constant = list(self.diffusion_terms).index(CONSTANT)
        if np.delete(weights.coef, constant, axis=1).any():
            return None
        entries, floors = weights.coef[:, constant].tolist(), weights.floors.tolist()
        variance = max(entries[0], floors[0])
        if len(entries) == 3:
            both = variance * max(entries[1], floors[1])
            variance = both + min(entries[2] ** 2, both)
        return 1.0 / variance if variance > 0.0 else None

    def candidates(self, target: Target) -> tuple[Sequence[str], Program]:
        """Names and programs of the terms of a regression."""
        if not target.is_diffusion:
            return self.drift_terms, self.drift_program
        if target.pair in self.constant:
            return (CONSTANT,), self.backend.compile([CONSTANT], list(self.diffusion_program.inputs))
        return self.diffusion_terms, self.diffusion_program

    def gamma(self, equation: Equation) -> Array:
        """Coefficients of the selected terms of an entry of Gamma over all `diffusion_terms`."""
        found = dict(zip(equation.terms, coefficients(equation)))
        return np.array([found.get(term, 0.0) for term in self.diffusion_terms])


def coefficients(equation: Equation) -> Array:
    """Mean coefficients `(K,)` of the selected model, zero elsewhere."""
    return np.where(equation.selected, equation.mean, 0.0)


def regress(
    measured: Measured, target: Target, weights: Weights, sums: Sums | None = None
) -> tuple[Moments, float]:
    """Moments of one regression, and the mean of its target; from its `sums`, if they are there already.

    Steps of one weight have the sums of an unweighted regression times it. Of those the products of terms with terms
    are made once, whatever the target, and the sums of a drift once; a target of the diffusion needs a pass of its own,
    for the drift that is taken out of it moves from round to round.
    """
    terms, _ = measured.candidates(target)
    if sums is None:
        level = measured.level(weights)
        sums = _sums(measured, target, weights) if level is None else _shared(measured, target).weighed(level)
    scale = 1.0 if target.is_diffusion else measured.slab_scales[target.pair[0]]
    return Moments.from_sums(sums, terms, measured.backend, slab_scale=scale), sums.total / max(sums.n, 1)


def _shared(measured: Measured, target: Target) -> Sums:
    """Sums without weights: of a drift those that are there, otherwise with the products that are there."""
    _, program = measured.candidates(target)
    _, times = measured.summed
    even = all(np.ndim(time) == 0 and time == times[0] for time in times)
    # Steps of a drift weigh by their length.
    key = (*program.expressions, even or target.is_diffusion)
    whole = (*key, target.pair)
    known = measured.unweighted
    own = not target.is_diffusion and target.given is None
    if own and whole in known:
        return known[whole]
    squares = known.get(key)
    sums = _sums(measured, replace(target, squares=squares is None), None)
    known[key] = sums = sums if squares is None else sums.with_squares(squares)
    if own:
        known[whole] = sums
    return sums


def _sums(measured: Measured, target: Target, weights: Weights) -> Sums:
    """One pass over the recording."""
    what = "diffusion" if target.is_diffusion else "drift"
    _, program = measured.candidates(target)
    paths, times = measured.summed
    source, library = measured.stream, measured.library
    if source is not None and library is not None:
        work = BlockSums(measured.backend_name, library, program, target, measured.scheme, weights, source.dt)
        with measured.reporter.stage(f"sums of the {what}", source.n_steps) as count:
            return streamed_sums(source, work, len(program.expressions), count)
    steps = sum(len(x) - 1 for x in paths)
    with measured.reporter.stage(f"sums of the {what}", steps) as count:
        return measured.backend.regression_sums(
            paths,
            times,
            program,
            target,
            scheme=measured.scheme,
            weights=weights,
            ensemble=measured.ensemble,
            progress=count,
        )
