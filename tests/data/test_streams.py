"""Streams: blocks of a fixed length from any source, stretches from all over it, and errors that name what is wrong."""

import tracemalloc

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import streams
from itoscope.errors import ArgumentError, DataError
from itoscope.stats.exact import Exact

N = 1003
WALK = np.cumsum(np.random.default_rng(1).standard_normal((N, 2)), axis=0)
NAMES = ["x", "y"]


def npy(folder):
    np.save(folder / "walk.npy", WALK)
    return folder / "walk.npy"


def parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"n": np.arange(N), "x": WALK[:, 0], "y": WALK[:, 1]})
    parquet.write_table(table, folder / "walk.parquet", row_group_size=100)
    return folder / "walk.parquet"


def hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "walk.h5", "w") as file:
        file["walk"], file["other"] = WALK, np.zeros(3)
    return folder / "walk.h5"


def zarr(folder):
    module = pytest.importorskip("zarr")
    module.save(str(folder / "walk.zarr"), WALK)
    return folder / "walk.zarr"


def memmap(folder):
    return np.load(npy(folder), mmap_mode="r")


def chunks(folder):
    return lambda: iter(np.array_split(WALK, [1, 2, 500, 500, 990]))


SOURCES = {one.__name__: one for one in (npy, parquet, hdf5, zarr, memmap, chunks)}


def opened(kind, folder, block=64):
    more = {"columns": NAMES} if kind == "parquet" else {"names": NAMES}
    more |= {"key": "walk"} if kind == "hdf5" else {}
    return ito.stream(SOURCES[kind](folder), dt=0.1, block=block, **more)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_has_the_same_blocks_however_often_it_is_read(kind, tmp_path):
    source = opened(kind, tmp_path)
    for _ in range(2):
        blocks = list(source.blocks())
        assert [len(block) for block in blocks] == [65] * 15 + [43]
        for number, block in enumerate(blocks):
            np.testing.assert_array_equal(block, WALK[64 * number : 64 * number + 65])
    assert source.names == ("x", "y") and source.n_steps == N - 1
    assert repr(source) == "Stream: 1002 steps, dt = 0.1, states x, y"


@pytest.mark.parametrize("block", [1, 2, 501, 1002, 5000])
def test_blocks_cover_every_step_once(block):
    source = ito.stream(chunks(None), dt=0.1, block=block)
    steps = np.concatenate([np.diff(one, axis=0) for one in source.blocks()])
    np.testing.assert_array_equal(steps, np.diff(WALK, axis=0))


def test_recordings_of_a_list_do_not_touch():
    source = ito.stream([chunks(None), lambda: iter([WALK[:10]])], dt=0.1, block=400)
    assert [len(block) for block in source.blocks()] == [401, 401, 203, 10]
    assert source.n_steps == N - 1 + 9
    done = []
    total = source.total(lambda x: Exact.of(np.diff(x, axis=0).sum(axis=0)), done.append)
    np.testing.assert_allclose(total.rounded(), WALK[-1] - WALK[0] + WALK[9] - WALK[0])
    assert done == [400, 800, 1002, 1011]


def test_stretches_are_from_all_over_the_recording(monkeypatch):
    monkeypatch.setattr(streams, "PART", 320)
    monkeypatch.setattr(streams, "STRETCH", 40)
    part = ito.stream(chunks(None), dt=0.1, block=100).part()
    assert sum(map(len, part.paths)) <= 320 and part.n_paths > 3
    starts = [int(np.flatnonzero((path[0] == WALK).all(axis=1))[0]) for path in part.paths]
    assert starts[0] == 0 and starts[-1] > 700 and np.ptp(np.diff(starts)) <= 100
    for start, path in zip(starts, part.paths):
        np.testing.assert_array_equal(path, WALK[start : start + len(path)])


def test_memory_is_that_of_a_block(tmp_path):
    np.save(tmp_path / "long.npy", np.zeros((2_000_000, 2)) + np.linspace(0, 1, 2_000_000)[:, None])
    source = ito.stream(tmp_path / "long.npy", dt=0.1, block=20_000)
    tracemalloc.start()
    assert sum(len(block) - 1 for block in source.blocks()) == 1_999_999
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * 20_000 * 16  # 32 MB are in the file


def test_what_is_no_source_is_told(tmp_path):
    with pytest.raises(ArgumentError, match="iterator can be read once"):
        ito.stream(iter([WALK]), dt=0.1)
    with pytest.raises(ArgumentError, match="function that returns chunks"):
        ito.stream(lambda: 3, dt=0.1).part()
    with pytest.raises(ArgumentError, match="not ndarray"):
        ito.stream(lambda: np.array(3.0), dt=0.1).part()
    with pytest.raises(DataError, match=r"shape \(1, 1003, 2\)"):
        ito.stream(lambda: iter([WALK[None]]), dt=0.1).part()
    with pytest.raises(DataError, match="no stretch"):
        ito.stream(lambda: iter([]), dt=0.1).part()
    with pytest.raises(DataError, match="no step"):
        ito.stream(lambda: iter([WALK[:1]]), dt=0.1).total(lambda x: Exact.of(x[0]))
    wrong = WALK.copy()
    wrong[700, 1] = np.inf
    with pytest.raises(DataError, match="sample 700 of column 1"):
        ito.stream(lambda: iter([wrong]), dt=0.1, block=64).part()
    with pytest.raises(FileNotFoundError):
        ito.stream(tmp_path / "none.npy", dt=0.1)
    with pytest.raises(ArgumentError, match="columns"):
        ito.stream(npy(tmp_path), dt=0.1, columns=["x"])
    with pytest.raises(ArgumentError, match="numbers from 0 to 1"):
        ito.stream(npy(tmp_path), dt=0.1, columns=[2]).part()


def test_a_file_that_became_shorter_is_told(tmp_path):
    source = ito.stream(npy(tmp_path), dt=0.1)
    with open(tmp_path / "walk.npy", "r+b") as handle:
        handle.truncate(8000)
    with pytest.raises(DataError, match="ends after sample"):
        source.part()


def test_data_sets_of_hdf5_are_asked_for_by_name(tmp_path):
    path = hdf5(tmp_path)
    with pytest.raises(DataError, match=r"key=\.\.\."):
        ito.stream(path, dt=0.1).part()
    with pytest.raises(ArgumentError, match="key"):
        ito.stream(path, dt=0.1, key="no").part()


def test_chunks_of_other_columns_are_told():
    for last in (np.zeros((3, 1)), np.zeros(3), np.zeros((2, 3))):
        with pytest.raises(
            DataError, match=r"a chunk of the stream has the shape .*those before it 2 columns"
        ):
            ito.stream(lambda last=last: iter([np.zeros((5, 2)), last]), dt=0.1).part()
