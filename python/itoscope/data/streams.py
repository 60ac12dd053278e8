"""`Stream`: a recording that is read in blocks, as often as it is needed, and never held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike, fspath
from os.path import splitext
from typing import TYPE_CHECKING, Any

import numpy as np

from itoscope.common import checks
from itoscope.common.extras import require
from itoscope.common.reading import reading
from itoscope.common.writing import path_of
from itoscope.data.resumed import Kept, fingerprint
from itoscope.data.samples import as_dt, as_names
from itoscope.data.trajectories import Trajectories
from itoscope.errors import ArgumentError, DataError, argument_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Array
    from itoscope.stats.exact import Exact

__all__ = ["BLOCK", "Stream", "as_stream", "chosen_stretches", "first_infinite", "stream", "stretches_of"]

BLOCK = 2**19
"""Steps that are held at once: 8 MB of two states."""
PART, STRETCH = 200_000, 25_000
"""Samples that are looked at for what is no sum, and how many of them follow each other."""

Chunks = Callable[[], Iterator["Array"]]


class Stream:
    """A recording in blocks; `itoscope.stream` makes one.

    Blocks have a fixed number of steps whatever the chunks of the source are, neighbours share a sample, and what is
    summed over them is summed without rounding: sums have the bits of those of any other source of the same samples.

    Attributes
    ----------
    names : tuple of str
        Of the states.
    dt : float
        Step between samples.
    block : int
        Steps of a block.
    """

    def __init__(
        self,
        recordings: Sequence[Chunks],
        dt: float,
        names: Sequence[str] | None,
        block: int,
        resume: str | None = None,
    ) -> None:
        self._recordings = list(recordings)
        self.dt, self.block = as_dt(dt), checks.count("block", block)
        self._names = names
        self._seen: tuple[Trajectories, int] | None = None
        self._resume = resume

    def blocks(self) -> Iterator[Array]:
        """The samples `(n, m)` of block after block; the last of one is the first of the next."""
        for chunks in self._recordings:
            yield from _regrouped(chunks(), self.block)

    def total(
        self, work: Callable[[Array], Exact], count: Callable[[int], None] | None = None, about: str = ""
    ) -> Exact:
        """What `work` makes of every block, added without rounding.

        Parameters
        ----------
        work : callable
        count : callable, optional
            Receives the steps done.
        about : str
            A name for what `work` makes, under which a stream that may be resumed keeps the sum.
        """
        kept = self._kept(about)
        done, whole, found = (0, False, None) if kept is None else kept.read()
        if whole and found is not None:
            return found
        steps = number = 0
        for number, block in enumerate(self.blocks(), 1):
            if number > done:
                one = work(block)
                found = one if found is None else found + one
                if kept is not None:
                    kept.note(number, found)
            steps += len(block) - 1
            if count is not None:
                count(steps)
        if found is None:
            raise DataError("the stream has no step: two samples that follow each other are wanted")
        if kept is not None:
            kept.note(number, found, whole=True)
        return found

    def _kept(self, about: str) -> Kept | None:
        """Where the sum of this recording is kept under this name."""
        if self._resume is None:
            return None
        size = f"{self.dt!r} {self.block} {self.n_steps} {self.n_paths}"
        return Kept(self._resume, fingerprint(about, size, *self.part().paths))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the states."""
        return self.part().names

    @property
    def n_paths(self) -> int:
        """Number of recordings."""
        return len(self._recordings)

    @property
    def n_steps(self) -> int:
        """Number of steps; counted in one reading."""
        self.part()
        assert self._seen is not None
        return self._seen[1]

    def part(self) -> Trajectories:
        """Stretches from all over the recording, `STRETCH` samples each and at most `PART` in all.

        What is no sum is looked at on these: origins, quantiles, correlation times, checks. The first reading checks
        that no sample is infinite.
        """
        if self._seen is None:
            self._seen = self._look()
        return self._seen[0]

    def _look(self) -> tuple[Trajectories, int]:
        kept: list[Array] = []
        every, number, steps = 1, 0, 0
        for block in self.blocks():
            wrong = np.argwhere(np.isinf(block))
            if len(wrong):
                raise DataError(first_infinite(steps, (int(wrong[0][0]), int(wrong[0][1]))))
            steps += len(block) - 1
            for stretch in stretches_of(block):
                if number % every == 0:
                    kept.append(stretch.copy())
                number += 1
                if sum(map(len, kept)) > PART:
                    kept, every = kept[::2], 2 * every
        return self._made(kept), steps

    def _made(self, kept: Sequence[Array]) -> Trajectories:
        """The stretches as trajectories."""
        whole = [x for x in kept if len(x) > 2 and np.isfinite(x).any(axis=0).all()]
        if not whole:
            raise DataError("the stream has no stretch of samples: an array (n_times, n_states) is wanted")
        return Trajectories(whole, dt=self.dt, names=self._names)

    def __repr__(self) -> str:
        return f"Stream: {self.n_steps} steps, dt = {self.dt:g}, states {', '.join(self.names)}"


