"""Forces with a memory: correlation time, size and evidence; white forces stay white; saved, asked again, refused."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.discovery.asking import asked_again
from itoscope.errors import ItoscopeError
from itoscope.fit.filtered.answer import recorded
from itoscope.fit.options import Options
from itoscope.fit.question import Question

LINEAR = ito.Library.polynomials(1)
OWN = "-9*x1 - v1"


def displacement(rows, noise, seed, n_steps=4000, dt=0.05):
    states = ["x1", "v1", "u", "w"][: len(rows)]
    sde = ito.SDE(rows, [[value] for value in noise], states)
    run = {"dt": dt, "n_steps": n_steps, "substeps": 10, "scheme": "taylor15", "seed": seed}
    path = sde.simulate([0.0] * len(rows), **run).paths[0][:, :1]
    shaken = 0.02 * path.std() * np.random.default_rng(seed).normal(size=path.shape)
    return ito.Trajectories(path + shaken, dt=dt, names=["x1"])


@pytest.fixture(scope="module")
def coloured():
    return displacement(["v1", f"{OWN} + u", "-5*u"], ["0", "0", "10"], 3)


@pytest.fixture(scope="module")
def found(coloured):
    return ito.discover(coloured, LINEAR, order=2, forcing="coloured", seed=1)


def selected(equation):
    return {term for term, inside in zip(equation.terms, equation.selected) if inside}


def test_a_coloured_force(found):
    equation = found.drift["v1"]
    assert found.states == ("x1", "v1", "force_v1") and selected(equation) == {"x1", "v1", "force_v1"}
    for term, value in (("x1", -9.0), ("v1", -1.0)):
        low, high = equation.interval(0.99)[equation.terms.index(term)]
        assert low < value < high
    force = found.diagnostics["forces"]["v1"]
    assert force["low"] < 0.2 < force["high"] and force["log_bayes_factor"] > 50
    assert force["sd"] == pytest.approx(np.sqrt(100 * 0.2 / 2), rel=0.3)
    shown = str(found)
    assert "force on v1 (force_v1): correlation time 0." in shown and "dforce_v1 = -(" in shown
    assert not any("independent" in warning for warning in found.warnings)
    assert list(found.diffusion) == [("force_v1", "force_v1")]


def test_taken_as_white_the_damping_is_wrong_and_warned_of(coloured):
    white = ito.discover(coloured, LINEAR, order=2, diffusion="constant", seed=1)
    equation = white.drift["v1"]
    k = equation.terms.index("v1")
    assert not equation.interval(0.99)[k, 0] < -1.0 < equation.interval(0.99)[k, 1]
    assert any("independent" in warning for warning in white.warnings)
    assert "forces" not in white.diagnostics


def test_white_forces_are_told(coloured):
    data = displacement(["v1", OWN], ["0", "2"], 4, n_steps=2500)
    result = ito.discover(data, LINEAR, order=2, forcing={"v1": "coloured"}, seed=1)
    assert result.diagnostics["forces"]["v1"]["log_bayes_factor"] < 0.0
    assert any("white forcing describes the recording as well" in warning for warning in result.warnings)


def test_a_peaked_force():
    rows = ["v1", f"{OWN} + u", "w", "-36*u - 1.5*w"]
    data = displacement(rows, ["0", "0", "0", "40"], 5)
    bounds = {"v1": {"x1": (-15, -1)}}  # the two resonances could be exchanged
    result = ito.discover(data, LINEAR, order=2, forcing="peaked", bounds=bounds, seed=1)
    force = result.diagnostics["forces"]["v1"]
    assert force["frequency"] == pytest.approx(6.0 / (2 * np.pi), rel=0.05)
    assert force["low"] < 2.0 / 1.5 < force["high"] and force["log_bayes_factor"] > 50
    assert result.known_drift["force_v1"] == "rate_of_force_v1"
    equation = result.drift["v1"]
    low, high = equation.interval(0.99)[equation.terms.index("x1")]
    assert low < -9.0 < high


def test_saved_simulated_and_asked_again(found, coloured, tmp_path):
    loaded = ito.Discovery.load(found.save(tmp_path / "found"))
    assert str(loaded) == str(found) and loaded.settings["forcing"] == {"v1": "coloured"}
    future = loaded.forecast([0.0, 0.0, 0.0], duration=2.0, seed=1)
    assert np.isfinite(future.mean).all()
    assert found.smoothed().mean[0].shape == (4001, 3)
    again = asked_again(loaded, coloured, 1)
    assert [shaper.kind for shaper in again.shapers] == ["coloured"] and again.states == found.states


def test_the_search_starts_from_several_times(coloured):
    question = Question.of(coloured, Options(library=LINEAR, order=2, forcing="coloured", seed=1))
    among = recorded(question).candidates
    times = [-1.0 / start[next(iter(start))] for start in among.starts]
    assert (
        min(times) < 0.05 < 1.0 < max(times)
        and {column for start in among.starts for column in start} <= among.included
    )
    drift = np.zeros((3, among.n_terms))
    ((row, term),) = among.included
    drift[row, term] = 7.0
    assert among.within(drift)[row, term] == among.bounds[row, term][1] < 0.0
    assert not among.within(0.0 * drift).any()


@pytest.mark.parametrize(
    ("forcing", "message"),
    [
        ("pink", r"forcing = 'pink': one of"),
        ({"x1": "coloured"}, r"forcing = 'x1': a row that is sought: v1"),
        ({"v1": "pink"}, r"forcing\['v1'\] = 'pink'"),
    ],
)
def test_what_cannot_be_asked(coloured, forcing, message):
    with pytest.raises(ItoscopeError, match=message):
        ito.discover(coloured, LINEAR, order=2, forcing=forcing, seed=1)


def test_a_force_beside_a_library_without_a_constant():
    walk = np.random.default_rng(1).standard_normal((40, 2)).cumsum(axis=0)
    found = ito.discover(
        ito.Trajectories(0.05 * walk, dt=0.01), ito.Library.absolute(), forcing={"x1": "coloured"}, n_samples=20,
        n_burn=5, n_chains=2, seed=1, max_rounds=2,
    )  # fmt: skip
    assert found.diffusion["force_x1", "force_x1"].terms == ["1"]
