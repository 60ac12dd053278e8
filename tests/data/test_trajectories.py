"""`Trajectories`: every accepted shape, and every rule with the message that a user reads."""

import numpy as np
import pytest
from itoscope import Trajectories, errors
from itoscope.data.trajectories import as_trajectories

RNG = np.random.default_rng(5)


def wave(n=20, m=2):
    return np.cos(np.arange(n)[:, None] * 0.3 + np.arange(m))


@pytest.mark.parametrize(
    ("data", "n_paths", "n_states", "n_steps"),
    [
        (np.arange(5.0), 1, 1, 4),
        ([1, 2, 3, 5], 1, 1, 3),
        (wave(), 1, 2, 19),
        (np.stack([wave(), wave()]), 2, 2, 38),
        ([wave(10), wave(7)], 2, 2, 15),
        ([np.arange(4.0), np.arange(3.0)], 2, 1, 5),
        ([[1, 2], [3, 4], [5, 6]], 1, 2, 2),
        (np.arange(6, dtype=np.int16).reshape(3, 2), 1, 2, 2),
        (np.ma.masked_equal([1.0, 2.0, 3.0, 2.0], 3.0), 1, 1, 3),
        ([1.0, None, 3.0], 1, 1, 2),
    ],
)
def test_shapes(data, n_paths, n_states, n_steps):
    made = Trajectories(data, dt=0.1)
    assert (made.n_paths, made.n_states, made.n_steps, len(made)) == (n_paths, n_states, n_steps, n_paths)
    assert made.names == tuple(f"x{i + 1}" for i in range(n_states))
    for path, times in zip(made.paths, made.times):
        assert path.dtype == times.dtype == np.float64
        assert path.flags.c_contiguous and not path.flags.writeable and not times.flags.writeable
        assert len(path) == len(times)


def test_missing_samples_are_nan():
    assert np.isnan(Trajectories([1.0, None, 3.0], dt=1).paths[0][1, 0])
    assert np.isnan(Trajectories(np.ma.masked_equal([1.0, 2.0, 3.0], 2.0), dt=1).paths[0][1, 0])
    assert Trajectories([1.0, np.nan, 3.0, 4.0], dt=1).missing == 0.25


def test_samples_are_not_copied_and_the_callers_array_stays_writeable():
    data = np.zeros((4, 50, 2))
    made = Trajectories(data, dt=0.1)
    assert np.shares_memory(made.paths[2], data[2])
    data[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("data", "settings", "words"),
    [
        ([1.0, 2.0], {}, ["path 0", "2 samples", "at least 3"]),
        (np.zeros((2, 100)), {}, ["path 0", "2 samples", "transposing"]),
        (np.zeros((3, 2000)), {}, ["2000 states", "3 samples", "transposed?"]),
        ([np.zeros((3, 9)), np.zeros((4, 9))], {}, ["9 states", "7 samples", "transposed?"]),
        ([np.zeros(2)] * 9, {}, ["path 0", "2 samples", "np.stack"]),
        ([wave(), wave(2)], {}, ["path 1", "2 samples"]),
        ([wave(9, 2), wave(9, 3)], {}, ["path 1 has 3 states", "path 0 has 2", "same states"]),
        (np.zeros((2, 2, 5, 2)), {}, ["(2, 2, 5, 2)", "(n_paths, n_times, n_states)"]),
        ([np.zeros((2, 5, 2))], {}, ["path 0", "(2, 5, 2)", "(n_times, n_states)"]),
        (np.float64(3.0), {}, ["()", "(n_times,)"]),
        (np.zeros((3, 0)), {}, ["(3, 0)", "at least one state"]),
        (np.zeros((0, 5, 1)), {}, ["no path", "at least one"]),
        ([], {}, ["0 samples"]),
        ([1.0, 2.0, np.inf, 4.0], {}, ["path 0", "sample 2", "x1 = inf", "finite"]),
        (
            [wave(), np.where(np.arange(40).reshape(20, 2) == 25, -np.inf, 0)],
            {},
            ["path 1", "sample 12", "x2 = -inf"],
        ),
        (np.array([[1.0, np.nan]] * 4), {}, ["x2", "no sample but NaN"]),
        (["a", "b", "c"], {}, ["data", "dtype <U1", "real numbers"]),
        ([1.0, "b", 3.0], {}, ["real numbers"]),
        ([1.0, {}, 3.0], {}, ["data[1] = {}", "real numbers"]),
        ([1.0, 2j, 3.0], {}, ["complex", "real numbers"]),
        ([True, False, True], {}, ["dtype bool", "real numbers"]),
        ([[1, 2], [3], [4, 5]], {}, ["nested list", "list of arrays"]),
        (wave(4), {"t": [0, 1, 2]}, ["path 0", "4 samples", "(3,)", "one stamp per sample"]),
        (wave(4), {"t": [0, 1, 3, 2]}, ["path 0", "t[3] = 2.0", "after t[2] = 3.0", "increase strictly"]),
        (wave(4), {"t": [0, 1, 1, 2]}, ["path 0", "t[2] = 1.0", "repeated", "increase strictly"]),
        (wave(4), {"t": [0, 1, np.nan, 2]}, ["path 0", "t[2] = nan", "finite time"]),
        (wave(4), {"t": ["a", "b", "c", "d"]}, ["t holds", "real numbers"]),
        (wave(3), {"t": np.array(["2024-01-01"] * 3, dtype="M8[D]")}, ["t holds", "from_dataframe"]),
        (wave(4), {"t": np.zeros((1, 1, 4))}, ["(1, 1, 4)", "(n_paths, n_times)"]),
        ([wave(4)] * 2, {"t": [np.arange(4.0)] * 3}, ["stamps for 3 paths", "2 paths"]),
        ([wave(4)] * 2, {"t": [np.arange(4.0), [0.0, 2.0, 1.0, 3.0]]}, ["path 1", "t[2] = 1.0"]),
    ],
)
def test_bad_data(data, settings, words):
    settings = settings or {"dt": 0.1}
    with pytest.raises(errors.DataError) as caught:
        Trajectories(data, **settings)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ["dt and t", "missing"]),
        ({"dt": 0.1, "t": np.arange(20.0)}, ["dt = 0.1", "t", "one of them"]),
        ({"dt": 0}, ["dt = 0", "above 0"]),
        ({"dt": -0.5}, ["dt = -0.5", "above 0"]),
        ({"dt": np.nan}, ["dt = nan", "finite"]),
        ({"dt": "0.1"}, ["dt = '0.1'", "number"]),
        ({"dt": True}, ["dt = True", "number"]),
        ({"dt": [0.1, 0.1]}, ["dt = [0.1, 0.1]", "one finite number"]),
        ({"t": 0.1}, ["t = 0.1", "goes into dt"]),
        ({"dt": 1, "names": ["a"]}, ["names = ['a']", "2 names", "got 1"]),
        ({"dt": 1, "names": ["a", "a"]}, ["names[1] = 'a'", "differ"]),
        ({"dt": 1, "names": ["a", "2b"]}, ["names[1] = '2b'", "no digit first"]),
        ({"dt": 1, "names": ["a", "x y"]}, ["names[1] = 'x y'"]),
        ({"dt": 1, "names": ["a", 3]}, ["names[1] = 3"]),
        ({"dt": 1, "names": "ab"}, ["names = 'ab'", "list of 2 names"]),
        ({"dt": 1, "position_names": ["q"]}, ["position_names = 'q'", "x1, x2"]),
        ({"dt": 1, "diverged": [7]}, ["diverged = 7", "0 to 0"]),
    ],
)
def test_bad_arguments(settings, words):
    with pytest.raises(errors.ArgumentError) as caught:
        Trajectories(wave(), **settings)
    for word in words:
        assert word in str(caught.value)


