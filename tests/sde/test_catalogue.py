"""The benchmark systems: their truth is their equations, their library holds it, their data are theirs."""

import numpy as np
import pytest
from itoscope import problems
from itoscope.errors import ArgumentError
from tolerances import EXPRESSION

EVERY = [make() for make in problems.PROBLEMS.values()] + [
    problems.double_well(gamma2=0),
    problems.bouc_wen(n=1, a1=0.2),
    problems.bouc_wen(n=2.5),
    problems.chain(n=2, m=[1, 2], k=[100, 50], c=0, s=[0, 3]),
    problems.duffing_van_der_pol(m=2, k=2000),
]


@pytest.mark.parametrize("problem", EVERY, ids=lambda problem: problem.name)
def test_truth_is_the_equations(problem):
    states = problem.sde.states
    x = np.random.default_rng(6).normal(size=(10, len(states)))
    terms = problem.library.terms(states)
    values = problem.library.evaluate(x, states)

    def total(coefficients):
        return sum((values[:, terms.index(term)] * c for term, c in coefficients.items()), np.zeros(10))

    assert list(problem.truth["drift"]) == states
    drift = np.stack([total(row) for row in problem.truth["drift"].values()], axis=1)
    np.testing.assert_allclose(drift, problem.sde.drift(x), rtol=EXPRESSION)
    gamma = problem.sde.gamma(x)
    assert len(problem.truth["diffusion"]) == len(states) * (len(states) + 1) // 2
    for (a, b), entry in problem.truth["diffusion"].items():
        at = states.index(a), states.index(b)
        np.testing.assert_allclose(total(entry), gamma[:, at[0], at[1]], rtol=EXPRESSION, atol=1e-14)
    for state, expression in problem.known_drift.items():
        assert problem.truth["drift"][state] == {expression: 1.0}


@pytest.mark.parametrize("problem", EVERY, ids=lambda problem: problem.name)
def test_simulate(problem, backend):
    data = problem.simulate(duration=0.05, dt=0.001, n_paths=3, substeps=2, seed=1, backend=backend)
    assert (data.n_paths, data.n_steps, data.dt, data.seed) == (3, 150, 0.001, 1)
    assert list(data.names) == problem.sde.states
    assert data.position_names == (tuple(problem.known_drift) or None)
    np.testing.assert_array_equal(data.paths[1][0], problem.x0)
    again = problem.simulate(duration=0.05, dt=0.001, n_paths=3, substeps=2, seed=1, backend=backend)
    np.testing.assert_array_equal(again.paths[2], data.paths[2])
    other = problem.simulate(duration=0.05, dt=0.001, n_paths=3, substeps=2, seed=2, backend=backend)
    assert not np.array_equal(other.paths[2], data.paths[2])


def test_the_paper_s_parameters():
    truth = problems.two_storey_building().truth
    assert truth["drift"]["x2"] == {"x1": -6000, "x2": -4, "x3": 2000, "x4": 2, "sgn(x2)": -9.81}
    assert truth["drift"]["x4"] == {"x1": 2000, "x2": 2, "x3": -2000, "x4": -2}
    assert truth["diffusion"]["x2", "x2"] == truth["diffusion"]["x4", "x4"] == {"1": 100}
    assert problems.duffing_van_der_pol().truth["diffusion"]["x2", "x2"] == {"x1^2": 100}
    assert problems.bouc_wen().sde.drift_expressions[2] == "-0.5 x3|x2||x3|^2 - 0.5 x2|x3|^3 + x2"
    assert len(problems.black_scholes().library.names(["x1"])) == 10
    assert len(problems.two_storey_building().library.names(["x1", "x2", "x3", "x4"])) == 59


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: problems.duffing_van_der_pol(m=0), "m = 0: a positive"),
        (lambda: problems.bouc_wen(n=0.5), "n = 0.5: a number, 1 or more"),
        (lambda: problems.black_scholes(x0=[1, 2]), r"x0 = \[1, 2\]: 1 finite numbers, states x1"),
        (lambda: problems.double_well(gamma0=0), "gamma0 = 0: a positive"),
        (lambda: problems.double_well(gamma2=-1), "gamma2 = -1: a finite number, zero or positive"),
        (lambda: problems.ornstein_uhlenbeck_2d(a=[[1]]), r"a = \[\[1\]\]: a 2 x 2 matrix"),
        (lambda: problems.ornstein_uhlenbeck_2d(gamma=[[1, 2], [2, 1]]), "gamma = .*: a positive definite"),
        (lambda: problems.ornstein_uhlenbeck_2d(gamma=[[1, 2], [0, 1]]), "gamma = .*: a symmetric"),
        (lambda: problems.chain(n=0), "n = 0: a whole number, at least 1"),
        (lambda: problems.chain(k=[1, 2]), r"k = \[1, 2\]: a finite number, or 3 of them"),
        (lambda: problems.chain(m=[1, 0, 1]), r"m\[1\] = 0.0: a positive"),
        (lambda: EVERY[0].simulate(duration=1, dt=0.3), "duration = 1: a whole number of steps dt = 0.3"),
        (lambda: EVERY[0].simulate(duration=-1, dt=0.1), "duration = -1: a positive"),
        (lambda: EVERY[0].simulate(duration=1, dt=0), "dt = 0: a positive"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
