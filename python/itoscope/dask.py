"""`itoscope.dask.discover`: recordings on a cluster, summed and filtered where they are."""

from __future__ import annotations

import operator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from itoscope.backends import wrapped
from itoscope.backends.spread import Spread
from itoscope.common import checks
from itoscope.common.extras import require
from itoscope.data.streams import BLOCK, Stream, chosen_stretches, first_infinite, stretches_of
from itoscope.data.trajectories import Trajectories
from itoscope.discovery import discover as whole
from itoscope.errors import DataError, argument_error
from itoscope.fit.options import beyond_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from itoscope.backends.protocol import Backend
    from itoscope.backends.spread import Part
    from itoscope.common.types import Array
    from itoscope.discovery.result import Discovery
    from itoscope.library.library import Library
    from itoscope.stats.exact import Exact

__all__ = ["discover", "stream"]

FAN = 8
"""Sums that one task of the tree adds."""
FILTERED = 2**16
"""Samples of a task of the filter: a pass over them takes longer than Dask takes for a task."""


class DaskStream(Stream):
    """A recording in blocks that are computed, and summed, where Dask has them."""

    def __init__(self, recordings: Sequence[Any], dt: float, names: Sequence[str] | None, block: int) -> None:
        super().__init__([lambda: iter(())] * len(recordings), dt, names, block)
        self._dask = require("dask", "dask", "Summing with Dask")
        lengths = self._lengths(recordings)
        self._pieces = [
            (self._part_of(recording, start, min(start + block + 1, length)), min(block, length - 1 - start))
            for recording, length in zip(recordings, lengths)
            for start in range(0, length - 1, block)
        ]

    def _lengths(self, recordings: Sequence[Any]) -> list[int]:
        known = [int(one.shape[0]) if _is_array(one) else None for one in recordings]
        asked = [self._dask.delayed(len)(one) for one, n in zip(recordings, known) if n is None]
        found = iter(self._dask.compute(*asked))
        return [next(found) if n is None else n for n in known]

    def _part_of(self, recording: Any, start: int, stop: int) -> Any:
        if _is_array(recording):
            return self._dask.delayed(_doubles)(recording[start:stop])
        return self._dask.delayed(_cut)(recording, start, stop)

    def blocks(self) -> Iterator[Array]:
        """The samples of block after block, fetched one by one."""
        for piece, _ in self._pieces:
            yield self._dask.compute(piece)[0]

    def total(
        self, work: Callable[[Array], Exact], count: Callable[[int], None] | None = None, about: str = ""
    ) -> Exact:
        """What `work` makes of every block, on the workers, and added there in a tree."""
        sums = [self._dask.delayed(work)(piece) for piece, _ in self._pieces]
        if not sums:
            raise DataError("the recordings have no step: two samples that follow each other are wanted")
        while len(sums) > 1:
            sums = [self._dask.delayed(_added)(sums[k : k + FAN]) for k in range(0, len(sums), FAN)]
        found: Exact = self._dask.compute(sums[0])[0]
        if count is not None:
            count(sum(steps for _, steps in self._pieces))
        return found

    def _look(self) -> tuple[Trajectories, int]:
        steps = [n for _, n in self._pieces]
        chosen = chosen_stretches(steps)
        seen = self._dask.compute(
            *(
                self._dask.delayed(_seen)(piece, sorted(inside))
                for (piece, _), inside in zip(self._pieces, chosen)
            )
        )
        for number, (wrong, _) in enumerate(seen):
            if wrong is not None:
                raise DataError(first_infinite(sum(steps[:number]), wrong))
        kept = [stretch for _, some in seen for stretch in some]
        return self._made(kept), sum(steps)


def _is_array(recording: Any) -> bool:
    """Whether a collection is an array; a delayed object has every attribute that it is asked for."""
    return hasattr(type(recording), "shape")


def _doubles(part: Any) -> Array:
    rows = np.asarray(part, dtype=np.float64)
    return np.ascontiguousarray(rows[:, None] if rows.ndim == 1 else rows)


def _cut(recording: Any, start: int, stop: int) -> Array:
    return _doubles(np.asarray(recording)[start:stop])


def _added(parts: Sequence[Exact]) -> Exact:
    found = parts[0]
    for part in parts[1:]:
        found = operator.add(found, part)
    return found


def _seen(block: Array, numbers: Sequence[int]) -> tuple[tuple[int, int] | None, list[Array]]:
    """Where the first infinite sample is, and the stretches with these numbers."""
    wrong = np.argwhere(np.isinf(block))
    some = [stretch.copy() for number, stretch in enumerate(stretches_of(block)) if number in numbers]
    return ((int(wrong[0][0]), int(wrong[0][1])) if len(wrong) else None), some


