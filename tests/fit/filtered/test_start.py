"""Where the search starts: sizes from differences, a coarse search, the law of the first state."""

import itoscope as ito
import numpy as np
import pytest
import toy_recording as toy
from itoscope.backends import get_backend
from itoscope.fit.filtered import start as module
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.recording import Recording
from itoscope.fit.filtered.start import first_states, scales, start

RNG = np.random.default_rng(1)


def seen(paths, observation, states, known=None, dt=0.1, free=True):
    among = Candidates.of(ito.Library.polynomials(1).bind(states), known=known)
    q = len(observation)
    return Recording(
        paths, [dt] * len(paths), among, np.asarray(observation, float), np.full(q, free), 2 * dt,
        get_backend("reference"),
    )  # fmt: skip


def test_the_bound_of_the_noise_is_its_variance_where_there_is_nothing_else():
    """Of 4000 third differences the mean square has a standard error of 4 %; five of them."""
    white = 3.0 + 0.2 * RNG.normal(size=(4000, 1))
    found = scales(seen([white], np.eye(1), ["x"]))
    assert found.noise[0] == pytest.approx(0.04, rel=0.2)
    assert found.mean0[0] == pytest.approx(3.0, abs=0.02)
    assert found.cov0[0, 0] == pytest.approx(4 * 0.04, rel=0.2)


def test_the_bound_of_gamma_is_that_of_a_random_walk():
    walk = np.sqrt(0.5 * 0.1) * RNG.normal(size=(4000, 1)).cumsum(axis=0)
    found = scales(seen([walk], np.eye(1), ["x"]))
    assert found.gamma[0] == pytest.approx(0.5, rel=0.12)


def test_sizes_follow_the_observation():
    """A channel that shows twice the state says four times its variance; of two the louder counts."""
    walk = RNG.normal(size=(500, 1)).cumsum(axis=0)
    one, two = scales(seen([walk], [[1.0]], ["x"])), scales(seen([2 * walk], [[2.0]], ["x"]))
    assert two.gamma[0] == pytest.approx(one.gamma[0]) and two.mean0[0] == pytest.approx(one.mean0[0])
    both = scales(seen([np.hstack([walk, 2 * walk])], [[1.0], [2.0]], ["x"]))
    assert both.gamma[0] == pytest.approx(one.gamma[0])


def test_a_velocity_that_nobody_measured_has_the_size_of_differences():
    """`dx = 2 v dt`: the spread of v is that of the first differences, Gamma_vv that of the second."""
    t = 0.1 * np.arange(2000)
    x = np.sin(t)[:, None]
    found = scales(seen([x], [[1.0, 0.0]], ["x", "v"], {0: "2 v"}))
    first, second = (np.mean(np.diff(x[:, 0], n=k) ** 2) for k in (1, 2))
    assert found.cov0[1, 1] == pytest.approx(4 * first / (0.1**2 * 4.0))
    assert found.gamma[1] == pytest.approx(second / (0.1**3 * 4.0))
    blind = scales(seen([x], [[1.0, 0.0]], ["x", "v"]))
    assert blind.gamma[1] == pytest.approx(x.var())


def test_missing_samples_make_no_differences():
    walk = RNG.normal(size=(500, 1)).cumsum(axis=0)
    gappy = walk.copy()
    gappy[::3] = np.nan
    found = scales(seen([gappy], np.eye(1), ["x"]))
    assert np.isfinite([found.noise[0], found.gamma[0], found.mean0[0], found.cov0[0, 0]]).all()
    single = scales(seen([np.array([[1.0], [np.nan], [2.0]])], np.eye(1), ["x"]))
    assert single.noise[0] == pytest.approx(0.25) and single.gamma[0] == pytest.approx(0.25 / 0.1)


def test_a_recording_that_stands_still_has_scales_above_zero():
    found = scales(seen([np.ones((50, 1))], np.eye(1), ["x"]))
    assert found.noise[0] > 0 and found.gamma[0] > 0 and found.cov0[0, 0] == 4.0


def test_the_best_point_of_the_coarse_search_is_climbed_from():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2, strength=1e4)
    found = start(toy.recording(parabola), np.zeros(1))
    assert found.gamma[0, 0] == pytest.approx(0.4, abs=0.01) and found.noise[0] == pytest.approx(
        0.2, abs=0.01
    )
    assert not found.drift.any() and not found.gamma[0, 1:].any() and not found.floor.any()
    fixed = start(toy.recording(parabola, free_noise=False), np.array([0.3]))
    assert fixed.noise[0] == 0.3


def test_the_coarse_search_tries_noise_and_gamma_apart():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2)
    tried = []
    parabola.bend = lambda value, space: tried.append((space.gamma[0, 0], space.noise[0])) or value
    start(toy.recording(parabola), np.zeros(1))
    grid = np.log10(tried[:30])
    assert len({round(g, 6) for g in grid[:, 0]}) == 10 and len({round(e, 6) for e in grid[:, 1]}) == 3
    np.testing.assert_allclose(np.ptp(grid, axis=0), [9.0, 4.0])
    tried.clear()
    start(toy.recording(parabola, free_noise=False), np.array([0.3]))
    assert {e for _, e in tried[:10]} == {0.3}


def test_a_long_recording_is_searched_on_some_of_its_paths(monkeypatch):
    monkeypatch.setattr(module, "MAX_SUBSET", 250)
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2)
    paths = [RNG.normal(size=(100, 1)).cumsum(axis=0) for _ in range(5)]
    start(toy.recording(parabola, paths=paths), np.zeros(1))
    assert set(parabola.samples[:30]) == {200} and parabola.samples[-1] == 500


def test_no_finite_likelihood_is_said():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2)
    parabola.bend = lambda value, space: -np.inf
    with pytest.raises(ito.errors.DataError, match="no random walk has a finite likelihood"):
        start(toy.recording(parabola), np.zeros(1))


def test_the_law_of_the_first_state_is_that_of_the_smoothed_ones():
    """Spread of the means and of what is left unknown of each, twice as wide."""
    recording = toy.recording(toy.Parabola({}, {"1": 0.4}, 0.2))
    found = first_states(recording, toy.model())
    path = recording.paths[0][:, 0]
    assert found.mean0[0] == pytest.approx(path.mean())
    assert found.cov0[0, 0] == pytest.approx(4 * (path.var() + 0.01))
    assert start(recording, np.zeros(1)).cov0[0, 0] == pytest.approx(found.cov0[0, 0])
