"""R-hat, effective sample sizes and Monte Carlo errors are those of ArviZ."""

import warnings

import numpy as np
import pytest
from itoscope.stats.convergence import convergence, ess_bulk, ess_mean, ess_tail, mcse_mean, rhat
from tolerances import DIAGNOSTICS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    arviz = pytest.importorskip("arviz")

SHAPES = [(4, 500), (4, 501), (2, 40), (1, 200)]


def autoregressive(shape, rho, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * x[:, t]
    return x + shift * np.arange(shape[0])[:, None]


def series(shape):
    """Independent, slow, antithetic, shifted, heavy-tailed, with ties, and a rare event."""
    return np.stack(
        [
            autoregressive(shape, 0.0, 1),
            autoregressive(shape, 0.95, 2),
            autoregressive(shape, -0.6, 3),
            autoregressive(shape, 0.5, 4, shift=0.7),
            np.tan(1.4 * np.tanh(autoregressive(shape, 0.3, 5))),
            np.round(autoregressive(shape, 0.8, 6)),
            np.maximum(autoregressive(shape, 0.9, 7) - 1, 0),
        ],
        axis=-1,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_as_arviz(shape):
    draws = series(shape)
    columns = range(draws.shape[-1])
    pairs = [
        (ess_bulk, lambda x: arviz.ess(x, method="bulk")),
        (ess_tail, lambda x: arviz.ess(x, method="tail")),
        (ess_mean, lambda x: arviz.ess(x, method="mean")),
        (mcse_mean, lambda x: arviz.mcse(x, method="mean")),
    ]
    if shape[0] > 1:  # ArviZ wants two chains for R-hat; splitting makes two of one
        pairs.append((rhat, arviz.rhat))
    for ours, theirs in pairs:
        expected = [float(theirs(draws[..., k])) for k in columns]
        np.testing.assert_allclose(ours(draws), expected, rtol=DIAGNOSTICS, err_msg=ours.__name__)


def test_what_never_changes_has_converged():
    result = convergence(np.ones((2, 10, 3)))
    assert (result.rhat == 1).all() and (result.ess_bulk == 20).all() and (result.ess_tail == 20).all()
    assert (result.mcse == 0).all()


def test_too_few_draws_are_not_judged():
    assert np.isnan(rhat(np.zeros((2, 3, 1)))).all()


@pytest.mark.parametrize("n", range(1, 12))
def test_a_handful_of_draws_raises_nothing(n):
    draws = np.random.default_rng(n).normal(size=(2, n, 3))
    found = convergence(draws)
    for value in (found.mcse, found.rhat, found.ess_bulk, found.ess_tail):
        assert value.shape == (3,)
        assert np.isfinite(value).all() == (n >= 4)
