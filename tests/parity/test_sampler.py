"""Both backends give the same evidence, masses, posteriors and, on one tape of draws, the same chains."""

import numpy as np
import pytest
from itoscope import Prior
from itoscope.backends import get_backend
from itoscope.backends.records import Sweeps
from itoscope.backends.reference.chains import record_chain
from itoscope.backends.reference.evidence import Regression
from itoscope.backends.reference.posterior import record_exact_draws
from itoscope.backends.reference.slab import slab_posterior
from itoscope.errors import ArgumentError, NumericalError
from itoscope.stats.quadratic import Quadratic
from regressions import random_regression
from tolerances import SAMPLER

rust, reference = get_backend("rust"), get_backend("reference")
PRIORS = [Prior(), Prior(a_p=2, b_p=3, a_v=3, b_v=2, a_s=1, b_s=0.5, empty=0.3), Prior(standardize=False)]


def with_zero_column(data):
    return Quadratic(np.pad(data.gram, (0, 1)), np.pad(data.moment, (0, 1)), data.yy, data.n)


def assert_same_chains(ours, theirs):
    for name in ours._fields:
        if name == "work":
            continue
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.shape == b.shape and a.dtype == b.dtype, name
        np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=SAMPLER, atol=SAMPLER, err_msg=name)


@pytest.mark.parametrize("prior", PRIORS)
def test_evidence_masses_and_coefficients(prior):
    data = with_zero_column(random_regression(1, k=6))
    rng = np.random.default_rng(0)
    for _ in range(20):
        included, v = rng.random(7) < 0.5, float(np.exp(rng.normal(0, 2)))
        ours, theirs = (b.log_evidence(data, prior, included, v) for b in (rust, reference))
        assert ours == pytest.approx(theirs, rel=SAMPLER)
        for a, b in zip(
            rust.model_posterior(data, prior, included), reference.model_posterior(data, prior, included)
        ):
            np.testing.assert_allclose(a, b, rtol=SAMPLER, atol=SAMPLER)
    ours, theirs = (b.enumerate_models(data, prior, progress=None) for b in (rust, reference))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=SAMPLER)


@pytest.mark.parametrize("a_v", [1e4, 1e8])
def test_a_huge_shape_of_the_slab_takes_no_more_nodes(a_v):
    data, prior = random_regression(1, k=5), Prior(a_v=a_v, b_v=a_v)
    ours, theirs = (b.enumerate_models(data, prior, progress=None) for b in (rust, reference))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * a_v + SAMPLER)
    assert slab_posterior(Regression(data, prior), [0, 1, 2]).v.size < 300


@pytest.mark.parametrize(("start", "prior"), list(zip(["search", "empty", "random"], PRIORS)))
def test_a_chain_of_200_sweeps_on_one_tape(start, prior):
    data = with_zero_column(random_regression(2, k=8))
    sweeps = Sweeps(n_samples=90, n_burn=20, thin=2, exchanges=2)
    theirs, tape = record_chain(data, prior, sweeps, start=start, seed=5)
    ours = rust.replay_chain(data, prior, sweeps, start=start, draws=tape)
    assert_same_chains(ours, theirs)
    counters = ("sweeps", "flips", "exchanges_tried", "exchanges", "pairs")
    assert [ours.work[0][name] for name in counters] == [theirs.work[0][name] for name in counters]
    assert min(theirs.work[0][name] for name in ("flips", "exchanges", "pairs")) > 10


