"""Regression sums, residuals and surveys of both backends on the same data."""

from __future__ import annotations

from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Sums, Target, Variance
from tolerances import EXACT_SUMS


@pytest.fixture(scope="module")
def recording():
    """Paths of unequal length with uneven steps and gaps, and coefficients of nobody's model."""
    rng = np.random.default_rng(4)
    paths = [np.ascontiguousarray(np.cumsum(0.1 * rng.normal(size=(n, 2)), axis=0)) for n in (700, 257, 3)]
    paths[0][[0, 256, 400], 1] = np.nan
    times = [0.01, np.cumsum(rng.uniform(0.005, 0.02, size=257)), 0.01]
    return paths, times, rng.normal(size=(3, 36))


def both(stage):
    return [
        stage(name, ito.Library.paper(6).bind(["x1", "x2"]).program(name)) for name in ("rust", "reference")
    ]


def assert_same(left, right, fields):
    for name in fields:
        a, b = np.asarray(getattr(left, name), float), np.asarray(getattr(right, name), float)
        np.testing.assert_allclose(a, b, rtol=EXACT_SUMS, atol=EXACT_SUMS * max(np.max(np.abs(b)), 1e-300))


@pytest.mark.parametrize("ensemble", ["pool", "mean"])
@pytest.mark.parametrize("scheme", ["euler", "trapezoid"])
@pytest.mark.parametrize("pair", [None, (1, 1), (0, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_sums(recording, ensemble, scheme, pair, weighted):
    paths, times, coef = recording

    def stage(name, program):
        target = Target((1, 1)) if pair is None else Target(pair, True, Fitted(program, coef[:2]))
        rows = 1 if pair is None else 3
        variance = Variance(program, coef[:rows], np.full(min(rows, 2), 0.1)) if weighted else None
        return get_backend(name).regression_sums(
            paths, times, program, target, scheme=scheme, weights=variance, ensemble=ensemble
        )

    left, right = both(stage)
    assert_same(left, right, ("omega", "cross", "inner", "c", "d", "s", "total", "n"))
    ours, theirs = (vars(get_backend(name).project(left)).values() for name in ("rust", "reference"))
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7 * np.max(np.abs(b)))


@pytest.mark.parametrize("ensemble", ["pool", "mean"])
def test_sums_without_products_of_terms(recording, ensemble):
    paths, times, coef = recording

    def stage(name, program):
        target = Target((0, 1), True, Fitted(program, coef[:2]))
        sums = get_backend(name).regression_sums
        whole = sums(paths, times, program, target, ensemble=ensemble)
        lines = sums(paths, times, program, replace(target, squares=False), ensemble=ensemble)
        assert not lines.omega.any() and not lines.cross.any() and not lines.inner.any()
        assert_equal(lines.with_squares(whole), whole)
        return lines

    assert_same(*both(stage), ("c", "d", "s", "total", "n"))


@pytest.mark.parametrize("ensemble", ["pool", "mean"])
@pytest.mark.parametrize("pair", [None, (0, 1)])
def test_targets_that_are_given(recording, ensemble, pair):
    paths, times, coef = recording
    given = [np.cos(np.arange(len(path) - 1.0)) for path in paths]

    def stage(name, program):
        target = Target((1, 1), given=given) if pair is None else Target(pair, True, given=given)
        rows = 1 if pair is None else 3
        variance = Variance(program, coef[:rows], np.full(min(rows, 2), 0.1))
        sums = get_backend(name).regression_sums(
            paths, times, program, target, weights=variance, ensemble=ensemble
        )
        usual = get_backend(name).regression_sums(
            paths, times, program, replace(target, given=None), weights=variance, ensemble=ensemble
        )
        np.testing.assert_array_equal(sums.omega, usual.omega)
        assert not np.allclose(sums.c, usual.c)
        return sums

    assert_same(*both(stage), ("omega", "cross", "inner", "c", "d", "s", "total", "n"))


def test_targets_of_another_shape_are_refused(recording):
    paths, times, _ = recording
    program = ito.Library.polynomials(1).bind(["x1", "x2"]).program("rust")
    with pytest.raises(
        ito.errors.ArgumentError, match=r"target\.given = .*of another shape.*one array of n_steps"
    ):
        get_backend("rust").regression_sums(paths, times, program, Target((0, 0), given=[np.zeros(5)] * 3))


def assert_equal(left, right):
    for name, value in vars(left).items():
        np.testing.assert_array_equal(value, getattr(right, name), err_msg=name)


def test_residual_sums(recording):
    paths, times, coef = recording

    def stage(name, program):
        variance = Variance(program, coef[1:2], np.array([0.2]))
        return get_backend(name).residual_sums(paths, times, 1, Fitted(program, coef[:1]), variance)

    (left, z), (right, same) = both(stage)
    np.testing.assert_allclose(z, same, rtol=1e-9, atol=1e-12)
    assert_same(left, right, ("n", "powers", "lagged", "pairs", "largest"))
    assert (left.path, left.step) == (right.path, right.step)


def test_survey(recording):
    paths, _, coef = recording
    pairs = [(0, 0), (1, 1), (0, 1)]

    def stage(name, program):
        return get_backend(name).survey(paths, Fitted(program, coef), pairs, np.array([0.1, 0.1]))

    left, right = both(stage)
    assert_same(left, right, ("n", "mean", "low", "below", "indefinite", "worst"))
    assert (left.path, left.sample) == (right.path, right.sample)
    assert left.indefinite > 0


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_a_regression_on_nothing_leaves_all(backend):
    found = get_backend(backend).project(replace(Sums.zeros(0), s=3.0, n=5))
    assert found.gram.shape == (0, 0) and found.moment.shape == (0,)
    assert found.yy == 3.0 and found.n == 5.0
