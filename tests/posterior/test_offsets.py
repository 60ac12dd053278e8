"""Columns that are nearly or wholly dependent: no sampler fails, and what cannot be told apart is named."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.posterior.columns import find_aliases, sound
from itoscope.stats.quadratic import Quadratic
from regressions import moments_of

FEW = {"n_chains": 2, "n_samples": 100, "n_burn": 50, "seed": 1}


def named(aliases):
    return [term for others in aliases.values() for term in others]


def powers(offset, degree=3, n=400, seed=0):
    x = np.random.default_rng(seed).normal(size=n)
    y = -x + 0.5 * np.random.default_rng(seed + 1).normal(size=n)
    u = np.stack([(x + offset) ** p for p in range(degree + 1)], axis=1)
    m = moments_of(u, y)
    return ito.Moments(m.gram, m.moment, m.yy, m.n, ["1", "x", "x^2", "x^3"][: degree + 1]), x, y


@pytest.mark.parametrize("sampler", ["auto", "gibbs", "exact"])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e3, 1e6])
def test_no_offset_makes_a_sampler_fail(backend, sampler, offset):
    moments, x, _y = powers(offset)
    equation = moments.sample(sampler=sampler, backend=backend, **(FEW | {"n_samples": 20, "n_burn": 5}))
    assert np.isfinite(equation.mean).all() and np.isfinite(equation.interval(0.95)).all()
    if offset <= 10:
        fitted = np.stack([(x + offset) ** p for p in range(4)], axis=1) @ equation.mean
        assert np.abs(fitted + x).max() < 0.3


@pytest.mark.parametrize("offset", [0.0, 10.0, 707.0, 1e4])
def test_a_line_far_from_zero_is_a_line(offset):
    # Chains of single flips stand still here: 1 and x are needed together.
    moments, x, _ = powers(offset, degree=1)
    equation = moments.sample(seed=1)
    assert equation.pip[1] > 0.99 and (offset == 0 or equation.pip[0] > 0.99)
    line = equation.mean[0] + equation.mean[1] * (x + offset)
    assert np.abs(line + x).max() < 0.2


def test_columns_beyond_rank_are_aliases():
    moments, _, _ = powers(3e3)
    keep, aliases = find_aliases(moments, moments.names)
    assert [moments.names[k] for k in keep] == ["1", "x"]
    assert sorted(named(aliases)) == ["x^2", "x^3"]
    assert any("x^3" in note for note in moments.sample(**FEW).warnings)
    moments, _, _ = powers(10.0)
    assert find_aliases(moments, moments.names) == ([0, 1, 2, 3], {})


@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
def test_more_columns_than_rows(backend, sampler):
    rng = np.random.default_rng(1)
    u = rng.normal(size=(6, 9))
    m = moments_of(u, u[:, 0] + 0.1 * rng.normal(size=6))
    equation = ito.Moments(m.gram, m.moment, m.yy, m.n).sample(sampler=sampler, backend=backend, **FEW)
    assert np.isfinite(equation.mean).all() and len(named(equation.aliases)) == 3


def test_a_sound_regression_is_left_alone_and_an_unsound_one_can_be_factored():
    rng = np.random.default_rng(1)
    u = rng.normal(size=(50, 4))
    good = moments_of(u, u[:, 0])
    assert sound(good) is good
    u = np.column_stack([u, u @ rng.normal(size=(4, 3)), np.zeros(50)])
    bad = moments_of(u, u[:, 0])
    gram = bad.gram - 1e-12 * np.diag(np.diag(bad.gram))
    repaired = sound(Quadratic(gram, bad.moment, bad.yy, bad.n))
    np.linalg.cholesky(repaired.gram[:7, :7] + 1e-16 * np.eye(7))
    np.testing.assert_allclose(repaired.gram, bad.gram, atol=1e-9 * bad.gram.max())
    np.testing.assert_array_equal(repaired.gram[7], 0.0)


def test_nearly_equal_columns_are_one_of_a_group():
    rng = np.random.default_rng(3)
    u = rng.normal(size=(500, 3))
    u[:, 1] = u[:, 0] + 0.02 * rng.normal(size=500)
    m = moments_of(u, 0.5 * (u[:, 0] + u[:, 1]) + rng.normal(size=500))
    equation = ito.Moments(m.gram, m.moment, m.yy, m.n, ["x", "u", "w"]).sample(seed=1)
    assert any(note.startswith(("one of x, u: 1.00", "one of u, x: 1.00")) for note in equation.warnings)
    apart = moments_of(rng.normal(size=(500, 2)), rng.normal(size=500))
    quiet = ito.Moments(apart.gram, apart.moment, apart.yy, apart.n).sample(seed=1)
    assert not quiet.warnings
