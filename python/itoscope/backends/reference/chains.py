"""Several chains of one regression from different starts, and the draws they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Chains, Sweeps
from itoscope.backends.reference.evidence import Regression
from itoscope.backends.reference.gibbs import Gibbs, search
from itoscope.backends.reference.noise import Draws, Stream, Tape
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.prior import Prior
    from itoscope.common.types import Draw, Progress
    from itoscope.stats.quadratic import Quadratic

__all__ = ["record_chain", "replay_chain", "sample_chains"]


def sample_chains(
    quadratic: Quadratic,
    prior: Prior,
    sweeps: Sweeps,
    *,
    n_chains: int,
    seed: int,
    progress: Progress,
) -> Chains:
    """Run chains one after the other."""
    regression = Regression(quadratic, prior)
    for name, value in (("n_chains", n_chains), ("n_samples", sweeps.n_samples), ("thin", sweeps.thin)):
        if value < 1:
            raise argument_error(name, value, "a whole number, at least 1")
    chains = []
    for index in range(n_chains):
        start = ("search", "empty", "random")[min(index, 2)]
        stream = Stream(seed, index)
        chains.append(_run(regression, start, stream, sweeps))
        if progress is not None:
            progress((index + 1) * (sweeps.n_burn + sweeps.n_samples * sweeps.thin))
    arrays = {
        name: np.concatenate([getattr(chain, name) for chain in chains])
        for name in Chains._fields
        if name != "work"
    }
    return Chains(**arrays, work=[chain.work[0] for chain in chains])


def record_chain(
    quadratic: Quadratic,
    prior: Prior,
    sweeps: Sweeps,
    *,
    start: str,
    seed: int,
) -> tuple[Chains, list[Draw]]:
    """Run one chain and return it with the record of its random draws, for a replay in any backend."""
    stream = Stream(seed, 0, keep=True)
    regression = Regression(quadratic, prior)
    chain = _run(regression, start, stream, sweeps)
    return chain, stream.record or []


def replay_chain(
    quadratic: Quadratic,
    prior: Prior,
    sweeps: Sweeps,
    *,
    start: str,
    draws: Sequence[Draw],
) -> Chains:
    """Run one chain on recorded random draws."""
    regression = Regression(quadratic, prior)
    return _run(regression, start, Tape(draws), sweeps)


def _run(regression: Regression, start: str, draws: Draws, sweeps: Sweeps) -> Chains:
    """Run one chain on any source of draws."""
    k = regression.n_usable
    columns: list[int] = []
    if start == "search":
        columns = search(regression)
    elif start == "random":
        rate = min(0.5, 10 / max(k, 1))
        columns = [j for j in range(k) if draws.uniform() < rate]
    gibbs = Gibbs(regression, columns, sweeps.exchanges)
    for _ in range(sweeps.n_burn):
        gibbs.sweep(draws)
    shape = (1, sweeps.n_samples, regression.n_columns)
    samples, included, inclusion = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape)
    noise_var, slab_var, p0 = (np.zeros((1, sweeps.n_samples)) for _ in range(3))
    for draw in range(sweeps.n_samples):
        for _ in range(sweeps.thin):
            gibbs.sweep(draws)
            inclusion[0, draw, regression.kept] += gibbs.inclusion / sweeps.thin
        at = regression.kept[gibbs.members]
        samples[0, draw, at] = gibbs.theta * regression.raw[gibbs.members]
        included[0, draw, at] = True
        noise_var[0, draw] = gibbs.s2 * regression.target_scale**2
        slab_var[0, draw] = gibbs.v
        p0[0, draw] = gibbs.p0
    return Chains(samples, included, inclusion, noise_var, slab_var, p0, [gibbs.work])
