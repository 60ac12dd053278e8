"""One round of Gamma on a parabola: which terms, how far, with the noise beside them."""

import itoscope as ito
import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.gamma import (
    gamma_aim,
    gamma_moments,
    gamma_round,
    gamma_support,
    single_terms,
    with_variances,
)
from itoscope.fit.filtered.state import SHORT, State
from itoscope.fit.streams import Stream

DRIFT, GAMMA = {"x": -1.0}, {"1": 0.3, "x^2": 0.2}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def begin(task, gamma, noise=0.2):
    model = toy.model(DRIFT, gamma, noise)
    return State(model, task.recording.loglik(model))


def long(monkeypatch):
    """No recording is short, so that no single term is tried."""
    monkeypatch.setattr("itoscope.fit.filtered.state.SHORT", 0)


def test_the_selected_terms_and_the_noise_are_taken(parabola, monkeypatch):
    long(monkeypatch)
    sampler = toy.Sampler(["1", "x^2"])
    task = toy.task(parabola, sampler)
    state, done = gamma_round(task, begin(task, {"1": 0.5}, noise=0.3), Stream.gamma(0))
    assert (done.stage, done.chosen, done.terms, done.step) == ("diffusion", (0, 2), ("1", "x^2"), 1.0)
    np.testing.assert_allclose(state.model.gamma[0], [0.3, 0.0, 0.2, 0.0], atol=1e-2)
    assert state.model.noise[0] == pytest.approx(0.2, abs=1e-2)
    assert state.loglik == task.recording.loglik(state.model)
    assert sampler.streams == [Stream.gamma(0)] and gamma_support(task, state.model) == [0, 2]


def test_the_noise_is_projected_out_of_what_the_sampler_sees(parabola, monkeypatch):
    """Schur complement of the noise, and a row less."""
    long(monkeypatch)
    task = toy.task(parabola)
    _, moments, sums = gamma_moments(task, begin(task, {"1": 0.5}))
    whole = parabola.noise_curvature
    np.testing.assert_allclose(
        moments.gram, whole[:4, :4] - np.outer(whole[:4, 4], whole[4, :4]) / whole[4, 4], rtol=1e-9
    )
    assert moments.n == 999 and len(sums.moment) == 5
    np.testing.assert_allclose(moments.solve([0, 2]).theta, [0.3, 0.2])


def test_the_aim_has_the_noise_apart(parabola):
    task = toy.task(parabola)
    _, _, sums = gamma_moments(task, begin(task, {"1": 0.5}))
    aim = gamma_aim(task.recording.candidates, sums, [0, 2])
    np.testing.assert_allclose(aim.gamma, [[0.3, 0.0, 0.2, 0.0]], atol=1e-12)
    np.testing.assert_allclose(aim.noise, [0.2])
    places = [0, 2, 4]
    inverse = np.linalg.inv(parabola.noise_curvature[np.ix_(places, places)])
    np.testing.assert_allclose(aim.error, np.sqrt(np.diag(inverse))[:2])


def test_a_step_that_overshoots_is_halved(parabola, monkeypatch):
    long(monkeypatch)

    def cliff(value, space):
        table = dict(zip(space.program.expressions, space.gamma[0]))
        return value - 1e9 * max(0.0, table.get("x^2", 0.0) - 0.12)

    parabola.bend = cliff
    task = toy.task(parabola, toy.Sampler(["1", "x^2"]))
    state, done = gamma_round(task, begin(task, {"1": 0.5}), Stream.gamma(0))
    assert done.step == 0.5 and 0 < state.model.gamma[0, 2] <= 0.12


