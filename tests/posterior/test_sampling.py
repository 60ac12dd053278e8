"""From a plain regression to an equation: columns that coincide, settings, what the equation keeps."""

import itoscope as ito
import numpy as np
import pytest
from itoscope import Prior
from itoscope.errors import ArgumentError
from itoscope.posterior.columns import find_aliases
from itoscope.posterior.sampling import Sampling, sample
from itoscope.stats.quadratic import Quadratic

TERMS = ["a", "b", "c", "d"]
SHORT = Sampling("gibbs", n_chains=2, n_samples=60, n_burn=20, seed=1)


def regression(x, y):
    return Quadratic(x.T @ x, x.T @ y, float(y @ y), float(len(y)))


@pytest.fixture
def found():
    """`c` is `a` in another unit, `d` is zero."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 80))
    return regression(np.stack([a, b, -3 * a, 0 * a], axis=1), 2 * a + 0.1 * rng.normal(size=80))


def test_of_columns_that_coincide_the_first_is_tried(found):
    keep, aliases = find_aliases(found, TERMS)
    assert (keep, aliases) == ([0, 1, 3], {"a": ["c"]})


def test_columns_that_nearly_coincide_are_both_tried():
    rng = np.random.default_rng(2)
    a, e = rng.normal(size=(2, 400))
    near = regression(np.stack([a, a + 1e-3 * e], axis=1), a)
    assert find_aliases(near, ["a", "b"])[0] == [0, 1]


@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
def test_an_equation_over_all_terms_from_those_that_were_tried(found, sampler):
    settings = Sampling(sampler=sampler, n_chains=2, n_samples=60, n_burn=20, seed=1)
    equation = sample(found, TERMS, Prior(), settings)
    assert equation.terms == TERMS
    assert equation.moments is found
    assert equation.selected.tolist() == [True, False, False, False]
    assert equation.samples.shape == (2, 60, 4)
    assert not equation.samples[..., 2:].any()
    assert not equation.cov[2:].any()
    assert equation.mean[0] == pytest.approx(2.0, abs=0.05)
    assert [note.split(" ")[0] for note in equation.warnings] == ["on", "zero"]
    assert equation.models(1)[0].terms == ("a",)


def test_few_models_are_enumerated_and_many_are_not():
    rng = np.random.default_rng(4)
    for columns, way in ((12, "exact"), (13, "gibbs")):
        x = rng.normal(size=(60, columns))
        names = [f"c{k}" for k in range(columns)]
        equation = sample(regression(x, x[:, 0]), names, Prior(), Sampling(n_samples=20, n_burn=10, seed=1))
        assert equation.sampler == way


def test_more_models_are_enumerated_where_the_chains_would_cost_more():
    assert not Sampling(n_samples=4095, n_burn=0, n_chains=4).enumerates(13)
    assert Sampling(n_samples=4096, n_burn=0, n_chains=4).enumerates(13)
    assert Sampling(n_samples=10**9).enumerates(20) and not Sampling(n_samples=10**9).enumerates(21)
    assert Sampling("exact").enumerates(21) and not Sampling("gibbs").enumerates(2)


def test_chains_find_two_columns_that_nearly_coincide_far_from_zero(backend):
    """A restoring force 707 standard deviations from zero: of 1 and x neither does anything without the other."""
    rng = np.random.default_rng(3)
    n = 20_000
    x = 707.0 + rng.normal(size=n)
    far = regression(np.stack([np.ones(n), x], axis=1), -0.3 * (x - 707.0) + rng.normal(size=n))
    short = backend == "reference"
    settings = Sampling("gibbs", 2, 100 if short else 2000, 100, seed=1, backend=backend)
    equation = sample(far, ["1", "x"], Prior(), settings)
    exact = sample(far, ["1", "x"], Prior(), Sampling("exact", seed=1))
    assert exact.pip.min() > 0.99
    assert equation.pip == pytest.approx(exact.pip, abs=0.03)
    alone = sample(far, ["1", "x"], Prior(), Sampling("gibbs", 2, 2000, 100, seed=1, exchanges=0))
    assert alone.pip.min() < 0.9


def test_the_names_change_nothing_but_the_names(found):
    one, other = (sample(found, names, Prior(), SHORT) for names in (TERMS, ["p", "q", "r", "s"]))
    np.testing.assert_array_equal(one.samples, other.samples)
    assert other.aliases == {"p": ["r"]}


def test_the_draws_fit_into_the_memory(found):
    tight = Sampling("gibbs", n_chains=1, n_samples=100, n_burn=0, seed=1, max_memory=17 * 4 * 10)
    assert sample(found, TERMS, Prior(), tight).samples.shape == (1, 10, 4)
    exact = Sampling("exact", n_chains=1, n_samples=100, seed=1, max_memory=17 * 4 * 10)
    assert sample(found, TERMS, Prior(), exact).samples.shape == (1, 10, 4)


def test_progress_is_told_in_sweeps(found):
    told = []
    sample(found, TERMS, Prior(), SHORT, told.append)
    assert told[-1] == SHORT.work[0] == 2 * 80


@pytest.mark.parametrize(
    ("settings", "work"),
    [
        ({"sampler": "gibbs", "n_samples": 100, "n_burn": 10, "n_chains": 3}, (330, "sweeps")),
        ({"sampler": "gibbs", "n_samples": "auto"}, (None, "sweeps")),
        ({"sampler": "exact"}, (None, "models")),
        ({}, (None, "sweeps")),
    ],
)
def test_how_much_work_a_sampling_is(settings, work):
    assert Sampling(**settings).work == work


def test_settings_are_checked_when_they_are_made_and_a_seed_is_drawn():
    with pytest.raises(ArgumentError, match="sampler = 'nuts': one of 'auto', 'gibbs', 'exact'"):
        Sampling(sampler="nuts")
    with pytest.raises(ArgumentError, match="backend = 'gpu'"):
        Sampling(backend="gpu")
    assert Sampling().seed != Sampling().seed
    assert Sampling(seed=np.int64(3)).seed == 3


def test_probabilities_from_all_models_are_never_above_one():
    rng = np.random.default_rng(4)
    for seed in range(12):
        x = rng.standard_normal((300, 8))
        y = x[:, :4] @ rng.uniform(2, 5, 4) + 0.1 * rng.standard_normal(300)
        found = ito.Moments(x.T @ x, x.T @ y, float(y @ y), 300.0).sample(sampler="exact", seed=seed)
        assert found.pip.max() <= 1.0
