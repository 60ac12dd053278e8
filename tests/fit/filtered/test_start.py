"""Where the search starts: sizes from differences, a coarse search, the law of the first state."""

import itoscope as ito
import numpy as np
import pytest
import toy_recording as toy
from itoscope.backends import get_backend
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.levels import CUTS
from itoscope.fit.filtered.recording import Recording
from itoscope.fit.filtered.start import first_states, scales, walks

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


def walked(recording, noise=0.0):
    return walks(recording, np.full(1, noise), scales(recording))


def test_the_likeliest_walk_comes_first_and_every_level_has_one():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2, strength=1e4)
    found = walked(toy.recording(parabola))
    assert found[0].gamma[0, 0] == pytest.approx(0.4, abs=0.01)
    assert found[0].noise[0] == pytest.approx(0.2, abs=0.01)
    upper = scales(toy.recording(parabola)).noise[0]
    assert sorted(m.noise[0] for m in found[1:]) == pytest.approx(
        [upper * 10.0**-c for c in sorted(CUTS)[::-1]]
    )
    for model in found:
        assert not model.drift.any() and not model.gamma[0, 1:].any() and not model.floor.any()
    (fixed,) = walked(toy.recording(parabola, free_noise=False), 0.3)
    assert fixed.noise[0] == 0.3 and fixed.gamma[0, 0] == pytest.approx(0.4, abs=0.05)


def test_the_coarse_search_tries_noise_and_gamma_apart():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2)
    tried = []
    parabola.bend = lambda value, space: tried.append((space.gamma[0, 0], space.noise[0])) or value
    walked(toy.recording(parabola))
    grid = np.log10(tried)
    assert len({round(g, 6) for g in grid[:10, 0]}) == 10
    assert np.ptp(grid[:10, 0]) == pytest.approx(9.0)
    tried.clear()
    walked(toy.recording(parabola, free_noise=False), 0.3)
    assert {e for _, e in tried} == {0.3}


def test_no_finite_likelihood_is_said():
    parabola = toy.Parabola({}, {"1": 0.4}, 0.2)
    parabola.bend = lambda value, space: -np.inf
    with pytest.raises(ito.errors.DataError, match="no random walk has a finite likelihood"):
        walked(toy.recording(parabola))


def test_the_law_of_the_first_state_is_that_of_the_smoothed_ones():
    """Spread of the means and of what is left unknown of each, twice as wide."""
    recording = toy.recording(toy.Parabola({}, {"1": 0.4}, 0.2))
    found = first_states(recording, toy.model())
    path = recording.paths[0][:, 0]
    assert found.mean0[0] == pytest.approx(path.mean())
    assert found.cov0[0, 0] == pytest.approx(4 * (path.var() + 0.01))
    assert walked(recording)[0].cov0[0, 0] == pytest.approx(found.cov0[0, 0])
