"""Spread, extremes and spectrum of a recording beside those of recordings that the fitted model makes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check, alpha_of
from itoscope.result.likeness import likenesses
from itoscope.stats.student import student_tails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.result.findings import Findings

__all__ = ["Compared", "Comparison", "compare", "simulation_checks"]

REPLICAS, FEWEST = 50, 20
"""Simulated recordings, and how many of a long one."""
STEPS, LONGEST = 4_000_000, 200_000
"""Samples that are simulated in all, and of a recording that are looked at."""
OUTER = 0.01
"""Share of the samples of a recording that are its extremes, on either side."""
DIFFERS = 0.1
"""Share by which a spread, a power or a count of extremes must differ."""
LOST = 0.05
"""Share of the simulated recordings that may leave the finite range."""
SHORTEST = 64
"""Samples of a path from which it has a spectrum."""
BOUND = "a false alarm rate of 1 % of a fit, shared by all its checks, and outside all simulated recordings"


@dataclass(frozen=True)
class Compared:
    """A statistic of a column: its value in the recording, and the mean over simulated ones.

    `z` is their distance over the error, of the root that makes the law of the statistic most like a normal one,
    `p_value` that of Student's t; `outside` says whether the recording is beyond all simulated ones.
    """

    what: str
    value: float
    mean: float
    z: float
    p_value: float
    outside: bool

    @property
    def ratio(self) -> float:
        """That of the recording over that of the simulations."""
        return self.value / self.mean if self.mean > 0 else math.inf if self.value > 0 else 1.0


@dataclass(frozen=True)
class Comparison:
    """Spread, extremes and spectrum of each column by name; how many recordings were simulated, and how many lost."""

    columns: dict[str, dict[str, list[Compared]]]
    replicas: int
    lost: int


def simulation_checks(compared: Comparison) -> list[Check]:
    """Whether recordings that a model makes look like the one that is there."""
    share, alpha = compared.lost / compared.replicas, alpha_of(max(len(compared.columns), 1))
    checks = [
        Check(
            "explosions", "all", share, LOST, share > LOST,
            f"{100 * share:.0f} % of the recordings that the fitted model makes leave the finite range: it has no "
            "stationary law, or runs away beyond the data",
            f"models drawn from the posterior of a right one stay; {100 * LOST:.0f} % are let pass",
        )
    ]  # fmt: skip
    for name, kinds in compared.columns.items():
        checks += [_check(kind, name, statistics, alpha) for kind, statistics in kinds.items() if statistics]
    return checks


def _check(kind: str, name: str, statistics: Sequence[Compared], alpha: float) -> Check:
    told = [one for one in statistics if one.outside and not 1 / (1 + DIFFERS) < one.ratio < 1 + DIFFERS]
    worst = min(told or statistics, key=lambda one: one.p_value)
    p_value = min(1.0, worst.p_value * len(statistics))
    return Check(
        kind, name, p_value, alpha, bool(told) and p_value < alpha,
        f"{worst.what} of {name} is {worst.value:.3g} in the data where recordings of the fitted model have "
        f"{worst.mean:.3g} ({worst.z:+.1f} of their standard deviations): the model does not move as the data do",
        f"{BOUND}, and a difference of {100 * DIFFERS:.0f} %",
    )  # fmt: skip


def compare(result: Findings, data: Trajectories, seed: int) -> Comparison:
    """Hold a recording against an ensemble of recordings that models drawn from the posterior make.

    Parameters
    ----------
    result : Findings
    data : Trajectories
        With the columns of the recording that was fitted.
    seed : int

    Raises
    ------
    ArgumentError
        For a term that is a function of Python, which no simulation can call.
    """
    data = _shortened(data)
    replicas = int(np.clip(STEPS // sum(len(path) for path in data.paths), FEWEST, REPLICAS))
    made = likenesses(result, data, replicas, seed, posterior=True)
    kept = [one.paths for one in made if not one.lost]
    columns: dict[str, dict[str, list[Compared]]] = {}
    if len(kept) >= FEWEST // 2:
        for column, name in enumerate(data.names):
            own = [path[:, column] for path in data.paths]
            others = [[path[:, column] for path in paths] for paths in kept]
            columns[name] = _statistics(own, others)
    return Comparison(columns, replicas, replicas - len(kept))


def _shortened(data: Trajectories) -> Trajectories:
    """The first paths, or the start of the first one, up to so many samples that simulating them takes seconds."""
    ends = np.cumsum([len(path) for path in data.paths])
    if ends[-1] <= LONGEST:
        return data
    if ends[0] <= LONGEST:
        return data[: int(np.searchsorted(ends, LONGEST, side="right"))]
    return data[:1].split(LONGEST / len(data.paths[0]), by="time")[0]


def _statistics(own: Sequence[Array], others: Sequence[Sequence[Array]]) -> dict[str, list[Compared]]:
    """All of one column."""
    low, high = np.nanquantile(np.concatenate(own), [OUTER, 1 - OUTER])

    def spread(paths: Sequence[Array]) -> float:
        return float(np.nanvar(np.concatenate(paths)))

    def beyond(paths: Sequence[Array], sign: float, limit: float) -> float:
        return float(np.nanmean(sign * np.concatenate(paths) > sign * limit))

    powers, names = _spectrum(own)
    return {
        "spread": [_compared("the variance", spread(own), [spread(paths) for paths in others], 1 / 3)],
        "extremes": [
            _compared(
                f"the share of samples {side} {limit:.3g}",
                beyond(own, sign, limit),
                [beyond(paths, sign, limit) for paths in others],
                1 / 2,
            )
            for side, sign, limit in (("below", -1.0, low), ("above", 1.0, high))
        ],
        "spectrum": [
            _compared(f"the power at periods of {name} samples", power, list(column), 1 / 3)
            for name, power, column in zip(
                names, powers, np.array([_spectrum(paths)[0] for paths in others]).T
            )
        ],
    }


def _spectrum(paths: Sequence[Array]) -> tuple[Array, list[str]]:
    """Mean power of octaves of frequency `(b,)`, over stretches as long as the shortest path, and their periods."""
    length = min(len(path) for path in paths)
    if length < SHORTEST:
        return np.zeros(0), []
    stretches = [
        path[start : start + length]
        for path in map(_filled, paths)
        for start in range(0, len(path) - length + 1, length)
    ]
    window = np.hanning(length)
    power = np.zeros(length // 2 + 1)
    for stretch in stretches:
        power += np.abs(np.fft.rfft(window * (stretch - stretch.mean()))) ** 2
    edges = [2**k for k in range(1, 40) if 2 ** (k + 1) <= len(power)]
    octaves = np.array([power[edge : 2 * edge].mean() for edge in edges]) / len(stretches)
    return octaves, [f"{length / (2 * edge):.3g} to {length / edge:.3g}" for edge in edges]


def _filled(path: Array) -> Array:
    """A column with straight lines over its gaps."""
    there = np.flatnonzero(~np.isnan(path))
    return np.interp(np.arange(len(path)), there, path[there]) if len(there) else np.zeros(len(path))


def _compared(what: str, value: float, others: Sequence[float], root: float) -> Compared:
    own, roots = value**root, np.asarray(others) ** root
    sd = float(roots.std(ddof=1)) * math.sqrt(1 + 1 / len(roots))
    far = own - float(roots.mean())
    z = far / sd if sd > 0 else math.copysign(math.inf, far) if far else 0.0
    outside = own < float(roots.min()) or own > float(roots.max())
    return Compared(what, value, float(np.mean(others)), z, student_tails(z, len(roots) - 1), outside)
