"""The filter's stages in both backends: gaps, uneven steps, paths of unequal length, kinks, two channels."""

from dataclasses import replace

import numpy as np
import pytest
import tolerances
from itoscope.backends import get_backend
from itoscope.backends.records import Kink, StateSpace

TERMS = ["x1", "v1", "x1^3", "x1^2", "sgn(v1)", "|v1|", "x1|v1|", "1"]
KINKS = (Kink(4, "sgn", 1, 1), Kink(5, "abs", 1, 1), Kink(6, "product", 0, 1))


def _recording(q, slower):
    rng = np.random.default_rng(4)
    paths, times = [], []
    for k in range(9):
        n = 60 - 4 * k
        t = 1e-3 * np.arange(n) if k < 4 else np.cumsum(rng.choice([1e-3, 2e-3, 3.5e-3], n))
        x = 0.05 * np.cos(35 * t)[:, None] * np.arange(1, q + 1) + 1e-3 * rng.normal(size=(n, q))
        x[rng.random(x.shape) < 0.2] = np.nan
        paths.append(np.ascontiguousarray(x))
        times.append(slower * 1e-3 if k < 4 else slower * t)
    return paths, times


def _run(name, q, slower, given=False, few=False, course=None, **laws):
    stages = get_backend(name)
    tails, shared, kicks = (laws.get(law, ()) for law in ("tails", "shared", "kicks"))
    terms, states = ([*TERMS, "cos(u)", "u"], ["x1", "v1", "u"]) if given else (TERMS, ["x1", "v1"])
    drift = np.zeros((len(states), len(terms)))
    drift[0, 1] = 1.0
    drift[1, [0, 1, 2, 4, 6]] = [-1000.0, -2.0, -1e5, -0.5, -0.3]
    gamma = np.zeros((1, len(terms)))
    gamma[0, [3, 5]] = [100.0, 0.01]
    space = StateSpace(
        program=stages.compile(terms, states),
        drift=drift,
        gamma=gamma,
        pairs=((1, 1),),
        observation=np.array([[1.0, 0.0, 0.0], [2.0, 1e-3, 0.0]])[:q, : len(states)],
        noise=np.array([*[1e-6, 4e-6][:q], *[-1.5e-6] * len(shared)]),
        mean0=np.zeros(len(states)),
        cov0=np.diag([0.01, 4.0, 9.0][: len(states)]),
        floor=np.array([0.0, 1e-3, 0.0])[: len(states)],
        max_step=1.001e-3 if slower == 1 else 1e9,
        kinks=KINKS,
        given=(2,) if given else (),
        tails=tails,
        shared=shared,
        kicks=kicks,
        along=course is not None,
    )
    paths, times = _recording(q, slower)
    if few:  # of even steps, and of uneven ones, short
        paths = [path[:16] for path in paths[3:5]]
        times = [t if np.ndim(t) == 0 else t[:16] for t in times[3:5]]
    if given:
        drift[1, 8], drift[2, 7] = 30.0, 1.0  # the given state moves between its samples
        paths = [np.column_stack([x, np.sin(np.arange(len(x)) / 5.0)]) for x in paths]
    if course is not None:
        paths = [np.column_stack([x, _course(len(x), len(states), course)]) for x in paths]
    steps = [("drift", 1, 0), ("gamma", 0, 3), ("noise", 0, 0)]
    steps += [("noise", q, 0)] * len(shared)
    steps += [("tails", c, k) for c, law in enumerate(tails) for k in range(len(law))]
    steps += [("kicks", 0, k) for k in range(len(kicks))]
    return _stages(
        stages, (space, paths, times), [(1, k) for k in range(8)], [(0, k) for k in range(8)],
        (steps, [1.0, 0.1, 1e-9, *[1e-9] * len(shared), *[1e-3] * (len(steps) - 3 - len(shared))]),
    )  # fmt: skip