def stretches_of(block: Array) -> Iterator[Array]:
    """The stretches of a block, each of `STRETCH` steps but the last."""
    return (block[start : start + STRETCH + 1] for start in range(0, len(block) - 1, STRETCH))


def chosen_stretches(steps: Sequence[int]) -> list[set[int]]:
    """Numbers of the stretches that `Stream.part` keeps of blocks with these steps, block by block."""
    lengths = [
        (block, number, min(STRETCH, n - start) + 1)
        for block, n in enumerate(steps)
        for number, start in enumerate(range(0, n, STRETCH))
    ]
    every = 1
    kept: list[int] = []
    for place, _ in enumerate(lengths):
        if place % every == 0:
            kept.append(place)
        if sum(lengths[k][2] for k in kept) > PART:
            kept, every = kept[::2], 2 * every
    chosen: list[set[int]] = [set() for _ in steps]
    for place in kept:
        block, number, _ = lengths[place]
        chosen[block].add(number)
    return chosen


def first_infinite(before: int, where: tuple[int, int]) -> str:
    """What is said of an infinite sample `where` of a block after so many steps."""
    return (
        f"sample {before + where[0]} of column {where[1]} of the stream is infinite: finite numbers, or NaN where a "
        "sample is missing"
    )


def _regrouped(chunks: Iterator[Array], block: int) -> Iterator[Array]:
    """Blocks of `block` steps from chunks of any length."""
    held: list[Array] = []
    length = 0
    for chunk in chunks:
        start = 0
        if held and chunk.shape[1] != held[0].shape[1]:
            raise DataError(
                f"a chunk of the stream has the shape {chunk.shape}, those before it {held[0].shape[1]} columns: all "
                "chunks have one column for each state"
            )
        while start < len(chunk):
            taken = chunk[start : start + block + 1 - length]
            held.append(taken)
            length, start = length + len(taken), start + len(taken)
            if length == block + 1:
                whole = np.ascontiguousarray(np.concatenate(held) if len(held) > 1 else held[0])
                held, length = [whole[-1:].copy()], 1
                yield whole
    if length > 1:
        yield np.ascontiguousarray(np.concatenate(held))


