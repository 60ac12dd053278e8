"""Sums on a cluster: the bits of one machine, with whatever chunks, workers and failures."""

import os
import signal
import sys

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import streams
from itoscope.errors import ArgumentError, DataError

dask = pytest.importorskip("dask")
array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])  # workers know no tests

TRUTH = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
WALK = TRUTH.simulate([0.5, 0.0], dt=0.01, n_steps=20_000, substeps=2, scheme="euler-maruyama", seed=1).paths[
    0
]
LIBRARY = ito.Library.polynomials(3)
SHORT = {"seed": 1, "n_samples": 200, "n_burn": 100}
SIZE = {"dt": 0.01, "names": ["x", "y"], "block": 1500}


def bits(result):
    return [
        np.concatenate([e.pip, e.mean, e.samples.ravel(), e.moments.gram.ravel()])
        for e in (*result.drift.values(), *result.diffusion.values())
    ]


def assert_same(one, other):
    for a, b in zip(bits(one), bits(other)):
        np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def alone():
    return ito.discover(ito.stream(lambda: iter([WALK]), **SIZE), LIBRARY, **SHORT)


@pytest.mark.parametrize("chunk", [20_001, 700])
def test_an_array_has_the_bits_of_one_machine(alone, chunk):
    found = ito.dask.discover(array.from_array(np.array(WALK), chunks=(chunk, 1)), LIBRARY, **SIZE, **SHORT)
    assert_same(found, alone)
    assert found.data_summary == alone.data_summary


def dies_once(marker, part):
    """The samples; the process that asks for them first is killed."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return part
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_changes_no_bit(alone, tmp_path):
    marker = str(tmp_path / "died")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        parts = [
            array.from_delayed(
                dask.delayed(dies_once)(marker, WALK[k : k + 2500]), (len(WALK[k : k + 2500]), 2), float
            )
            for k in range(0, len(WALK), 2500)
        ]
        found = ito.dask.discover(array.concatenate(parts), LIBRARY, **SIZE, **SHORT)
        assert os.path.exists(marker)
    assert_same(found, alone)


def test_delayed_recordings_and_dataframes():
    halves = [WALK[:9000], WALK[9000:]]
    one = ito.moments(ito.stream([lambda x=x: iter([x]) for x in halves], **SIZE), LIBRARY, row="y")
    delayed = ito.dask.stream([dask.delayed(np.array)(half) for half in halves], **SIZE)
    other = ito.moments(delayed, LIBRARY, row="y")
    np.testing.assert_array_equal(one.gram, other.gram)
    assert delayed.n_paths == 2 and delayed.n_steps == 19_999
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    table = frames.from_pandas(pandas.DataFrame(np.array(WALK), columns=["x", "y"]), npartitions=5)
    source = ito.dask.stream(table, dt=0.01, block=1500)
    assert source.names == ("x", "y") and source.n_steps == 20_000


def test_the_part_that_is_looked_at_is_that_of_one_machine(monkeypatch):
    monkeypatch.setattr(streams, "PART", 3000)
    monkeypatch.setattr(streams, "STRETCH", 400)
    with dask.config.set(scheduler="synchronous"):
        found = ito.dask.stream(array.from_array(np.array(WALK), chunks=(999, 2)), **SIZE).part()
    alone = ito.stream(lambda: iter([WALK]), **SIZE).part()
    assert found.n_paths == alone.n_paths > 3
    for one, other in zip(found.paths, alone.paths):
        np.testing.assert_array_equal(one, other)


def test_what_is_no_collection_of_dask_is_told():
    with pytest.raises(ArgumentError, match="Dask array"):
        ito.dask.discover(WALK, dt=0.01)
    with pytest.raises(ArgumentError, match="at least one"):
        ito.dask.stream([], dt=0.01)
    wrong = np.array(WALK)
    wrong[16_000, 1] = np.inf
    with dask.config.set(scheduler="synchronous"), pytest.raises(DataError, match="sample 16000 of column 1"):
        ito.dask.stream(array.from_array(wrong), **SIZE).part()
    with dask.config.set(scheduler="synchronous"), pytest.raises(DataError, match="no step"):
        ito.dask.stream(array.from_array(wrong[:1]), **SIZE).total(len)
