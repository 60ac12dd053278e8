"""Discoveries of streams are those of the recording in memory, up to the rounding of its sums."""

import pickle

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import streams
from itoscope.errors import ArgumentError

TRUTH = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
DATA = TRUTH.simulate([0.5, 0.0], dt=0.01, n_steps=20_000, substeps=2, scheme="euler-maruyama", seed=1)
LIBRARY = ito.Library.polynomials(2) + ito.Library.custom(lambda x: np.tanh(x[:, 0]), "tanh(x)")
SHORT = {"seed": 1, "n_samples": 400, "n_burn": 200}


def streamed(block=4096, cuts=7):
    return ito.stream(
        lambda: iter(np.array_split(DATA.paths[0], cuts)), dt=0.01, names=["x", "y"], block=block
    )


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("what", [{"row": "y"}, {"pair": ("x", "y")}, {"row": "x", "scheme": "euler"}])
def test_moments(backend, what):
    found = ito.moments(streamed(), LIBRARY, backend=backend, **what)
    whole = ito.moments(DATA, LIBRARY, backend=backend, **what)
    for name in ("gram", "moment", "yy", "n", "slab_scale"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-8, err_msg=name)


def test_chunks_do_not_change_a_bit():
    one, other = (ito.moments(streamed(cuts=cuts), LIBRARY, row="x") for cuts in (1, 13))
    assert np.array_equal(one.gram, other.gram) and np.array_equal(one.moment, other.moment)
    again = ito.moments(streamed(block=1000), LIBRARY, row="x")
    assert not np.array_equal(one.gram, again.gram)  # other blocks round elsewhere


def test_discover_finds_what_it_finds_in_memory():
    found, whole = ito.discover(streamed(), LIBRARY, **SHORT), ito.discover(DATA, LIBRARY, **SHORT)
    for one, other in zip(
        [*found.drift.values(), *found.diffusion.values()], [*whole.drift.values(), *whole.diffusion.values()]
    ):
        np.testing.assert_allclose(one.pip, other.pip, atol=0.02)
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-6 * np.abs(other.mean).max())
    assert found.data_summary["n_steps"] == found.data_summary["looked_at"] == 20_000
    assert found.data_summary["n_paths"] == 1


def test_what_is_summed_is_of_all_and_what_is_looked_at_of_a_part(monkeypatch):
    monkeypatch.setattr(streams, "PART", 4000)
    monkeypatch.setattr(streams, "STRETCH", 1000)
    found = ito.discover(streamed(), LIBRARY, **SHORT)
    assert found.data_summary["n_steps"] == 20_000 and found.data_summary["looked_at"] <= 4000
    assert found.data.n_steps == found.data_summary["looked_at"]
    assert found.drift["x"].moments.n == 20_000
    part = ito.discover(found.data, LIBRARY, **SHORT)
    assert part.drift["x"].moments.n == found.data.n_steps


def test_arrays_that_are_not_in_memory_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "PART", 4000)
    monkeypatch.setattr(streams, "STRETCH", 1000)
    np.save(tmp_path / "x.npy", DATA.paths[0])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = ito.discover(mapped, ito.Library.polynomials(1), dt=0.01, **SHORT)
    assert found.data_summary["n_steps"] == 20_000 and found.data_summary["looked_at"] < 20_000
    with pytest.raises(ArgumentError, match="dt"):
        ito.discover(mapped, ito.Library.polynomials(1))
    assert ito.moments(mapped, ito.Library.polynomials(1), row="x1", dt=0.01).n == 20_000


@pytest.mark.parametrize(
    "asked",
    [{"order": 2}, {"inputs": ["x"]}, {"measurement_noise": "estimate"}, {"ensemble": "mean"}, {"dt": 0.5}],
)
def test_what_is_not_of_a_stream_is_refused(asked):
    with pytest.raises(ArgumentError, match=next(iter(asked))):
        ito.discover(streamed(), LIBRARY, **asked)


def test_terms_with_the_time_are_refused():
    with pytest.raises(ArgumentError, match="time"):
        ito.discover(streamed(), ito.Library.polynomials(1) + ito.Library.fourier(1.0, 1))
    with pytest.raises(ArgumentError, match="weights"):
        ito.moments(streamed(), LIBRARY, row="x", weights=[1.0])


def test_a_compiled_library_can_be_sent_to_another_process():
    program = ito.Library.polynomials(2).bind(["x", "y"]).program("rust")
    sent = pickle.loads(pickle.dumps(program))
    x = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_array_equal(sent.evaluate(x), program.evaluate(x))


def test_progress_grows_to_the_end():
    seen = []
    ito.discover(streamed(), ito.Library.polynomials(1), progress=seen.append, **SHORT)
    assert seen == sorted(seen) and seen[-1] > 20_000
