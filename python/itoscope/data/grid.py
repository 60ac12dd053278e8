"""Samples that are missing from a grid of times, put in as NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["filled"]

NEAR = 0.02
"""Share of a step by which rounded stamps may stray from the grid of a step that was given."""

MOST = 20
"""Times as long as the samples that are there: a recording with longer gaps keeps its stamps, unevenly."""


def filled(
    paths: Sequence[Array],
    times: Sequence[Array],
    step: float | None,
    *,
    counts: bool,
    per_count: bool,
    where: str,
) -> tuple[list[Array], list[Array]]:
    """Return paths and times with a row of NaN for every sample that is missing.

    Parameters
    ----------
    paths : list of (n_i, m) arrays
    times : list of (n_i,) arrays
        Counts of samples, or stamps.
    step : float, optional
        The time between two samples; of a count, the time of one.
    counts : bool
        Whether `times` count samples.
    per_count : bool
        Whether `step` is the time of one count even where every recording counts in larger steps.
    where : str
        What carries the times, for messages.

    Raises
    ------
    ArgumentError
        Where counts rise by more than one each time, so that nobody knows what a step is the time of.
    """
    if counts:
        base = _common(times)
        if base is None:
            return list(paths), [stamps * (step or 1.0) for stamps in times]
        if step is not None and base > 1 and not per_count and where != "the index":
            raise ArgumentError(
                f"dt = {step!r}: {where} rises by {base:g} from sample to sample: fps=... gives the frames a second, "
                "columns=[...] with dt=... the time between two samples"
            )
        unit = base if where == "the index" and not per_count else 1.0
        scale = (step or 1.0) / unit
        made = [_fill(path, (stamps - stamps[0]) / base, stamps) for path, stamps in zip(paths, times)]
        return [path for path, _ in made], [stamps * scale for _, stamps in made]
    made = []
    for path, stamps in zip(paths, times):
        places = _places(stamps, step) if step is not None else None
        made.append((path, stamps) if places is None else _fill(path, places, stamps))
    return [path for path, _ in made], [stamps for _, stamps in made]


def _common(times: Sequence[Array]) -> float | None:
    """The most frequent step of counts, where all steps are multiples of it."""
    steps = np.concatenate([np.diff(stamps) for stamps in times])
    if not len(steps) or not (steps > 0).all():
        return None
    found, often = np.unique(steps, return_counts=True)
    base = float(found[np.argmax(often)])
    return base if not (steps % base).any() else None


def _places(stamps: Array, step: float) -> Array | None:
    """Where stamps lie on the grid of a step; None where they do not, or where fewer than half follow each other."""
    steps = np.diff(stamps) / step
    whole = np.round(steps)
    if not len(steps) or (whole < 1).any() or (np.abs(steps - whole) > NEAR).any() or np.median(whole) != 1:
        return None
    return np.concatenate([[0.0], np.cumsum(whole)])


def _fill(path: Array, places: Array, stamps: Array) -> tuple[Array, Array]:
    at = places.astype(np.int64)
    length = int(at[-1]) + 1
    if length == len(path) or length > MOST * len(path):
        return path, stamps
    wide = np.full((length, path.shape[1]), np.nan)
    wide[at] = path
    return wide, np.interp(np.arange(length), at, stamps)
