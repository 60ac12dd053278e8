"""Whether the fitted drift leads back from beyond the data, where the data stay within bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from itoscope.checks.check import Check
from itoscope.errors import ArgumentError
from itoscope.result.values import drift_of, equation_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from itoscope.common.types import Array
    from itoscope.result.findings import Findings

__all__ = ["beyond", "looked_beyond", "random_walk_tail"]

BOUNDED = 1e-3
"""How often random walks vary as little as data that count as bounded."""
REACH = 2.0
"""How far beyond the outermost samples the drift is followed, in their distance from the mean."""
GONE = 4.0
"""Times its start that a path of the drift must come to, to have gone away."""
STRIDE, STRIDES = 0.2, 60
"""Share of the distance that one step goes, and steps that are followed."""
SAMPLES, STARTS = 2000, 16
"""Samples that are looked at, and how many of the outermost the drift is followed from, beside those of each state."""
MOST = 20_000
"""Samples of which those are the outermost, spread over a longer recording."""


def looked_beyond(result: Findings, paths: Sequence[Array]) -> Findings:
    """The result with these checks of its recording, whose states were recorded or smoothed, and what fired."""
    assert result.data is not None
    found = beyond(result, paths, [float(times[-1] - times[0]) for times in result.data.times])
    checks = [*result.diagnostics.get("checks", []), *(check.as_dict() for check in found)]
    return replace(
        result,
        diagnostics={**result.diagnostics, "checks": checks},
        warnings=[*result.warnings, *(check.sentence for check in found if check.fired)],
    )


def beyond(result: Findings, paths: Sequence[Array], durations: Sequence[float]) -> list[Check]:
    """Of data that stay within bounds, whether the fitted drift holds their state, and leads back to them.

    Parameters
    ----------
    result : Findings
    paths : sequence of (n_i, m) arrays
        The states, as recorded or as smoothed.
    durations : sequence of float
        Of the paths.
    """
    rows = [state for state in result.drift if (state, state) in result.diffusion]
    every = max(1, sum(map(len, paths)) // MOST)
    paths = [path[::every] for path in paths]
    x = np.concatenate(paths)
    x = x[np.isfinite(x).all(axis=1)]
    some = np.ascontiguousarray(x[:: max(1, len(x) // SAMPLES)])
    if not rows or not len(some):
        return []
    try:
        with np.errstate(all="ignore"):
            if not all(_bounded(result, row, paths, durations, some) for row in rows):
                return []
            drift = drift_of(result)
            slopes = drift(some)
            held = [_held(row, slopes[:, result.states.index(row)]) for row in rows]
            return [*held, _outward(result, drift, x)]
    except ArgumentError:  # a function of Python that a loaded result does not hold
        return []


def _bounded(
    result: Findings, row: str, paths: Sequence[Array], durations: Sequence[float], some: Array
) -> bool:
    """Whether a state varies less than random walks of its noise do."""
    column = result.states.index(row)
    gamma = float(np.mean(equation_at(result, result.diffusion[row, row], some)[0]))
    shares = [np.nanvar(path[:, column]) / (gamma * time) for path, time in zip(paths, durations) if time > 0]
    return gamma > 0 and random_walk_tail(float(np.mean(shares)), len(shares)) < BOUNDED


def random_walk_tail(share: float, paths: int) -> float:
    r"""A bound of the probability that P random walks have a mean :math:`W = \mathrm{Var}(x) / (\Gamma T)` of `share`
    or less, :math:`\min_u e^{P u^2 w / 2} (u / \sinh u)^{P/2}`.

    :math:`E e^{-u^2 W / 2} = (u / \sinh u)^{1/2}` is that of the squared distance of a Brownian path from its mean.
    """
    u = np.geomspace(1e-2, 1e5, 400)
    log_sinh = u + np.log1p(-np.exp(-2 * u)) - np.log(2.0)
    return float(np.exp(min(0.0, paths * float(np.min(u**2 * share / 2 + (np.log(u) - log_sinh) / 2)))))


def _held(row: str, drift: Array) -> Check:
    """Whether the drift of a row varies at all: a constant holds nothing."""
    free = not float(np.std(drift)) > 1e-9 * float(np.sqrt(np.mean(drift**2)))
    return Check(
        "stationary law", row, float(free), 0.0, free,
        f"{row} stays within bounds in the data, as no random walk of its noise would, yet nothing in its fitted drift "
        "holds it: what is simulated spreads without end; the library lacks the term that pulls it back, or recordings "
        "about centres of their own hide it",
        "random walks of this noise vary as little in less than 1 of 1000",
    )  # fmt: skip


def _outward(result: Findings, drift: Callable[[Array], Array], x: Array) -> Check:
    """Whether the drift, followed from `REACH` times the outermost samples, inputs at their means, leads away."""
    x, inputs = x[:, : len(result.states)].copy(), x[:, len(result.states) :].mean(axis=0)
    x[:, [result.states.index(name) for name in result.standing]] = 0.0
    centre, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-300)
    y = (x - centre) / spread
    edge = np.maximum(np.abs(y).max(axis=0), 1e-300)
    far = np.argpartition(np.abs(y / edge).max(axis=1), -min(STARTS, len(y)))[-STARTS:]
    starts = REACH * y[np.unique(np.concatenate([y.argmin(axis=0), y.argmax(axis=0), far]))]

    def followed(at: Array) -> Array:
        beside = np.broadcast_to(inputs, (len(at), len(inputs)))
        slopes: Array = drift(np.column_stack([centre + spread * at, beside])) / spread
        return slopes

    gone = _followed(followed, starts, edge)
    share = float(gone.mean())
    where = centre + spread * starts[int(np.argmax(gone))]
    place = ", ".join(f"{name} = {value:.3g}" for name, value in zip(result.states, where))
    return Check(
        "outward drift", ", ".join(result.drift), share, 0.0, share > 0,
        f"the data stay within bounds, yet from {int(gone.sum())} of {len(gone)} points at {REACH:g} times the "
        f"distance of the outermost samples the fitted drift leads away (from {place}): a simulation that gets there "
        "runs away; leave out the terms that lead outward, or take a library whose terms do not grow so fast",
        "the drift of a state that stays within bounds leads back",
    )  # fmt: skip


def _followed(drift: Callable[[Array], Array], y: Array, edge: Array) -> Array:
    """Which of the starts `y` `(n, m)` the drift leads away for good, both in standard deviations."""
    reach = np.abs(y / edge).max(axis=1)
    gone, left = np.zeros(len(y), dtype=bool), np.arange(len(y))
    for _ in range(STRIDES):
        if not len(left):
            break
        k1 = drift(y)
        size = np.linalg.norm(k1, axis=1)
        still = ~(size > 0)
        h = (STRIDE * np.linalg.norm(y, axis=1) / np.where(still, 1.0, size))[:, None]
        k2 = drift(y + h / 2 * k1)
        k3 = drift(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + drift(y + h * k3))
        far = np.abs(y / edge).max(axis=1)
        away = ~np.isfinite(far) | (far > GONE * reach[left])
        gone[left[away]] = True
        keep = ~(away | still | (far < 1.0))
        y, left = y[keep], left[keep]
    return gone
