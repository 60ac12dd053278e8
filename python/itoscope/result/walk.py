"""When a motion of several states first reaches a level, by simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.result.ensemble import Asked, walked
from itoscope.result.field import Field
from itoscope.result.passage import Arrivals

if TYPE_CHECKING:
    from itoscope.common.types import Array, Bools, Integers
    from itoscope.result.findings import Findings
    from itoscope.sde.family import Draws

__all__ = ["Walk", "crossed", "summed"]

BLOCK = 500
"""Steps simulated at once."""
WALKED = 20_000_000
"""Steps of all paths together, at most."""
MISSING = 0.01
"""Share of paths that may not have arrived where a mean time is told."""


@dataclass(frozen=True)
class Walk:
    """Simulated paths of models that end where a state reaches a level."""

    result: Findings
    models: Draws
    place: int
    """Of the state."""
    levels: tuple[float, ...]
    longest: float | None
    """Duration, where it was given."""
    asked: Asked
    """The step and the seed."""

    @property
    def step(self) -> float:
        """Of the time."""
        return self.asked.grid(self.result.data_summary.get("dt"))[0]

    def arrivals(self, start: Array, paths: int) -> Array:
        """When each of so many paths of each model arrived `(n_models, paths)`; infinite where it did not."""
        count = paths * len(self.models)
        owner = np.arange(count) % len(self.models)
        x, when, going = np.tile(start, (count, 1)), np.full(count, np.inf), np.arange(count)
        rng = np.random.default_rng(self.asked.seed)
        most = round(self.longest / self.step) if self.longest else WALKED
        done, work, few = 0, 0, 0.0 if self.longest else 0.5 * MISSING * count
        while len(going) > few and work < WALKED and done < most:
            steps = max(min(BLOCK, most - done), 2)
            asked = replace(self.asked, n_steps=steps)
            walks = walked(self.result, self.models, owner[going], x[going], asked, int(rng.integers(2**62)))
            work += len(going) * steps
            whole = [
                i for i, walk in enumerate(walks) if len(walk) == steps + 1
            ]  # the others left the finite range
            if not whole:
                break
            going, rows = going[whole], np.stack([walks[i] for i in whole])
            spread = self.step * self._variance(owner[going], rows[:, :-1])
            hit = crossed(rows[:, :, self.place], self.levels, spread, rng.random(spread.shape))
            arrived = hit.any(axis=1)
            when[going[arrived]] = (done + hit[arrived].argmax(axis=1) + 0.5) * self.step
            x[going] = rows[:, -1]
            going, done = going[~arrived], done + steps
        each: Array = when.reshape(paths, -1).T
        return each

    def _variance(self, owner: Integers, rows: Array) -> Array:
        """That of the state at samples `(n, s, m)` of paths of these models, `(n, s)`."""
        field, found = Field(self.models), np.zeros(rows.shape[:2])
        for model in np.unique(owner):
            mine = np.flatnonzero(owner == model)
            each = field.variance(rows[mine].reshape(-1, rows.shape[2]), self.place)[model]
            found[mine] = np.maximum(each, 0.0).reshape(len(mine), -1)
        return found


def summed(times: Array, at: Array) -> Arrivals:
    """Mean, deviation and share arrived of simulated times `(n_models, paths)`; NaN where too many are missing."""
    there = np.isfinite(times)
    if there.mean() < 1.0 - MISSING:
        mean = sd = np.full(len(times), np.nan)
    else:
        known = np.where(there, times, np.nan)
        mean, sd = np.nanmean(known, axis=1), np.nanstd(known, axis=1)
    return Arrivals(mean, sd, (times[:, :, None] <= at).mean(axis=1))


def crossed(x: Array, levels: tuple[float, ...], spread: Array, draws: Array) -> Bools:
    r"""Steps in which a state reaches a level, between two samples on one side of it too.

    Between these a Brownian bridge reaches it with the probability :math:`\exp(-2 d_0 d_1 / \Gamma \Delta t)`.

    Parameters
    ----------
    x : (n, s + 1) array
        Samples of `n` paths.
    levels : floats
    spread : (n, s) array
        `Gamma dt` of each step.
    draws : (n, s) array
        Uniform between 0 and 1.
    """
    hit = np.zeros(spread.shape, dtype=bool)
    for level in levels:
        before, after = x[:, :-1] - level, x[:, 1:] - level
        with np.errstate(all="ignore"):
            chance = np.exp(-2.0 * before * after / spread)
        hit |= (before * after <= 0.0) | (draws < np.where(spread > 0.0, chance, 0.0))
    return hit
