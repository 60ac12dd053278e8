"""One round of Gamma on a parabola: which terms, how far, with the noise beside them."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.gamma import gamma_aim, gamma_round, gamma_support, single_terms
from itoscope.fit.filtered.state import State

DRIFT, GAMMA = {"x": -1.0}, {"1": 0.3, "x^2": 0.2}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def begin(task, gamma, noise=0.2):
    model = toy.model(DRIFT, gamma, noise)
    return State(model, task.recording.loglik(model))


def test_the_best_terms_and_the_noise_are_taken(parabola):
    task = toy.task(parabola)
    state, done = gamma_round(task, begin(task, {"1": 0.5}, noise=0.3))
    assert (done.stage, done.chosen, done.terms, done.step) == ("diffusion", (0, 2), ("1", "x^2"), 1.0)
    np.testing.assert_allclose(state.model.gamma[0], [0.3, 0.0, 0.2, 0.0], atol=1e-2)
    assert state.model.noise[0] == pytest.approx(0.2, abs=1e-2)
    assert state.loglik == task.recording.loglik(state.model) and gamma_support(task, state.model) == (0, 2)


def test_the_noise_is_projected_out_of_what_ranks_the_terms(parabola):
    """Schur complement of the noise, and a row less."""
    task = toy.task(parabola)
    state, ranking = task.gamma_ranking(begin(task, {"1": 0.5}))
    whole = parabola.noise_curvature
    np.testing.assert_allclose(
        ranking.sums.gram, whole[:4, :4] - np.outer(whole[:4, 4], whole[4, :4]) / whole[4, 4], rtol=1e-9
    )
    assert ranking.sums.n == 999 and len(state.noise_sums.moment) == 5
    np.testing.assert_allclose(ranking.rank([0, 2]).theta, [0.3, 0.2])


def test_the_aim_has_the_noise_apart(parabola):
    task = toy.task(parabola)
    state, _ = task.gamma_ranking(begin(task, {"1": 0.5}))
    aim = gamma_aim(task.recording.candidates, state, (0, 2))
    np.testing.assert_allclose(aim.gamma, [[0.3, 0.0, 0.2, 0.0]], atol=1e-12)
    np.testing.assert_allclose(aim.noise, [0.2])
    places = [0, 2, 4]
    inverse = np.linalg.inv(parabola.noise_curvature[np.ix_(places, places)])
    np.testing.assert_allclose(aim.error, np.sqrt(np.diag(inverse))[:2])


def test_a_variance_of_one_term_stays_positive_in_the_aim(parabola):
    """Its mean along the path falls by e^-2 at most, whichever term it is of."""
    parabola.noise_top = np.array([-0.3, 0.0, 0.0, 0.0, 0.2])
    task = toy.task(parabola)
    state, _ = task.gamma_ranking(begin(task, {"1": 0.5}))
    among, means = task.recording.candidates, state.sizes.means
    assert gamma_aim(among, state, (0,)).gamma[0, 0] == pytest.approx(0.5 * np.exp(-2.0))
    square = gamma_aim(among, state, (2,)).gamma[0]
    assert square[2] * means[2] >= 0.5 * np.exp(-2.0) * (1 - 1e-9)
    assert gamma_aim(among, state, (0, 2)).gamma[0, 0] < 0.0


def test_a_step_that_overshoots_is_halved(parabola):
    def cliff(value, space):
        table = dict(zip(space.program.expressions, space.gamma[0]))
        return value - 1e9 * max(0.0, table.get("x^2", 0.0) - 0.12)

    task = toy.task(parabola)
    start = begin(task, {"1": 0.5})
    parabola.bend = cliff
    state, _ = gamma_round(task, start)
    assert state.model.gamma[0, 2] <= 0.12 and state.loglik > -1e6


def test_at_the_top_nothing_moves(parabola):
    task = toy.task(parabola)
    start = begin(task, GAMMA)
    state, done = gamma_round(task, start)
    assert done.step == 0.0 and state.model is start.model


def test_a_variance_is_in_every_set_and_positive(parabola):
    task = toy.task(parabola)
    _, ranking = task.gamma_ranking(begin(task, {"1": 0.5}))
    assert not np.isfinite(ranking.rank([]).log_mass)
    parabola.noise_top = np.array([-0.3, 0.0, 0.0, 0.0, 0.2])
    task = toy.task(parabola)
    _, ranking = task.gamma_ranking(begin(task, {"1": 0.5}))
    assert ranking.rank([0]).theta.size == 1 and not np.isfinite(ranking.rank([0]).log_mass)


def test_single_terms_are_tried_that_explain_a_part_better(parabola):
    """`x^2` alone is what the recording was made with; `x` has both signs on it."""
    parabola.noise_top = np.array([0.0, 0.0, 0.4, 0.0, 0.2])
    task = toy.task(parabola)
    path = task.recording.paths[0]
    assert (path < 0).any()
    state = begin(task, {"1": 0.4 * float(np.mean(path**2))})
    assert single_terms(task, state) == [(2,)]
    assert single_terms(task, begin(task, {"x^2": 0.4})) == []
    state, done = gamma_round(task, state)
    assert done.chosen == (2,) and state.model.gamma[0, 2] == pytest.approx(0.4, abs=0.02)


def test_terms_that_leave_the_finite_range_are_named(parabola):
    inner = parabola.filter_noise_moments

    def overflowing(*arguments):
        sums, loglik = inner(*arguments)
        sums.gram[3, :], sums.gram[:, 3] = np.inf, np.inf
        return sums, loglik

    parabola.filter_noise_moments = overflowing
    task = toy.task(parabola)
    state, ranking = task.gamma_ranking(begin(task, {"1": 0.5}))
    assert state.overflowed == {"Gamma x^3"} and ranking.usable == [0, 1, 2]
