"""Noisy recordings: what plain regression gets wrong comes out right, with intervals that hold the truth.

Thresholds are 4.5 standard errors (false-alarm rate 1e-5 a comparison) unless said otherwise; seeds are fixed.
"""

import itoscope as ito
import numpy as np
import pytest

Z = 4.5


def _measured(data, share, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    paths = [np.array(x) for x in data.paths]
    level = share * np.concatenate(paths).std(axis=0)
    paths = [x + level * rng.standard_normal(x.shape) for x in paths]
    for x in paths:
        x[rng.random(x.shape) < missing] = np.nan
    return ito.Trajectories(paths, dt=data.dt, names=list(data.names)), level


def _check(equation, truth):
    found = [term for term, inside in zip(equation.terms, equation.selected) if inside]
    assert found == list(truth)
    for term, value in truth.items():
        k = equation.terms.index(term)
        assert abs(equation.mean[k] - value) < Z * equation.sd[k], term


@pytest.fixture(scope="module")
def ornstein():
    problem = ito.problems.ornstein_uhlenbeck()
    return problem, problem.simulate(duration=100.0, dt=0.02, n_paths=4, substeps=10, seed=1)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_noise_is_told_from_diffusion(ornstein, missing):
    problem, exact = ornstein
    data, level = _measured(exact, 0.1, 2, missing)
    result = ito.discover(
        data, ito.Library.polynomials(2), measurement_noise="estimate", seed=1, n_samples=500
    )
    drift, gamma = problem.truth["drift"]["x1"], problem.truth["diffusion"]["x1", "x1"]
    _check(result.drift["x1"], drift)
    _check(result.diffusion["x1", "x1"], gamma)
    entry = result.diagnostics["measurement_noise"]["x1"]
    sd = (entry["high"] - entry["low"]) / (2 * 1.96)
    assert abs(entry["sd"] - level[0]) < Z * sd
    # the control: the same data taken as exact inflate Gamma by 2 s^2 / dt and make the drift too strong
    if not missing:
        plain = ito.discover(data, ito.Library.polynomials(2), seed=1, n_samples=500, weights=None)
        k = plain.diffusion["x1", "x1"].terms.index("1")
        inflated = gamma["1"] + 2 * level[0] ** 2 / exact.dt
        assert plain.diffusion["x1", "x1"].mean[k] == pytest.approx(inflated, rel=0.15)
        k = plain.drift["x1"].terms.index("x1")
        assert plain.drift["x1"].mean[k] < 1.1 * drift["x1"]


@pytest.fixture(scope="module")
def duffing():
    problem = ito.problems.duffing_van_der_pol()
    return problem, problem.simulate(duration=1.0, dt=1e-3, n_paths=25, substeps=20, seed=3)


LIBRARY = ito.Library.polynomials(3) + ito.Library.sign()


def test_an_oscillator_from_its_displacement(duffing):
    _, exact = duffing
    data = exact.positions(noise=0.05, seed=1)
    result = ito.discover(
        data, LIBRARY, order=2, measurement_noise="estimate", diffusion="constant", seed=1, n_samples=500
    )
    _check(result.drift["v1"], {"x1": -1000.0, "v1": -2.0, "x1^3": -1e5})
    assert result.known_drift == {"x1": "v1"}
    states = result.smoothed()
    inside = [np.abs(m - x) < 1.96 * sd for m, sd, x in zip(states.mean, states.sd, exact.paths)]
    share = np.concatenate(inside).mean(axis=0)
    # the samples of a path are strongly correlated, so this is a wide gate
    assert np.all((share > 0.9) & (share < 0.99))


def test_units_change_nothing_but_the_units(duffing):
    _, exact = duffing
    found = []
    for unit in (1.0, 1e-6):
        data = exact.positions(noise=0.05, seed=1)
        data = ito.Trajectories([x / unit for x in data.paths], dt=exact.dt, names=["x1"])
        result = ito.discover(
            data, ito.Library.polynomials(3), order=2, measurement_noise="estimate", diffusion="constant", seed=1,
            n_samples=500,
        )  # fmt: skip
        equation = result.drift["v1"]
        power = {"x1": 0, "v1": 0, "x1^3": 2}
        found.append([float(equation.mean[equation.terms.index(t)]) * unit**-p for t, p in power.items()])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
def test_duffing_with_the_whole_library(noise):
    """Ten seeds, the data of `benches/accuracy/noisy.py`: terms, coefficients, coverage, noise level.

    Fewer than nine of ten exact has probability 4e-3 for a method that is exact in 99 of 100; fewer than 85 % of 40
    intervals of 95 % hold with probability 3e-3.
    """
    problem = ito.problems.duffing_van_der_pol()
    truth = {("v1", "x1"): -1000.0, ("v1", "v1"): -2.0, ("v1", "x1^3"): -1e5, ("gamma", "x1^2"): 100.0}
    bounds = {("v1", "x1"): 0.03, ("v1", "v1"): 0.03, ("v1", "x1^3"): 0.06}
    exact, held = 0, []
    for seed in range(1, 11):
        whole = problem.simulate(
            duration=1.0, dt=1e-3, n_paths=200, substeps=50, seed=seed, scheme="taylor15"
        ).positions()
        data, level = _measured(whole, noise, seed)
        result = ito.discover(data, ito.Library.paper(), order=2, measurement_noise="estimate", seed=seed)
        equations = {"v1": result.drift["v1"], "gamma": result.diffusion["v1", "v1"]}
        found = {(label, t) for label, e in equations.items() for t, z in zip(e.terms, e.selected) if z}
        exact += found == set(truth)
        for (label, term), value in truth.items():
            equation = equations[label]
            k = equation.terms.index(term)
            if not equation.selected[k]:
                continue
            held.append(abs(equation.mean[k] - value) < 1.96 * equation.sd[k])
            # Gamma is known to 2.2 % at 5 % noise, and not better: 4.5 errors
            bound = bounds.get((label, term), max(0.03, 4.5 * equation.sd[k] / abs(value)))
            assert abs(equation.mean[k] / value - 1) < bound
        if noise:
            assert result.diagnostics["measurement_noise"]["x1"]["sd"] == pytest.approx(level[0], rel=0.01)
    assert exact >= 9
    assert np.mean(held) >= 0.85


def test_what_cannot_be_filtered_is_refused():
    data = ito.Trajectories(np.random.default_rng(1).normal(size=(50, 1)).cumsum(axis=0), dt=0.1)
    custom = ito.Library.polynomials(1) + ito.Library.custom(lambda x: x[:, 0] ** 2, "square")
    with pytest.raises(ito.errors.ArgumentError, match="custom"):
        ito.discover(data, custom, measurement_noise=0.1)
    with pytest.raises(ito.errors.ArgumentError, match="measurement_noise"):
        ito.discover(data, measurement_noise="guess")
    named = ito.Trajectories(data.paths, dt=0.1, names=["v1"])
    with pytest.raises(ito.errors.ArgumentError, match="v1"):
        ito.discover(named, order=2)


def test_a_chain_seen_through_combinations_of_its_states():
    """Roof and gap between the storeys instead of two displacements; the storey's own displacement is never seen."""
    a = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [-60.0, 20, -1.0, 0], [20, -20, 0, -1.0]])
    model = ito.SDE(
        ["v1", "v2", "-60 x1 + 20 x2 - v1", "20 x1 - 20 x2 - v2"],
        [["0", "0"], ["0", "0"], ["1", "0"], ["0", "1"]],
        ["x1", "x2", "v1", "v2"],
    )
    exact = model.simulate(
        np.tile([0.1, 0.2, 0.0, 0.0], (20, 1)), dt=0.01, n_steps=500, n_paths=20, substeps=10, seed=1
    )
    seen = np.stack(exact.paths) @ np.array([[0.0, 1, 0, 0], [-1.0, 1, 0, 0]]).T
    level = 0.02 * seen.std(axis=(0, 1))
    seen += level * np.random.default_rng(2).standard_normal(seen.shape)
    result = ito.discover(
        ito.Trajectories(list(seen), dt=0.01, names=["roof", "gap"]), ito.Library.polynomials(1),
        states=["x1", "x2", "v1", "v2"], observed=["x2", "x2 - x1"], known_drift={"x1": "v1", "x2": "v2"},
        measurement_noise="estimate", diffusion="constant", seed=1, n_samples=500,
    )  # fmt: skip
    for row, state in ((2, "v1"), (3, "v2")):
        truth = dict(zip(["x1", "x2", "v1", "v2"], a[row]))
        _check(result.drift[state], {term: value for term, value in truth.items() if value})
        _check(result.diffusion[state, state], {"1": 1.0})
    assert [check["name"] for check in result.diagnostics["checks"] if check["fired"]] == []
    names = {check["name"] for check in result.diagnostics["checks"]}
    assert {"innovation mean", "innovation variance", "jumps", "whiteness", "time step"} <= names