def test_the_same_terms_are_tried_once_and_at_the_top_not_at_all(parabola, monkeypatch):
    long(monkeypatch)
    task = toy.task(parabola, toy.Sampler(["1", "x^2"]))
    start = begin(task, GAMMA)
    passes = dict(parabola.calls)
    state, done = gamma_round(task, start, Stream.gamma(0))
    assert done.step == 0.0 and state.model is start.model
    assert parabola.calls == {**passes, "noise": passes["noise"] + 1}
    parabola.bend = lambda value, space: 0.0
    start = begin(task, {"1": 0.5, "x^2": 0.5})
    passes = dict(parabola.calls)
    _, done = gamma_round(task, start, Stream.gamma(0))
    assert done.step == 0.0 and parabola.calls["loglik"] - passes["loglik"] == 1
    start = begin(task, {"1": 0.5})
    passes = dict(parabola.calls)
    _, done = gamma_round(task, start, Stream.gamma(0))
    # to other terms four times; all but the whole step, which ends at the top, are climbed in vain from there
    assert done.step == 0.0 and parabola.calls["loglik"] - passes["loglik"] == 1 + 3 * (1 + 8)


def test_a_noise_level_moves_by_a_bounded_factor(parabola, monkeypatch):
    long(monkeypatch)
    seen = []
    task = toy.task(parabola, toy.Sampler(["1", "x^2"]))
    start = begin(task, {"1": 0.5}, noise=1e-6)
    parabola.bend = lambda value, space: seen.append(space.noise[0]) or value
    gamma_round(task, start, Stream.gamma(0))
    assert seen[0] == pytest.approx(1e-6 * np.exp(2.0))


def test_a_variance_is_never_empty():
    among = Candidates.of(ito.Library.polynomials(2).bind(["x", "v"]))
    assert among.pairs == ((0, 0), (0, 1), (1, 1))
    k = len(among.gamma_terms)
    constant = among.all_gamma.index((2, among.constant))
    assert with_variances(among, [1]) == [1, constant]
    assert with_variances(among, [2 * k + 1, 1]) == [1, 2 * k + 1]
    assert with_variances(among, []) == [0, constant]
    bare = Candidates.of(ito.Library.expressions("x").bind(["x"]))
    assert with_variances(bare, []) == []


def test_a_round_that_selects_nothing_keeps_the_constant(parabola, monkeypatch):
    long(monkeypatch)
    task = toy.task(parabola, toy.Sampler([]))
    _, done = gamma_round(task, begin(task, GAMMA), Stream.gamma(0))
    assert done.chosen == (0,) and done.terms == ("1",)


def test_on_a_short_recording_each_positive_term_is_tried_alone(parabola):
    task = toy.task(parabola)
    state = begin(task, {"1": 0.5, "x": 0.1})
    assert task.short and task.n == 200 <= SHORT
    path = task.recording.paths[0]
    assert (path < 0).any()
    assert single_terms(task, state) == [[0], [2]]
    above = toy.task(parabola, paths=[np.abs(path)])
    assert single_terms(above, begin(above, {"1": 0.5})) == [[0], [1], [2], [3]]


def test_a_single_term_wins_where_its_likelihood_is_better(parabola):
    """The sampler says a constant; `x^2` alone is what the recording was made with."""
    parabola.noise_top = np.array([0.0, 0.0, 0.4, 0.0, 0.2])
    task = toy.task(parabola, toy.Sampler((["1"], [(["1"], 0.8)])))
    state, done = gamma_round(task, begin(task, {"1": 0.5}), Stream.gamma(0))
    assert done.chosen == (2,) and gamma_support(task, state.model) == [2]
    assert state.model.gamma[0, 2] == pytest.approx(0.4, abs=0.02)


def test_terms_that_leave_the_finite_range_are_named(parabola):
    inner = parabola.filter_noise_moments

    def overflowing(*arguments):
        sums, loglik = inner(*arguments)
        sums.gram[3, :], sums.gram[:, 3] = np.inf, np.inf
        return sums, loglik

    parabola.filter_noise_moments = overflowing
    task = toy.task(parabola)
    state, moments, _ = gamma_moments(task, begin(task, {"1": 0.5}))
    assert state.overflowed == {"Gamma x^3"} and not moments.gram[3].any()
