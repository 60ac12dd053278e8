"""From the search to equations: the models and their weights, the likelihood, what is said."""

import math

import numpy as np
import pytest
import toy_recording as toy
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.fit.filtered.equations import Asked
from itoscope.fit.filtered.fit import FilteredFit, fit_filtered
from itoscope.fit.filtered.likelihood import Maximum
from itoscope.stats.positive import EDGE

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


def fitted(parabola, threshold=0.5, prior=None, **settings):
    prior = prior or Prior()
    asked = Asked(threshold, n_chains=2, n_draws=500, seed=1, prior=prior)
    return fit_filtered(toy.task(parabola, prior=prior), np.zeros(1), asked, max_rounds=6, **settings)


def test_the_equations_have_the_terms_and_coefficients_of_the_likelihood(parabola):
    found = fitted(parabola)
    drift, gamma = found.drift[0], found.diffusion[0, 0]
    np.testing.assert_array_equal(drift.selected, [False, True, False, True])
    np.testing.assert_allclose(drift.mean, [0.0, -1.0, 0.0, -0.5], atol=1e-3)
    np.testing.assert_allclose(gamma.mean, [0.4, 0.0, 0.0, 0.0], atol=1e-2)
    assert drift.terms == list(toy.TERMS) and drift.degrees == 200.0
    inside = [1, 3]
    cov = np.linalg.inv(parabola.curvature[np.ix_(inside, inside)])
    np.testing.assert_allclose(drift.cov[np.ix_(inside, inside)], cov, rtol=0.5)
    assert not drift.cov[0].any() and not drift.cov[:, 2].any()
    assert found.noise[0] ** 2 == pytest.approx(0.2, abs=1e-2) and found.converged
    assert found.record[0]["stage"] == "start" and found.record[-1]["stage"] == "likelihood"
    assert found.record[-1]["loglik"] == found.maximum.loglik
    np.testing.assert_array_equal(gamma.positive, [True, False, False, False])


def test_probabilities_draws_and_models_are_of_the_same_models(parabola):
    parabola.curvature /= 700.0
    parabola.noise_curvature /= 10.0
    found = fitted(parabola)
    drift = found.drift[0]
    assert np.any((drift.pip > 0.02) & (drift.pip < 0.9)), "the case has no doubt"
    np.testing.assert_allclose(drift.pip_frequency, drift.pip, atol=5e-3)
    mass = sum(entry["mass"] for entry in found.alternatives)
    assert mass <= 1.0 + 1e-9 and found.alternatives[0]["climbed"]
    for term, pip in zip(drift.terms, drift.pip):
        with_it = sum(e["mass"] for e in found.alternatives if f"x: {term}" in e["drift"])
        assert with_it == pytest.approx(pip, abs=1.001 - mass)
    shown = {f"x: {t}" for t, z in zip(drift.terms, drift.selected) if z}
    assert any(set(entry["drift"]) == shown and entry["climbed"] for entry in found.alternatives)


def test_models_of_an_equation_have_the_coefficients_of_their_draws(parabola):
    drift = fitted(parabola).drift[0]
    (best, *_) = drift.models()
    assert best.terms == ("x", "x^3") and best.mass == pytest.approx(1.0, abs=0.05)
    assert best.mean["x"] == pytest.approx(-1.0, abs=0.05)
    assert best.sd["x"] == pytest.approx(drift.sd[1], rel=0.3)


def test_threshold_and_prior_act(parabola):
    parabola.curvature /= 700.0
    plain = fitted(parabola).drift[0]
    inside = plain.pip[plain.selected]
    assert inside.min() < 0.99
    strict = fitted(parabola, threshold=0.9999999).drift[0]
    np.testing.assert_array_equal(strict.selected, strict.pip > 0.9999999)
    np.testing.assert_allclose(strict.pip, plain.pip)
    rare = fitted(parabola, prior=Prior(b_p=1e9)).drift[0]
    assert np.all(rare.pip < plain.pip) and rare.selected.sum() < plain.selected.sum()


def test_a_gamma_of_constants_is_certain():
    parabola = toy.Parabola({"x": -1.0}, {"1": 0.4}, 0.2, strength=1e4)
    found = fitted(parabola, select_gamma=False)
    gamma = found.diffusion[0, 0]
    assert gamma.pip[0] > 0.9 and gamma.selected[0]


def test_the_reporter_hears_every_pass_of_each_stage(parabola):
    told = []
    found = fitted(parabola, reporter=Reporter(told.append))
    assert told == sorted(told) and len(told) > 50
    quiet = fitted(toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4))
    np.testing.assert_array_equal(quiet.drift[0].mean, found.drift[0].mean)


def test_terms_that_left_the_finite_range_are_said(parabola):
    inner = parabola.filter_drift_moments

    def overflowing(*arguments):
        sums, loglik = inner(*arguments)
        if len(sums.moment) == 4:
            sums.gram[2, :], sums.gram[:, 2], sums.moment[2] = np.inf, np.inf, np.nan
        return sums, loglik

    parabola.filter_drift_moments = overflowing
    found = fitted(parabola)
    assert next(line for line in found.warnings if "left the finite range" in line).endswith("not tried: x^2")


def test_noise_that_cannot_be_told_from_zero_is_said(parabola):
    assert not any("cannot be told from zero" in line for line in fitted(parabola).warnings)
    parabola.noise_top[-1] = 1e-3
    assert any("cannot be told from zero" in line for line in fitted(parabola).warnings)


def with_noise(var, sd, free=True):
    model = toy.model({}, {"1": 0.4}, var)
    parameters = model.parameters(np.array([free]))
    cov = np.diag([1.0, sd**2] if free else [1.0])
    recording = toy.recording(toy.Parabola({}, {}, 0.2), free_noise=free)
    return FilteredFit(recording, model, {}, {}, Maximum(model, parameters, 0.0, cov, True))


def test_the_interval_of_the_noise_is_that_of_its_logarithm_where_it_is_known_well():
    low, high = with_noise(0.04, 0.01).noise_interval()[0]
    assert (low, high) == pytest.approx((0.2 * math.exp(-0.245), 0.2 * math.exp(0.245)), rel=1e-3)


def test_the_interval_of_noise_that_is_hardly_there_starts_at_zero():
    low, high = with_noise(0.04, 1.1 * EDGE * 0.04).noise_interval()[0]
    assert low == 0.0 and high == pytest.approx(math.sqrt(0.04 + 1.645 * 1.1 * EDGE * 0.04), rel=1e-3)


def test_a_given_noise_level_has_no_width():
    np.testing.assert_allclose(with_noise(0.04, 0.0, free=False).noise_interval(), [[0.2, 0.2]])
