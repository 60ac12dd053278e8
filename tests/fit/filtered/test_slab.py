"""What a set of terms costs, against integrals done by brute force."""

import math

import numpy as np
import pytest
import toy_recording as toy
from itoscope.common.prior import Prior
from itoscope.fit.filtered.slab import log_sets, log_slab, sizes_of

PRIOR = Prior()


def test_the_slab_is_the_integral_of_the_likelihood_over_it():
    """One coefficient: normal likelihood of information 25 around 0.6, slab N(0, v), v inverse gamma."""
    theta, information = 0.6, 25.0
    grid = np.linspace(-40.0, 40.0, 400_001)
    log_v = np.linspace(-12.0, 25.0, 3001)
    v = np.exp(log_v)
    total = 0.0
    density = PRIOR.b_v**PRIOR.a_v / math.gamma(PRIOR.a_v) * v ** (-PRIOR.a_v) * np.exp(-PRIOR.b_v / v)
    # over theta in closed form, checked on the grid for one v
    marginal = np.exp(-0.5 * theta**2 / (1 / information + v)) / np.sqrt(1 + v * information)
    one = np.trapezoid(
        np.exp(-0.5 * information * (grid - theta) ** 2) * np.exp(-0.5 * grid**2 / v[1500]), grid
    ) / math.sqrt(2 * math.pi * v[1500])
    assert one == pytest.approx(marginal[1500], rel=1e-6)
    total = np.trapezoid(density * marginal, log_v)
    found = log_slab(np.array([theta]), np.array([[information]]), PRIOR)
    assert found == pytest.approx(math.log(total), abs=2e-3)


def test_the_slab_does_not_depend_on_the_coordinates():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(9, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    theta, information = rng.normal(size=3), rows.T @ rows
    assert log_slab(turn.T @ theta, turn.T @ information @ turn, PRIOR) == pytest.approx(
        log_slab(theta, information, PRIOR)
    )


def test_nothing_costs_nothing_and_a_blind_term_hardly_anything():
    assert log_slab(np.zeros(0), np.zeros((0, 0)), PRIOR) == 0.0
    assert log_slab(np.zeros(1), np.array([[1e-9]]), PRIOR) == pytest.approx(0.0, abs=1e-3)
    cheap, dear = (log_slab(np.zeros(1), np.array([[e]]), PRIOR) for e in (10.0, 1e6))
    assert dear < cheap < 0.0


def test_sets_have_a_prior_that_sums_to_one():
    for prior in (PRIOR, Prior(a_p=2.0, b_p=3.0)):
        total = sum(math.comb(7, r) * math.exp(log_sets(r, 7, prior)) for r in range(8))
        assert total == pytest.approx(1.0)


def test_sizes_are_those_of_noise_over_the_time_that_it_takes():
    """`Gamma / sqrt(2 Var)` over the root mean square of the term, where the recording is longer than that time."""
    recording = toy.recording(toy.Parabola({}, {}, 0.2))
    model = toy.model({}, {"1": 8.0}, 0.2)
    found = sizes_of(recording, model, PRIOR)
    path = recording.paths[0][:, 0]
    spread = path.var() + 0.01
    tau = min(2 * spread / 8.0, 0.01 * 199)
    assert tau < 0.01 * 199
    np.testing.assert_allclose(
        found.drift[0], math.sqrt(8.0 / tau) / np.sqrt([np.mean(path ** (2 * k)) for k in range(4)])
    )
    np.testing.assert_allclose(found.gamma[0, 0], math.sqrt(2.0) * 8.0)
    slow = sizes_of(recording, toy.model({}, {"1": 1e-3}, 0.2), PRIOR)
    assert slow.drift[0, 0] == pytest.approx(math.sqrt(1e-3 / (0.01 * 199)))
    paper = sizes_of(recording, model, Prior(slab_unit="sample"))
    assert paper.drift[0, 0] == pytest.approx(math.sqrt(8.0 / 0.01))


def test_sizes_change_with_units_as_coefficients_do():
    """x in other units, a hundred times the number: the coefficient of x^k falls by 100^(k - 1)."""
    one = toy.recording(toy.Parabola({}, {}, 0.2))
    other = toy.recording(toy.Parabola({}, {}, 0.2), paths=[100.0 * one.paths[0]])
    other.stages.filter_smooth = lambda space, paths, times: (paths, [np.full((200, 1, 1), 100.0)])
    a = sizes_of(one, toy.model({}, {"1": 0.4}), PRIOR)
    b = sizes_of(other, toy.model({}, {"1": 0.4e4}), PRIOR)
    np.testing.assert_allclose(b.drift[0] / a.drift[0], [100.0, 1.0, 1e-2, 1e-4])
    np.testing.assert_allclose(b.gamma[0] / a.gamma[0], [1e4, 100.0, 1.0, 1e-2])
