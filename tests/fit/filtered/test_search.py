"""The order of the rounds, when they end, and the streams of their chains."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered import search as module
from itoscope.fit.filtered.search import FINAL_FLOOR, MAX_GAMMA_ROUNDS, SELECTION_FLOOR, search
from itoscope.fit.filtered.state import Round
from itoscope.fit.streams import Stream

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def run(parabola, *answers, select_gamma=False, max_rounds=10, **changed):
    """The search with the level of the noise given, so that there is one start."""
    sampler = toy.Sampler(*answers)
    task = toy.task(parabola, sampler, free_noise=False, **changed)
    return search(task, np.array([0.2]), select_gamma=select_gamma, max_rounds=max_rounds), sampler


def test_the_drift_settles_after_a_round_that_repeats_the_one_before(parabola):
    found, sampler = run(parabola, ["x", "x^3"])
    assert found.settled and sampler.streams == [Stream.drift(0), Stream.drift(1)]
    assert [entry.stage for entry in found.rounds] == ["start", "drift", "drift"]
    np.testing.assert_allclose(found.state.model.drift, [[0.0, -1.0, 0.0, -0.5]], atol=1e-9)
    assert found.state.model.gamma[0, 0] == pytest.approx(0.4, abs=0.02)
    assert found.state.model.noise[0] == 0.2
    assert not found.state.model.floor.any()


@pytest.mark.parametrize(("moves", "rounds"), [([9.0, 0.9], 2), ([9.0, 1.1, 1.1, 0.9], 4)])
def test_the_drift_does_not_settle_while_a_coefficient_moves(parabola, monkeypatch, moves, rounds):
    def moved(task, state, stream, *, rivals):
        state = state.at(toy.model(DRIFT, GAMMA, 0.2), 0.0)
        return state, Round("drift", state, (1, 3), ("x", "x^3"), 1.0, moves[stream.number])

    monkeypatch.setattr(module, "drift_round", moved)
    found, _ = run(parabola, ["x"])
    assert found.settled and len(found.rounds) == 1 + rounds


def test_where_the_noise_is_free_it_is_found_from_the_best_of_several_starts(parabola):
    sampler = toy.Sampler(["x", "x^3"])
    found = search(toy.task(parabola, sampler), np.zeros(1), select_gamma=False, max_rounds=10)
    assert found.settled and found.state.model.noise[0] == pytest.approx(0.2, abs=0.02)
    assert len(sampler.streams) > 2 and set(sampler.streams) == {Stream.drift(0), Stream.drift(1)}


def test_terms_that_change_from_round_to_round_do_not_settle(parabola):
    """Both pairs are better than nothing, and none than the other by what a round asks."""
    parabola.bend = lambda value, space: 0.0
    found, sampler = run(parabola, ["x"], ["x^2"], ["x"], ["x^2"], max_rounds=4)
    assert not found.settled and len(sampler.streams) == 4


def test_a_selection_that_the_likelihood_refuses_does_not_settle(parabola):
    """The same terms twice, but they never enter the model."""
    parabola.bend = lambda value, space: -1e9 if space.drift.any() else value
    found, sampler = run(parabola, ["x"], max_rounds=3)
    assert not found.settled and len(sampler.streams) == 3 and not found.state.model.drift.any()


def test_rivals_are_compared_from_the_third_round_on(parabola):
    wrong = (["x^2"], [(["x^2"], 0.6), (["x", "x^3"], 0.3)])
    found, _ = run(parabola, ["x^2"], ["1"], wrong, wrong)
    assert [entry.chosen for entry in found.rounds[1:]][:3] == [(2,), (0,), (1, 3)]


def test_gamma_and_drift_take_turns_each_with_its_streams(parabola):
    parabola.noise_top = np.array([0.4, 0.0, 0.3, 0.0, 0.2])
    answers = (
        ["x", "x^3"],
        ["x", "x^3"],
        ["1", "x^2"],
        ["x", "x^3"],
        ["1", "x^2"],
        ["x", "x^3"],
        ["1", "x^2"],
    )
    found, sampler = run(parabola, *answers, select_gamma=True)
    assert sampler.streams == [
        Stream.drift(0), Stream.drift(1), Stream.gamma(0), Stream.drift_beside_gamma(0), Stream.gamma(1),
        Stream.drift_beside_gamma(1),
    ]  # fmt: skip
    stages = [entry.stage for entry in found.rounds]
    assert stages == ["start", "drift", "drift", "diffusion", "drift", "diffusion", "drift"]
    assert found.settled
    np.testing.assert_allclose(found.state.model.gamma, [[0.4, 0.0, 0.3, 0.0]], atol=0.02)


def test_gamma_is_held_above_a_share_of_what_it_was_before_its_terms(parabola):
    floors = []
    parabola.bend = lambda value, space: floors.append(space.floor[0]) or value
    found, _ = run(
        parabola, ["x", "x^3"], ["x", "x^3"], ["1"], ["x", "x^3"], ["1"], ["x", "x^3"], select_gamma=True
    )
    scale = found.state.model.floor[0] / FINAL_FLOOR
    assert scale == pytest.approx(0.4, abs=0.02)
    during = sorted(set(floors))
    np.testing.assert_allclose(during, [0.0, FINAL_FLOOR * scale, SELECTION_FLOOR * scale])
    assert found.state.loglik == pytest.approx(
        parabola.value(toy.recording(parabola).space(found.state.model)[0])
    )


def test_gamma_whose_terms_change_does_not_settle(parabola):
    answers = [["x", "x^3"], ["x", "x^3"]]
    for n in range(MAX_GAMMA_ROUNDS):
        answers += [["1"] if n % 2 else ["1", "x^2"], ["x", "x^3"]]
    found, sampler = run(parabola, *answers, select_gamma=True)
    assert not found.settled and len(sampler.streams) == 2 + 2 * MAX_GAMMA_ROUNDS
    assert sampler.streams[-1] == Stream.drift_beside_gamma(MAX_GAMMA_ROUNDS - 1)


def test_of_a_long_recording_gamma_follows_the_drift_on_some_paths(parabola, monkeypatch):
    monkeypatch.setattr(module, "PART", 150)
    paths = [np.random.default_rng(n).normal(size=(100, 1)) for n in range(6)]
    run(parabola, ["x", "x^3"], paths=paths)
    assert 200 in parabola.samples  # every fourth path
    parabola.samples.clear()
    monkeypatch.setattr(module, "PART", 50_000)
    run(parabola, ["x", "x^3"], paths=paths)
    assert set(parabola.samples) == {600}
