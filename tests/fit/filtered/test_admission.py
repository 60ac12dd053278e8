"""What is said before the work: channels without motion, sizes out of range, states that no sensor sees."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError, DataError

RNG = np.random.default_rng(1)


def asked(y, **more):
    return ito.discover(
        ito.Trajectories(y, dt=0.1), ito.Library.polynomials(1), measurement_noise="estimate", seed=1,
        n_samples=50, **more,
    )  # fmt: skip


@pytest.fixture
def walk():
    return RNG.normal(size=(60, 1)).cumsum(axis=0)


def test_a_channel_that_never_changes(walk):
    with pytest.raises(DataError, match=r"x2 never changes, it is 3 .*leave the column out"):
        asked(np.hstack([walk, np.full_like(walk, 3.0)]))


def test_sizes_out_of_range(walk):
    with pytest.raises(DataError, match=r"x1 reaches .*in a larger unit"):
        asked(1e155 * walk)
    with pytest.raises(DataError, match=r"x1 moves by .*in a smaller unit"):
        asked(1e-140 * walk)


def test_too_few_samples(walk):
    walk[3:] = np.nan
    with pytest.raises(DataError, match="x1 has 3 samples that are not NaN: a filter needs at least 4"):
        asked(walk)


def test_a_state_that_no_sensor_sees(walk):
    with pytest.raises(ArgumentError, match="'h' is tied to no sensor"):
        asked(walk, states=["x1", "h"])
    with pytest.raises(ArgumentError, match="'h' is tied to no sensor"):
        asked(walk, states=["x1", "v", "h"], known_drift={"x1": "v"})
    with pytest.raises(ArgumentError, match="'v' is tied to no sensor"):
        asked(walk, states=["x1", "v", "h"], known_drift={"h": "v", "v": "h"})


def test_a_chain_of_given_rows_is_a_tie(walk):
    result = asked(
        walk, states=["x1", "v", "a"], known_drift={"x1": "v", "v": "-v + a"}, diffusion="constant"
    )
    assert list(result.drift) == ["a"]
