"""The Ito operators, the structure of the noise, the schemes that it allows, and roots of covariances."""

import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.expressions.ito import Operators, check_scheme

X, Y = np.random.default_rng(1).uniform(0.2, 2.0, (2, 30))


def values(operators, node):
    return np.broadcast_to(operators.graph.evaluate([node], [X, Y])[0], X.shape)


def test_operators_on_a_function():
    """L0 = a d + 1/2 Gamma d d and L1 = b d, on x^2 y."""
    operators = Operators(["x y", "-y", "x^2 y"], [["x", "0"], ["1", "y"]], ["x", "y"])
    node = operators.drift.pop()
    slopes, curvature = (2 * X * Y, X**2), ((2 * Y, 2 * X), (2 * X, 0 * X))
    gamma = ((X * X, X), (X, 1 + Y**2))
    first = X * Y * slopes[0] - Y * slopes[1]
    second = sum(gamma[i][k] * curvature[i][k] for i in range(2) for k in range(2)) / 2
    np.testing.assert_allclose(values(operators, operators.along_drift(node)), first + second, rtol=1e-12)
    np.testing.assert_allclose(
        values(operators, operators.along_noise(0, node)), X * slopes[0] + slopes[1], rtol=1e-12
    )
    np.testing.assert_allclose(values(operators, operators.along_noise(1, node)), Y * slopes[1], rtol=1e-12)
    np.testing.assert_allclose(values(operators, operators.covariance(1, 1)), gamma[1][1], rtol=1e-12)


def structure(diffusion, states=("x", "y")):
    return Operators(["0"] * len(states), diffusion, states).structure()


@pytest.mark.parametrize(
    ("diffusion", "expected"),
    [
        ([["0", "0"], ["0", "0"]], "none"),
        ([[], []], "none"),
        ([["1", "0.5"], ["0", "2"]], "additive"),
        ([["0"], ["x"]], "scalar"),
        ([["y"], ["x"]], "scalar"),
        ([["x", "0"], ["0", "sqrt(1 + y^2)"]], "diagonal"),
        ([["0", "0"], ["x", "1"]], "diagonal"),  # both drive y, and neither depends on it
        ([["x", "0"], ["0", "exp(x)"]], "general"),
        ([["x", "2 x"], ["0", "0"]], "commutative"),
        ([["x", "0"], ["y", "x"]], "commutative"),
        ([["sin(x)", "2 cos(x - pi/2)"], ["0", "0"]], "commutative"),
        ([["y", "0"], ["0", "x"]], "general"),
        ([["x", "1"], ["0", "0"]], "general"),
    ],
)
def test_structure_of_the_noise(diffusion, expected):
    assert structure(diffusion) == expected


def test_schemes_say_which_noise_they_need():
    assert check_scheme("taylor15", "diagonal").strong_order == 1.5
    with pytest.raises(ArgumentError, match="the noise of this SDE is general, use 'euler-maruyama'"):
        check_scheme("milstein", "general")
    with pytest.raises(ArgumentError, match="one of 'euler-maruyama', 'milstein', 'taylor15'"):
        check_scheme("heun", "none")
