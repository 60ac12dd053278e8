"""The four looks at standardised residuals: silent on white noise, loud on what they are for."""

import numpy as np
import pytest
from itoscope.backends.records import ResidualSums
from itoscope.checks.check import AUTOCORRELATION, Residuals, alpha_of, residual_checks, statistics
from itoscope.checks.filtered import INNOVATIONS
from itoscope.checks.measured import RESIDUALS
from itoscope.stats.whiteness import autocorrelation, lagged_products

RNG = np.random.default_rng(1)
N, LAGS, ALPHA = 20_000, 10, alpha_of(1)


def sums(z):
    lagged, pairs = lagged_products(z, np.zeros(len(z), dtype=int), LAGS)
    powers = np.array([(z**p).sum() for p in (1, 2, 3, 4)])
    largest = int(np.argmax(np.abs(z)))
    return ResidualSums(len(z), powers, lagged, pairs, float(abs(z[largest])), 3, largest)


def fired(z, words=RESIDUALS):
    return {
        check.name: check for check in residual_checks("x2", statistics(sums(z)), words, ALPHA) if check.fired
    }


WHITE = RNG.normal(size=N)


@pytest.mark.parametrize("words", [RESIDUALS, INNOVATIONS])
def test_white_noise_is_white(words):
    checks = residual_checks("x2", statistics(sums(WHITE)), words, ALPHA)
    names = [check.name for check in checks]
    assert names[:3] == [f"{words.kind} mean", "jumps", "whiteness"]
    assert names[3:] == (["innovation variance"] if words is INNOVATIONS else [])
    assert not any(check.fired for check in checks) and {check.about for check in checks} == {"x2"}


def coloured(phi):
    z = WHITE.copy()
    for n in range(1, N):
        z[n] += phi * z[n - 1]
    return z / z.std()


JUMPS = np.where(RNG.uniform(size=N) < 0.01, 8.0, 1.0) * WHITE


@pytest.mark.parametrize(
    ("z", "name"),
    [
        (WHITE + 0.1, "innovation mean"),
        (1.2 * WHITE, "innovation variance"),
        (0.9 * WHITE, "innovation variance"),
        (JUMPS / JUMPS.std(), "jumps"),
        (coloured(0.1), "whiteness"),
        (coloured(-0.1), "whiteness"),
    ],
)
def test_each_departure_fires_its_check_alone(z, name):
    assert set(fired(z, INNOVATIONS)) == {name}


def test_departures_too_small_to_matter_are_silent_however_sure():
    """With 4 million samples an autocorrelation of 0.02 is forty standard errors."""
    n, rho = 4_000_000, 0.02
    lagged = np.array([rho * n, *[0.0] * 9])
    found = statistics(
        ResidualSums(n, np.array([0.0, n, 0.0, 3.0 * n]), lagged, np.full(10, float(n)), 5.0, 0, 0)
    )
    assert found.p_value < 1e-10 and abs(found.worst[1]) < AUTOCORRELATION
    assert not any(check.fired for check in residual_checks("x", found, RESIDUALS, ALPHA))


def test_the_sentences_say_what_was_seen():
    mean = fired(WHITE + 0.1)["residual mean"].sentence
    assert "the residuals of x2 have a mean of 0.089 standard deviations" in mean and "{" not in mean
    jump = fired(JUMPS / JUMPS.std())["jumps"].sentence
    assert "path 3, step" in jump and "the path jumps" in jump
    assert "alternate (autocorrelation -0." in fired(coloured(-0.1))["whiteness"].sentence
    assert "are not independent (autocorrelation 0.09" in fired(coloured(0.1))["whiteness"].sentence
    assert "at 1 step): a term is missing" in fired(coloured(0.1))["whiteness"].sentence
    noisy = fired(coloured(-0.1), INNOVATIONS)["whiteness"].sentence
    assert "the innovations of x2 are not independent" in noisy


def test_the_lag_of_the_worst_autocorrelation_is_named():
    late = WHITE + 0.05 * np.roll(WHITE, 1) + 0.2 * np.roll(WHITE, 3)
    sentence = fired(late / late.std())["whiteness"].sentence
    assert "at 3 steps)" in sentence


def test_residuals_alternate_where_the_first_autocorrelation_is_the_worst():
    """Next to an autocorrelation of 0.2 at three steps, one of -0.01 at one step tells nothing of measurement noise."""
    late = WHITE - 0.02 * np.roll(WHITE, 1) + 0.2 * np.roll(WHITE, 3)
    found = statistics(sums(late / late.std()))
    assert found.autocorrelation[0] < 0
    sentence = fired(late / late.std())["whiteness"].sentence
    assert "alternate" not in sentence and "at 3 steps" in sentence


def test_the_looks_of_a_fit_share_one_rate():
    assert alpha_of(4) == alpha_of(1) / 4 and alpha_of(1) < 0.001


def test_a_mean_is_judged_by_its_error_alone():
    """Over 4 million steps a mean of 0.005 of the noise of a step is a drift ten errors from zero."""
    n = 4_000_000
    powers = np.array([0.005 * n, n, 0.0, 3.0 * n])
    found = statistics(ResidualSums(n, powers, np.zeros(10), np.full(10, float(n)), 5.0, 0, 0))
    assert [c.name for c in residual_checks("x", found, RESIDUALS, ALPHA) if c.fired] == ["residual mean"]


def test_statistics_are_those_of_the_numbers():
    z = RNG.gamma(2.0, size=5000)
    found = statistics(sums(z))
    centred = z - z.mean()
    assert found.mean == pytest.approx(z.mean()) and found.variance == pytest.approx(z.var())
    assert found.kurtosis == pytest.approx((centred**4).mean() / z.var() ** 2)
    assert found.pawula == pytest.approx(found.kurtosis / 3)
    rho = autocorrelation(z, np.zeros(len(z), dtype=int), LAGS)
    # the sums know the mean of all, not of the pairs at each lag: ends count by 1 / n
    np.testing.assert_allclose(found.autocorrelation, rho, atol=20 / len(z))
    assert found.as_dict()["largest"] == pytest.approx(np.abs(z).max())


def test_no_residual_is_no_error():
    empty = statistics(ResidualSums(0, np.zeros(4), np.zeros(10), np.zeros(10), 0.0, 0, 0))
    assert isinstance(empty, Residuals) and empty.n == 0
