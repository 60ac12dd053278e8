"""Lines of a periodogram: found with their frequency, and as rare without one as is said."""

import numpy as np
import pytest
from itoscope.stats.lines import line, periodogram, power_tail

N = 4096


def noise(seed, n=N):
    return np.random.default_rng(seed).normal(size=n)


def test_a_line_is_found_with_frequency_and_amplitude():
    for frequency in (0.0123, 0.11, 0.3337):
        found = line([noise(1) + 0.4 * np.sin(2 * np.pi * frequency * np.arange(N))])
        assert found.frequency == pytest.approx(frequency, abs=0.5 / N) and found.p_value < 1e-7
        assert found.amplitude == pytest.approx(0.4, rel=0.2)


def test_a_weak_line_of_a_long_recording_is_told_by_both_of_its_sides():
    x = noise(5, 20_000) + 0.1 * np.sin(2 * np.pi * 0.004 * np.arange(20_000))
    found = line([x])
    assert found.frequency == pytest.approx(0.004, abs=1e-4) and found.power < 60 and found.p_value < 1e-4


def test_false_alarms_are_as_rare_as_is_said():
    """Of 400 white series 1 % have a p-value below 0.01: 4, and more than 12 once in 4000 such sets."""
    p = np.array([line([noise(seed, 512)]).p_value for seed in range(400)])
    assert np.count_nonzero(p < 0.01) <= 12
    many = np.array(
        [line([noise(1000 + 4 * seed + k, 256) for k in range(4)]).p_value for seed in range(200)]
    )
    assert np.count_nonzero(many < 0.01) <= 8


def test_a_broad_band_is_no_line():
    x, w = np.zeros(N), noise(3)
    for k in range(1, N):
        x[k] = 0.97 * x[k - 1] + w[k]
    assert line([x]).p_value > 1e-4


def test_missing_samples_and_series_of_two_lengths():
    x = noise(4) + 0.6 * np.sin(2 * np.pi * 0.05 * np.arange(N))
    x[100:200] = np.nan
    found = line([x, x[:3000]])
    assert found.frequency == pytest.approx(0.05, abs=1 / N) and found.p_value < 1e-10
    assert line([noise(5, 60)]) is None


def test_white_noise_has_unit_power_and_tails_are_those_of_the_law():
    _, power, many = periodogram([noise(seed) for seed in range(6)])
    assert many == 6 and power[2:].mean() == pytest.approx(1.0, abs=0.05)
    rng = np.random.default_rng(7)
    a, b = 3, 12.0
    ratio = (rng.gamma(a, 1 / a, 200_000)) / rng.gamma(b, 1 / b, 200_000)
    for r in (1.0, 2.0, 3.0):
        assert power_tail(r, a, b) == pytest.approx(np.mean(ratio > r), rel=0.1)