def test_even_and_uneven_times():
    even = Trajectories(wave(1000), t=0.001 * np.arange(1000))
    assert even.dt == 0.001
    assert even.steps() == [0.001]
    rounded = Trajectories(wave(50), t=np.round(np.arange(50) / 3, 4))
    assert rounded.dt == pytest.approx(1 / 3, rel=1e-5)
    epoch = Trajectories(wave(50), t=1.7e9 + 0.01 * np.arange(50))
    assert epoch.dt == pytest.approx(0.01, rel=1e-6)
    stamps = np.cumsum(RNG.uniform(0.5, 1.5, 20))
    uneven = Trajectories(wave(), t=list(stamps))
    assert uneven.dt is None
    np.testing.assert_array_equal(uneven.steps()[0], stamps)
    mixed = Trajectories([wave(), wave()], t=[stamps, 0.5 * np.arange(20)])
    assert mixed.dt is None
    assert mixed.steps()[1] == 0.5


def test_one_time_per_path_or_shared():
    shared = Trajectories(np.zeros((3, 4, 1)), t=np.arange(4))
    assert shared.times[0] is shared.times[2]
    own = Trajectories(np.zeros((2, 4, 1)), t=np.array([[0, 1, 2, 3], [5, 7, 9, 11]]))
    assert [step for step in own.steps()] == [1.0, 2.0]


