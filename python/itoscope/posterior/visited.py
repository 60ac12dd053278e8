"""Models by how many draws are of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from itoscope.common.types import Array, Bools

__all__ = ["visited"]


def visited(models: Bools, count: int) -> tuple[Bools, Array]:
    """The `count` models that most of the draws `(n, K)` are of, and the share of each; in their order where they tie.

    Examples
    --------
    >>> import numpy as np
    >>> rows, shares = visited(np.array([[1, 0], [0, 1], [1, 0], [1, 1]], dtype=bool), 2)
    >>> rows.astype(int).tolist(), shares.tolist()
    ([[1, 0], [0, 1]], [0.5, 0.25])
    """
    n, k = models.shape
    packed = np.zeros((n, 8 * -(-k // 64)), dtype=np.uint8)
    packed[:, : -(-k // 8)] = np.packbits(models, axis=1)
    words = packed.view(">u8")  # in the order of the bytes
    if words.shape[1] == 1:  # numbers are sorted far faster than rows
        found = np.unique(words[:, 0].astype(np.uint64), return_index=True, return_counts=True)
    else:
        found = np.unique(packed, axis=0, return_index=True, return_counts=True)
    _, first, counts = found
    order = np.argsort(-counts, kind="stable")[:count]
    return models[first[order]], counts[order] / n
