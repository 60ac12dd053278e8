"""The scale of the slab: what it does to the prior, that moments carry it; the sampling rate then says nothing."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.stats.correlation import correlation_time, efolding_lag, recorded_correlation

LINEAR = ito.Library.polynomials(1)
TERMS = ["1", "x1", "x2"]
EXACT = {"sampler": "exact", "n_chains": 1, "n_samples": 4, "seed": 1}


def regression(slab_scale=1.0, n=200, terms=TERMS):
    rng = np.random.default_rng(1)
    u = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    y = 0.15 * u[:, 1] + rng.normal(size=n)
    return ito.Moments(u.T @ u, u.T @ y, y @ y, n, terms, slab_scale=slab_scale)


def test_a_scaled_slab_is_a_slab_of_scaled_variance(backend):
    scaled = regression(0.01).sample(**EXACT, backend=backend)
    prior = ito.Prior(b_v=0.005, slab_start=0.1, empty=1 / 3)
    same = regression().sample(prior, **EXACT, backend=backend)
    np.testing.assert_allclose(scaled.pip, same.pip, rtol=1e-12)
    np.testing.assert_allclose(scaled.mean, same.mean, rtol=1e-12)
    unscaled = regression().sample(**EXACT, backend=backend)
    assert abs(scaled.pip[1] - unscaled.pip[1]) > 0.05
    chains = regression(0.01).sample(sampler="gibbs", n_samples=400, n_burn=50, seed=1, backend=backend)
    assert (np.abs(chains.pip - scaled.pip) < 4 * np.maximum(chains.pip_mcse, 1e-3)).all()
    per_sample = regression(0.01).sample(
        ito.Prior(slab_unit="sample"), sampler="exact", seed=1, backend=backend
    )
    np.testing.assert_array_equal(per_sample.pip, unscaled.pip)


def test_a_drift_is_none_in_one_case_of_three(backend):
    assert ito.Prior().scaled(0.1).empty == ito.Prior().of_drift().empty == 1 / 3
    assert ito.Prior().scaled(1.0).empty is None
    assert ito.Prior(empty=0.2).scaled(0.1).empty == ito.Prior(empty=0.2).scaled(1.0).empty == 0.2
    for said in (ito.Prior(slab_unit="sample"), ito.Prior(a_p=1.0), ito.Prior(b_p=1e9)):
        assert said.scaled(0.1).empty is None
    for bad in (0.0, 1.0, -1.0):
        with pytest.raises(ArgumentError, match="empty"):
            ito.Prior(empty=bad)
    settings = EXACT | {"backend": backend}
    free, held = (regression().sample(ito.Prior(empty=empty), **settings) for empty in (None, 0.9))
    gain = held.log_mass - free.log_mass
    np.testing.assert_allclose(gain[1:], gain[1], atol=1e-9)  # the others keep their proportions
    none = np.prod([(1 + j) / (1.1 + j) for j in range(3)])
    assert np.exp(gain[0]) == pytest.approx(0.9 / none, rel=1e-9)
    assert np.exp(gain[1]) == pytest.approx(0.1 / (1 - none), rel=1e-9)


@pytest.mark.parametrize("empty", [0.02, 0.5])
def test_chains_of_a_prior_that_says_how_likely_nothing_is(empty):
    prior = ito.Prior(empty=empty)
    exact = regression(0.01).sample(prior, **EXACT)
    for exchanges in (0, 1):
        chains = regression(0.01).sample(prior, sampler="gibbs", n_samples=8000, seed=2, exchanges=exchanges)
        assert (np.abs(chains.pip - exact.pip) < 4 * np.maximum(chains.pip_mcse, 1e-3)).all()


def test_moments_keep_their_scale():
    part = regression(0.01)
    assert part.subset([0, 1]).slab_scale == 0.01
    assert (part + regression(0.03, n=200)).slab_scale == pytest.approx(0.02)
    assert (part + regression(0.03, n=600)).slab_scale == pytest.approx(0.025)
    with pytest.raises(ArgumentError, match="slab_scale"):
        regression(0.0)


def test_time_in_which_diffusion_covers_the_spread():
    assert correlation_time(2.0, 4.0, 10.0) == 1.0
    assert correlation_time(2.0, 4.0, 0.5) == 0.5
    assert correlation_time(2.0, 0.0, 0.5) == 0.5


def test_steps_in_which_the_autocorrelation_falls():
    rng = np.random.default_rng(1)
    x = np.zeros(40_000)
    for k in range(len(x) - 1):
        x[k + 1] = 0.98 * x[k] + rng.normal()
    assert efolding_lag([x]) == pytest.approx(1 / -np.log(0.98), rel=0.2)
    x[5000:6000] = np.nan
    assert efolding_lag([x[:20_000], x[20_000:]]) == pytest.approx(1 / -np.log(0.98), rel=0.3)
    assert efolding_lag([rng.normal(size=500)]) == 1
    assert efolding_lag([np.full(10, 3.0)]) == 9
    wave = np.cos(2 * np.pi * np.arange(1000) / 100)
    assert efolding_lag([wave]) == pytest.approx(100 * np.arccos(np.exp(-1)) / (2 * np.pi), abs=1)


def test_correlation_time_of_a_recording():
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=400.0, dt=0.01, seed=1)
    x = data.paths[0].copy()
    tau, step = recorded_correlation([x], [0.01], 0)
    assert tau == pytest.approx(1.0, rel=0.25) and step == pytest.approx(0.01)
    x[1000:20000] = np.nan
    uneven = recorded_correlation([x], [np.arange(len(x)) * 0.01], 0)
    assert uneven[0] == pytest.approx(1.0, rel=0.3) and uneven[1] == pytest.approx(0.01)
    assert recorded_correlation([np.full((5, 1), np.nan)], [0.1], 0) == (1.0, 1.0)


def log_odds(seed, thin, slab_unit, backend="rust"):
    """Of the restoring force, from a path of fifteen time constants of which every so many samples are seen."""
    fine = ito.problems.ornstein_uhlenbeck().simulate(duration=15.0, dt=0.002, seed=seed)
    data = ito.Trajectories(fine.paths[0][::thin], dt=0.002 * thin, names=["x1"])
    moments = ito.moments(data, LINEAR, row="x1", backend=backend)
    prior = ito.Prior(slab_unit=slab_unit)
    p = moments.sample(prior, sampler="exact", n_samples=10, seed=1, backend=backend).pip[1]
    return np.log(p / (1 - p))


def test_the_sampling_rate_says_nothing():
    # By the path, not by how often it was looked at: what coarse steps lose in information, odds may lose.
    def gained(thin, slab_unit):
        return np.mean([log_odds(s, thin, slab_unit) - log_odds(s, 1, slab_unit) for s in range(6)])

    assert abs(gained(4, "time")) < 0.3
    assert -1.0 < gained(20, "time") < 0.3
    assert gained(20, "sample") > 0.6


def test_both_backends_say_the_same_of_a_thinned_path():
    assert log_odds(1, 20, "time") == pytest.approx(log_odds(1, 20, "time", "reference"), abs=1e-6)
