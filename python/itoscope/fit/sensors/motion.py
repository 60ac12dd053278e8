"""What accelerometers tell of a motion before it is known: how fast it swings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from itoscope.common.types import Array
    from itoscope.data.trajectories import Trajectories
    from itoscope.fit.sensors.kinds import Gathered

__all__ = ["swing", "swings_from"]

LONGEST, PIECE = 3.0, 512
"""Periods in a stretch of the slowest swing that is looked for; samples of a stretch of which spectra are averaged."""
SWINGS = tuple((factor, damping) for factor in (0.5, 1.0, 2.0) for damping in (0.05, 0.4))
"""Rates of swinging over the dominant one, and damping over the rate, at which a search starts."""


def swing(data: Trajectories, column: int) -> float:
    """The angular frequency at which a column swings most, by averaged periodograms."""
    step = float(np.median(np.concatenate([np.diff(t) for t in data.times])))
    total: Array | None = None
    size = min(PIECE, max(len(path) for path in data.paths))
    for path in data.paths:
        y = path[:, column]
        y = np.where(np.isnan(y), 0.0, y - np.nanmean(y)) if np.isfinite(y).any() else np.zeros_like(y)
        for start in range(0, len(y) - size + 1, max(size // 2, 1)):
            power = np.abs(np.fft.rfft(y[start : start + size] * np.hanning(size))) ** 2
            total = power if total is None else total + power
    assert total is not None
    rates = 2.0 * np.pi * np.fft.rfftfreq(size, step)
    slow = rates < 2.0 * np.pi * LONGEST / (size * step)
    return float(rates[int(np.argmax(np.where(slow, 0.0, total)))])


def swings_from(
    data: Trajectories, gathered: Mapping[int, Gathered], known: Mapping[str, str], terms: Sequence[str]
) -> list[dict[tuple[str, str], float]]:
    """Coefficients `(row, term)` of oscillators from which a search starts, where an accelerometer shows one position.

    Of an accelerometer alone a random walk knows neither place nor velocity, and nothing leads from it to a motion.
    """
    rates = {
        what.text: swing(data, c)
        for c, what in gathered.items()
        if what.kind == "acceleration" and {what.text, known.get(what.text)} <= set(terms)
    }
    return [
        {
            key: value
            for place, rate in rates.items()
            for key, value in (
                ((known[place], place), -((factor * rate) ** 2)),
                ((known[place], known[place]), -damping * factor * rate),
            )
        }
        for factor, damping in (SWINGS if rates else ())
    ]
