"""Regression sums and their projection: what they must equal, and what they must be unbiased for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Sums, Target, Variance
from itoscope.library.library import Library
from tolerances import EXACT_SUMS

STATES = ["x1", "x2"]


def walk(rng, n, m=2):
    return np.ascontiguousarray(np.cumsum(0.1 * rng.normal(size=(n, m)), axis=0))


def by_hand(paths, times, u, y, w, scheme):
    """The sums of the method page, one path at a time, all rows at once."""
    total = None
    for x, t, weight in zip(paths, times, w):
        left = u(x)[:-1]
        mid = left if scheme == "euler" else (u(x)[:-1] + u(x)[1:]) / 2
        target = y(x, t)
        part = (
            (left * weight[:, None]).T @ left,
            (left * weight[:, None]).T @ mid,
            (mid * weight[:, None]).T @ mid,
            (left * weight[:, None]).T @ target,
            (mid * weight[:, None]).T @ target,
            weight @ target**2,
        )
        total = part if total is None else tuple(a + b for a, b in zip(total, part))
    return total


def assert_sums(found: Sums, wanted):
    for name, value in zip(("omega", "cross", "inner", "c", "d", "s"), wanted):
        got = getattr(found, name)
        np.testing.assert_allclose(got, value, rtol=EXACT_SUMS, atol=EXACT_SUMS * np.max(np.abs(value)))


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def program(backend):
    bound = Library.paper(3).bind(STATES)
    return get_backend(backend).compile(bound.expressions, bound.inputs)


@pytest.fixture
def small(backend):
    """A library whose columns are far from collinear on a short walk, so that no direction is dropped."""
    return get_backend(backend).compile(["1", "x1", "x2", "x1 x2"], STATES)


@pytest.mark.parametrize("scheme", ["euler", "trapezoid"])
def test_drift_sums_are_those_of_the_definition(backend, program, rng, scheme):
    # Longer than one block of either backend, so that seams are covered.
    paths, dt = [walk(rng, 5000), walk(rng, 3)], 0.01
    found = get_backend(backend).regression_sums(paths, [dt, dt], program, Target((1, 1)), scheme=scheme)
    ones = [np.ones(len(x) - 1) for x in paths]
    wanted = by_hand(paths, [dt, dt], program.evaluate, lambda x, t: np.diff(x[:, 1]) / t, ones, scheme)
    assert_sums(found, wanted)
    assert found.n == 4999 + 2


@pytest.mark.parametrize("scheme", ["euler", "trapezoid"])
def test_diffusion_sums_use_the_residual_and_the_variance_weights(backend, program, rng, scheme):
    paths, dt = [walk(rng, 600)], 0.01
    k = len(program.expressions)
    drift, gamma = rng.normal(size=(2, k)), np.zeros((3, k))
    gamma[:, 0] = [2.0, 3.0, 0.5]
    gamma[0, 3] = 0.7
    floors = np.array([1.5, 0.1])
    found = get_backend(backend).regression_sums(
        paths, [dt], program, Target((0, 1), True, Fitted(program, drift)), scheme=scheme,
        weights=Variance(program, gamma, floors),
    )  # fmt: skip

    def residual(x, row):
        f = program.evaluate(x) @ drift[row]
        mean = f[:-1] if scheme == "euler" else (f[:-1] + f[1:]) / 2
        return np.diff(x[:, row]) - dt * mean

    g = program.evaluate(paths[0][:-1]) @ gamma.T
    g_ii, g_jj = np.maximum(g[:, 0], 1.5), np.maximum(g[:, 1], 0.1)
    w = 1 / (g_ii * g_jj + np.minimum(g[:, 2] ** 2, g_ii * g_jj))
    wanted = by_hand(
        paths, [dt], program.evaluate, lambda x, t: residual(x, 0) * residual(x, 1) / t, [w], scheme
    )
    assert_sums(found, wanted)


def test_sums_add(backend, program, rng):
    stage = get_backend(backend).regression_sums
    paths = [walk(rng, 700), walk(rng, 300)]
    both = stage(paths, [0.1, 0.1], program, Target((0, 0)))
    parts = [stage([x], [0.1], program, Target((0, 0))) for x in paths]
    assert_sums(parts[0] + parts[1], [getattr(both, f) for f in ("omega", "cross", "inner", "c", "d", "s")])


def test_steps_that_touch_a_gap_are_left_out(backend, program, rng):
    x = walk(rng, 900)
    gappy = x.copy()
    gappy[[200, 255, 256, 600], 0] = np.nan
    keep = np.ones(899)
    for n in (200, 255, 256, 600):
        keep[[n - 1, n]] = 0
    found = get_backend(backend).regression_sums([gappy], [0.1], program, Target((1, 1)))
    wanted = by_hand([x], [0.1], program.evaluate, lambda x, t: np.diff(x[:, 1]) / t, [keep], "trapezoid")
    assert_sums(found, wanted)
    assert found.n == int(keep.sum())


def test_uneven_steps_weigh_a_drift_target_by_their_length(backend, program, rng):
    x, t = walk(rng, 400), np.cumsum(rng.uniform(0.05, 0.2, size=400))
    found = get_backend(backend).regression_sums([x], [t], program, Target((0, 0)))
    dt = np.diff(t)
    wanted = by_hand(
        [x], [t], program.evaluate, lambda x, t: np.diff(x[:, 0]) / np.diff(t), [dt / dt.mean()], "trapezoid"
    )
    assert_sums(found, wanted)


def test_mean_ensemble_averages_before_it_regresses(backend, program, rng):
    paths = [walk(rng, 600) for _ in range(4)]
    found = get_backend(backend).regression_sums(paths, [0.1] * 4, program, Target((0, 0)), ensemble="mean")
    u = np.mean([program.evaluate(x) for x in paths], axis=0)
    y = np.mean([np.diff(x[:, 0]) / 0.1 for x in paths], axis=0)
    left, mid = u[:-1], (u[:-1] + u[1:]) / 2
    assert_sums(found, (left.T @ left, left.T @ mid, mid.T @ mid, left.T @ y, mid.T @ y, y @ y))


def test_projection_keeps_the_true_residual_sum_of_squares(backend, small, rng):
    paths = [walk(rng, 3000)]
    stages = get_backend(backend)
    sums = stages.regression_sums(paths, [0.01], small, Target((0, 0)))
    found = stages.project(sums)
    theta = np.linalg.lstsq(found.gram, found.moment, rcond=1e-12)[0]
    mid = (small.evaluate(paths[0])[:-1] + small.evaluate(paths[0])[1:]) / 2
    residual = np.diff(paths[0][:, 0]) / 0.01 - mid @ theta
    assert found.residual(theta) == pytest.approx(residual @ residual, rel=1e-6)


def test_euler_projection_is_ordinary_least_squares(backend, small, rng):
    stages = get_backend(backend)
    sums = stages.regression_sums([walk(rng, 3000)], [0.01], small, Target((0, 0)), scheme="euler")
    found = stages.project(sums)
    np.testing.assert_allclose(found.gram, sums.omega, rtol=1e-7, atol=1e-9 * np.max(np.abs(found.gram)))
    np.testing.assert_allclose(found.moment, sums.c, rtol=1e-6, atol=1e-9 * np.max(np.abs(found.moment)))
    assert found.yy == pytest.approx(sums.s, rel=1e-9)


def test_a_column_of_zeros_and_a_copy_do_not_break_the_projection(backend, rng):
    stages = get_backend(backend)
    program = stages.compile(["1", "x1", "0 x1", "|x1|"], ["x1"])
    x = np.abs(walk(rng, 500, 1)) + 1.0
    found = stages.project(stages.regression_sums([x], [0.1], program, Target((0, 0))))
    assert all(np.isfinite(value).all() for value in vars(found).values())
    assert not found.gram[2].any() and not found.moment[2]


def test_the_end_of_a_step_in_its_weight_would_bias_the_drift(backend):
    """Negative control of the rule that weights look at the start of a step: one that looks at its end is biased."""
    rng = np.random.default_rng(7)
    n, dt = 400_000, 0.01
    noise = rng.normal(size=n) * np.sqrt(dt)
    paths, steps = [], 1000
    for part in noise.reshape(-1, steps):
        paths.append(np.exp(np.concatenate([[0.0], np.cumsum((2 - 0.5) * dt + part)]))[:, None])
    stages = get_backend(backend)
    program = stages.compile(["x1"], ["x1"])

    def slope(weights):
        sums = stages.regression_sums(paths, [dt] * len(paths), program, Target((0, 0)), weights=weights)
        found = stages.project(sums)
        return float(found.moment[0] / found.gram[0, 0])

    start = slope([1 / p[:-1, 0] ** 2 for p in paths])
    end = slope([1 / p[1:, 0] ** 2 for p in paths])
    # 4000 time units: the standard error of lambda is 1 / sqrt(4000) = 0.016.
    assert abs(start - 2) < 5 * 0.016
    assert end < 1.5


def test_what_is_above_rounding_is_information(backend):
    """A cubic about 30 in plain monomials, smallest eigenvalue 4e-12 of the largest: a cut at 1e-10 loses the cubic."""
    stages = get_backend(backend)
    x = 30.0 + 1.5 * np.sin(0.1 * np.arange(2000.0))[:, None]
    drift = (x - 30.0) - (x - 30.0) ** 3
    program = stages.compile(["1", "x1", "x1^2", "x1^3"], ["x1"])
    sums = stages.regression_sums([x], [1.0], program, Target((0, 0)), scheme="euler")
    left = program.evaluate(x)[:-1]
    exact = replace(
        sums, c=left.T @ drift[:-1, 0], d=left.T @ drift[:-1, 0], s=float(drift[:-1, 0] @ drift[:-1, 0])
    )
    found = program.evaluate(x) @ stages.project(exact).solve().theta
    assert np.linalg.norm(found - drift[:, 0]) < 1e-2 * np.linalg.norm(drift)
