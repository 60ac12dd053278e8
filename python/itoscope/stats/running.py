"""Mean and variance of long series, a piece at a time, so that no array of their length is made beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from itoscope.common.types import Array

__all__ = ["PIECE", "in_pieces", "mean_and_variance"]

PIECE = 2**18
"""Values that are held at a time."""


def in_pieces(series: Sequence[Array], most: int | None = None) -> Iterator[Array]:
    """The values of all series `(n_i, ...)` in their order, `most` (`PIECE`) at a time or a few less.

    Examples
    --------
    >>> import numpy as np
    >>> [piece.tolist() for piece in in_pieces([np.arange(5), np.arange(2)], 4)]
    [[0, 1, 2, 3], [4, 0, 1]]
    """
    most = PIECE if most is None else most
    held: list[Array] = []
    count = 0
    for one in series:
        for start in range(0, len(one), most):
            part = one[start : start + most]
            if held and count + len(part) > most:
                yield _joined(held)
                held, count = [], 0
            held.append(part)
            count += len(part)
    if held:
        yield _joined(held)


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def mean_and_variance(series: Sequence[Array]) -> tuple[float, float]:
    """Of all values `(n_i,)` together, NaN left out; NaN where there is none."""
    count, total = 0, 0.0
    for piece in in_pieces(series):
        count += int(np.count_nonzero(~np.isnan(piece)))
        total += float(np.nansum(piece))
    if not count:
        return float("nan"), float("nan")
    mean = total / count
    square = sum(float(np.nansum((piece - mean) ** 2)) for piece in in_pieces(series))
    return mean, square / count
