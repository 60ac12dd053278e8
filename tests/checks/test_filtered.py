"""Checks of a filter's fit: the length of its step, sums over its innovations."""

import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.checks.filtered import COARSE, LAGS, check_steps, innovation_sums
from itoscope.result.observer import Innovations

RNG = np.random.default_rng(3)


def space(rate, step):
    return StateSpace(
        program=get_backend("reference").compile(["x", "v", "v^3"], ["x", "v"]),
        drift=np.array([[0.0, 1.0, 0.0], [-(rate**2), 0.0, -1.0]]),
        gamma=np.zeros((1, 3)),
        pairs=((1, 1),),
        observation=np.eye(2),
        noise=np.ones(2),
        mean0=np.zeros(2),
        cov0=np.eye(2),
        floor=np.zeros(2),
        max_step=step,
    )


def test_a_step_is_coarse_where_the_drift_turns_the_state_within_it():
    """An oscillator: both eigenvalues have the size of its frequency where the cubic friction is small."""
    states = 1e-3 * RNG.normal(size=(500, 2))
    fine, coarse = (check_steps(["x", "v"], space(10.0, step), states) for step in (0.04, 0.06))
    assert fine.value == pytest.approx(0.4, rel=1e-3) and not fine.fired
    assert coarse.value == pytest.approx(0.6, rel=1e-3) and coarse.fired and coarse.threshold == COARSE
    assert coarse.about == "x, v" and "0.6 per step" in coarse.sentence
    fast = check_steps(["x", "v"], space(10.0, 0.04), np.array([[0.0, 10.0]] * 20))
    assert fast.fired  # the friction is 300 where the state is, though not on average over all states


def test_states_that_are_not_finite_are_left_out():
    states = np.array([[0.0, np.inf], [0.0, 0.0]])
    assert np.isfinite(check_steps(["x", "v"], space(10.0, 0.04), states).value)


def test_sums_over_innovations_stay_within_their_pieces_and_leave_gaps_out():
    z = RNG.normal(size=(60, 2))
    z[20, 1], z[7, 1] = np.nan, -9.0
    piece = np.repeat([0, 1], 30)
    seen = Innovations(("a", "b"), z, piece, np.repeat([4, 5], 30), np.arange(60))
    found = innovation_sums(seen, 1)
    there = z[:, 1][~np.isnan(z[:, 1])]
    assert found.n == 59 and (found.path, found.step, found.largest) == (4, 7, 9.0)
    np.testing.assert_allclose(found.powers, [(there**p).sum() for p in (1, 2, 3, 4)])
    product = z[1:, 1] * z[:-1, 1]
    product[29] = np.nan  # from one piece to the other
    assert found.lagged[0] == pytest.approx(np.nansum(product)) and found.pairs[0] == 59 - 1 - 2
    assert len(found.pairs) == LAGS and innovation_sums(seen, 0).pairs[0] == 58
