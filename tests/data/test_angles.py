"""Turns taken out of angles: fast ones, gaps, noise, uneven steps; circles on which they are shown."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.data.angles import (
    Circle,
    angle_of,
    circles_of,
    counted_otherwise,
    periods_of,
    unwrapped,
    wrong_turns,
)

RNG = np.random.default_rng(6)
STAMPS = np.cumsum(RNG.choice([0.1, 0.12], 600))


def _data(values, stamps=STAMPS):
    return ito.Trajectories(np.column_stack([values, np.sin(stamps)]), t=stamps, names=["a", "b"])


@pytest.mark.parametrize("period", [2 * np.pi, 360.0])
@pytest.mark.parametrize("rate", [0.3, -1.0, 4.2])
def test_turns_come_out(period, rate):
    """At 4.2 turns a unit of time the angle goes by 0.42 to 0.5 of a turn in a step, give or take 0.03."""
    angle = period * (rate * STAMPS + 0.2 * np.sin(STAMPS)) + 0.02 * period * RNG.standard_normal(len(STAMPS))
    data = _data(np.mod(angle, period))
    found = unwrapped(data, {"a": period}).paths[0]
    np.testing.assert_allclose(found[:, 0] - found[0, 0], angle - angle[0], atol=1e-9 * period)
    np.testing.assert_array_equal(found[:, 1], data.paths[0][:, 1])
    again = unwrapped(unwrapped(data, {"a": period}), {"a": period})
    np.testing.assert_allclose(again.paths[0], found, atol=1e-9 * period)
    assert wrong_turns(data, {"a": period})["a"][1] < 0.1


def test_gaps_are_bridged_at_the_mean_rate():
    angle = 2.0 * STAMPS + 0.1 * np.sin(3 * STAMPS)
    wrapped = np.mod(angle, 2 * np.pi)
    wrapped[100:250] = np.nan  # five turns that nobody saw
    found = unwrapped(_data(wrapped), {"a": 2 * np.pi}).paths[0][:, 0]
    there = np.isfinite(wrapped)
    np.testing.assert_allclose((found - found[0])[there], (angle - angle[0])[there], atol=1e-9)
    assert np.isnan(found[100:250]).all()


def test_turns_that_nobody_can_count_are_expected():
    stamps = 0.1 * np.arange(2000)
    walk = np.cumsum(1.6 * np.random.default_rng(1).standard_normal(2000))
    sd, wrong = wrong_turns(_data(np.mod(walk, 2 * np.pi), stamps), {"a": 2 * np.pi})["a"]
    truly = np.count_nonzero(np.abs(np.diff(walk)) > np.pi)
    assert abs(sd - 1.6) < 0.1 and truly > 60 and abs(wrong - truly) < 4 * np.sqrt(truly)


def test_other_counts_are_counted():
    fitted = 0.7 * np.arange(9.0)
    counted = np.array([0.0, -0.3, 0.4, np.nan, np.nan, 0.5, 1.2, 1.9, 2.6]) + 0.1 * np.array(
        [1, -1, 1, 0, 0, 1, -1, 1, 0]
    )
    otherwise, close, share = counted_otherwise(counted, fitted, 1.0)
    assert (otherwise, close) == (2, 1) and share == pytest.approx(0.7)
    assert counted_otherwise(fitted + 3.0, fitted, 1.0)[:2] == (0, 0)
    assert counted_otherwise(np.full(9, np.nan), fitted, 1.0) == (0, 0, 0.0)


def test_circles():
    circle = Circle(360.0, -180.0)
    np.testing.assert_allclose(circle.wrapped(np.array([-190.0, 170.0, 180.0])), [170.0, 170.0, -180.0])
    np.testing.assert_allclose(circle.near(np.array([350.0]), np.array([5.0])), [-10.0])
    assert np.isnan(circle.broken(np.array([170.0, 190.0]))).tolist() == [False, True]
    data = _data(np.mod(STAMPS, 1.0))
    assert circles_of(data, {"a": "x", "b": "y"}, {"a": 1.0, "b": 2 * np.pi}) == {
        "x": (1.0, 0.0), "y": (2 * np.pi, -np.pi),
    }  # fmt: skip


def test_texts():
    assert angle_of(" angle(x1) ") == ("x1", 2 * np.pi) and angle_of("x1") is None
    assert angle_of("angle(x2 - x1, 360)") == ("x2 - x1", 360.0) == angle_of("angle(x2 - x1, period=360)")
    assert periods_of(["a", "b"], ["angle(x1, 1)", "x2"]) == {"a": 1.0}
    for wrong in ("angle(x1, 0)", "angle(x1, turn)", "angle(x1, turns=1)"):
        with pytest.raises(ValueError, match=r"angle|convert"):
            angle_of(wrong)
