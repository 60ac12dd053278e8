"""`SampleErrors`: columns whose noise is known sample by sample, by the times of the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array

__all__ = ["SampleErrors"]


@dataclass(frozen=True)
class SampleErrors:
    """Standard deviations of the noise of some columns, one for each sample.

    Attributes
    ----------
    names : tuple of s str
        The columns.
    level : (s,) array
        Root mean square of each.
    times : tuple of (n_i,) arrays
        When the samples of each path are.
    factors : tuple of (n_i, s) arrays
        Variances over `level^2`; 1 where the sample is missing.
    """

    names: tuple[str, ...]
    level: Array
    times: tuple[Array, ...]
    factors: tuple[Array, ...]

    def kept(self, paths: Sequence[int]) -> SampleErrors:
        """The same for some of the paths."""
        return replace(
            self,
            times=tuple(self.times[i] for i in paths),
            factors=tuple(self.factors[i] for i in paths),
        )

    def at(self, path: int, times: Array) -> Array:
        """The factors `(n, s)` at some times of a path, 1 where there is no sample."""
        own = self.times[path]
        place = np.clip(np.searchsorted(own, times), 0, len(own) - 1)
        found: Array = np.where((own[place] == times)[:, None], self.factors[path][place], 1.0)
        return found
