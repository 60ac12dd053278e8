"""Short chains while terms are chosen, full ones at the end, each on its stream; who hears of them."""

from types import SimpleNamespace

import numpy as np
from itoscope.common.prior import Prior
from itoscope.common.progress import Reporter
from itoscope.fit.sampler import ROUND_BURN, ROUND_CHAINS, ROUND_SAMPLES, sampler_of
from itoscope.fit.streams import Stream
from itoscope.posterior.moments import Moments
from itoscope.posterior.sampling import Sampling

RNG = np.random.default_rng(1)
ROWS = RNG.normal(size=(100, 3))
TARGET = ROWS @ [1.0, 0.0, -2.0] + 0.1 * RNG.normal(size=100)
MOMENTS = Moments(ROWS.T @ ROWS, ROWS.T @ TARGET, float(TARGET @ TARGET), 100, ["a", "b", "c"])


def question(told=None, **settings):
    sampling = Sampling(
        **{"sampler": "gibbs", "n_chains": 3, "n_samples": 60, "n_burn": 20, "seed": 5, **settings}
    )
    return SimpleNamespace(sampling=sampling, prior=Prior(), reporter=Reporter(told))


def test_chains_are_short_until_the_end():
    sample = sampler_of(question())
    assert sample(MOMENTS, False, Stream.drift(0)).samples.shape == (ROUND_CHAINS, ROUND_SAMPLES, 3)
    assert sample(MOMENTS, True, Stream.drift(0)).samples.shape == (3, 60, 3)
    exact = sampler_of(question(sampler="exact"))
    first, last = (exact(MOMENTS, final, Stream.drift(0)) for final in (False, True))
    np.testing.assert_array_equal(first.samples, last.samples)


def test_each_stream_has_its_own_draws_and_always_the_same():
    sample = sampler_of(question())
    one, again = (sample(MOMENTS, True, Stream.gamma(1)) for _ in range(2))
    other = sample(MOMENTS, True, Stream.gamma(2))
    np.testing.assert_array_equal(one.samples, again.samples)
    assert not np.array_equal(one.samples, other.samples)
    direct = MOMENTS.sample(sampler="gibbs", n_chains=3, n_samples=60, n_burn=20, seed=5 + 7919 * 101)
    np.testing.assert_array_equal(one.samples, direct.samples)


def test_the_reporter_hears_of_the_rounds_or_not():
    told = []
    sample = sampler_of(question(told.append), rounds_told=False)
    sample(MOMENTS, False, Stream.drift(0))
    assert told == []
    sample(MOMENTS, True, Stream.drift(0))
    assert told[-1] == 3 * (60 + 20)
    told.clear()
    sampler_of(question(told.append))(MOMENTS, False, Stream.drift(0))
    assert told[-1] == ROUND_CHAINS * (ROUND_SAMPLES + ROUND_BURN)