def test_choosing_paths_states_and_samples():
    data = Trajectories(
        np.arange(120.0).reshape(5, 8, 3),
        dt=0.5,
        names=["a", "b", "c"],
        position_names=["c"],
        diverged=[1, 3],
        seed=9,
    )
    part = data[1:4]
    assert (part.n_paths, part.diverged, part.seed, part.position_names) == (3, (0, 2), 9, ("c",))
    np.testing.assert_array_equal(part.paths[0], data.paths[1])
    assert data[-1].n_paths == 1
    assert data[[0, 4]].paths[1][0, 0] == data.paths[4][0, 0]
    assert data[np.array([True, False, False, False, True])].n_paths == 2
    assert [one.n_paths for one in data] == [1] * 5
    assert data.select(["c", "a"]).paths[0][0].tolist() == [2.0, 0.0]
    assert data.select("b").names == ("b",)
    thin = data.thin(3)
    assert (thin.dt, thin.paths[0].shape, thin.times[0].tolist()) == (1.5, (3, 3), [0.0, 1.5, 3.0])
    first, rest = data.split(0.6)
    assert (first.n_paths, rest.n_paths) == (3, 2)
    start, end = data.split(0.5, by="time")
    assert (start.n_paths, start.paths[0].shape, end.times[0][0], end.dt) == (5, (4, 3), 2.0, 0.5)
    assert [part.n_paths for part in data[0].split(0.5)] == [1, 1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda d: d[7], IndexError, ["path 7", "2 paths"]),
        (lambda d: d[2:], IndexError, ["none of the 2 paths"]),
        (lambda d: d.select("q"), errors.ArgumentError, ["names = 'q'", "x1, x2"]),
        (lambda d: d.thin(0), errors.ArgumentError, ["k = 0", "at least 1"]),
        (lambda d: d.thin(15), errors.DataError, ["2 samples"]),
        (lambda d: d.split(1.0), errors.ArgumentError, ["fraction = 1.0", "between 0 and 1"]),
        (lambda d: d.split(0.5, by="x"), errors.ArgumentError, ["by = 'x'", "'paths'"]),
        (lambda d: d[0].split(0.5, by="paths"), errors.ArgumentError, ["by = 'paths'", "'time'"]),
        (lambda d: d.add_noise(-1), errors.ArgumentError, ["fraction = -1", "not below 0"]),
        (lambda d: d.add_noise(sd=[1, 2, 3]), errors.ArgumentError, ["sd = [1, 2, 3]", "2 of them"]),
        (lambda d: d.add_noise("5%"), errors.ArgumentError, ["fraction = '5%'"]),
        (lambda d: d.add_noise(0.1, seed=-1), errors.ArgumentError, ["seed = -1", "2^64 - 1"]),
        (lambda d: Trajectories(wave(9, 3), dt=1).positions(), errors.ArgumentError, ["names", "x1, x2, x3"]),
        (lambda d: as_trajectories(d, dt=0.2), errors.ArgumentError, ["dt = 0.2", "dt = 0.1"]),
        (lambda d: as_trajectories(d, names=["a", "b"]), errors.ArgumentError, ["names"]),
    ],
)
def test_bad_calls(call, error, words):
    with pytest.raises(error) as caught:
        call(Trajectories([wave(), wave()], dt=0.1))
    for word in words:
        assert word in str(caught.value)


def test_noise_is_a_share_of_the_spread_and_repeats_with_its_seed():
    # A standard deviation from 2e5 draws has a standard error of 0.16 %; five of them are passed once in 2e6.
    data = Trajectories(RNG.normal([0, 50], [1.0, 10.0], size=(100, 2000, 2)), dt=0.1)
    noisy = data.add_noise(0.05, seed=2)
    ratio = np.std(np.concatenate(noisy.paths) - np.concatenate(data.paths), axis=0) / data.sd()
    np.testing.assert_allclose(ratio, 0.05, rtol=0.008)
    np.testing.assert_allclose(data.mean(), [0, 50], atol=0.2)
    np.testing.assert_array_equal(noisy.paths[3], data.add_noise(0.05, seed=2).paths[3])
    assert noisy.seed == 2
    drawn = data.add_noise(0.05)
    np.testing.assert_array_equal(drawn.paths[0], data.add_noise(0.05, seed=drawn.seed).paths[0])
    absolute = data.add_noise(sd=[0.0, 1.0], seed=1)
    np.testing.assert_array_equal(absolute.paths[0][:, 0], data.paths[0][:, 0])


def test_positions():
    data = Trajectories(wave(30, 4), dt=0.1)
    assert data.positions().names == ("x1", "x2")
    assert data.positions(names=["x1", "x3"]).names == ("x1", "x3")
    marked = Trajectories(wave(30, 4), dt=0.1, position_names=["x1", "x3"])
    assert marked.positions(noise=0.05, seed=1).names == ("x1", "x3")
    np.testing.assert_array_equal(marked.positions().paths[0][:, 1], data.paths[0][:, 2])
    assert Trajectories(wave(30, 1), dt=0.1).positions().names == ("x1",)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (Trajectories(np.arange(5), dt=0.1), "Trajectories: 1 path of 5 samples, dt = 0.1, state x1"),
        (
            Trajectories([wave(5), wave(9)], t=[np.arange(5.0) ** 2, np.arange(9.0)], diverged=[0]),
            "Trajectories: 2 paths of 5 to 9 samples, uneven times, states x1, x2, 1 cut where they left the "
            "finite range",
        ),
        (
            Trajectories([np.arange(5.0), np.arange(4.0)], t=[np.arange(5.0), 2 * np.arange(4.0)]),
            "Trajectories: 2 paths of 4 to 5 samples, dt = 1 to 2, state x1",
        ),
        (
            Trajectories([1, None, 3, 4], dt=1),
            "Trajectories: 1 path of 4 samples, dt = 1, state x1, 25 % missing",
        ),
    ],
)
def test_repr(data, text):
    assert repr(data) == text


def test_as_trajectories():
    data = Trajectories(wave(), dt=0.1)
    assert as_trajectories(data) is data
    assert as_trajectories(data, dt=0.1) is data
    assert as_trajectories(wave(), dt=0.1).dt == 0.1
