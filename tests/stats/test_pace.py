"""Samples in a period or a relaxation time, and whether recordings differ, on motions whose answer is known."""

import numpy as np
import pytest
from itoscope.stats.groups import differences
from itoscope.stats.pace import pace_of
from itoscope.stats.student import variance_ratio_tail


def walk(keep, n, rng):
    """A stationary sequence whose autocorrelation falls by `keep` a sample."""
    x = np.empty(n)
    x[0] = rng.standard_normal()
    kicks = np.sqrt(1 - keep**2) * rng.standard_normal(n)
    for k in range(1, n):
        x[k] = keep * x[k - 1] + kicks[k]
    return x


@pytest.mark.parametrize("period", [3.3, 8.0, 40.0, 333.0])
def test_a_sine_has_its_period(period):
    rng = np.random.default_rng(1)
    x = np.sin(2 * np.pi * np.arange(8000) / period) + 0.1 * rng.standard_normal(8000)
    found = pace_of([x], noise=0.1)
    assert found.rings and found.samples == pytest.approx(period, rel=0.04)


@pytest.mark.parametrize("samples", [2.0, 10.0, 60.0])
def test_a_sequence_that_forgets_has_its_time_and_no_period(samples):
    rng = np.random.default_rng(2)
    found = [pace_of([walk(np.exp(-1 / samples), 20_000, rng)]) for _ in range(5)]
    assert not any(one.rings for one in found)
    assert np.mean([one.samples for one in found]) == pytest.approx(samples, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_what_forgets_within_a_sample_does_not_ring(seed):
    found = pace_of([np.random.default_rng(seed).uniform(size=800) for _ in range(3)])
    assert not found.rings and found.samples < 1.0


def test_missing_samples_are_left_out_and_what_is_slow_or_constant_has_no_pace():
    rng = np.random.default_rng(3)
    x = walk(np.exp(-1 / 10), 20_000, rng)
    x[rng.random(20_000) < 0.3] = np.nan
    assert pace_of([x]).samples == pytest.approx(10, rel=0.2)
    assert pace_of([np.arange(100.0)]) is None and pace_of([np.zeros(100)]) is None
    assert pace_of([np.full(100, np.nan)]) is None


def test_the_tail_of_fishers_law_is_that_of_tables():
    for ratio, above, below in ((4.256495, 2, 9), (2.978237, 10, 10), (1.0, 7, 7)):
        tail = {2: 0.05, 10: 0.05, 7: 0.5}[above]
        assert variance_ratio_tail(ratio, above, below) == pytest.approx(tail, abs=1e-6)
    assert variance_ratio_tail(0.0, 3, 5) == 1.0


@pytest.mark.parametrize(("count", "length"), [(3, 4000), (20, 1000)])
def test_alarms_are_as_rare_as_stated_and_a_difference_is_seen(count, length, monkeypatch):
    """At a rate of 5 % a look, of 3 x 60 looks 9 are expected; 20 or more are so by chance in under 1 of 1000."""
    monkeypatch.setattr("itoscope.stats.groups.RARE", 0.05)
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(60):
        alarms += len(differences([walk(np.exp(-1 / 8), length, rng) for _ in range(count)], 8.0, 8.0))
    assert alarms < 20
    moved = [walk(np.exp(-1 / 8), length, rng) for _ in range(count)]
    moved[1] = moved[1] + 1.5
    seen = differences(moved, 8.0, 8.0)
    assert seen[0].what == "mean" and 1 in seen[0].apart
    assert differences([x[:100] for x in moved], 8.0, 8.0) is None
