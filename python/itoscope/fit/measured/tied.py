"""Rows with coefficients in common: one regression of all rows, and the equation of each row from its posterior."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.backends import get_backend
from itoscope.fit.sampler import NOTHING
from itoscope.fit.symmetry import Orbits
from itoscope.posterior.columns import sound
from itoscope.posterior.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from itoscope.common.types import Array
    from itoscope.fit.sampler import Sample
    from itoscope.fit.streams import Stream
    from itoscope.posterior.equation import Equation

__all__ = ["joined", "log_evidence", "of_rows", "same_terms", "tied", "untied"]


def joined(moments: Mapping[Any, Moments], orbits: Orbits) -> Moments:
    """The regression of all rows on common coefficients, each row over the variance of what its own terms leave.

    ``sum M_i G_i M_i' / s2_i``: the noise of different rows counts as independent.
    """
    count = len(orbits.labels)
    gram, moment, yy, n, scale = np.zeros((count, count)), np.zeros(count), 0.0, 0.0, 0.0
    for key, one in moments.items():
        free = one.n - len(one.moment)
        precision = max(free, 1.0) / max(one.residual(one.solve().theta), np.finfo(float).tiny)
        m = orbits.maps[key]
        gram += precision * (m @ one.gram @ m.T)
        moment += precision * (m @ one.moment)
        yy += precision * one.yy
        n += one.n
        scale += one.n * one.slab_scale
    return Moments(0.5 * (gram + gram.T), moment, yy, n, orbits.labels, slab_scale=scale / n)


def tied(
    moments: Mapping[Any, Moments], orbits: Orbits, sample: Sample, stream: Stream, *, final: bool
) -> tuple[Equation, dict[Any, Equation]]:
    """The posterior of the common coefficients, and the equations of the rows that follow from it."""
    found = sample(joined(moments, orbits), final, stream, NOTHING)
    return found, of_rows(found, orbits, {key: list(one.names) for key, one in moments.items()})


def of_rows(common: Equation, orbits: Orbits, terms: Mapping[Any, list[str]]) -> dict[Any, Equation]:
    """The equation of each row over its own terms."""
    return {key: _of_row(common, orbits.maps[key], names) for key, names in terms.items()}


def _of_row(common: Equation, m: Array, names: list[str]) -> Equation:
    inside = m != 0.0

    def most(values: Any) -> Array:
        """Of the coefficients that a term is made of the largest value."""
        spread = np.where(inside, np.asarray(values, dtype=float)[..., :, None], 0.0)
        return np.asarray(spread.max(axis=-2))

    cov = m.T @ common.cov @ m
    return replace(
        common,
        terms=list(names),
        pip=most(common.pip),
        pip_mcse=most(common.pip_mcse),
        mean=m.T @ common.mean,
        cov=0.5 * (cov + cov.T),
        selected=most(common.selected) > 0.0,
        samples=common.samples @ m,
        included=(common.included.astype(float) @ inside) > 0.0,
        inclusion=np.minimum(common.inclusion @ inside, 1.0),
        aliases={},
        warnings=[],
        log_mass=None,
        moments=None,
    )


def untied(moments: Mapping[Any, Moments]) -> Orbits:
    """Every term of every row by itself."""
    total = sum(len(one.names) for one in moments.values())
    maps, labels, start = {}, [], 0
    for key, one in moments.items():
        count = len(one.names)
        maps[key] = np.zeros((total, count))
        maps[key][start : start + count] = np.eye(count)
        labels += [f"{key}: {name}" for name in one.names]
        start += count
    return Orbits(tuple(labels), maps)


def log_evidence(common: Equation) -> float:
    """Log of the probability of the data under all models: that of the most probable one over its share."""
    assert common.moments is not None
    assert common.prior is not None
    rows, masses = common._masses(1)
    stages = get_backend(common.backend)
    height, _, _ = stages.model_posterior(sound(common.moments), common.prior, np.ascontiguousarray(rows[0]))
    return height - math.log(float(masses[0]))


def same_terms(moments: Mapping[Any, Moments], orbits: Orbits, common: Equation) -> float:
    """Log evidence of the coefficients of the shown model over those of the same terms, each of its own."""
    prior = common.prior
    assert prior is not None
    chosen = np.flatnonzero(common.selected).tolist()
    if not chosen:
        return 0.0
    few = Orbits(tuple(orbits.labels[p] for p in chosen), {key: m[chosen] for key, m in orbits.maps.items()})
    alone, used = untied(moments), []
    for key, m in alone.maps.items():
        inside = (few.maps[key] != 0.0).any(axis=0)
        used += np.flatnonzero((m != 0.0) @ inside).tolist()
    apart = Orbits(tuple(alone.labels[p] for p in used), {key: m[used] for key, m in alone.maps.items()})
    stages = get_backend(common.backend)

    def height(which: Orbits) -> float:
        found = joined(moments, which)
        return stages.model_posterior(sound(found), prior, np.ones(len(which.labels), dtype=bool))[0]

    return height(few) - height(apart)
