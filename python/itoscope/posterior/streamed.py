"""The sums of a regression over a recording that is read in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from itoscope.backends import get_backend
from itoscope.backends.records import Program, Sums, Target, Variance, Weights
from itoscope.data.resumed import fingerprint
from itoscope.errors import ArgumentError
from itoscope.stats.exact import Exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from itoscope.common.types import Array
    from itoscope.data.streams import Stream
    from itoscope.library.bound import BoundLibrary

__all__ = ["BlockSums", "streamed_sums"]


@dataclass(frozen=True)
class BlockSums:
    """The sums of one regression over one block of samples; may be sent to another process.

    Parameters
    ----------
    backend : str or None
    library : BoundLibrary
        Whose custom terms become columns of the block.
    program, target, scheme, weights
        As a backend takes them.
    dt : float
    """

    backend: str | None
    library: BoundLibrary
    program: Program
    target: Target
    scheme: str
    weights: Weights
    dt: float

    @property
    def about(self) -> str:
        """A name for what is summed: another one for other terms, targets, coefficients, weights."""
        target, weights = self.target, self.weights
        words = [*self.program.inputs, "", *self.program.expressions, "", *self.library.custom_names, ""]
        numbers: list[Array | None] = [None, None, None]
        if target.drift is not None:
            words += [*target.drift.program.expressions, ""]
            numbers[0] = target.drift.coef
        if isinstance(weights, Variance):
            words += [*weights.program.expressions, ""]
            numbers[1:] = weights.coef, weights.floors
        asked = f"{self.backend} {target.pair} {target.is_diffusion} {target.squares} {self.scheme}"
        return fingerprint(asked, "\n".join(words), *numbers)

    def __call__(self, block: Array) -> Exact:
        """The numbers of the sums, to be added without rounding."""
        stages = get_backend(self.backend)
        sums = stages.regression_sums(
            [self.library.augment(block)],
            [self.dt],
            self.program,
            self.target,
            scheme=self.scheme,
            weights=self.weights,
        )
        return Exact.of(sums.flat())


def streamed_sums(
    source: Stream, work: BlockSums, n_terms: int, count: Callable[[int], None] | None = None
) -> Sums:
    """The sums over all blocks of a stream: the same bits whatever its chunks are, and wherever they are summed.

    Parameters
    ----------
    source : Stream
    work : BlockSums
    n_terms : int
        K.
    count : callable, optional
        Receives the steps done.

    Raises
    ------
    ArgumentError
        For terms in the time or in inputs, which a stream does not have.
    """
    if work.library.driven:
        raise ArgumentError(
            f"terms with {', '.join(work.library.driven)}: a stream is read without the time and without inputs; read "
            "the recording whole, itoscope.read(...)"
        )
    return Sums.of_flat(source.total(work, count, work.about).rounded(), n_terms)
