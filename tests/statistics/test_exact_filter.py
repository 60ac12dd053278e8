"""Noisy fits with default settings against the exact likelihood of a linear system: coefficients, errors, terms."""

import itoscope as ito
import numpy as np
import pytest

DT, N = 0.02, 1500
TRUE = {"stiffness": 9.0, "friction": 0.8, "gamma": 1.0, "noise": 0.02}


def transition(k, c, gamma):
    """Of `dx = v dt, dv = -(k x + c v) dt + sqrt(gamma) dB` over a step: `exp(A h)`, and the noise it gathers."""
    a = np.array([[0.0, 1.0], [-k, -c]])
    block = np.zeros((4, 4))
    block[:2, :2], block[:2, 2:], block[2:, 2:] = -a, [[0.0, 0.0], [0.0, gamma]], a.T
    power = whole = np.eye(4)
    for order in range(1, 30):
        power = power @ block * DT / order
        whole = whole + power
    phi = whole[2:, 2:].T
    return phi, phi @ whole[:2, 2:]


def loglik(theta, y):
    """Of a recording of x with noise, by the exact filter; of its start nothing is known."""
    k, c, gamma, noise = theta
    phi, q = transition(k, c, gamma)
    mean, cov = np.zeros(2), 100.0 * np.eye(2)
    total = 0.0
    for value in y:
        s = cov[0, 0] + noise**2
        r = value - mean[0]
        total -= 0.5 * (np.log(2 * np.pi * s) + r * r / s)
        gain = cov[:, 0] / s
        mean, cov = mean + gain * r, cov - np.outer(gain, cov[0])
        mean, cov = phi @ mean, phi @ cov @ phi.T + q
    return total


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(3)
    phi, q = transition(*list(TRUE.values())[:3])
    root = np.linalg.cholesky(q)
    state, y = np.sqrt([1 / (2 * 0.8 * 9.0), 1 / 1.6]) * rng.normal(size=2), np.empty(N)
    for n in range(N):
        y[n] = state[0] + TRUE["noise"] * rng.normal()
        state = phi @ state + root @ rng.normal(size=2)
    return y


@pytest.fixture(scope="module")
def result(recording):
    """Settings as they are by default, but for the question itself and a seed."""
    return ito.discover(
        recording, ito.Library.polynomials(2), dt=DT, order=2, measurement_noise="estimate", seed=1
    )


def test_coefficients_and_errors_are_those_of_the_exact_likelihood(recording, result):
    drift, gamma = result.drift["v1"], result.diffusion["v1", "v1"]
    at = [drift.terms.index("x1"), drift.terms.index("v1")]
    constant = gamma.terms.index("1")
    assert sorted(np.flatnonzero(drift.selected)) == sorted(at)
    found = np.array([-drift.mean[at[0]], -drift.mean[at[1]], gamma.mean[constant], result.measurement_noise])
    errors = np.array([drift.sd[at[0]], drift.sd[at[1]], gamma.sd[constant]])
    steps = 0.1 * np.array([*errors, 0.02 * found[3]])
    gradient, hessian = np.empty(4), np.empty((4, 4))
    for i, a in enumerate(np.diag(steps)):
        gradient[i] = (loglik(found + a, recording) - loglik(found - a, recording)) / (2 * steps[i])
        for j, b in enumerate(np.diag(steps)[: i + 1]):
            corners = [loglik(found + s * a + t * b, recording) * s * t for s in (1, -1) for t in (1, -1)]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * steps[i] * steps[j])
    exact = np.linalg.inv(-hessian)
    # the top of the exact likelihood is within a fifth of a standard error, and its curvature says the same errors
    assert np.abs(exact @ gradient / np.sqrt(np.diag(exact))).max() < 0.2
    np.testing.assert_allclose(errors, np.sqrt(np.diag(exact))[:3], rtol=0.15)
    np.testing.assert_allclose((found - list(TRUE.values())) / np.sqrt(np.diag(exact)), 0, atol=4)


def test_true_terms_are_likely_and_others_are_not(result):
    drift = result.drift["v1"]
    for term, pip in zip(drift.terms, drift.pip):
        assert pip > 0.9 if term in ("x1", "v1") else pip < 0.5, (term, pip)
