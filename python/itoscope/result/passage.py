"""When a motion of one state first reaches a level, by the backward equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.common.numbers import number

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.result.motion import Banded

__all__ = ["Arrivals", "Curve", "FirstPassage", "by_equation", "last_held"]


TIMES = 201
"""Times at which the share that has arrived is told."""
LONG = 5.0
"""So many mean times."""


HELD = 1e-12
"""Share of the peak of a density under which a wall has nothing to hold."""


@dataclass(frozen=True)
class Curve:
    """A function of one variable, of the mean model, and its 95 % band over the posterior, `(n,)` each."""

    x: Array
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class FirstPassage:
    """When a state first reaches a level.

    Attributes
    ----------
    state : str
    start : float
        Where it starts.
    level : tuple of float
        One level, or the two ends of what it leaves.
    mean, sd : Banded
        Of the time; NaN where more than 1 % of simulated paths did not arrive.
    arrived : Curve
        Share that has arrived, over the time.
    method : str
        `"equation"` or `"simulation"`.
    """

    state: str
    start: float
    level: tuple[float, ...]
    mean: Banded
    sd: Banded
    arrived: Curve
    method: str

    def probability(self, time: float) -> Banded:
        """That it has arrived by a time, with its band."""
        at, curve = float(time), self.arrived
        kind = type(self.mean)
        return kind(*(float(np.interp(at, curve.x, y)) for y in (curve.mean, curve.low, curve.high)))

    def __str__(self) -> str:
        goal = " or ".join(number(level) for level in self.level)
        return f"{self.state} from {number(self.start)} to {goal}: mean {self.mean}, standard deviation {self.sd}"

    __repr__ = __str__


class Arrivals(NamedTuple):
    """What is known of the time to a level in each of `p` models."""

    mean: Array
    """`(p,)`"""
    sd: Array
    """`(p,)`"""
    share: Array
    """`(p, n_times)`: arrived by each time."""


def by_equation(
    x: Array, place: int, drift: Array, gamma: Array, both: bool, times: Array | None
) -> tuple[Array, Arrivals]:
    r"""When one state comes to the last node or, where `both`, to the first one; else there is a wall.

    With scale :math:`S = \exp(-\int 2 f / \Gamma)` and speed :math:`M = 2 / (\Gamma S)`, the moments of the time solve
    :math:`(T_k' / S)' = -k M T_{k-1}`, and the share that is still on its way solves the backward equation, whose
    operator is symmetric in `M`.

    Parameters
    ----------
    x : (n,) array
        Increasing.
    place : int
        The node of the start.
    drift, gamma : (p, n) arrays
        Of the models, `gamma` positive.
    both : bool
    times : (n_times,) array or None
        At which the share is asked for; None: up to five times the mean of the first model.

    Returns
    -------
    times, Arrivals
    """
    slope = -2.0 * drift / gamma
    rise = 0.5 * (slope[:, 1:] + slope[:, :-1]) * np.diff(x)
    log_scale = np.concatenate([np.zeros((len(rise), 1)), np.cumsum(rise, axis=1)], axis=1)
    log_scale -= log_scale[:, place : place + 1]
    chain = _Chain(np.diff(x), rise, log_scale, 2.0 / gamma, both)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, second = chain.moments(place)
        sd = np.sqrt(np.maximum(second - mean**2, 0.0))
        asked = np.linspace(0.0, LONG * mean[0], TIMES) if times is None else times
        return asked, Arrivals(mean, sd, 1.0 - chain.left(place, asked))


def last_held(x: Array, drift: Array, gamma: Array) -> float | None:
    r"""Where the stationary density falls under 1e-12 of its peak for good; None if nowhere before the last node.

    :math:`\log p = \int 2 f / \Gamma - \log \Gamma`, up to a constant.

    Parameters
    ----------
    x : (n,) array
        From the start to the wall.
    drift, gamma : (n,) arrays
        `gamma` positive.
    """
    slope = 2.0 * drift / gamma
    rise = 0.5 * (slope[1:] + slope[:-1]) * np.diff(x)
    log_density = np.concatenate([[0.0], np.cumsum(rise)]) - np.log(gamma)
    there = np.flatnonzero(log_density > log_density.max() + np.log(HELD))
    return None if there[-1] + 1 >= len(x) else float(x[there[-1] + 1])


class _Chain(NamedTuple):
    """Jumps between nodes that have the scale and the speed of a diffusion."""

    steps: Array
    """`(n - 1,)`"""
    rise: Array
    """Of the logarithm of the scale over each step, `(p, n - 1)`."""
    log_scale: Array
    """`(p, n)`"""
    slow: Array
    """`2 / Gamma`, `(p, n)`."""
    both: bool

    def moments(self, place: int) -> tuple[Array, Array]:
        """First and second moment of the time, `(p,)` each."""
        middle = 0.5 * (self.log_scale[:, 1:] + self.log_scale[:, :-1])
        scale = np.exp(middle) * self.steps * _sinhc(self.rise / 2.0)
        speed = self.slow * np.exp(-self.log_scale) * _cells(self.steps)
        speed[:, -1] = 0.0
        if self.both:
            speed[:, 0] = 0.0
        found, last = [], np.ones_like(speed)
        for k in (1.0, 2.0):
            flux = np.cumsum(speed * k * last, axis=1)[:, :-1]
            if self.both:
                flux = flux - (scale * flux).sum(axis=1, keepdims=True) / scale.sum(axis=1, keepdims=True)
            falls = np.cumsum((scale * flux)[:, ::-1], axis=1)[:, ::-1]
            last = np.concatenate([falls, np.zeros((len(falls), 1))], axis=1)
            found.append(last[:, place])
        return found[0], found[1]

    def left(self, place: int, times: Array) -> Array:
        """The share that has not arrived, `(p, n_times)`."""
        cell = self.slow[:, :-1] * _cells(self.steps)[:-1]
        width = self.steps * _sinhc(self.rise / 2.0)
        tie = 1.0 / (width[:, :-1] * np.sqrt(cell[:, 1:] * cell[:, :-1]))
        out = np.exp(-self.rise / 2.0) / (width * cell)
        out[:, 1:] += np.exp(self.rise[:, :-1] / 2.0) / (width[:, :-1] * cell[:, 1:])
        k = np.arange(cell.shape[1])
        table = np.zeros((*cell.shape, len(k)))
        table[:, k, k] = -out
        table[:, k[1:], k[:-1]] = table[:, k[:-1], k[1:]] = tie
        root = np.exp(-0.5 * self.log_scale[:, :-1]) * np.sqrt(cell)
        first = 1 if self.both else 0
        rates, modes = np.linalg.eigh(table[:, first:, first:])
        root, place = root[:, first:], place - first
        weights = np.einsum("pik,pi->pk", modes, root) * modes[:, place] / root[:, place : place + 1]
        decays = np.exp(np.minimum(rates, 0.0)[:, :, None] * times)
        left: Array = np.clip(np.einsum("pk,pkt->pt", weights, decays), 0.0, 1.0)
        return left


def _cells(steps: Array) -> Array:
    """Widths about the nodes."""
    widths: Array = 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
    return widths


def _sinhc(z: Array) -> Array:
    """`sinh(z) / z`."""
    small = np.abs(z) < 1e-4
    safe = np.where(small, 1.0, z)
    found: Array = np.where(small, 1.0 + z**2 / 6.0, np.sinh(safe) / safe)
    return found
