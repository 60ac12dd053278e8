"""Regressions of measured states: sums that are shared are those of a pass of their own."""

from __future__ import annotations

import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.backends.records import Fitted, Target, Variance
from itoscope.fit.measured.regressions import Measured, regress

TERMS = ["1", "x", "y", "x^2"]
ROWS, PAIRS = (0, 1), ((0, 0), (1, 1), (0, 1))


class Counted:
    """A backend that tells how many passes were made, and how many of them with products of terms."""

    def __init__(self, name):
        self.inner, self.passes, self.whole = get_backend(name), 0, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def regression_sums(self, paths, times, program, target, **settings):
        self.passes, self.whole = self.passes + 1, self.whole + target.squares
        return self.inner.regression_sums(paths, times, program, target, **settings)


def setting(backend, uneven=False, **more):
    rng = np.random.default_rng(3)
    paths = [np.cumsum(0.1 * rng.normal(size=(n, 2)), axis=0) for n in (900, 400)]
    paths[0][17] = np.nan
    times = [0.01, np.cumsum(rng.uniform(0.005, 0.02, 400)) if uneven else 0.01]
    stages = Counted(backend)
    program = stages.compile(TERMS, ["x", "y"])
    return Measured(paths, times, TERMS, TERMS, program, program, ROWS, PAIRS, stages, **more)


def weights_of(measured, coefs, floors):
    return Variance(measured.diffusion_program, np.array(coefs, dtype=float), np.array(floors))


@pytest.mark.parametrize("backend", ["rust", "reference"])
@pytest.mark.parametrize("scheme", ["trapezoid", "euler"])
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("ensemble", ["pool", "mean"])
def test_constant_weights_give_the_moments_of_a_pass_with_them(backend, scheme, uneven, ensemble):
    measured = setting(backend, uneven, scheme=scheme, ensemble=ensemble)
    drift = Fitted(measured.drift_program, np.array([[0.1, -1.0, 0.0, 0.3], [0.0, 0.2, -0.5, 0.0]]))
    cases = [(Target((row, row)), [[0.3 + row, 0, 0, 0]], [0.01]) for row in ROWS]
    cases += [(Target((0, 0)), [[0.3, 0, 0, 0]], [0.8])]  # the floor holds
    cases += [
        (Target(pair, True, drift), [[0.3, 0, 0, 0], [1.3, 0, 0, 0], [cov, 0, 0, 0]], [0.01, 0.02])
        for pair in PAIRS
        for cov in (0.1, 9.0)  # larger than the variances allow
    ]
    for target, coefs, floors in cases:
        weights = weights_of(measured, coefs, floors)
        found, _ = regress(measured, target, weights)
        alone = measured.backend.project(
            measured.backend.regression_sums(
                *measured.summed,
                measured.drift_program,
                target,
                scheme=scheme,
                weights=weights,
                ensemble=ensemble,
            )
        )
        for name in ("gram", "moment", "yy", "n"):
            np.testing.assert_allclose(getattr(found, name), getattr(alone, name), rtol=1e-9, atol=1e-12)


def test_products_of_terms_are_made_once_for_all_steps_of_one_weight():
    measured = setting("rust")
    drift = Fitted(measured.drift_program, np.zeros((2, 4)))
    for weights in (None, weights_of(measured, [[0.5, 0, 0, 0]], [0.1])):
        for row in ROWS:
            regress(measured, Target((row, row)), weights)
    assert (measured.backend.passes, measured.backend.whole) == (2, 1)
    for pair in PAIRS:
        regress(measured, Target(pair, True, drift), None)
    assert (measured.backend.passes, measured.backend.whole) == (5, 1)
    regress(measured, Target((0, 0)), weights_of(measured, [[0.5, 0.1, 0, 0]], [0.1]))
    assert (measured.backend.passes, measured.backend.whole) == (6, 2)


def test_a_step_that_weighs_by_its_length_shares_nothing_with_one_that_does_not():
    measured = setting("rust", uneven=True)
    regress(measured, Target((0, 0)), None)
    regress(measured, Target((0, 0), True, Fitted(measured.drift_program, np.zeros((2, 4)))), None)
    assert (measured.backend.passes, measured.backend.whole) == (2, 2)