def _stages(stages, asked, drift, gamma, steps):
    space, paths, times = asked
    return {
        "loglik": stages.filter_loglik(space, paths, times),
        "drift": stages.filter_drift_moments(space, paths, times, drift),
        "noise": stages.filter_noise_moments(space, paths, times, gamma),
        "information": stages.filter_information(space, paths, times, *steps),
        "innovations": stages.filter_innovations(space, paths, times),
        "densities": stages.filter_densities(space, paths, times),
        "states": stages.filter_smooth(space, paths, times),
        "kicks": stages.filter_kicks(space, paths, times) if space.kicks else [],
    }


def _agree(ours, theirs):
    np.testing.assert_allclose(ours["loglik"], theirs["loglik"], rtol=tolerances.FILTER)
    for stage in ("drift", "noise", "information"):
        (a, loglik), (b, _) = ours[stage], theirs[stage]
        size = 1.0 / np.sqrt(np.diag(b.gram))
        tolerance = tolerances.FILTER_DIFFERENCES if stage == "information" else tolerances.FILTER
        np.testing.assert_allclose(
            a.gram * np.outer(size, size), b.gram * np.outer(size, size), atol=tolerance
        )
        np.testing.assert_allclose(a.moment * size, b.moment * size, rtol=tolerance, atol=tolerance)
        assert a.yy == pytest.approx(b.yy, rel=tolerance)
        assert a.n == b.n
        np.testing.assert_allclose(loglik, theirs["loglik"], rtol=tolerances.FILTER)
    for stage in ("innovations", "densities"):
        for left, right in zip(ours[stage], theirs[stage]):
            np.testing.assert_allclose(left, right, atol=tolerances.FILTER * np.nanmax(np.abs(right)))
    for left, right in zip(ours.get("kicks", []), theirs.get("kicks", [])):
        np.testing.assert_allclose(left, right, rtol=tolerances.FILTER, atol=tolerances.FILTER)
    for a, b in zip(ours["states"], theirs["states"]):
        for left, right in zip(a, b):
            np.testing.assert_allclose(left, right, atol=tolerances.FILTER * np.abs(right).max())


@pytest.mark.parametrize(
    ("q", "slower", "given"),
    [(1, 1, False), (2, 1, False), (1, 25, False), (2, 25, False), (1, 25, True), (2, 1, True)],
)
def test_both_backends_agree(q, slower, given):
    """At 0.03 radians a sample, and at 0.8 in one step, where the exponential is put together from halves; with a state
    that is known at every sample."""
    ours, theirs = _run("rust", q, slower, given), _run("reference", q, slower, given)
    _agree(ours, theirs)


@pytest.mark.parametrize("tails", [((0.3,), ()), ((0.05, 9.0), (0.2,))])
def test_both_backends_read_noise_with_tails_alike(tails):
    """Of Student's law, and of a bulk and wide readings, one sensor after the other."""
    ours, theirs = _run("rust", 2, 1, tails=tails), _run("reference", 2, 1, tails=tails)
    _agree(ours, theirs)
    assert not np.allclose(ours["loglik"], _run("rust", 2, 1)["loglik"])


@pytest.mark.parametrize(
    ("q", "slower", "given", "kicks"), [(1, 1, False, (0.05, 9.0)), (2, 1, True, (0.3,))]
)
def test_both_backends_weigh_steps_of_unknown_size_alike(q, slower, given, kicks):
    """Jumps and Student's law, one sensor and two, steps in pieces and whole, beside a state that is known."""
    ours, theirs = (_run(name, q, slower, given, kicks=kicks, few=True) for name in ("rust", "reference"))
    _agree(ours, theirs)
    assert not np.allclose(ours["loglik"], _run("rust", q, slower, given, few=True)["loglik"])
    assert all((known[:, 0] > 0.0).all() and (known[:, 1] <= 1.0).all() for known in ours["kicks"])


