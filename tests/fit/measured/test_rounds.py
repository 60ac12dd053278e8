"""The weight rounds on a backend whose regressions are given: order, weights, floors, when they end."""

from types import SimpleNamespace

import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Sums
from itoscope.fit.measured import rounds
from itoscope.fit.measured.regressions import Measured, coefficients
from itoscope.fit.measured.rounds import FLOOR_QUANTILE, fit_measured
from itoscope.fit.streams import Stream

TERMS = ["1", "x", "x^2"]
PATH = np.linspace(-1.0, 2.0, 301)[:, None]


class Stages:
    """Sums of a given mean target; keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def regression_sums(self, paths, times, program, target, *, scheme, weights, ensemble, progress):
        self.asked.append(SimpleNamespace(target=target, weights=weights, scheme=scheme, ensemble=ensemble))
        square = np.eye(3) * 10.0
        line = np.array([1.0, 2.0, 3.0])
        return Sums(square, square, square, line, line, s=5.0, total=400.0, n=200)

    def compile(self, expressions, inputs):
        return get_backend("reference").compile(expressions, inputs)

    def project(self, sums):
        return get_backend("reference").project(sums)


class Sampler:
    """Answers one after the other: selected terms and coefficients, with a standard deviation of 0.1."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def __call__(self, moments, final, stream, excluded=()):
        self.asked.append((final, stream))
        means = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        means = np.array(means)
        return SimpleNamespace(
            terms=TERMS,
            selected=means != 0,
            mean=means,
            averaged=means,
            sd=np.full(3, 0.1),
            cov=0.01 * np.eye(3),
            moments=moments,
        )


def measured(stages, rows=(0,), pairs=((0, 0),), **settings):
    program = get_backend("reference").compile(TERMS, ["x"])
    return Measured([PATH], [0.01], TERMS, TERMS, program, program, rows, pairs, stages, **settings)


STABLE = [0.5, -1.0, 0.0]


def test_without_weights_there_is_one_round_of_full_chains():
    stages, sampler = Stages(), Sampler(STABLE)
    fit = fit_measured(measured(stages, weighted=False), sampler)
    assert [final for final, _ in sampler.asked] == [True, True] and len(stages.asked) == 2
    assert all(asked.weights is None for asked in stages.asked)
    assert fit.converged and len(fit.rounds) == 1 and not fit.rounds[0].weighted


def test_rounds_end_when_two_select_the_same_and_full_chains_follow_on_their_streams():
    stages, sampler = Stages(), Sampler(STABLE)
    fit = fit_measured(measured(stages), sampler)
    assert fit.converged and [entry.number for entry in fit.rounds] == [0, 1]
    assert (fit.rounds[1].same_terms, fit.rounds[1].shift, fit.rounds[1].weighted) == (True, 0.0, True)
    assert sampler.asked == [
        (False, Stream.equation(0)), (False, Stream.equation(1)), (False, Stream.equation(0)),
        (False, Stream.equation(1)), (True, Stream.equation(0)), (True, Stream.equation(1)),
    ]  # fmt: skip


def test_a_coefficient_that_still_moves_makes_another_round():
    """By 0.2 standard deviations, then by 0.05."""
    sampler = Sampler(STABLE, STABLE, [0.52, -1.0, 0.0], STABLE, [0.525, -1.0, 0.0], STABLE)
    fit = fit_measured(measured(Stages()), sampler)
    assert fit.converged
    assert [entry.shift for entry in fit.rounds[1:]] == pytest.approx([0.2, 0.05])


def test_terms_that_change_for_ever_end_unsettled():
    other = [0.5, -1.0, 0.3]
    sampler = Sampler(STABLE, STABLE, other, STABLE, STABLE, STABLE, other, STABLE, STABLE, STABLE)
    fit = fit_measured(measured(Stages(), max_rounds=3), sampler)
    assert not fit.converged and [entry.same_terms for entry in fit.rounds] == [None, False, False, False]


