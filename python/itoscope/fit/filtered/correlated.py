"""Noises that are asked to be correlated, as the filter takes them, and what a fit found of their correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itoscope.fit.filtered.links import Links
from itoscope.stats.linked import links_of, pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.fit.filtered.fit import FilteredFit
    from itoscope.fit.sensors.groups import Group
    from itoscope.result.diagnostics import Correlation

__all__ = ["correlations_found", "links_sought"]


def links_sought(groups: Sequence[Group]) -> Links:
    """The links of groups of channels, those whose correlations are sought at first zero."""
    start = [
        np.zeros(len(pairs_of(len(one.channels)))) if one.correlation is None else links_of(one.correlation)
        for one in groups
    ]
    return Links(
        tuple(one.channels for one in groups),
        tuple(np.concatenate([np.zeros(0), *start]).tolist()),
        tuple(one.correlation is None for one in groups),
    )


def correlations_found(fit: FilteredFit, channels: Sequence[str]) -> list[Correlation]:
    """The correlation of the noises of each pair of columns with its interval."""
    interval = fit.correlation_interval()
    found = fit.recording.links.correlations(fit.model.links)
    return [
        {
            "between": [channels[a], channels[b]],
            "correlation": float(found[p]),
            "low": float(interval[p, 0]),
            "high": float(interval[p, 1]),
        }
        for p, (a, b) in enumerate(fit.recording.links.pairs)
    ]
