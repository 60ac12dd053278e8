"""Measured states at coarse steps: how far the step leads off, and what answers then."""

from functools import lru_cache

import itoscope as ito
import numpy as np
import pytest
from itoscope.checks.measured import BIASED
from scipy.linalg import expm, solve_discrete_lyapunov

STATES = ["x1", "x2", "v1", "v2"]
TRUTH = {
    "v1": {"x1": -6000.0, "x2": 2000.0, "v1": -4.0, "v2": 2.0},
    "v2": {"x1": 2000.0, "x2": -2000.0, "v1": 2.0, "v2": -2.0},
}


@lru_cache
def building(seed, dt=0.005, n=12_000):
    """Two storeys under white forces, all states recorded, by exact transitions."""
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1.0
    for row, terms in TRUTH.items():
        for term, value in terms.items():
            a[STATES.index(row), STATES.index(term)] = value
    q = np.diag([0.0, 0.0, 100.0, 100.0])
    block = expm(np.block([[-a, q], [np.zeros_like(a), a.T]]) * dt)
    phi = block[4:, 4:].T
    spread = phi @ block[:4, 4:]
    rng = np.random.default_rng(seed)
    state = np.linalg.cholesky(solve_discrete_lyapunov(phi, spread)) @ rng.standard_normal(4)
    kicks = rng.standard_normal((n, 4)) @ np.linalg.cholesky(spread).T
    x = np.empty((n, 4))
    for k in range(n):
        x[k] = state
        state = phi @ state + kicks[k]
    return x


def found(x, dt=0.005, **asked):
    data = ito.Trajectories(x, dt=dt, names=STATES)
    asked = {"known_drift": {"x1": "v1", "x2": "v2"}, "seed": 1, "n_samples": 200} | asked
    return ito.discover(data, ito.Library.polynomials(1), **asked)


def held(result):
    """Of the intervals of drift and variances, which hold the truth."""
    hits = []
    for row, truth in TRUTH.items():
        equation = result.drift[row]
        for k in np.flatnonzero(equation.selected):
            low, high = equation.interval(0.95)[k]
            hits.append(low <= truth.get(equation.terms[k], 0.0) <= high)
        low, high = result.diffusion[row, row].interval(0.95)[0]
        hits.append(low <= 100.0 <= high)
    return hits


def biases(result):
    return {c["about"]: c for c in result.diagnostics["checks"] if c["name"] == "step size"}


def test_a_building_at_200_hz_goes_to_the_filter_and_its_intervals_hold():
    """Of 30 right intervals of 95 % more than five miss in 3 of 1000; those of the trapezoid are the control."""
    results = [found(building(seed)) for seed in range(3)]
    assert [r.settings["scheme"] for r in results] == ["filter"] * 3
    assert not any("step leads" in text for r in results for text in r.warnings)
    assert sum(h for r in results for h in held(r)) >= 25
    plain = [found(building(seed), scheme="trapezoid") for seed in range(3)]
    assert [r.settings["scheme"] for r in plain] == ["trapezoid"] * 3
    assert all(any("step leads a coefficient of v1 off" in text for text in r.warnings) for r in plain)
    assert sum(h for r in plain for h in held(r)) < 25


def test_the_settings_of_an_answer_ask_for_the_same():
    first = found(building(0, n=4000))
    again = found(building(0, n=4000), scheme=first.settings["scheme"])
    assert first.settings["scheme"] == "filter"
    assert first.equations() == again.equations()


def test_the_trapezoid_stays_where_the_step_is_short():
    result = found(building(1, dt=5e-4, n=5000), dt=5e-4)
    assert result.settings["scheme"] == "trapezoid"
    assert not any(check["fired"] for check in biases(result).values())


@pytest.mark.parametrize("backend", ["rust", "reference"])
def test_the_bias_is_that_of_the_exact_transition(backend):
    """The trapezoid finds `2/h tanh(A h / 2)` for A: the largest miss in standard errors, whatever the noise."""
    h, n = 0.005, 12_000 if backend == "rust" else 2000
    result = found(building(2, n=n), scheme="trapezoid", backend=backend)
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1.0
    for row, terms in TRUTH.items():
        a[STATES.index(row)] = [terms[s] for s in STATES]
    e = expm(a * h)
    miss = 2.0 / h * np.linalg.solve((e + np.eye(4)).T, (e - np.eye(4)).T).T - a
    equation = result.drift["v1"]
    want = max(
        abs(miss[2, STATES.index(equation.terms[k])]) / equation.sd[k]
        for k in np.flatnonzero(equation.selected)
    )
    # by ten and more per cent smaller, of second order in (omega h)^2 = 0.18; noise of a tenth at most
    assert biases(result)["v1"]["value"] == pytest.approx(want, rel=0.25)
    assert want > BIASED


def test_noise_on_a_given_row_keeps_the_regression():
    """A filter without noise of the sensors would find such a recording all but impossible."""
    x = building(0).copy()
    x[:, 0] += 0.03 * x[:, 0].std() * np.random.default_rng(1).standard_normal(len(x))
    result = found(x)
    assert result.settings["scheme"] == "trapezoid"
    assert biases(result)["v1"]["fired"]


def test_terms_without_a_derivative_keep_the_regression():
    rng, x = np.random.default_rng(1), [0.0]
    for _ in range(3000):
        x.append(np.exp(-0.8) * x[-1] + rng.standard_normal() * np.sqrt(1 - np.exp(-1.6)))
    for name, library in {
        "filter": ito.Library.polynomials(1),
        "trapezoid": ito.Library.custom(lambda s: s[:, 0], "own"),
    }.items():
        result = ito.discover(
            np.array(x)[:, None], library, dt=0.8, diffusion="constant", seed=1, n_samples=200
        )
        assert result.settings["scheme"] == name


def test_more_states_than_a_filter_holds_keep_the_regression():
    rng = np.random.default_rng(1)
    x = np.zeros((600, 21))
    for n in range(1, len(x)):
        x[n] = np.exp(-0.8) * x[n - 1] + rng.standard_normal(21)
    result = ito.discover(x, ito.Library.polynomials(1), dt=0.8, diffusion="constant", seed=1, n_samples=50)
    assert result.settings["scheme"] == "trapezoid"
    assert any(check["fired"] for check in biases(result).values())


def test_a_path_that_jumps_keeps_the_regression():
    """What jumps has a drift as steep as the jumps, and is no diffusion to any filter."""
    phase = ito.SDE(["2 + 0.5*sin(x)"], [["1.5"]], ["x"]).simulate([0.0], dt=0.02, n_steps=10_000, seed=4)
    wrapped = ito.Trajectories(np.mod(phase.paths[0], 2 * np.pi), dt=0.02, names=["x"])
    result = ito.discover(wrapped, ito.Library.polynomials(3), seed=1, n_samples=200)
    assert result.settings["scheme"] == "trapezoid"
    assert any(check["fired"] for check in biases(result).values())