def test_what_is_no_combination_of_states_is_refused():
    data = ito.Trajectories(
        np.random.default_rng(1).normal(size=(50, 2)).cumsum(axis=0), dt=0.1, names=["a", "b"]
    )
    for observed in (["x1^2", "x2"], ["x1 + 1", "x2"], ["x1"], ["x1", "2 x1"], {"c": "x1"}):
        with pytest.raises(ito.errors.ArgumentError, match=r"observed|tied to no sensor"):
            ito.discover(data, states=["x1", "x2"], observed=observed, measurement_noise=0.1)


def test_innovations_tell_of_a_missing_term_and_of_outliers(ornstein):
    """Controls of the checks: noise that is not white, and a sensor with outliers."""
    _, exact = ornstein
    data, _ = _measured(exact, 0.1, 2)
    rng = np.random.default_rng(3)
    for name, spoil in {
        "jumps": lambda x: x + 2.0 * (rng.random(x.shape) < 0.005) * rng.standard_normal(x.shape),
        "whiteness": lambda x: x + 0.2 * np.sin(2.0 * np.arange(len(x)))[:, None],
    }.items():
        spoiled = ito.Trajectories([spoil(x) for x in data.paths], dt=data.dt, names=list(data.names))
        result = ito.discover(
            spoiled, ito.Library.polynomials(1), measurement_noise="estimate", diffusion="constant", seed=1,
            n_samples=300,
        )  # fmt: skip
        assert name in {check["name"] for check in result.diagnostics["checks"] if check["fired"]}


