"""Noisy recordings on a cluster: filters on the workers, the bits of one machine, whichever worker is killed."""

import functools
import os
import signal
import sys

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])  # workers know no tests

TRUTH = ito.SDE(["-x"], [["0.8"]], ["x"])
DATA = TRUTH.simulate([1.0], dt=0.05, n_steps=100, n_paths=12, substeps=10, seed=1).add_noise(sd=0.05, seed=2)
LIBRARY = ito.Library.polynomials(1)
ASKED = {
    "measurement_noise": "estimate", "diffusion": "constant", "seed": 1, "n_samples": 100, "n_burn": 50,
}  # fmt: skip


def bits(result):
    equations = [*result.drift.values(), *result.diffusion.values()]
    return [np.concatenate([e.pip, e.mean, e.samples.ravel()]) for e in equations]


def assert_same(one, other):
    for a, b in zip(bits(one), bits(other)):
        np.testing.assert_array_equal(a, b)
    assert one.diagnostics == other.diagnostics


@pytest.fixture(scope="module")
def alone():
    return ito.discover(DATA, LIBRARY, **ASKED)


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
        distributed.Client(made) as client,
    ):
        yield client


def killed_once(marker, stage, work, part):
    """What the worker makes of a part; the process that is first asked for the stage is killed."""
    if work.stage == stage:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
    return work(part)


def test_a_worker_that_is_killed_in_the_middle_changes_no_bit(alone, cluster, tmp_path, monkeypatch):
    marker = str(tmp_path / "died")
    killing = functools.partial(killed_once, marker, "filter_information")
    monkeypatch.setattr(ito.dask, "_worked", killing)
    found = ito.dask.discover(DATA, LIBRARY, block=300, **ASKED)
    assert os.path.exists(marker)
    assert_same(found, alone)


def test_recordings_go_to_the_workers_once_and_models_to_each_pass(alone, cluster, monkeypatch):
    laid, passes = [], []

    class Counted(ito.dask.Cluster):
        def put(self, parts):
            laid.append([len(part.paths) for part in parts])
            return super().put(parts)

        def each(self, work, places):
            passes.append(work.stage)
            return super().each(work, places)

    monkeypatch.setattr(ito.dask, "Cluster", Counted)
    found = ito.dask.discover(DATA, LIBRARY, block=300, **ASKED)
    assert_same(found, alone)
    whole = [parts for parts in laid if sum(parts) == DATA.n_paths]
    assert len(whole) <= 2  # as the search sees it, and as it is
    assert len(passes) > 20 * len(laid)
    assert {"filter_loglik", "filter_drift_moments", "filter_noise_moments", "filter_information"} <= set(
        passes
    )


def test_what_was_found_needs_no_cluster_afterwards(alone):
    with dask.config.set(scheduler="synchronous"):
        found = ito.dask.discover(DATA, LIBRARY, block=300, **ASKED)
    with dask.config.set(scheduler="no such scheduler"):
        for one, other in zip(found.smoothed().mean, alone.smoothed().mean):
            np.testing.assert_array_equal(one, other)


PLAIN = DATA[:6]


def delayed_arrays():
    return [dask.delayed(np.array)(path) for path in PLAIN.paths], {"dt": 0.05, "names": ["x"]}


def delayed_trajectories():
    return dask.delayed(lambda: PLAIN)(), {}


def dask_arrays():
    array = pytest.importorskip("dask.array")
    return [array.from_array(np.array(path), chunks=(40, 1)) for path in PLAIN.paths], {
        "dt": 0.05,
        "names": ["x"],
    }


def a_dataframe():
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    rows = [
        {"run": f"r{k}", "t": 0.05 * n, "x": float(x)}
        for k, path in enumerate(PLAIN.paths)
        for n, x in enumerate(path[:, 0])
    ]
    return frames.from_pandas(pandas.DataFrame(rows), npartitions=7, sort=False), {"id": "run"}


def frames_of_recordings():
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    made = [pandas.DataFrame({"x": path[:, 0]}) for path in PLAIN.paths]
    return [frames.from_pandas(one, npartitions=2, sort=False) for one in made], {"dt": 0.05}


@pytest.mark.parametrize(
    "given", [delayed_arrays, delayed_trajectories, dask_arrays, a_dataframe, frames_of_recordings]
)
def test_recordings_come_in_every_kind(given):
    data, more = given()
    with dask.config.set(scheduler="synchronous"):
        found = ito.dask.discover(data, LIBRARY, block=200, **ASKED, **more)
    assert_same(found, ito.discover(PLAIN, LIBRARY, **ASKED))


def test_what_does_not_fit_is_told():
    with pytest.raises(ArgumentError, match="block = 0"):
        ito.dask.discover(PLAIN, LIBRARY, block=0, **ASKED)
    with pytest.raises(ArgumentError, match="dt = None"):
        ito.dask.discover(dask.delayed(np.zeros)((10, 1)), LIBRARY)
    with pytest.raises(ArgumentError, match="id = 'run'"):
        ito.dask.discover(dask.delayed(np.zeros)((10, 1)), LIBRARY, dt=0.1, id="run")
