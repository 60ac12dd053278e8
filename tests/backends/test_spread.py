"""A backend whose filter stages go over parts of a recording: the bits of the whole, whatever the parts are."""

import pickle

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend, spread, wrapped
from itoscope.backends.records import Parameter, StateSpace
from itoscope.backends.spread import Spread, parts_of
from itoscope.errors import ArgumentError

TERMS = ["x1", "v1", "x1^3", "1"]
COLUMNS, STEPS = [(1, 0), (1, 1), (1, 2)], [1e-3, 1e-3, 1e-6]
PARAMETERS = [Parameter("drift", 1, 0), Parameter("gamma", 0, 3), Parameter("noise", 0)]


class Folder:
    """Places that a recording reaches as bytes, in the order of another process."""

    def __init__(self):
        self.parts, self.passes = [], 0

    def put(self, parts):
        self.parts += [pickle.dumps(part) for part in parts]
        return list(range(len(self.parts) - len(parts), len(self.parts)))

    def each(self, work, laid):
        self.passes += 1
        made = {k: pickle.loads(pickle.dumps(work))(pickle.loads(self.parts[k])) for k in reversed(laid)}
        return [made[k] for k in laid]


def recording(n_paths):
    rng = np.random.default_rng(3)
    paths, times = [], []
    for k in range(n_paths):
        n = int(rng.integers(8, 40))
        x = np.cumsum(0.05 * rng.standard_normal((n, 1)), axis=0)
        x[rng.random(x.shape) < 0.1] = np.nan
        paths.append(x)
        times.append(0.02 if k % 2 else np.cumsum(rng.choice([0.01, 0.02], n)))
    return paths, times


def model(stages):
    return StateSpace(
        program=stages.compile(TERMS, ["x1", "v1"]),
        drift=np.array([[0.0, 1.0, 0.0, 0.0], [-2.0, -0.5, -0.1, 0.0]]),
        gamma=np.array([[0.0, 0.0, 0.0, 0.4]]),
        pairs=((1, 1),),
        observation=np.array([[1.0, 0.0]]),
        noise=np.array([1e-3]),
        mean0=np.zeros(2),
        cov0=np.eye(2),
        floor=np.array([0.0, 1e-3]),
        max_step=0.02,
    )


def passes(stages, paths, times):
    space = model(stages)
    yield stages.filter_loglik(space, paths, times)
    for sums, loglik in (
        stages.filter_drift_moments(space, paths, times, COLUMNS),
        stages.filter_noise_moments(space, paths, times, [(0, 3)]),
        stages.filter_information(space, paths, times, PARAMETERS, STEPS),
    ):
        yield from (sums.gram, sums.moment, np.array([sums.yy, sums.n]), loglik)
    for found in (stages.filter_innovations, stages.filter_densities):
        yield np.concatenate(found(space, paths, times))
    means, covs = stages.filter_smooth(space, paths, times)
    yield from (np.concatenate(means), np.concatenate(covs))


@pytest.mark.parametrize("n_paths", [2, 8, 9, 40, 133])
@pytest.mark.parametrize("block", [1, 100, 700])
def test_parts_have_the_bits_of_the_whole(n_paths, block):
    paths, times = recording(n_paths)
    places = Folder()
    stages = Spread(get_backend("rust"), places, block)
    for found, wanted in zip(passes(stages, paths, times), passes(get_backend("rust"), paths, times)):
        np.testing.assert_array_equal(found, wanted)
    samples = sum(map(len, paths))
    assert places.passes == (7 if samples > block else 0)
    assert bool(places.parts) == (samples > block)


def test_sums_that_are_added_part_by_part_have_other_bits():
    # what the order of batches guards against: parts of other lengths, each summed as a recording of its own
    paths, times = recording(40)
    stages = get_backend("rust")
    whole = stages.filter_drift_moments(model(stages), paths, times, COLUMNS)[0]
    parts = [
        stages.filter_drift_moments(model(stages), paths[k : k + 7], times[k : k + 7], COLUMNS)[0]
        for k in range(0, 40, 7)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert not np.array_equal(total.gram, whole.gram)
    np.testing.assert_allclose(total.gram, whole.gram, rtol=1e-10)


def test_the_reference_sums_all_paths_together():
    paths, times = recording(5)
    places = Folder()
    stages, plain = Spread(get_backend("reference"), places, 1), get_backend("reference")
    for found, wanted in zip(passes(stages, paths, times), passes(plain, paths, times)):
        np.testing.assert_array_equal(found, wanted)
    assert len(places.parts) == 1 == plain.filter_batch(5) - 4


def test_parts_are_whole_batches_of_at_least_a_block():
    paths, times = recording(133)
    for block in (1, 150, 10_000):
        parts = parts_of(paths, times, 16, block)
        assert [path for part in parts for path in part.paths] == paths
        assert all(len(part.paths) % 16 == 0 for part in parts[:-1])
        assert all(sum(map(len, part.paths)) >= block for part in parts[:-1])
    assert len(parts_of(paths, times, 16, 1)) == 9


def test_a_recording_is_laid_down_once_however_its_arrays_come():
    paths, times = recording(20)
    places = Folder()
    stages = Spread(get_backend(), places, 10)
    space = model(stages)
    stages.filter_loglik(space, paths, times)
    laid = len(places.parts)
    stages.filter_loglik(space, list(paths), list(times))
    stages.filter_loglik(space, [path.copy() for path in paths], times)
    assert len(places.parts) == laid > 1
    stages.filter_loglik(space, paths[:10], times[:10])
    assert len(places.parts) > laid
    stages.end()
    before = places.passes
    stages.filter_loglik(space, paths, times)
    assert places.passes == before and not stages._laid


def test_a_fit_asks_the_backend_that_is_wrapped():
    truth = ito.SDE(["-x"], [["0.5"]], ["x"])
    data = truth.simulate([1.0], dt=0.05, n_steps=60, n_paths=12, substeps=4, seed=2).add_noise(
        sd=0.05, seed=3
    )
    asked = {"measurement_noise": "estimate", "seed": 1, "n_samples": 100, "n_burn": 50}
    alone = ito.discover(data, ito.Library.polynomials(1), **asked)
    places = Folder()
    made = {}

    def wrap(stages):
        return made.setdefault(id(stages), Spread(stages, places, 100))

    with wrapped(wrap):
        found = ito.discover(data, ito.Library.polynomials(1), **asked)
    assert places.passes > 20
    np.testing.assert_array_equal(found.drift["x"].samples, alone.drift["x"].samples)
    assert found.diagnostics == alone.diagnostics
    assert get_backend() is get_backend("rust") is not made


@pytest.mark.parametrize("batch", [0, 17])
def test_a_batch_beyond_what_runs_together_is_refused(batch):
    paths, times = recording(20)
    stages = get_backend("rust")
    with pytest.raises(ArgumentError, match=r"batch = .*1 to 16"):
        stages.filter_drift_moments(model(stages), paths, times, COLUMNS, batch=batch)
    assert [stages.filter_batch(n) for n in (0, 1, 8, 9, 128, 129, 1000)] == [1, 1, 1, 2, 16, 16, 16]


def test_keys_tell_shapes_and_numbers_apart():
    one = np.arange(6.0)
    assert spread._numbers([one.reshape(2, 3)]) != spread._numbers([one.reshape(3, 2)])
    assert spread._numbers([one]) == spread._numbers([one.copy()])
    assert spread._numbers([0.1]) != spread._numbers([0.2])