def stream(
    source: Any,
    *,
    dt: float,
    names: Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    key: str | None = None,
    block: int = BLOCK,
    resume: str | PathLike[str] | None = None,
) -> Stream:
    """A recording that is larger than memory, or is not to be held there.

    Parameters
    ----------
    source : path, array, callable, or a list of these
        A file in NPY, Parquet, HDF5 or Zarr; an array that is not in memory (`numpy.memmap`, a data set of h5py, an
        array of Zarr); a function without arguments that returns chunks `(n_i, n_states)`, which follow each other, and
        is called anew for every reading. Each one of a list is a recording of its own.
    dt : float
        Step between samples.
    names : list of str, optional
        Of the states; those of the columns of Parquet, `x1, ...` otherwise.
    columns : list of str or int, optional
        Those of the states, all unless given; of Parquet by name, otherwise by number.
    key : str, optional
        Name of the data set within an HDF5 file or a Zarr group.
    block : int
        Steps that are held at once.
    resume : path, optional
        A folder in which sums are kept while they are made, each in a small file: the same call with the same seed goes
        on where an earlier one was interrupted, and has the same bits. A function among the terms is known by its name.

    Returns
    -------
    Stream
        For `discover` and `moments`.

    Raises
    ------
    ArgumentError
        For a source of another kind.
    DataError
        For a file that cannot be read, or chunks of another shape.

    Examples
    --------
    >>> import numpy as np
    >>> walk = np.cumsum(np.random.default_rng(1).standard_normal((1000, 2)), axis=0)
    >>> stream(lambda: iter(np.array_split(walk, 7)), dt=0.01)
    Stream: 999 steps, dt = 0.01, states x1, x2
    """
    sources = source if isinstance(source, list) else [source]
    if not sources:
        raise argument_error("source", source, "at least one recording")
    if columns is not None:
        chosen = list(columns) if checks.is_list(columns) else []
        if not chosen or not all(isinstance(column, (str, int, np.integer)) for column in chosen):
            raise argument_error("columns", columns, "names or numbers of columns")
        columns = chosen
    if names is None and columns is not None and all(isinstance(column, str) for column in columns):
        names = [str(column) for column in columns]
    if names is None and _kind(sources[0]) == ".parquet":
        names = _parquet(sources[0]).schema_arrow.names
    if names is not None:
        names = as_names(names, len(checks.names(names, "names")))
    folder = None if resume is None else path_of(resume, "resume")
    return Stream([_chunks(one, columns, key, block) for one in sources], dt, names, block, folder)


def as_stream(data: Any, dt: float | None) -> Stream | None:
    """`data` as a stream if it is one, or an array that is not in memory and larger than what is looked at of one."""
    if isinstance(data, Stream):
        if dt is not None and dt != data.dt:
            raise argument_error("dt", dt, f"nothing, since the stream has its own (dt = {data.dt})")
        return data
    outside = isinstance(data, np.memmap) or type(data).__module__.partition(".")[0] in ("h5py", "zarr")
    if not outside or getattr(data, "ndim", 0) not in (1, 2) or len(data) <= PART:
        return None
    if dt is None:
        raise ArgumentError("dt = None: the step between the samples of an array that is not in memory")
    return stream(data, dt=dt)


def _kind(source: Any) -> str:
    return splitext(str(fspath(source)))[1].lower() if isinstance(source, (str, PathLike)) else ""


def _chunks(source: Any, columns: Sequence[str | int] | None, key: str | None, block: int) -> Chunks:
    """A function that reads the source from its beginning."""
    kind = _kind(source)
    if kind == ".parquet":
        return lambda: _of_parquet(source, columns, block)
    if columns is not None and any(isinstance(column, str) for column in columns):
        raise argument_error("columns", columns, "numbers of columns: only those of Parquet have names")
    if isinstance(source, np.memmap) and source.flags.c_contiguous and source.base.__class__ is not np.memmap:
        return lambda: _of_file(source.filename, source.offset, source.dtype, source.shape, columns, block)
    if kind == ".npy":
        array = _mapped(source)
        return lambda: _of_file(source, array.offset, array.dtype, array.shape, columns, block)
    if kind in (".h5", ".hdf5", ".hdf", ".zarr"):
        return lambda: _of_container(source, kind, key, columns, block)
    if callable(source):
        return lambda: (_rows(chunk, columns) for chunk in _called(source))
    if hasattr(source, "shape") and hasattr(source, "__getitem__") and len(source.shape) in (1, 2):
        return lambda: _of_array(source, columns, block)
    raise argument_error(
        "source",
        source,
        "a path to NPY, Parquet, HDF5 or Zarr, an array (n_times, n_states), or a function that returns chunks; an "
        "iterator can be read once, a function again",
    )


