"""Several chains of one regression from different starts, and the draws they keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Chains
from itoscope.backends.reference.evidence import Regression
from itoscope.backends.reference.gibbs import Gibbs, search
from itoscope.backends.reference.noise import Draws, Stream, Tape
from itoscope.common.types import Array, Draw, Progress
from itoscope.errors import argument_error

if TYPE_CHECKING:
    from itoscope.common.prior import Prior

__all__ = ["record_chain", "replay_chain", "sample_chains"]


def sample_chains(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    *,
    n_chains: int,
    n_samples: int,
    n_burn: int,
    thin: int,
    exchanges: int,
    seed: int,
    progress: Progress,
) -> Chains:
    """Run chains one after the other."""
    regression = Regression(gram, moment, yy, n, prior)
    for name, value in (("n_chains", n_chains), ("n_samples", n_samples), ("thin", thin)):
        if value < 1:
            raise argument_error(name, value, "a whole number, at least 1")
    chains = []
    for index in range(n_chains):
        start = ("search", "empty", "random")[min(index, 2)]
        stream = Stream(seed, index)
        chains.append(_run(regression, start, stream, n_samples, n_burn, thin, exchanges))
        if progress is not None:
            progress((index + 1) * (n_burn + n_samples * thin))
    arrays = {
        name: np.concatenate([getattr(chain, name) for chain in chains])
        for name in Chains._fields
        if name != "work"
    }
    return Chains(**arrays, work=[chain.work[0] for chain in chains])


def record_chain(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    *,
    start: str,
    n_samples: int,
    n_burn: int,
    thin: int,
    exchanges: int,
    seed: int,
) -> tuple[Chains, list[Draw]]:
    """Run one chain and return it with the record of its random draws, for a replay in any backend."""
    stream = Stream(seed, 0, keep=True)
    regression = Regression(gram, moment, yy, n, prior)
    chain = _run(regression, start, stream, n_samples, n_burn, thin, exchanges)
    return chain, stream.record or []


def replay_chain(
    gram: Array,
    moment: Array,
    yy: float,
    n: float,
    prior: Prior,
    *,
    start: str,
    n_samples: int,
    n_burn: int,
    thin: int,
    exchanges: int,
    draws: Sequence[Draw],
) -> Chains:
    """Run one chain on recorded random draws."""
    regression = Regression(gram, moment, yy, n, prior)
    return _run(regression, start, Tape(draws), n_samples, n_burn, thin, exchanges)


def _run(
    regression: Regression, start: str, draws: Draws, n_samples: int, n_burn: int, thin: int, exchanges: int
) -> Chains:
    """Run one chain on any source of draws."""
    k = regression.n_usable
    columns: list[int] = []
    if start == "search":
        columns = search(regression)
    elif start == "random":
        rate = min(0.5, 10 / max(k, 1))
        columns = [j for j in range(k) if draws.uniform() < rate]
    gibbs = Gibbs(regression, columns, exchanges)
    for _ in range(n_burn):
        gibbs.sweep(draws)
    shape = (1, n_samples, regression.n_columns)
    samples, included, inclusion = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape)
    noise_var, slab_var, p0 = (np.zeros((1, n_samples)) for _ in range(3))
    for draw in range(n_samples):
        for _ in range(thin):
            gibbs.sweep(draws)
            inclusion[0, draw, regression.kept] += gibbs.inclusion / thin
        at = regression.kept[gibbs.members]
        samples[0, draw, at] = gibbs.theta * regression.raw[gibbs.members]
        included[0, draw, at] = True
        noise_var[0, draw] = gibbs.s2 * regression.target_scale**2
        slab_var[0, draw] = gibbs.v
        p0[0, draw] = gibbs.p0
    return Chains(samples, included, inclusion, noise_var, slab_var, p0, [gibbs.work])
