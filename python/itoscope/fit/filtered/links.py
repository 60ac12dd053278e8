"""Noises that are correlated at a sample: groups of channels, their covariances, and regressions on their links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from itoscope.backends.records import Parameter
from itoscope.stats.linked import correlations, left_alone, pairs_of, slopes
from itoscope.stats.quadratic import Quadratic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from itoscope.common.types import Array, Integers

__all__ = ["Links"]

DIFFERENCE = 1e-3
"""Share of what is left of a noise alone by which it is moved for a difference: the error is a millionth."""


@dataclass(frozen=True)
class Links:
    """Groups of channels with correlated noises, of which a model holds a number for each pair, its link.

    Parameters
    ----------
    groups : tuple of tuples of int
        Channels.
    start : tuple of float
        Links of all pairs, those of one group after those of another, at the start of a search.
    sought : tuple of bool
        Of each group whether its correlations are estimated.
    """

    groups: tuple[tuple[int, ...], ...] = ()
    start: tuple[float, ...] = ()
    sought: tuple[bool, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.groups)

    def held(self) -> Links:
        """The same with all correlations held."""
        return replace(self, sought=(False,) * len(self.groups))

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Channels of each link."""
        return tuple((group[i], group[j]) for group in self.groups for i, j in pairs_of(len(group)))

    @cached_property
    def free(self) -> Integers:
        """Numbers of the links that are estimated."""
        asked = [there for group, there in zip(self.groups, self.sought) for _ in pairs_of(len(group))]
        return np.flatnonzero(np.array(asked, dtype=bool))

    @cached_property
    def channels(self) -> frozenset[int]:
        """Channels of any group."""
        return frozenset(c for group in self.groups for c in group)

    def _each(self) -> Iterator[tuple[tuple[int, ...], slice]]:
        """Every group, and where its links are."""
        first = 0
        for group in self.groups:
            last = first + len(pairs_of(len(group)))
            yield group, slice(first, last)
            first = last

    def correlations(self, links: Array) -> Array:
        """Of each pair `(P,)`."""
        parts = [correlations(links[where], len(group)) for group, where in self._each()]
        found: Array = np.concatenate([np.zeros(0), *parts])
        return found

    def slopes(self, links: Array) -> Array:
        """Derivatives of the correlations by the links `(P, P)`."""
        out = np.zeros((len(links), len(links)))
        for group, where in self._each():
            out[where, where] = slopes(links[where], len(group))
        return out

    def alone(self, links: Array, channels: int) -> Array:
        """Share of the noise variance of each channel that the others do not tell `(q,)`."""
        out = np.ones(channels)
        for group, where in self._each():
            out[list(group)] = left_alone(links[where], len(group))
        return out

    def sizes(self, noise: Array) -> Array:
        """The product of the standard deviations of each pair `(P,)`."""
        ends = np.array(self.pairs, dtype=int).reshape(-1, 2)
        found: Array = np.sqrt(noise[ends[:, 0]] * noise[ends[:, 1]])
        return found

    def with_covariances(self, known: Array, noise: Array, links: Array) -> Array:
        """Variances `known` `(q,)` of channels, then the covariances that the parts `noise` of them have `(P,)`."""
        if not self:
            return known
        return np.concatenate([known, self.correlations(links) * self.sizes(noise)])

    def jacobian(self, noise: Array, links: Array) -> Array:
        """Derivatives of variances and covariances by variances and links, `(q + P, q + P)`."""
        q, p = len(noise), len(links)
        out = np.eye(q + p)
        size, found = self.sizes(noise), self.correlations(links)
        safe = np.maximum(noise, np.finfo(float).tiny)
        for place, pair in enumerate(self.pairs):
            for channel in pair:
                out[q + place, channel] = 0.5 * found[place] * size[place] / safe[channel]
        out[q:, q:] = size[:, None] * self.slopes(links)
        return out

    def turned(self, moments: Quadratic, noise: Array, links: Array) -> Quadratic:
        """A regression on the links in the place of the covariances, which are its last columns after the variances.

        `C = C_0 + dC/dR (R - R_0) + dC/dz (z - z_0)`, of which `C_0 - dC/dR R_0` is nothing.
        """
        if not self:
            return moments
        first = len(moments.moment) - len(noise) - len(links)
        jacobian = self.jacobian(noise, links)
        turn = np.eye(len(moments.moment))
        turn[first:, first:] = jacobian
        base = np.zeros(len(moments.moment))
        base[first + len(noise) :] = -jacobian[len(noise) :, len(noise) :] @ links
        rest = moments.moment - moments.gram @ base
        yy = moments.yy - float(base @ (moments.moment + rest))
        return Quadratic(turn.T @ moments.gram @ turn, turn.T @ rest, yy, moments.n)

    def steps(self, noise: Array, links: Array) -> Array:
        """Steps of variances and covariances `(q + P,)` that leave the noises possible."""
        alone = self.alone(links, len(noise))
        ends = np.array(self.pairs, dtype=int).reshape(-1, 2)
        both = np.minimum(alone[ends[:, 0]], alone[ends[:, 1]])
        return DIFFERENCE * np.concatenate([noise * alone, self.sizes(noise) * both])

    def moving(self, parameter: Parameter, noise: Array, links: Array) -> dict[Parameter, float]:
        """Which variances and covariances a variance or a link moves, and by how much."""
        q = len(noise)
        column = parameter.at + (q if parameter.kind == "link" else 0)
        slope = self.jacobian(noise, links)[:, column]
        return {Parameter("noise", int(row)): float(slope[row]) for row in np.flatnonzero(slope)}