def _called(source: Callable[[], Any]) -> Iterator[Any]:
    chunks = source()
    try:
        return iter(chunks)
    except TypeError:  # an array without dimensions has the method and no use for it
        raise argument_error(
            "source", source, f"a function that returns chunks, not {type(chunks).__name__}"
        ) from None


def _rows(chunk: Any, columns: Sequence[str | int] | None) -> Array:
    """A chunk as doubles in rows."""
    rows = checks.reals("a chunk of the stream", chunk, missing=True, error=DataError)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise DataError(f"a chunk of the stream has the shape {rows.shape}: (n_times, n_states) is wanted")
    if columns is None:
        return rows
    if not all(isinstance(column, (int, np.integer)) and 0 <= column < rows.shape[1] for column in columns):
        raise argument_error("columns", columns, f"numbers from 0 to {rows.shape[1] - 1}")
    return np.ascontiguousarray(rows[:, [int(column) for column in columns]])


def _of_array(array: Any, columns: Sequence[str | int] | None, block: int) -> Iterator[Array]:
    for start in range(0, array.shape[0], block):
        yield _rows(array[start : start + block], columns)


def _mapped(path: Any) -> Any:
    with reading(path, "NPY"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim not in (1, 2) or not array.flags.c_contiguous or array.dtype.kind not in "fiu":
        raise DataError(
            f"{path}: numbers (n_times, n_states) by rows are wanted, not {array.dtype} {array.shape}"
        )
    return array


def _of_file(
    path: Any, offset: int, dtype: Any, shape: Sequence[int], columns: Sequence[str | int] | None, block: int
) -> Iterator[Array]:
    """Rows read from a file, whose pages are not counted as memory of this process as those of a map would be."""
    width = int(np.prod(shape[1:]))
    with open(path, "rb") as handle:
        handle.seek(offset)
        for start in range(0, shape[0], block):
            rows = min(block, shape[0] - start)
            flat = np.fromfile(handle, dtype, rows * width)
            if len(flat) != rows * width:
                raise DataError(f"{path} ends after sample {start + len(flat) // width} of {shape[0]}")
            yield _rows(flat.reshape(rows, *shape[1:]), columns)


def _parquet(path: Any) -> Any:
    parquet = require("pyarrow.parquet", "data", "Reading Parquet")
    with open(path, "rb"):
        pass
    with reading(path, "Parquet"):
        return parquet.ParquetFile(path)


def _of_parquet(path: Any, columns: Sequence[str | int] | None, block: int) -> Iterator[Array]:
    file = _parquet(path)
    there = file.schema_arrow.names
    chosen = there if columns is None else [there[c] if isinstance(c, int) else str(c) for c in columns]
    for name in chosen:
        if name not in there:
            raise argument_error("columns", name, f"one of {', '.join(there)}")
    with file:
        for batch in file.iter_batches(batch_size=block, columns=chosen):
            arrays = [batch.column(batch.schema.get_field_index(name)) for name in chosen]
            yield _rows(np.column_stack([one.to_numpy(zero_copy_only=False) for one in arrays]), None)


def _of_container(
    path: Any, kind: str, key: str | None, columns: Sequence[str | int] | None, block: int
) -> Iterator[Array]:
    """A data set of an HDF5 file or a Zarr store."""
    is_zarr = kind == ".zarr"
    module = require("zarr" if is_zarr else "h5py", "data", f"Reading {'Zarr' if is_zarr else 'HDF5'}")
    with reading(path, "Zarr" if is_zarr else "HDF5"):
        found = module.open(str(path), mode="r") if is_zarr else module.File(path, "r")
        if not hasattr(found, "shape"):
            named = [name for name in found if hasattr(found[name], "shape")]
            if key is None and len(named) != 1:
                raise DataError(
                    f"{path} holds {', '.join(named) or 'no data set'}: key=... says which is the recording"
                )
            if key is not None and key not in found:
                raise argument_error("key", key, f"one of {', '.join(named)}")
            found = found[named[0] if key is None else key]
    yield from _of_array(found, columns, block)
