"""Noisy recordings far from zero: the terms are where the evidence is larger, unless a library was given."""

import itoscope as ito
import numpy as np
import pytest

SHORT = {"seed": 1, "n_chains": 2, "n_samples": 200, "n_burn": 100}


@pytest.fixture(scope="module")
def displacement():
    sde = ito.SDE(["x2", "-40*x1 - 1.2*x2"], [["0"], ["2"]], ["x1", "x2"])
    return sde.simulate([0.0, 0.0], dt=0.01, n_steps=3000, substeps=4, seed=1).positions(noise=0.05, seed=2)


def test_an_offset_of_a_displacement_is_only_an_offset(displacement):
    far = ito.Trajectories(displacement.paths[0] + 100.0, dt=0.01, names=["x1"])
    near, moved = (ito.discover(data, order=2, **SHORT) for data in (displacement, far))
    assert "origin_gain" not in near.diagnostics and moved.diagnostics["origin_gain"] > 0
    (said,) = [warning for warning in moved.warnings if "from zero" in warning]
    assert "terms are about their mean, which has the larger evidence" in said
    at = np.array([[-0.2, 0.5], [0.3, -1.0]])
    there = moved.model().drift(at + np.array([100.0, 0.0]))
    np.testing.assert_allclose(there, near.model().drift(at), atol=0.2)
    found = moved.coefficients()["dv1"]
    assert "x1" not in found and any(term.startswith("(x1 - ") for term in found)


def test_a_library_that_was_given_stays(displacement):
    far = ito.Trajectories(displacement.paths[0] + 100.0, dt=0.01, names=["x1"])
    given = ito.discover(far, ito.Library.polynomials(1), order=2, **SHORT)
    assert "origin_gain" not in given.diagnostics and "x1" in given.drift["v1"].terms