def test_a_noisy_fit_finds_itself_again(ornstein):
    _, exact = ornstein
    data, _ = _measured(exact, 0.1, 2, 0.2)
    result = ito.discover(
        data, ito.Library.polynomials(2), measurement_noise="estimate", seed=1, n_samples=300
    )
    found = result.self_check(seed=5)
    assert found["consistent"]
    low, high = found["spread"]["x1"]
    assert high == pytest.approx(low, rel=0.1)


def test_progress_is_one_number_that_grows(ornstein):
    _, exact = ornstein
    data, _ = _measured(exact, 0.1, 2)
    seen = []
    ito.discover(
        data,
        ito.Library.polynomials(1),
        measurement_noise="estimate",
        seed=1,
        n_samples=300,
        progress=seen.append,
    )
    assert len(seen) > 20
    assert np.all(np.diff(seen) >= 0)


@pytest.mark.slow
def test_one_short_record_gives_stiffness_and_damping():
    """One record of 1 s: of ten, nearly all show both of the plainest terms, and their intervals hold the truth."""
    problem = ito.problems.duffing_van_der_pol()
    found, held = {"x1": 0, "v1": 0}, []
    for seed in range(1, 11):
        whole = problem.simulate(duration=1.0, dt=1e-3, n_paths=1, substeps=50, seed=seed, scheme="taylor15")
        data, _ = _measured(whole.positions(), 0.05, seed)
        result = ito.discover(data, order=2, measurement_noise="estimate", seed=seed)
        equation = result.drift["v1"]
        for term, value in {"x1": -1000.0, "v1": -2.0}.items():
            k = equation.terms.index(term)
            if equation.selected[k]:
                found[term] += 1
                held.append(abs(equation.mean[k] - value) < 1.96 * equation.sd[k])
    # a term found in nine of ten records is seen in fewer than seven with probability 1e-2; 95 % intervals of 18
    # estimates hold in fewer than 14 with probability 1e-2
    assert min(found.values()) >= 7
    assert sum(held) >= 0.75 * len(held)
