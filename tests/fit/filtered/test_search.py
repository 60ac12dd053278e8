"""The order of the rounds, and when they end."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.search import FINAL_FLOOR, SELECTION_FLOOR, search

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def run(parabola, select_gamma=False, max_rounds=10, **changed):
    """The search with the level of the noise given, so that there is one start."""
    task = toy.task(parabola, free_noise=False, **changed)
    return search(task, np.array([0.2]), select_gamma=select_gamma, max_rounds=max_rounds)


def test_the_drift_settles_after_a_round_that_repeats_the_one_before(parabola):
    found = run(parabola)
    assert found.settled
    assert [entry.stage for entry in found.rounds] == ["start", "drift", "drift"]
    np.testing.assert_allclose(found.state.model.drift, [[0.0, -1.0, 0.0, -0.5]], atol=1e-9)
    assert found.state.model.gamma[0, 0] == pytest.approx(0.4, abs=0.02)
    assert found.state.model.noise[0] == 0.2 and not found.state.model.floor.any()


def test_where_the_noise_is_free_it_is_found_from_the_best_of_several_starts(parabola):
    found = search(toy.task(parabola), np.zeros(1), select_gamma=False, max_rounds=10)
    assert found.settled and found.state.model.noise[0] == pytest.approx(0.2, abs=0.02)


def test_a_choice_that_the_likelihood_refuses_does_not_settle(parabola):
    """The same terms again and again, but they never enter the model."""
    parabola.bend = lambda value, space: -1e9 if space.drift.any() else value
    found = run(parabola, max_rounds=3)
    assert not found.settled and len(found.rounds) == 4 and not found.state.model.drift.any()


def test_gamma_and_drift_take_turns(parabola):
    parabola.noise_top = np.array([0.4, 0.0, 0.3, 0.0, 0.2])
    found = run(parabola, select_gamma=True)
    stages = [entry.stage for entry in found.rounds]
    assert stages == ["start", "drift", "drift", "diffusion", "drift", "diffusion", "drift"]
    assert found.settled
    np.testing.assert_allclose(found.state.model.gamma, [[0.4, 0.0, 0.3, 0.0]], atol=0.02)


def test_gamma_is_held_above_a_share_of_what_it_was_before_its_terms(parabola):
    floors = []
    parabola.bend = lambda value, space: floors.append(space.floor[0]) or value
    found = run(parabola, select_gamma=True)
    scale = found.state.model.floor[0] / FINAL_FLOOR
    assert scale == pytest.approx(0.4, abs=0.02)
    np.testing.assert_allclose(sorted(set(floors)), [0.0, FINAL_FLOOR * scale, SELECTION_FLOOR * scale])