@pytest.mark.parametrize("seed", [12, 54, 66, 68, 69])
def test_the_start_is_the_same_where_probabilities_round_to_one(seed):
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((500, 6)) * np.exp(rng.normal(0, 2, 6))
    u[:, 1] = u[:, 0] + 0.1 * u[:, 1]
    y = u @ (rng.standard_normal(6) * (rng.random(6) < 0.5)) + rng.standard_normal(500) * rng.choice(
        [0.01, 1]
    )
    data = Quadratic(u.T @ u, u.T @ y, float(y @ y), 500.0)
    sweeps = Sweeps(n_samples=4, n_burn=0)
    theirs, tape = record_chain(data, Prior(), sweeps, start="search", seed=seed)
    ours = rust.replay_chain(data, Prior(), sweeps, start="search", draws=tape)
    np.testing.assert_array_equal(ours.included, theirs.included)
    np.testing.assert_allclose(
        ours.samples, theirs.samples, rtol=1e-4, atol=1e-5 * np.abs(theirs.samples).max()
    )


def test_exact_draws_on_one_tape():
    data, prior = with_zero_column(random_regression(3, k=6)), Prior()
    log_mass = rust.enumerate_models(data, prior, progress=None)
    theirs, tape = record_exact_draws(data, prior, log_mass=log_mass, n_draws=200, seed=5)
    ours = rust.exact_draws(data, prior, log_mass=log_mass, n_draws=200, seed=5, draws=tape)
    assert_same_chains(ours, theirs)


def test_the_reference_replays_its_own_tape():
    data, prior = random_regression(4, k=5), Prior()
    sweeps = Sweeps(n_samples=20, n_burn=0)
    chain, tape = record_chain(data, prior, sweeps, start="empty", seed=5)
    assert_same_chains(reference.replay_chain(data, prior, sweeps, start="empty", draws=tape), chain)


def test_a_tape_that_does_not_fit_is_refused():
    data, prior = random_regression(4, k=5), Prior()
    sweeps = Sweeps(n_samples=5, n_burn=0)
    _, tape = record_chain(data, prior, sweeps, start="empty", seed=5)
    tape[7] = ("normal", 0.0, 0.0, 0.1)
    for backend in (rust, reference):
        with pytest.raises(NumericalError, match="draw 7: wanted"):
            backend.replay_chain(data, prior, sweeps, start="empty", draws=tape)


BAD = [
    ({"gram": np.eye(3)}, r"gram.shape = \(3, 3\): \(2, 2\), as moment has 2 entries"),
    ({"moment": np.array([1.0, np.nan])}, "moment = nan: finite numbers"),
    ({"n": 0.0}, "n = 0"),
    ({"yy": -1.0}, "yy = -1"),
    ({"yy": np.inf}, "yy = inf"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_the_same_complaint(change, message):
    data = {"gram": np.eye(2), "moment": np.ones(2), "yy": 4.0, "n": 10.0} | change
    for backend in (rust, reference):
        with pytest.raises(ArgumentError, match=message):
            backend.enumerate_models(Quadratic(**data), Prior(), progress=None)
        with pytest.raises(ArgumentError, match=message):
            backend.log_evidence(Quadratic(**data), Prior(), np.ones(2, dtype=bool), 1.0)


def test_complaints_about_settings():
    data = random_regression(5, k=22)
    small = random_regression(5, k=4)
    settings = {"n_chains": 1, "n_samples": 1, "thin": 1}
    for backend in (rust, reference):
        with pytest.raises(ArgumentError, match="number of columns = 22: at most 20 for exact enumeration"):
            backend.enumerate_models(data, Prior(), progress=None)
        with pytest.raises(ArgumentError, match="one flag for each of 4 columns"):
            backend.model_posterior(small, Prior(), np.ones(3, dtype=bool))
        with pytest.raises(ArgumentError, match="one mass for each of 16 models"):
            backend.exact_draws(small, Prior(), log_mass=np.zeros(4), n_draws=1, seed=1, draws=None)
        for name in ("n_chains", "n_samples", "thin"):
            n_chains, n_samples, thin = (settings | {name: 0}).values()
            sweeps = Sweeps(n_samples, 0, thin)
            with pytest.raises(ArgumentError, match=f"{name} = 0: a whole number, at least 1"):
                backend.sample_chains(small, Prior(), sweeps, n_chains=n_chains, seed=1, progress=None)
