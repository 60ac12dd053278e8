"""From the search to equations: the last chains, the likelihood, what is said."""

import math

import numpy as np
import pytest
import toy_recording as toy
from itoscope.common.progress import Reporter
from itoscope.fit.filtered import fit as module
from itoscope.fit.filtered.fit import WIDE, FilteredFit, fit_filtered
from itoscope.fit.filtered.likelihood import Maximum
from itoscope.fit.streams import Stream
from itoscope.posterior.moments import Moments

DRIFT, GAMMA = {"x": -1.0, "x^3": -0.5}, {"1": 0.4}


@pytest.fixture
def parabola():
    return toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4)


class Exact:
    """The posterior by enumeration, and the streams that were asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, moments, final, stream):
        self.asked.append((final, stream))
        return moments.sample(sampler="exact", n_samples=100, n_chains=1, seed=1)


def fitted(parabola, **settings):
    sampler = Exact()
    task = toy.task(parabola, sampler)
    return fit_filtered(task, np.zeros(1), max_rounds=6, **settings), sampler


def test_the_equations_have_the_terms_and_coefficients_of_the_likelihood(parabola):
    found, sampler = fitted(parabola)
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
    finals = [stream for final, stream in sampler.asked if final]
    assert finals == [Stream.final_drift(), Stream.final_gamma()]
    assert found.record[0]["stage"] == "start" and found.record[-1]["stage"] == "likelihood"
    assert found.record[-1]["loglik"] == found.maximum.loglik


def test_doubt_about_the_terms_widens_the_errors(parabola, monkeypatch):
    narrow, _ = fitted(parabola)
    monkeypatch.setattr(module, "between", lambda tried, found: np.diag([0.5, 0.0, 0.0, 0.0]))
    wide, _ = fitted(toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4))
    x, cube = narrow.maximum.parameters[:2]
    assert wide.maximum.cov_of(x, x) == pytest.approx(0.5, abs=0.01)
    assert wide.drift[0].sd[1] == pytest.approx(0.5**0.5, rel=0.01)
    assert wide.maximum.sd_of(cube) < 0.1


def test_a_joint_posterior_falls_into_its_parts():
    """Two rows with two terms each; what belongs to all of them is not said of one."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 4))
    target = rows @ [1.0, 0.0, 0.0, -2.0] + 0.1 * rng.normal(size=200)
    names = ["x: a", "x: b", "v: a", "v: b"]
    joint = Moments(rows.T @ rows, rows.T @ target, float(target @ target), 200, names).sample(
        sampler="exact", n_samples=40, n_chains=1, seed=1
    )
    second = module._part(joint, 1, ["a", "b"])
    assert second.terms == ["a", "b"] and second.moments is None and second.log_mass is None
    np.testing.assert_array_equal(second.selected, [False, True])
    np.testing.assert_array_equal(second.samples, joint.samples[..., 2:])
    np.testing.assert_array_equal(second.pip, joint.pip[2:])
    np.testing.assert_array_equal(second.cov, joint.cov[2:, 2:])
    assert module._part(joint, 0, names).moments is joint.moments


def test_a_gamma_that_was_not_sought_is_certain(parabola):
    found, sampler = fitted(parabola, select_gamma=False)
    gamma = found.diffusion[0, 0]
    np.testing.assert_array_equal(gamma.pip, [1.0, 0.0, 0.0, 0.0])
    assert gamma.sampler == "given" and gamma.samples.shape == (1, 1, 4)
    assert [stream for final, stream in sampler.asked if final] == [Stream.final_drift()]


def test_the_reporter_hears_every_pass_of_each_stage(parabola):
    told = []
    found, _ = fitted(parabola, reporter=Reporter(told.append))
    assert told == sorted(told) and len(told) > 50
    passes = parabola.calls["loglik"] + parabola.calls["drift"] + parabola.calls["noise"]
    assert told[-1] >= 200 * passes
    quiet, _ = fitted(toy.Parabola(DRIFT, GAMMA, 0.2, strength=1e4))
    np.testing.assert_array_equal(quiet.drift[0].mean, found.drift[0].mean)


def test_terms_that_left_the_finite_range_are_said(parabola):
    inner = parabola.filter_drift_moments

    def overflowing(*arguments):
        sums, loglik = inner(*arguments)
        if len(sums.moment) == 4:
            sums.gram[2, :], sums.gram[:, 2], sums.moment[2] = np.inf, np.inf, np.nan
        return sums, loglik

    parabola.filter_drift_moments = overflowing
    found, _ = fitted(parabola)
    assert next(line for line in found.warnings if "left the finite range" in line).endswith("not tried: x^2")


def test_noise_that_cannot_be_told_from_zero_is_said(parabola):
    assert not any("cannot be told from zero" in line for line in fitted(parabola)[0].warnings)
    parabola.noise_top[-1] = 1e-3
    assert any("cannot be told from zero" in line for line in fitted(parabola)[0].warnings)


def with_noise(var, sd, free=True):
    model = toy.model({}, {"1": 0.4}, var)
    parameters = model.parameters(np.array([free]))
    cov = np.diag([1.0, sd**2] if free else [1.0])
    recording = toy.recording(toy.Parabola({}, {}, 0.2), free_noise=free)
    return FilteredFit(recording, model, {}, {}, Maximum(model, parameters, 0.0, cov, True))


def test_the_interval_of_the_noise_is_that_of_its_logarithm_where_it_is_known_well():
    low, high = with_noise(0.04, 0.01).noise_interval(2.0)[0]
    assert (low, high) == pytest.approx((0.2 * math.exp(-0.25), 0.2 * math.exp(0.25)))
    assert low * high == pytest.approx(0.04)


def test_the_interval_of_noise_that_is_hardly_there_reaches_zero():
    low, high = with_noise(0.04, 1.1 * WIDE * 0.04).noise_interval(2.0)[0]
    assert low == 0.0 and high == pytest.approx(math.sqrt(0.04 + 2.2 * WIDE * 0.04))


def test_a_given_noise_level_has_no_width():
    np.testing.assert_allclose(with_noise(0.04, 0.0, free=False).noise_interval(), [[0.2, 0.2]])
