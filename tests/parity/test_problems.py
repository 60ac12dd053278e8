"""The benchmark systems are defined in Python and in Rust, and are the same."""

import numpy as np
import pytest
from itoscope import SDE, _core, problems
from tolerances import EXPRESSION

DEFINITIONS = {name: definition for name, *definition in _core.problems()}


def test_the_same_systems():
    assert list(DEFINITIONS) == list(problems.PROBLEMS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_same_equations(name):
    states, drift, diffusion, x0 = DEFINITIONS[name]
    problem = problems.PROBLEMS[name]()
    assert states == list(problem.sde.states)
    np.testing.assert_array_equal(x0, problem.x0)
    compiled = SDE(drift, diffusion, states)
    x = np.random.default_rng(7).normal(size=(50, len(states)))
    for of in ("drift", "diffusion"):
        ours, theirs = getattr(compiled, of)(x), getattr(problem.sde, of)(x)
        np.testing.assert_allclose(ours, theirs, rtol=EXPRESSION, atol=1e-9 * EXPRESSION)
