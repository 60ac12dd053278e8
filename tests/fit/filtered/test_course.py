"""The course of a fit: the laws about which steps are linearised, and when a fit goes along them."""

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
import tolerances
import toy_recording as toy
from itoscope.backends import get_backend
from itoscope.backends.records import StateSpace
from itoscope.data.course import ENOUGH, on_course, with_course
from itoscope.fit.filtered.candidates import Candidates
from itoscope.fit.filtered.course import FELT, family_along
from itoscope.fit.filtered.family import family
from itoscope.fit.filtered.state import State

TRUTH = {"x1": -20.0, "v1": -0.8, "x1^3": -400.0}


def _space(cubic, resets=()):
    """An oscillator whose velocity is felt as an acceleration: a copy of it is renewed after each sample."""
    program = get_backend("rust").compile(["x1", "v1", "x1^3", "1"], ["x1", "v1", "c"])
    drift = np.zeros((3, 4))
    drift[0, 1] = 1.0
    drift[1, :3] = [-20.0, -0.8, cubic]
    gamma = np.array([[0.0, 0.0, 0.0, 3.0]])
    return StateSpace(
        program, drift, gamma, ((1, 1),), np.array([[0.0, 20.0, -20.0]]), np.array([0.36]), np.zeros(3),
        np.diag([0.04, 1.0, 1.0]), np.zeros(3), np.inf, resets=(np.eye(3)[[0, 1, 1]],),
    )  # fmt: skip


def _felt(cubic, n=600):
    sde = ito.SDE(
        ["v1", f"-20*x1 - 0.8*v1 + {cubic}*x1^3"], gamma=[["0", "0"], ["0", "3"]], states=["x1", "v1"]
    )
    found = []
    for path in sde.simulate(np.zeros(2), dt=0.05, n_steps=n, n_paths=4, substeps=50, seed=3).paths:
        felt = np.r_[np.nan, np.diff(path[:, 1]) / 0.05]
        felt += 0.6 * np.random.default_rng(1).standard_normal(n + 1)
        found.append(np.column_stack([felt, np.ones(n + 1)]))
    return found


def _heights(cubic):
    """Log-likelihood of the truth about the filter's own law, and about two courses."""
    stages, space, paths = get_backend("rust"), _space(cubic), _felt(cubic)
    found, times = [], [0.05] * len(paths)
    for _ in range(3):
        found.append(float(stages.filter_loglik(space, paths, times).sum()))
        paths = with_course(stages, space, paths, times)
        space = replace(space, along=True)
    return np.array(found)


def test_the_true_model_is_more_probable_along_its_course_where_the_force_bends():
    plain, first, second = _heights(-400.0)
    assert first - plain > 1.0
    assert abs(second - first) < 0.3 * (first - plain)


def test_a_linear_model_has_the_same_bits_along_any_course():
    assert np.ptp(_heights(0.0)) == 0.0


def test_a_course_takes_the_place_of_another_and_starts_after_resets():
    stages, space, paths = get_backend("rust"), _space(-400.0), _felt(-400.0, n=50)
    course = with_course(stages, space, paths, [0.05] * 4)
    means, covs = stages.filter_smooth(space, paths, [0.05] * 4)
    rows, columns = np.tril_indices(3)
    for y, own, mean, cov in zip(paths, course, means, covs):
        np.testing.assert_array_equal(own[:, :2], y)
        np.testing.assert_array_equal(own[:, 2:4], mean[:, :2])
        np.testing.assert_array_equal(own[:, 4], own[:, 3])  # the copy of the velocity is renewed
        assert not np.allclose(mean[:, 2], mean[:, 1])
        held = np.zeros((len(y), 3, 3))
        held[:, rows, columns] = held[:, columns, rows] = own[:, 5:]
        np.testing.assert_allclose(held[:, :2, :2], cov[:, :2, :2], rtol=tolerances.FILTER)
        np.testing.assert_array_equal(held[:, 2], held[:, 1])
    again = with_course(stages, replace(space, along=True), course, [0.05] * 4)
    assert [one.shape for one in again] == [one.shape for one in course]
    assert not np.allclose(again[0][:, 2], course[0][:, 2])


def test_what_a_result_sees_is_on_its_course():
    """Smoothed again along its smoothed states, until the likelihood of the truth rises no more."""
    stages, space, paths, times = get_backend("rust"), _space(-400.0), _felt(-400.0), [0.05] * 4
    course = on_course(stages, space, paths, times)
    along = replace(space, along=True)
    height = stages.filter_loglik(along, course, times).sum()
    assert height > stages.filter_loglik(along, with_course(stages, space, paths, times), times).sum() - 1e-9
    onward = with_course(stages, along, course, times)
    assert stages.filter_loglik(along, onward, times).sum() < height + ENOUGH


def _asked(truth):
    parabola = toy.Parabola(truth, {"1": 0.4}, 0.2)
    terms, one = ito.Library.expressions(*toy.TERMS), ito.Library.polynomials(0)
    task = toy.task(parabola, candidates=Candidates.of(terms.bind(["x"]), one.bind(["x"])))
    model = toy.model(truth, {"1": 0.3})
    return parabola, task, State(model, task.recording.loglik(model))


def test_what_no_course_moves_is_weighed_as_without_one():
    """A bent drift whose likelihood does not feel its course, and an affine one, of which none is even taken."""
    for truth, passes in (({"x": -1.0, "x^3": -0.5}, 1), ({"x": -1.0}, 0)):
        _, task, state = _asked(truth)
        alone = family(task, state)
        parabola, task, state = _asked(truth)
        trial, models = family_along(task, state)
        assert trial is task
        assert [one.log_mass for one in models.members] == [one.log_mass for one in alone.members]
        assert (parabola.calls["smooth"] > 2) >= passes


@pytest.mark.parametrize(("gain", "taken"), [(3.0, True), (0.5 * FELT, False), (-3.0, False)])
def test_a_course_is_taken_where_the_likelihood_feels_it_and_ends_higher(gain, taken):
    parabola, task, state = _asked({"x": -1.0, "x^3": -0.5})
    parabola.bend = lambda value, space: value + gain * space.along
    trial, models = family_along(task, state)
    assert trial.recording.along is taken
    assert models.best.loglik == pytest.approx(gain * taken, abs=0.1)
