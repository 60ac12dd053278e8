"""Forecasts from a short recording: near the truth at first, later a mixture with random walks by their probability."""

from functools import cache

import itoscope as ito
import numpy as np

RATE, GAMMA, HORIZONS = 1.0, 0.25, np.array([1.0, 5.0])


@cache
def widths(slab_unit):
    """Median half widths of the 90 % bands at the horizons over those of the truth, after twenty time constants."""
    truth = 1.645 * np.sqrt(GAMMA / (2 * RATE) * (1 - np.exp(-2 * RATE * HORIZONS)))
    found = []
    for seed in range(101, 121):
        data = ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.02, seed=seed)
        prior = ito.Prior(slab_unit=slab_unit)
        result = ito.discover(
            data, ito.Library.polynomials(1), diffusion="constant", prior=prior, n_samples=400, seed=1
        )
        paths = result.simulate(x0=[0.0], duration=5.0, dt=0.1, n_paths=300, seed=2).paths
        at = np.array([path[(10 * HORIZONS).astype(int), 0] for path in paths])
        low, high = np.quantile(at, [0.05, 0.95], axis=0)
        found.append((high - low) / 2 / truth)
    return np.median(found, axis=0)


def test_bands_of_a_recording_of_twenty_time_constants():
    assert 1 / 1.5 < widths("time")[0] < 1.5


def test_with_a_slab_in_units_of_a_sample_they_are_rather_those_of_a_walk():
    assert widths("time")[1] < 0.85 * widths("sample")[1]


def test_what_a_doubtful_term_explains_is_no_noise():
    # At coarse steps a drift term that is not shown would come back as a term of the variance.
    data = ito.problems.ornstein_uhlenbeck().simulate(duration=60.0, dt=0.25, substeps=25, seed=4)
    result = ito.discover(data, ito.Library.polynomials(2), seed=1, threshold=0.999999)
    assert not result.drift["x1"].selected.any()
    gamma = result.diffusion["x1", "x1"]
    assert [term for term, inside in zip(gamma.terms, gamma.selected) if inside and term != "1"] == []
