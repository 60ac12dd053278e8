"""The studies of `docs/calibration.md`, reduced: one path seen otherwise, short records, friction, supports."""

import importlib
import sys
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benches" / "accuracy"


@pytest.fixture(scope="module", autouse=True)
def folder():
    """The scripts can be imported by name."""
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def study(name):
    return importlib.import_module(name)


def odds(path):
    pip = np.array([one.pip for one in path])
    return np.log(pip / (1 - pip))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_thinned_path_keeps_its_probability_but_for_the_information_lost(seed):
    path = study("same_path").thinned(seed)
    change = odds(path) - odds(path)[0]
    lost = np.array([one.t**2 - path[0].t ** 2 for one in path]) / 2
    assert np.abs(change - lost)[1:].max() < 0.25  # every 4th, 20th and 100th sample
    assert np.abs(change[1]) < 0.1


def test_with_the_slab_of_the_paper_it_does_not():
    path = study("same_path").thinned(1, "sample")
    assert (odds(path) - odds(path)[0])[3] > 1.5


@pytest.fixture(scope="module")
def found():
    """The drift of a series by library, sampler and offset."""
    script = study("same_path")
    x = script.series()
    return {
        (library, sampler, offset): script.shifted(x, library, sampler, offset)
        for library in script.LIBRARIES
        for sampler in script.SAMPLERS
        for offset in script.OFFSETS
    }


def apart(one, other):
    return np.abs(one.drift - other.drift).max() / np.abs(other.drift).max()


@pytest.mark.parametrize("sampler", ["exact", "gibbs"])
@pytest.mark.parametrize("offset", [10.0, 1e3, 1e6])
def test_the_drift_about_the_mean_is_that_of_no_offset(found, sampler, offset):
    about, none = "degree 3 about the mean", "none given"
    assert apart(found[about, sampler, offset], found[about, "exact", 0.0]) < 1e-6
    # Without a library the terms are about zero where the data are; far from it, about the mean.
    assert apart(found[none, sampler, offset], found[none, "exact", 10.0]) < 1e-6
    assert apart(found[none, sampler, offset], found[none, "exact", 0.0]) < 0.02
    assert "about their mean" in found[none, sampler, offset].said


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e3, 1e6])
def test_terms_about_zero_are_the_same_for_both_samplers_and_hint_at_the_mean(found, offset):
    plain = "degree 1 about zero"
    exact, gibbs = (found[plain, sampler, offset] for sampler in ("exact", "gibbs"))
    assert exact.terms == gibbs.terms
    np.testing.assert_allclose(gibbs.drift, exact.drift, rtol=1e-6)
    if 0 < offset <= 1e3:
        assert apart(exact, found[plain, "exact", 10.0]) < 2e-3
    assert ('origin="mean"' in exact.said) == (offset > 0)


def test_forecasts_of_a_short_record_are_near_the_truth_as_far_ahead_as_it_was_long():
    script = study("forecasts")
    ratios = [script.widths(script.BOTH, script.NO_DRIFT, seed, 150)[0] for seed in range(101, 141)]
    assert (np.median(ratios, axis=0) < 1.5).all()
    wide = [script.widths(script.BOTH, 0.9, seed, 200)[0] for seed in range(101, 109)]
    assert np.median(wide, axis=0)[-1] > 1.5


@pytest.mark.parametrize(("name", "seed"), [("dry friction", 1), ("viscous", 2)])
def test_friction_is_told_from_drag_by_displacements(name, seed):
    script = study("friction")
    _, seen = script.recorded(script.CASES[name], seed)
    equation = script.fitted(seen, seed).drift["v"]
    assert {t for t, s in zip(equation.terms, equation.selected) if s} == set(script.CASES[name])


def test_displacements_of_oscillators():
    script = study("displacements")
    found = [script.one((1, number, 0.05)) for number in range(3)]
    pip, true = (np.concatenate([getattr(one, name) for one in found]) for name in ("pip", "true"))
    assert true[pip > 0.9].mean() > 0.8
    assert not true[pip < 0.1].mean() > 0.3


def test_a_support_that_is_lost_is_told_with_its_evidence():
    script = study("supports")
    kept = script.one(("double well", 1))
    assert not kept.lost
    assert script.true_terms(ito.problems.lorenz63(), "dx1") == {"x1", "x2"}
    lost = script.Found(2, [script.Lost("dx4", ("x2|x2|",), ("x2",), 2.7, 0.06)], 0.2)
    assert "x2|x2| for x2; log evidence above the truth's by 2.70" in script.told([kept, lost])
