"""The law of the steps of each row as a result has it, and sizes of steps drawn by it for a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from itoscope.result.jumps import numbers_of
from itoscope.stats.heavy import draws

if TYPE_CHECKING:
    from itoscope.common.types import Array
    from itoscope.result.findings import Findings
    from itoscope.sde.family import Family

__all__ = ["Sizes", "law_of", "sizes_of"]


@dataclass(frozen=True)
class Sizes:
    """What multiplies the noise of rows over each step of the recording.

    Attributes
    ----------
    laws : tuple of (rows, law, step)
        By group of rows, names of these, what shapes the law, see `stats.heavy`, and the length of its steps.
    """

    laws: tuple[tuple[tuple[str, ...], tuple[float, ...], float], ...]

    def noise(self, form: Family, n_paths: int, n_fine: int, h: float, rng: np.random.Generator) -> Array:
        """Increments `(n_paths, n_fine, n_noise)` of noise that is normal given its size over a step of the law.

        Parameters
        ----------
        form : Family
            Of which a column of g, or of a root of Gamma, has entries in rows of one group alone.
        n_paths, n_fine : int
        h : float
            Length of a fine step.
        rng : Generator
        """
        found: Array = math.sqrt(h) * rng.standard_normal((n_paths, n_fine, form.n_noise))
        for rows, law, step in self.laws:
            columns = [j for j in range(form.n_noise) if form.states[_row_of(form, j)] in rows]
            over = np.floor((np.arange(n_fine) + 0.5) * (h / step) + 1e-9).astype(np.int64)
            sizes = draws(law, n_paths * (int(over[-1]) + 1), rng).reshape(n_paths, -1)
            found[:, :, columns] *= sizes[:, over, None]
        return found


def _row_of(form: Family, column: int) -> int:
    """The first row that a Brownian motion moves."""
    if form.diffusion_expressions is None:
        return column
    there = [i for i, row in enumerate(form.diffusion_expressions) if row[column] not in ("0", "0.0")]
    return there[0] if there else 0


def law_of(result: Findings, row: str) -> tuple[float, ...]:
    """What shapes the law of the steps of a row, nothing where it is normal."""
    found = result.diagnostics.get("diffusion_law", {})
    return numbers_of(found[row]) if row in found else ()


def sizes_of(result: Findings) -> Sizes | None:
    """The laws of the steps of a result; None where all are normal."""
    found = {tuple(law["rows"]): law for law in result.diagnostics.get("diffusion_law", {}).values()}
    if not found:
        return None
    return Sizes(tuple((rows, numbers_of(law), law["step"]) for rows, law in found.items()))
