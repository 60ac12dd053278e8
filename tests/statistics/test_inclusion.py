"""Inclusion probabilities are shares: of random sparse systems, terms of probability p are true in p of the cases.

A reduced form of `benches/accuracy/calibration.py`, on moments of the drift alone.
"""

import importlib.util
import sys
from functools import cache
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "benches" / "accuracy" / "calibration.py"


@cache
def study():
    spec = importlib.util.spec_from_file_location("calibration", SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def regressions(step, walk=False, count=30):
    """Moments and truth of every drift row of some systems with at most three states."""
    found = []
    for number in range(200, 400):
        system = study().draw(np.random.default_rng([1, number, int(walk)]), walk)
        data = study().record(system, step, number) if len(system.states) < 4 else None
        if data is None:
            continue
        for i, state in enumerate(system.states):
            row = ito.moments(data, ito.Library.polynomials(2), row=state)
            found.append((row, system.theta[i] != 0))
        count -= 1
        if count == 0:
            break
    return found


def probabilities(step, slab_unit, walk=False):
    prior = ito.Prior(slab_unit=slab_unit)
    rows = regressions(step, walk)
    pips = [m.sample(prior, sampler="exact", n_chains=1, n_samples=4, seed=1).pip for m, _ in rows]
    return np.concatenate(pips), np.concatenate([true for _, true in rows])


def surprise(pip, true, low, high):
    """How many standard deviations more terms in a bin are true than its probabilities say."""
    mine = (pip > low) & (pip < high)
    p = pip[mine]
    return (true[mine].sum() - p.sum()) / np.sqrt((p * (1 - p)).sum())


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_terms_of_probability_p_are_true_in_p_of_the_cases(step):
    pip, true = probabilities(step, "time")
    assert abs(surprise(pip, true, 0.1, 0.98)) < 3
    assert (~true & (pip > 0.5)).mean() < 0.02


def test_with_a_slab_in_units_of_a_sample_they_are_not():
    pip, true = probabilities(0.01, "sample")
    assert surprise(pip, true, 0.1, 0.98) > 3


def test_nothing_is_found_in_random_walks():
    pip, _ = probabilities(0.1, "time", walk=True)
    assert (pip > 0.5).mean() < 0.01
