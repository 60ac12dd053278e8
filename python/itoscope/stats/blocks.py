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


class BlockRatio(NamedTuple):
    """Variance of sums over `size` residuals over that of independent ones, and how rare independent ones have it.

    `dof` are the degrees of freedom of the chi-square law that the ratio has, divided by them.
    """

    size: int
    ratio: float
    dof: float
    p_value: float


def block_ratio(z: Array, piece: Integers, size: int) -> BlockRatio:
    r"""Variance ratio of the sums over all blocks of `size` neighbours in one piece, from the cumulated residuals.

    :math:`\overline{S^2} / (B \overline{z^2})`. If the residuals are independent, W overlapping blocks in a piece let
    it vary by :math:`2 \sum_{|d| < W} (W - |d|) (1 - |d|/B)_+^2 / W^2 - 2/n`. A chi-square law of the same variance,
    divided by its degrees of freedom, gives the tails.

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
    sums = _Cumulated.of(z - np.nanmean(z), piece)
    longest = int(np.bincount(piece).max(initial=0))
    sizes = [2**k for k in range(1, 40) if 2**k <= min(len(z) / FEWEST, longest)]
    return [_ratio(sums, size) for size in sizes]


class _Cumulated(NamedTuple):
    """Sums and numbers of the residuals before each `(n + 1,)`, their mean square, and the piece of each."""

    sums: Array
    counts: Integers
    square: float
    piece: Integers

    @classmethod
    def of(cls, z: Array, piece: Integers) -> _Cumulated:
        """Of residuals `(n,)`, NaN where one is missing."""
        there = ~np.isnan(z)
        known = np.where(there, z, 0.0)
        counts = np.concatenate([[0], np.cumsum(there)])
        square = float(known @ known) / max(int(counts[-1]), 1)
        return cls(np.concatenate([[0.0], np.cumsum(known)]), counts, square, piece)


def _ratio(z: _Cumulated, size: int) -> BlockRatio:
    """See `block_ratio`."""
    n = len(z.piece)
    first = z.piece[: n - size + 1]
    whole = first == z.piece[size - 1 :]
    blocks, held = z.sums[size:] - z.sums[:-size], z.counts[size:] - z.counts[:-size]
    if not whole.all():
        blocks, held, first = blocks[whole], held[whole], first[whole]
    if not held.sum():
        return BlockRatio(size, 1.0, 0.0, 1.0)
    ratio = float(blocks @ blocks / held.sum() / z.square)
    windows = np.bincount(first)
    windows = windows[windows > 0]
    spread = 0.0
    for many, times in zip(*np.unique(windows, return_counts=True)):
        lags = np.arange(1, min(many, size))
        spread += times * (many + 2.0 * ((many - lags) * (1.0 - lags / size) ** 2).sum())
    variance = 2.0 * spread / windows.sum() ** 2 - 2.0 / z.counts[-1]
    dof = float(2.0 / variance)
    high = chi_square_tail(ratio * dof, dof)
    if n < MANY * size:
        return BlockRatio(size, ratio, dof, high)
    return BlockRatio(size, ratio, dof, min(1.0, 2.0 * min(high, chi_square_cdf(ratio * dof, dof))))