def test_weights_are_those_of_the_round_before_above_their_floors():
    gamma = [0.1, 0.0, 0.4]
    stages = Stages()
    fit = fit_measured(measured(stages, floor=0.05), Sampler(STABLE, gamma, STABLE, gamma, STABLE, gamma))
    drift, diffusion = stages.asked[2:4]
    np.testing.assert_array_equal(drift.weights.coef, [gamma])
    assert drift.weights.floors == pytest.approx([0.05 * 400.0 / 200])
    np.testing.assert_array_equal(diffusion.weights.coef, [gamma, gamma, gamma])
    predicted = 0.1 + 0.4 * PATH[:, 0] ** 2
    low = max(np.quantile(predicted, FLOOR_QUANTILE), 0.1)
    assert diffusion.weights.floors == pytest.approx([low, low], rel=1e-12)
    assert fit.floors == pytest.approx([0.1])


def test_the_drift_is_taken_out_of_the_increments_of_the_diffusion():
    stages = Stages()
    fit_measured(measured(stages, weighted=False), Sampler(STABLE))
    target = stages.asked[1].target
    assert target.is_diffusion and target.pair == (0, 0)
    np.testing.assert_array_equal(target.drift.coef, [STABLE, STABLE])
    raw = Stages()
    fit_measured(measured(raw, weighted=False, scheme="euler"), Sampler(STABLE))
    assert raw.asked[1].target.drift is None and raw.asked[1].scheme == "euler"


def test_an_entry_off_the_diagonal_is_weighed_by_all_three(monkeypatch):
    program = get_backend("reference").compile(TERMS, ["x", "y"])
    stages, path = Stages(), np.ascontiguousarray(np.repeat(PATH, 2, axis=1))
    pairs = ((0, 0), (1, 1), (0, 1))
    gammas = [[0.1, 0.0, 0.4], [0.7, 0.0, 0.0], [0.05, 0.0, 0.0]]
    sampler = Sampler(STABLE, STABLE, *gammas, STABLE, STABLE, *gammas, STABLE)
    setting = Measured([path], [0.01], TERMS, TERMS, program, program, (0, 1), pairs, stages)
    fit_measured(setting, sampler)
    weighed = {asked.target.pair: asked for asked in stages.asked if asked.weights is not None}
    np.testing.assert_array_equal(weighed[0, 1].weights.coef, [gammas[0], gammas[1], gammas[2]])
    assert [stream for _, stream in sampler.asked[:5]] == [Stream.equation(k) for k in range(5)]
    np.testing.assert_array_equal(weighed[0, 0].weights.coef, [gammas[0], gammas[0], gammas[0]])
    assert (1, 1) not in weighed  # a constant variance is one weight, of sums that are there


def test_without_entries_of_gamma_the_full_chains_follow_at_once():
    stages, sampler = Stages(), Sampler(STABLE)
    fit = fit_measured(measured(stages, pairs=()), sampler)
    assert fit.diffusion == {} and [final for final, _ in sampler.asked] == [False, True] and fit.converged


def test_the_lower_fifth_is_read_from_a_part_of_long_recordings(monkeypatch):
    monkeypatch.setattr(rounds, "QUANTILE_SAMPLES", 30)
    seen = []
    stages = Stages()

    def watched(expressions, inputs):
        program = get_backend("reference").compile(expressions, inputs)
        return SimpleNamespace(evaluate=lambda x: seen.append(len(x)) or program.evaluate(x))

    stages.compile = watched
    fit_measured(measured(stages), Sampler(STABLE))
    assert set(seen) == {31}


def test_a_round_is_kept_by_name():
    fit = fit_measured(measured(Stages()), Sampler(STABLE))
    assert [entry.as_dict(["pos"]) for entry in fit.rounds] == [
        {"round": 0, "weighted": False, "drift": {"pos": ["1", "x"]}, "diffusion": {"pos,pos": ["1", "x"]}},
        {
            "round": 1, "weighted": True, "drift": {"pos": ["1", "x"]}, "diffusion": {"pos,pos": ["1", "x"]},
            "same_terms": True, "shift": 0.0,
        },
    ]  # fmt: skip


def test_coefficients_of_terms_that_were_not_selected_are_zero():
    equation = SimpleNamespace(selected=np.array([True, False]), mean=np.array([2.0, 3.0]))
    np.testing.assert_array_equal(coefficients(equation), [2.0, 0.0])
