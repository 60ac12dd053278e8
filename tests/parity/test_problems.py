"""The benchmark systems are defined in Python and in Rust, and are the same."""

import json
from pathlib import Path

import numpy as np
import pytest
from itoscope import SDE, problems
from tolerances import EXPRESSION

# Written by `cargo run --package itoscope-support`; a test of that crate keeps it up to date.
DEFINITIONS = json.loads(Path(__file__).with_name("problems.json").read_text())


def test_the_same_systems():
    assert list(DEFINITIONS) == list(problems.PROBLEMS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_same_equations(name):
    states, drift, diffusion, x0 = (
        DEFINITIONS[name][part] for part in ("states", "drift", "diffusion", "x0")
    )
    problem = problems.PROBLEMS[name]()
    assert states == list(problem.sde.states)
    np.testing.assert_array_equal(x0, problem.x0)
    compiled = SDE(drift, diffusion, states)
    x = np.random.default_rng(7).normal(size=(50, len(states)))
    for of in ("drift", "diffusion"):
        ours, theirs = getattr(compiled, of)(x), getattr(problem.sde, of)(x)
        np.testing.assert_allclose(ours, theirs, rtol=EXPRESSION, atol=1e-9 * EXPRESSION)
