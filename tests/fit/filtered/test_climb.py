"""The damped climb: whole steps where they rise, halves where they do not, and when it ends."""

import numpy as np
import pytest
import toy_recording as toy
from itoscope.fit.filtered.climb import Ascent, Pace, climb, damped, moved


def at(position):
    return toy.model({"x": position})


def where(model):
    return float(model.drift[0, 1])


def height(model):
    """A parabola with its top, 0, at 3."""
    return -((where(model) - 3.0) ** 2)


def way(gain=1.0):
    """The Newton step times `gain`, with the rise that the parabola promises."""

    def ahead(model):
        step = gain * (3.0 - where(model))
        return Ascent(lambda share: at(where(model) + share * step), (3.0 - where(model)) ** 2, np.eye(1))

    return ahead


class Walk:
    """Shares that were tried, up to the first that is good."""

    def __init__(self, good):
        self.good, self.tried = good, []

    def at(self, share):
        self.tried.append(share)
        return at(share), -share

    def better(self, model, loglik):
        assert loglik == -where(model)
        return self.tried[-1] <= self.good


@pytest.mark.parametrize(
    ("good", "tried"), [(1.0, [1.0]), (0.3, [1.0, 0.5, 0.25]), (0.125, [1.0, 0.5, 0.25, 0.125])]
)
def test_a_step_is_halved_until_it_is_better_and_no_further(good, tried):
    walk = Walk(good)
    taken = damped(walk.at, walk.better, 6)
    assert walk.tried == tried
    assert (taken.share, where(taken.model), taken.loglik) == (tried[-1], tried[-1], -tried[-1])


def test_a_step_that_is_never_better_is_given_up_after_so_many_tries():
    walk = Walk(0.0)
    assert damped(walk.at, walk.better, 3) is None
    assert walk.tried == [1.0, 0.5, 0.25]
    assert damped(walk.at, walk.better, 0) is None and len(walk.tried) == 3


def test_what_must_stay_positive_falls_by_a_factor_and_all_else_moves_by_a_sum():
    now, step = np.array([2.0, 2.0]), np.array([-3.0, -3.0])
    found = moved(now, step, np.array([True, False]), 2.3)
    np.testing.assert_allclose(found, [2.0 * np.exp(-1.5), -1.0])
    far = moved(now, np.array([-1e9, 1e9]), np.array([True, True]), 2.3)
    np.testing.assert_allclose(far, [2.0 * np.exp(-2.3), 1e9])
    small = 1e-6 * np.array([1.0, -1.0])
    np.testing.assert_allclose(moved(now, small, np.array([True, True]), 2.3) - now, small, rtol=1e-5)


def test_a_step_up_from_near_zero_keeps_its_direction():
    """Two variances that are known by their sum: bent by a factor, the step of both would lead down."""
    now, step = np.array([1e-9, 1.0]), np.array([0.03, -0.03])

    def rise(values):
        return -1e4 * (values.sum() - now.sum()) ** 2 + values[0]

    assert rise(moved(now, step, np.array([True, True]), 1.5)) > rise(now)


def test_a_parabola_is_climbed_in_one_step():
    top = climb(height, way(), (at(-2.0), height(at(-2.0))), Pace(8, 6, 1e-3))
    assert where(top.model) == pytest.approx(3.0) and top.loglik == pytest.approx(0.0) and top.converged


@pytest.mark.parametrize("gain", [3.0, 10.0])
def test_a_step_too_far_is_cut_back(gain):
    """Three times the way ends lower than it began, half of that does not."""
    seen = []

    def loglik(model):
        seen.append(height(model))
        return seen[-1]

    start = at(-2.0)
    top = climb(loglik, way(gain), (start, height(start)), Pace(40, 6, 1e-3))
    assert seen[0] < height(start)
    assert top.converged and where(top.model) == pytest.approx(3.0, abs=0.1)


def test_a_step_in_the_wrong_direction_leaves_the_model_where_it_was():
    start = at(-2.0)
    top = climb(height, way(-1.0), (start, height(start)), Pace(8, 6, 1e-3))
    assert top.model is start and top.loglik == height(start)


def test_it_is_not_converged_while_it_still_rises():
    """Each step goes a tenth of the way, so three of them leave most of it."""
    start = at(-2.0)
    top = climb(height, way(0.1), (start, height(start)), Pace(3, 6, 1e-3))
    assert not top.converged and where(top.model) == pytest.approx(3.0 - 5.0 * 0.9**3)
    assert climb(height, way(0.1), (start, height(start)), Pace(100, 6, 1e-3)).converged


@pytest.mark.parametrize(("gain", "whole", "part"), [(1.9, 10.0, 0.0), (3.9, 0.0, 10.0)])
def test_it_ends_after_a_step_that_gained_too_little(gain, whole, part):
    """A whole step, and one that was halved, each by its own measure; by the other's it would go on."""
    start = at(2.0)
    ended = climb(height, way(gain), (start, height(start)), Pace(50, 6, 1e-9, whole, part))
    assert where(ended.model) != pytest.approx(3.0, abs=1e-3)
    on = climb(height, way(gain), (start, height(start)), Pace(200, 6, 1e-9, part, whole))
    assert where(on.model) == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize(("start", "ways"), [(2.6, 1), (2.4, 2)])
def test_a_whole_step_that_promised_little_is_the_last(start, ways):
    """Promises of 0.16 and 0.36 around 0.3: only after the second is it looked whether more is left."""
    seen = []

    def counted(model):
        seen.append(where(model))
        return way()(model)

    top = climb(height, counted, (at(start), height(at(start))), Pace(8, 6, 1e-3, last=0.3))
    assert top.converged and where(top.model) == pytest.approx(3.0) and len(seen) == ways


def test_a_part_of_a_step_is_not_the_last():
    """The step goes four times too far, and half of it too."""
    top = climb(height, way(4.0), (at(2.9), height(at(2.9))), Pace(1, 6, 1e-9, last=0.3))
    assert not top.converged and where(top.model) == pytest.approx(3.0)


def test_a_step_that_breaks_its_promise_is_not_the_last():
    """It promises 0.25 and brings 0.24, or 0.19, in going less far than the parabola has it."""
    for gain, ways in ((0.8, 1), (0.5, 2)):
        seen = []

        def counted(model, gain=gain, seen=seen):
            seen.append(where(model))
            return way(gain)(model)

        start = at(2.5)
        top = climb(height, counted, (start, height(start)), Pace(2, 6, 1e-9, last=0.3))
        assert len(seen) == ways and top.converged == (ways == 1)