def stream(data: Any, *, dt: float, names: Sequence[str] | None = None, block: int = BLOCK) -> Stream:
    """Recordings that Dask holds, as a stream for `itoscope.discover` and `itoscope.moments`.

    Parameters
    ----------
    data : Dask array, Dask dataframe, delayed array, or a list of these
        ``(n_times, n_states)``, whose rows follow each other across chunks; each item of a list is a recording.
    dt : float
        Step between samples.
    names : list of str, optional
        Of the states; those of the columns of a dataframe unless given.
    block : int
        Steps of a task, whatever the chunks are.

    Raises
    ------
    ArgumentError
        For data of another kind.

    Examples
    --------
    >>> import itoscope as ito
    >>> ito.dask.stream([], dt=0.01)
    Traceback (most recent call last):
    itoscope.errors.ArgumentError: data = []: at least one recording
    """
    recordings = []
    for one in data if isinstance(data, list) else [data]:
        if hasattr(type(one), "to_dask_array"):
            names = [str(column) for column in one.columns] if names is None else names
            recordings.append(one.to_dask_array(lengths=True))
        elif hasattr(type(one), "__dask_graph__") and not (_is_array(one) and one.shape[0] != one.shape[0]):
            recordings.append(one)
        else:
            allowed = "a Dask array of known length, a Dask dataframe, a delayed array, or a list of these"
            raise argument_error("data", one, allowed)
    if not recordings:
        raise argument_error("data", data, "at least one recording")
    return DaskStream(recordings, dt, names, block)


class Cluster:
    """Parts of recordings where Dask has its workers."""

    def __init__(self) -> None:
        self._dask = require("dask", "dask", "Fitting with Dask")

    def put(self, parts: Sequence[Part]) -> Sequence[Any]:
        """Each part as a task of its own: one whose worker fails is laid down anew by the scheduler."""
        # part by part, since the scheduler warns of large graphs
        return [self._dask.delayed(_laid)(part).persist(optimize_graph=False) for part in parts]

    def each(self, work: Callable[[Part], list[Any]], laid: Sequence[Any]) -> list[list[Any]]:
        """What the work gives on each part."""
        tasks = [self._dask.delayed(_worked)(work, part) for part in laid]
        return list(self._dask.compute(*tasks, optimize_graph=False))


def _laid(part: Part) -> Part:
    return part


def _worked(work: Callable[[Part], list[Any]], part: Part) -> list[Any]:
    return work(part)


@contextmanager
def _on_workers(block: int) -> Iterator[None]:
    """Within, filters run on the workers; afterwards nothing is held there."""
    places = Cluster()
    made: dict[int, Spread] = {}

    def spread(stages: Backend) -> Backend:
        made.setdefault(id(stages), Spread(stages, places, block))
        return cast("Backend", made[id(stages)])

    try:
        with wrapped(spread):
            yield
    finally:
        for one in made.values():
            one.end()


def _gathered(data: Any) -> Any:
    """Recordings of Dask as they are on this machine."""
    listed = isinstance(data, list)
    held = [one if hasattr(type(one), "__dask_graph__") else [one] for one in (data if listed else [data])]
    found = [
        one[0] if isinstance(one, list) else one for one in require("dask", "dask", "Dask").compute(*held)
    ]
    return found if listed else found[0]


def discover(
    data: Any,
    library: Library | None = None,
    *,
    dt: float | None = None,
    names: Sequence[str] | None = None,
    id: str | None = None,
    block: int | None = None,
    **options: Any,
) -> Discovery:
    """`itoscope.discover` of recordings that Dask holds: sums and filters on the workers, the rest on this machine.

    Recordings of exact states are streams, see `itoscope.dask.stream`. Where the options ask for a filter (noise of the
    sensor, states that are not seen, second order, inputs and whatever else a stream cannot be asked), the recordings
    come to this machine once, and go to the workers once, as the filter sees them; of each pass of the filter the model
    goes out, and likelihoods and sums of batches of recordings come back. The search, the climb and the chains are
    here.

    The bits are those of one machine of the kind of the workers, however many of them there are and whichever fails
    on the way: of ``itoscope.discover(itoscope.stream(...))`` with the same `block` where sums are made, of
    ``itoscope.discover`` of the recordings, whatever the `block`, where a filter runs.

    Parameters
    ----------
    data : Dask array, Dask dataframe, delayed array, or a list of these
        As `itoscope.dask.stream` takes them. For a filter also delayed frames or `Trajectories`, and what
        `itoscope.Trajectories` takes.
    library : Library, optional
    dt : float, optional
        Step between samples, of data that have no times of their own.
    names : list of str, optional
        Of the states; those of the columns of a dataframe unless given.
    id : str, optional
        Column of a dataframe that tells recordings apart, where a filter runs.
    block : int, optional
        Of a stream the steps of a task, 2^19 unless given. Of a filter the samples of a task, 2^16 unless given, in
        whole batches of recordings; a recording of no more samples is filtered on this machine.
    **options
        Of `itoscope.discover`.

    Returns
    -------
    Discovery

    Raises
    ------
    ArgumentError
        For data of another kind, `dt` that is missing, an option out of range.
    """
    beyond = beyond_streams(options) or ("scheme" if options.get("scheme") == "filter" else None)
    if beyond is None:
        if id is not None:
            raise argument_error("id", id, "None of exact states: a list with a recording each")
        if dt is None:
            raise argument_error("dt", dt, "the step between samples of a stream")
        blocks = stream(data, dt=dt, names=names, block=BLOCK if block is None else block)
        return whole.discover(blocks, library, **options)
    size = FILTERED if block is None else checks.count("block", block)
    data = _gathered(data)
    if names is not None or id is not None:
        data, dt = Trajectories(data, dt=dt, names=names, id=id), None
    with _on_workers(size):
        return whole.discover(data, library, dt=dt, **options)
