"""The course of a recording: the laws of the state about which a filter is linearised, in columns of its paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.backends.records import StateSpace
    from itoscope.common.types import Array, Times

__all__ = ["on_course", "with_course"]

MOST, ENOUGH = 8, 0.5
"""Courses that follow each other, and the gain of log-likelihood of one under which none follows it."""


def with_course(
    stages: Backend, space: StateSpace, paths: Sequence[Array], times: Sequence[Times]
) -> list[Array]:
    """The paths with the smoothed states of a model as their course, in the place of the one that they have.

    Parameters
    ----------
    stages : Backend
        What filters.
    space : StateSpace
        The model; its own steps are linearised as it says.
    paths : sequence of (n_i, c) arrays
        As that model takes them.
    times : sequence of float or (n_i,) arrays

    Returns
    -------
    list of (n_i, c + m (m + 3) / 2) arrays
        What a model that is `along` takes: after the columns of the recording the means and the lower triangles of the
        covariances of the states at which the next steps start, after their resets.
    """
    m = len(space.drift)
    rows, columns = np.tril_indices(m)
    first = len(space.observation) + len(space.given) + len(space.scaled)
    own = first + len(space.resets)
    found = []
    for y, mean, cov in zip(paths, *stages.filter_smooth(space, paths, times)):
        for column, reset in enumerate(space.resets, first):
            there = y[:, column] != 0.0
            mean[there] = mean[there] @ reset.T
            cov[there] = reset @ cov[there] @ reset.T
        found.append(np.ascontiguousarray(np.hstack([y[:, :own], mean, cov[:, rows, columns]])))
    return found


def on_course(
    stages: Backend, space: StateSpace, paths: Sequence[Array], times: Sequence[Times]
) -> list[Array]:
    """Paths without a course along that of a model, each the smoothed states along the one before, while it rises.

    The filter's own law may be far from the state for a while, and what is smoothed about it then is on no course yet.

    Parameters
    ----------
    stages, space, paths, times
        As of `with_course`, the model `along` or not.

    Returns
    -------
    list of (n_i, c + m (m + 3) / 2) arrays
    """
    along = replace(space, along=True)
    found = with_course(stages, replace(space, along=False), paths, times)
    height = float(stages.filter_loglik(along, found, times).sum())
    for _ in range(1, MOST):
        trial = with_course(stages, along, found, times)
        value = float(stages.filter_loglik(along, trial, times).sum())
        if not value > height + ENOUGH:
            break
        found, height = trial, value
    return found
