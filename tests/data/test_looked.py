"""Which stretches of a long recording are looked at, and that nothing of its length is made beside it."""

import tracemalloc

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import looked
from itoscope.data.looked import Look, looked_at, looks
from itoscope.stats import correlation, running

WELL = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
SHORT = {"n_chains": 2, "n_samples": 200, "n_burn": 100, "seed": 1}


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(looked, "LOOKED", 8192)
    monkeypatch.setattr(looked, "STRETCH", 1024)
    monkeypatch.setattr(running, "PIECE", 4096)
    monkeypatch.setattr(correlation, "PIECE", 4096)


def test_short_recordings_are_looked_at_whole():
    paths = [np.zeros((100, 2)), np.zeros((5, 2))]
    assert looks(paths) == [Look(0, slice(None)), Look(1, slice(None))]


@pytest.mark.parametrize("lengths", [[20_001], [9000, 3, 9000], [50] * 400, [8193], [3] * 10_000])
def test_long_ones_on_stretches_from_all_over(few, lengths):
    paths = [np.ones((n, 1)) for n in lengths]
    found = looks(paths)
    sizes = [len(paths[path][samples]) for path, samples in found]
    assert 8192 // 2 < sum(sizes) <= 8192 and max(sizes) <= 1025 and min(sizes) > 2
    before = np.cumsum([0, *lengths])
    at = np.array([before[path] + (samples.start or 0) for path, samples in found])
    gaps = np.diff([*at, before[-1]])
    assert at[0] == 0 and (gaps > 0).all()
    assert gaps.max() < 4 * before[-1] / len(found) + 3  # none of it is left out at length


def test_a_stretch_without_samples_of_a_column_is_left_out(few):
    x = np.ones((20_001, 2))
    x[:5000, 1] = np.nan
    assert all(np.isfinite(x[samples]).any(axis=0).all() for _, samples in looks([x]))
    x[:, 1] = np.nan
    assert looks([x]) == [Look(0, slice(None))]


def test_stretches_are_recordings_that_share_their_samples(few):
    data = ito.Trajectories(np.random.default_rng(1).normal(size=(20_000, 2)), dt=0.5, names=["x", "y"])
    part = looked_at(data)
    assert part.names == data.names and part.dt == 0.5 and part.n_steps < 8192
    assert all(np.shares_memory(path, data.paths[0]) for path in part.paths)
    uneven = ito.Trajectories([data.paths[0]], t=np.cumsum(np.random.default_rng(2).uniform(1, 2, 20_000)))
    assert looked_at(uneven).times[1][0] == uneven.times[0][looks(uneven.paths)[1].samples.start]


def test_sums_are_over_all_steps_whatever_is_looked_at(monkeypatch):
    data = WELL.simulate([0.5, 0.0], dt=0.01, n_steps=20_000, seed=3)
    library = ito.Library.polynomials(3)
    whole = ito.discover(data, library, **SHORT)
    assert "looked_at" not in whole.data_summary
    monkeypatch.setattr(looked, "LOOKED", 8192)
    monkeypatch.setattr(looked, "STRETCH", 1024)
    part = ito.discover(data, library, **SHORT)
    assert part.data_summary["looked_at"] < 8192 and part.data_summary["n_steps"] == 20_000
    assert part.data is data
    for row in "xy":
        assert np.array_equal(part.drift[row].moments.gram, whole.drift[row].moments.gram)
        assert np.array_equal(part.drift[row].mean, whole.drift[row].mean)
    steps = {row: found["n"] for row, found in part.diagnostics["residuals"].items()}
    assert steps == dict.fromkeys("xy", part.data_summary["looked_at"])


def test_checks_of_a_part_see_what_is_wrong(few):
    data = WELL.simulate([0.5, 0.0], dt=0.01, n_steps=40_000, seed=5).add_noise(0.05, seed=6)
    found = ito.discover(data, ito.Library.polynomials(3), measurement_noise=0, **SHORT)
    assert found.data_summary["looked_at"] < 8192
    fired = {check["name"] for check in found.diagnostics["checks"] if check["fired"]}
    assert "whiteness" in fired and found.advice[0].cause == "measurement noise"


def test_memory_does_not_grow_with_the_recording(few):
    peaks = []
    for n in (40_000, 160_000):
        data = WELL.simulate([0.5, 0.0], dt=0.01, n_steps=n, seed=1)
        ito.discover(data, ito.Library.polynomials(2), **SHORT)
        tracemalloc.start()
        ito.discover(data, ito.Library.polynomials(2), **SHORT)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (
        peaks[1] - peaks[0] < 2 * 120_000
    )  # a single number for each step that it has more would be four times this


def _kinds():
    plain = WELL.simulate([0.5, 0.0], dt=0.01, n_steps=12_000, seed=1)
    x = plain.paths[0]
    gap, driven = x.copy(), np.column_stack([x, np.sin(0.01 * np.arange(len(x)))])
    gap[100:5000, 0] = np.nan
    held = np.column_stack([x, np.repeat(np.random.default_rng(2).normal(size=121), 100)[: len(x)]])
    rough = np.cumsum(np.random.default_rng(1).uniform(0.005, 0.015, len(x)))
    library, names = ito.Library.polynomials(2), ["x", "y", "f"]
    return {
        "euler": (plain, library, {"scheme": "euler"}),
        "mean": (
            WELL.simulate([0.5, 0.0], dt=0.01, n_steps=3000, n_paths=4, seed=1),
            library,
            {"ensemble": "mean"},
        ),
        "gap": (ito.Trajectories(gap, dt=0.01), library, {"measurement_noise": 0}),
        "uneven": (ito.Trajectories(x, t=rough), library, {"measurement_noise": 0}),
        "input": (ito.Trajectories(driven, dt=0.01, names=names), library, {"inputs": ["f"]}),
        "held": (ito.Trajectories(held, dt=0.01, names=names), library, {"inputs": {"f": "held"}}),
        "time": (plain, library + ito.Library.expressions("sin(t)"), {}),
        "custom": (plain, library + ito.Library.custom(lambda z: np.tanh(z[:, 0]), "tanh_x"), {}),
    }


@pytest.mark.parametrize("kind", ["euler", "mean", "gap", "uneven", "input", "held", "time", "custom"])
def test_equations_do_not_hang_on_what_is_looked_at(monkeypatch, kind):
    data, library, options = _kinds()[kind]
    whole = ito.discover(data, library, **options, **SHORT)
    monkeypatch.setattr(looked, "LOOKED", 8192)
    monkeypatch.setattr(looked, "STRETCH", 1024)
    part = ito.discover(data, library, **options, **SHORT)
    assert 2000 < part.data_summary["looked_at"] < 8192
    for row, equation in whole.drift.items():
        assert np.array_equal(part.drift[row].mean, equation.mean)
        assert np.array_equal(part.drift[row].selected, equation.selected)
