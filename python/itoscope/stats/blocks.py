"""Sums of residuals over blocks of growing length: independent ones vary as the length, whatever moves slowly more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itoscope.stats.tails import chi_square_cdf, chi_square_tail

if TYPE_CHECKING:
    from itoscope.common.types import Array, Integers

__all__ = ["BlockRatio", "block_ratio", "block_ratios"]

FEWEST = 20
"""Blocks of the largest size that the residuals make."""
MANY = 200
"""Blocks from which too small a variance counts too: a fitted drift takes some of that of the few longest away."""
OVERLAP = 8
"""Blocks that begin within the length of one: from there on more of them tell nothing more."""


class BlockRatio(NamedTuple):
    """Variance of sums over `size` residuals over that of independent ones, and how rare independent ones have it.

    `dof` are the degrees of freedom of the chi-square law that the ratio has, divided by them.
    """

    size: int
    ratio: float
    dof: float
    p_value: float


def block_ratio(z: Array, piece: Integers, size: int) -> BlockRatio:
    r"""Variance ratio of the sums over blocks of `size` neighbours in one piece, from the cumulated residuals.

    :math:`\overline{S^2} / (B \overline{z^2})`, of blocks that begin every :math:`s = B / 8` residuals, at least one.
    If the residuals are independent, W blocks in a piece let it vary by
    :math:`2 \sum_{|d| < W} (W - |d|) (1 - |d| s/B)_+^2 / W^2 - 2/n`. A chi-square law of the same variance, divided by
    its degrees of freedom, gives the tails.

    Parameters
    ----------
    z : (n,) array
        NaN where one is missing: the block then has one less.
    piece : (n,) array of int
        Number of the stretch that each belongs to.
    size : int
    """
    return _ratio(_Cumulated.of(z, piece), size)


def block_ratios(z: Array, piece: Integers) -> list[BlockRatio]:
    """Those of blocks of 2, 4, 8, ... residuals, up to a twentieth of all, less their mean."""
    mean = float(z.mean())
    sums = _Cumulated.of(z - (mean if np.isfinite(mean) else np.nanmean(z)), piece)
    longest = len(z) if piece[0] == piece[-1] else int(np.bincount(piece).max())
    sizes = [2**k for k in range(1, 40) if 2**k <= min(len(z) / FEWEST, longest)]
    return [_ratio(sums, size) for size in sizes]


class _Cumulated(NamedTuple):
    """Sums of the residuals before each `(n + 1,)`, and their numbers, None where none is missing; their mean square,
    how many they are, and the piece of each."""

    sums: Array
    counts: Integers | None
    square: float
    known: int
    piece: Integers

    @classmethod
    def of(cls, z: Array, piece: Integers) -> _Cumulated:
        """Of residuals `(n,)`, NaN where one is missing."""
        sums, counts, many = np.zeros(len(z) + 1), None, len(z)
        np.cumsum(z, out=sums[1:])
        if not np.isfinite(sums[-1]):
            there = ~np.isnan(z)
            z = np.where(there, z, 0.0)
            np.cumsum(z, out=sums[1:])
            counts = np.concatenate([[0], np.cumsum(there)])
            many = int(counts[-1])
        return cls(sums, counts, float(z @ z) / max(many, 1), many, piece)

    def blocks(self, size: int, stride: int) -> tuple[Array, float, Integers]:
        """Sums over blocks within a piece, how many residuals are in all, and the number of blocks of each piece."""
        sums, first = (
            self.sums[size::stride] - self.sums[:-size:stride],
            self.piece[: 1 - size or None : stride],
        )
        held = None if self.counts is None else self.counts[size::stride] - self.counts[:-size:stride]
        windows = np.array([len(sums)])
        if self.piece[0] != self.piece[-1]:
            whole = first == self.piece[size - 1 :: stride]
            sums, held = sums[whole], held if held is None else held[whole]
            windows = np.bincount(first[whole])
        return sums, float(size * len(sums) if held is None else held.sum()), windows[windows > 0]


def _ratio(z: _Cumulated, size: int) -> BlockRatio:
    """See `block_ratio`."""
    n, stride = len(z.piece), max(1, size // OVERLAP)
    blocks, held, windows = z.blocks(size, stride)
    if not held:
        return BlockRatio(size, 1.0, 0.0, 1.0)
    ratio = float(blocks @ blocks / held / z.square)
    spread = 0.0
    for many, times in zip(*np.unique(windows, return_counts=True)):
        lags = np.arange(1, min(many, -(-size // stride)))
        spread += times * (many + 2.0 * ((many - lags) * (1.0 - lags * stride / size) ** 2).sum())
    variance = 2.0 * spread / windows.sum() ** 2 - 2.0 / z.known
    dof = float(2.0 / variance)
    high = chi_square_tail(ratio * dof, dof)
    if n < MANY * size:
        return BlockRatio(size, ratio, dof, high)
    return BlockRatio(size, ratio, dof, min(1.0, 2.0 * min(high, chi_square_cdf(ratio * dof, dof))))
