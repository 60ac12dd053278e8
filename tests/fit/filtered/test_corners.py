"""Corners that once ended in an exception of someone else: an answer, or an error that says what to do."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import DataError
from scipy.integrate import solve_ivp

LINEAR = ito.Library.polynomials(1)
QUICK = {"measurement_noise": "estimate", "seed": 1, "n_samples": 50, "n_burn": 20}


@pytest.fixture(scope="module")
def turning():
    """Displacement of an oscillator of 1 rad/s, 0.1 rad a sample, 2 % noise."""
    model = ito.SDE(["v", "-x - 0.2 v"], [["0"], ["1"]], ["x", "v"])
    x = model.simulate([0.0, 0.0], dt=0.1, n_steps=1500, substeps=20, seed=1).paths[0][:, 0]
    return x + 0.02 * x.std() * np.random.default_rng(1).standard_normal(len(x))


def sane(result):
    """Printed; every interval has a width, no variance is below zero."""
    assert str(result)
    for label, equation in result.labelled():
        width = np.diff(equation.interval(0.95), axis=1)[:, 0]
        assert np.all(width[equation.selected] > 0), label
    for (a, b), equation in result.diffusion.items():
        assert a != b or equation.interval(0.95)[equation.terms.index("1")][0] >= 0
    for level in result.diagnostics["measurement_noise"].values():
        assert level["high"] > level["low"] >= 0
    return result


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["walk", "white"])
def test_no_term_is_left_to_be_climbed(order, kind):
    """Motion without a drift, and noise of the sensor alone: the likelihood is climbed over what is left."""
    noise = np.random.default_rng(3).standard_normal(300)
    y = np.cumsum(noise) if kind == "walk" else noise
    result = sane(ito.discover(y, LINEAR, dt=0.1, order=order, diffusion="constant", **QUICK))
    assert order == 2 or kind == "white" or not result.drift["x1"].selected.any()


@pytest.mark.parametrize("order", [1, 2])
def test_not_even_the_noise_is_left(order):
    """A given level, no diffusion that is shown, no drift: there is nothing to climb at all."""
    y = np.cumsum(np.random.default_rng(3).standard_normal(200))
    asked = QUICK | {"measurement_noise": 0.1, "diffusion": "none", "prior": ito.Prior(b_p=1e6)}
    result = ito.discover(y, LINEAR, dt=0.1, order=order, **asked)
    assert str(result) and len(result.diffusion) == 0


@pytest.mark.parametrize(
    ("value", "words"), [(3.0, "spare never changes"), (np.nan, "spare has no sample but NaN")]
)
def test_a_constant_and_a_dead_channel_are_named(turning, value, words):
    both = np.stack([turning, np.full(len(turning), value)], axis=1)

    def asked():
        data = ito.Trajectories(both, dt=0.1, names=["roof", "spare"])
        return ito.discover(data, LINEAR, order=2, **QUICK)

    with pytest.raises(DataError, match=words):
        asked()


def test_a_clean_solution_of_an_equation_without_noise():
    """No noise anywhere: both levels come out next to nothing, and the equation right."""
    ode = solve_ivp(
        lambda _, s: [s[1], -s[0] - 0.1 * s[1]], (0, 60), [1, 0], t_eval=np.arange(0, 60, 0.1), rtol=1e-10
    )
    result = ito.discover(ode.y[0], LINEAR, dt=0.1, order=2, diffusion="constant", **QUICK)
    assert str(result)
    drift = dict(zip(result.drift["v1"].terms, result.drift["v1"].mean))
    assert drift["x1"] == pytest.approx(-1.0, abs=0.02) and drift["v1"] == pytest.approx(-0.1, abs=0.02)
    assert result.measurement_noise < 1e-3 * ode.y[0].std()


def test_every_second_sample_is_missing(turning):
    """The steps between are twice as long, and no more than that: the same equation as of half the samples."""
    holed = turning.copy()
    holed[1::2] = np.nan
    results = [
        sane(ito.discover(y, LINEAR, dt=dt, order=2, diffusion="constant", **QUICK))
        for y, dt in ((holed, 0.1), (turning[::2], 0.2))
    ]
    one, other = (r.drift["v1"] for r in results)
    np.testing.assert_array_equal(one.selected, other.selected)
    np.testing.assert_allclose(one.mean, other.mean, rtol=0.02, atol=1e-3)
    assert results[0].measurement_noise == pytest.approx(results[1].measurement_noise, rel=0.05)


@pytest.mark.parametrize("n_samples", [4, 5])
def test_few_draws(turning, n_samples):
    result = sane(ito.discover(turning, LINEAR, dt=0.1, order=2, **QUICK | {"n_samples": n_samples}))
    assert result.drift["v1"].samples.shape[1] == n_samples


@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_few_samples(n):
    y = np.cumsum(np.random.default_rng(1).standard_normal(n))
    if n < 4:
        with pytest.raises(DataError, match="a filter needs at least 4"):
            ito.discover(y, LINEAR, dt=0.1, order=2, **QUICK)
    else:
        sane(ito.discover(y, LINEAR, dt=0.1, order=2, **QUICK))