@pytest.mark.parametrize(("slower", "given"), [(1, False), (25, True)])
def test_both_backends_read_noises_in_common_alike(slower, given):
    """Two sensors whose noises are correlated, with gaps of either; and not as if they were not."""
    ours, theirs = (_run(name, 2, slower, given, shared=((0, 1),)) for name in ("rust", "reference"))
    _agree(ours, theirs)
    assert not np.allclose(ours["loglik"], _run("rust", 2, slower, given)["loglik"])


def _run_turning(name, periods=(2 * np.pi, 0.0), tails=()):
    """A driven pendulum that turns over, read within one turn at a third of a turn a sample, with a gap of turns."""
    stages = get_backend(name)
    space = StateSpace(
        program=stages.compile(["v1", "sin(x1)", "1"], ["x1", "v1"]),
        drift=np.array([[1.0, 0.0, 0.0], [-0.5, -4.0, 5.5]]),
        gamma=np.array([[0.0, 0.0, 4.0]]),
        pairs=((1, 1),),
        observation=np.eye(2),
        noise=np.array([0.4, 0.5]),
        mean0=np.array([1.0, 11.0]),
        cov0=np.diag([40.0, 9.0]),
        floor=np.zeros(2),
        max_step=0.11,
        tails=tails,
        periods=periods,
    )
    rng, paths = np.random.default_rng(1), []
    for n in (60, 40):
        y = np.column_stack([1.0 + 2.2 * np.arange(n), np.full(n, 11.0)]) + 0.6 * rng.standard_normal((n, 2))
        y[:, 0] = np.mod(y[:, 0], 2 * np.pi)
        y[20:26] = y[10, 0] = y[13, 1] = np.nan
        paths.append(y)
    every = [(1, k) for k in range(3)], [(0, k) for k in range(3)]
    steps = [("drift", 1, 1), ("gamma", 0, 2), ("noise", 0, 0)], [1e-3, 1e-3, 1e-4]
    return _stages(stages, (space, paths, [0.2, 0.2]), *every, steps)


@pytest.mark.parametrize("tails", [(), ((0.05, 9.0), (0.2,))])
def test_both_backends_follow_an_angle_alike(tails):
    """Through turns that nobody counted; and not as if it did not wrap."""
    ours, theirs = (_run_turning(name, tails=tails) for name in ("rust", "reference"))
    _agree(ours, theirs)
    assert ours["loglik"].sum() > _run_turning("rust", (), tails)["loglik"].sum() + 200.0


def _course(n, m, size):
    """Means of so much, and covariances that are no diagonal."""
    rng = np.random.default_rng(9)
    mean = size * rng.normal(size=(n, m))
    low = 0.3 * size * rng.normal(size=(n, m, m))
    rows, columns = np.tril_indices(m)
    return np.hstack([mean, (low @ np.swapaxes(low, 1, 2))[:, rows, columns]])


@pytest.mark.parametrize(("slower", "given"), [(1, False), (25, False), (25, True)])
def test_both_backends_go_along_a_course_alike(slower, given):
    """In one step and in several pieces, of which the first alone is linearised about the course."""
    ours, theirs = (_run(name, 2, slower, given, course=0.05) for name in ("rust", "reference"))
    _agree(ours, theirs)
    assert not np.allclose(ours["loglik"], _run("rust", 2, slower, given)["loglik"])


def _exposed(y, t, period):
    """The same with an exposure that starts between samples, and of `period` three ends before they are told."""
    n = len(y)
    stamps = (0.02 * np.arange(float(n)) if np.ndim(t) == 0 else t)[:, None]
    shares = {2: [-0.6, 0.0], 3: [-0.7, -0.1, 0.0]}[period]
    wide = np.full((n, period, 4), np.nan)
    wide[:, :, 2], wide[:, :, 3] = y[:, [2]], 0.0
    wide[:, 0, 3] = y[:, 3]
    wide[:, -1, 0], wide[:, 1, 1] = y[:, 0], y[:, 1]
    return wide.reshape(-1, 4), (stamps + 0.02 * np.array(shares)).ravel() + 7.0


