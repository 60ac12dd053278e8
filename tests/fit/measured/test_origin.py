"""Recordings far from zero: where the terms are centred, what is said of it, and that an offset is only an offset."""

from functools import cache

import itoscope as ito
import numpy as np
import pytest

FEW = {"n_chains": 2, "n_samples": 200, "n_burn": 100, "seed": 1}
ABOUT_MEAN = ito.Library.polynomials(3, origin="mean")


@cache
def path():
    return ito.problems.ornstein_uhlenbeck().simulate(duration=100.0, dt=0.02, seed=1).paths[0]


@cache
def found(library, offset, sampler="auto"):
    # An offset of whole tenths leaves the rounded mean where it is on the path.
    x = path() + round(offset * path().std(), 1)
    return ito.discover(ito.Trajectories(x, dt=0.02, names=["x"]), library, sampler=sampler, **FEW)


def drift(result, offset):
    grid = np.linspace(-2, 2, 9)[:, None] * path().std() + round(offset * path().std(), 1)
    return result.model().drift(grid)[:, 0]


@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
@pytest.mark.parametrize("library", [None, ABOUT_MEAN], ids=["none", "mean"])
def test_an_offset_is_only_an_offset(library, sampler):
    near = drift(found(library, 10.0, sampler), 10.0)
    for offset in (1e3, 1e6):
        np.testing.assert_allclose(drift(found(library, offset, sampler), offset), near, rtol=1e-6)
    if library is not None:
        np.testing.assert_allclose(drift(found(library, 0.0, sampler), 0.0), near, rtol=1e-6)


@pytest.mark.parametrize("sampler", ["gibbs", "exact"])
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6])
def test_a_library_about_zero_never_fails_and_says_what_the_mean_would_give(degree, sampler, offset):
    result = found(ito.Library.polynomials(degree), offset, sampler)
    assert np.isfinite(drift(result, offset)).all()
    (said,) = [w for w in result.warnings if 'origin="mean"' in w]
    assert "standard deviations from zero" in said and "dx = (-(0." in said
    if degree == 1 and offset <= 1e3:
        np.testing.assert_allclose(drift(result, offset), drift(found(ABOUT_MEAN, 0.0), 0.0), atol=0.1)


def test_the_origin_of_larger_evidence_is_taken_and_told():
    result = found(None, 10.0)
    (said,) = [w for w in result.warnings if "from zero" in w]
    assert "terms are about their mean, which has the larger evidence" in said
    assert not any("from zero" in w for w in found(None, 0.0).warnings)
    # Noise in proportion to the state has its origin at zero, however far from it the recording is.
    rng = np.random.default_rng(2)
    y = 20.0 * np.exp(np.cumsum(0.01 * rng.normal(size=4000)) * 0.3)
    prices = ito.Trajectories(y[:, None], dt=0.01, names=["S"])
    result = ito.discover(prices, **FEW)
    assert np.abs(y.mean() / y.std()) > 5
    assert any("terms are about zero" in w for w in result.warnings)
    # The same of a library that was given: it is said, and nobody is advised to change it.
    given = ito.discover(prices, ito.Library.polynomials(2), **FEW)
    assert any("but the data prefer those about zero" in w for w in given.warnings)
    assert not [advice for advice in given.advice if advice.cause == "offset"]
    wide = found(ito.Library.polynomials(3), 10.0)
    assert any("which the data prefer" in w for w in wide.warnings)
    assert [advice for advice in wide.advice if advice.cause == "offset"]


def test_series_far_from_zero_are_fitted():
    rng = np.random.default_rng(3)
    for scale, level, phi in ((1.0, 20.0, 0.9), (0.5, 293.0, 0.99), (1.0, 1e4, 1.0)):
        x = np.zeros(2000)
        for k in range(1999):
            x[k + 1] = phi * x[k] + scale * rng.normal()
        result = ito.discover(ito.Trajectories((x + level)[:, None], dt=1.0, names=["T"]), **FEW)
        assert np.isfinite(result.drift["T"].mean).all()