def _run_linear(name, sensors=False, shared=(), period=1, times_over=1):
    """Two coupled oscillators with two sensors: even steps with a gap late in the record, long after the covariance and
    its sensitivities have converged, a record that ends before they do, and one whose steps become uneven. With
    `sensors` the second shows an average over the step; late in a record its noise and once its reset are others. Of a
    longer `period` there are moments between samples, at which exposures start and end. The same paths several
    `times_over` advance beside each other."""
    stages = get_backend(name)
    terms, states = ["1", "x1", "x2", "v1", "v2"], ["x1", "x2", "v1", "v2"]
    drift = np.zeros((4, 5))
    drift[0, 3] = drift[1, 4] = 1.0
    drift[2] = [0.3, -180.0, 90.0, -1.5, 0.4]
    drift[3] = [0.0, 90.0, -150.0, 0.4, -1.2]
    gamma = np.zeros((3, 5))
    gamma[:, 0] = [1.0, 0.3, 2.0]
    space = StateSpace(
        program=stages.compile(terms, states),
        drift=drift,
        gamma=gamma,
        pairs=((2, 2), (2, 3), (3, 3)),
        observation=np.array([[1.0, 0.0, 0.0, 0.0], [0.3, 1.0, 0.0, 0.0]]),
        noise=np.array([1e-4, 2e-4, *[1e-4] * len(shared)]),
        shared=shared,
        mean0=np.zeros(4),
        cov0=np.diag([0.1, 0.1, 4.0, 4.0]),
        floor=np.zeros(4),
        max_step=1e9,
    )
    rng = np.random.default_rng(3)
    paths = [np.cumsum(0.02 * rng.normal(size=(n, 2)), axis=0) for n in (320, 15, 280)]
    paths[0][280, 1] = np.nan
    paths[0][300] = np.nan
    uneven = 0.02 * np.arange(280.0)
    uneven[250:] += 0.013
    times = [0.02, 0.02, uneven]
    if sensors:
        stack = np.vstack([drift, [0.0, 0.3, 1.0, 0.0, 0.0]])
        space = replace(
            space,
            program=stages.compile(terms, [*states, "z"]),
            drift=stack,
            observation=np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 50.0]]),
            mean0=np.zeros(5),
            cov0=np.diag([0.1, 0.1, 4.0, 4.0, 0.0]),
            floor=np.zeros(5),
            scaled=(1,),
            resets=(np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),),
        )
        paths = [np.column_stack([y, np.ones((len(y), 2))]) for y in paths]
        paths[2][200, 2], paths[2][230, 3] = 7.0, 0.0
    if period > 1:
        space = replace(space, resets=(np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),))
        paths, times = zip(*(_exposed(y, t, period) for y, t in zip(paths, times)))
    paths, times = [*paths] * times_over, [*times] * times_over
    steps = [("drift", 2, 1), ("gamma", 1, 0), ("noise", 1 + len(shared), 0)], [1e-2, 1e-3, 1e-6]
    columns = [(row, k) for row in (2, 3) for k in range(5)]
    return _stages(stages, (space, paths, times), columns, [(0, 0), (1, 0), (2, 0)], steps)


@pytest.mark.parametrize(
    ("sensors", "shared", "period", "times_over"),
    [
        (False, (), 1, 1),
        (True, (), 1, 1),
        (False, ((1, 0),), 1, 4),
        (True, ((1, 0),), 1, 1),
        (True, (), 2, 1),
        (True, ((1, 0),), 2, 4),
        (True, (), 3, 1),
    ],
)
def test_both_backends_agree_where_the_covariance_stands_still(sensors, shared, period, times_over):
    """The compiled filter stops to compute what no longer changes; the reference computes every step."""
    asked = sensors, shared, period, times_over
    _agree(_run_linear("rust", *asked), _run_linear("reference", *asked))
