"""Accelerometers: what they show, alone and beside other sensors, with a zero that is not known."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import get_backend
from itoscope.data.sight import Sight
from itoscope.errors import ArgumentError
from itoscope.fit.channels import at_once, velocities
from itoscope.fit.sensors.kinds import Gathered
from itoscope.fit.sensors.motion import swing

SHORT = dict(order=2, diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
STIFF, DAMPED, GAMMA, STEP = 40.0, 0.8, 3.0, 0.05


def _oscillating(n=1200, seed=0):
    """Places and velocities by exact steps."""
    rng = np.random.default_rng(seed)
    law = np.diag([GAMMA / (2 * DAMPED * STIFF), GAMMA / (2 * DAMPED)])
    values, vectors = np.linalg.eig(np.array([[0.0, 1.0], [-STIFF, -DAMPED]]))
    phi = (vectors @ np.diag(np.exp(values * STEP)) @ np.linalg.inv(vectors)).real
    low = np.linalg.cholesky(law - phi @ law @ phi.T)
    x = [np.sqrt(np.diag(law)) * rng.standard_normal(2)]
    for kick in rng.standard_normal((n - 1, 2)):
        x.append(phi @ x[-1] + low @ kick)
    return np.array(x)


def _accelerations(x, noise=0.5, seed=1):
    shown = np.r_[np.nan, np.diff(x[:, 1]) / STEP]
    return shown + noise * np.random.default_rng(seed).standard_normal(len(x))


def _right(result):
    """The terms, and the true values within intervals of 99 %."""
    drift, gamma = result.drift["v1"], result.diffusion["v1", "v1"]
    held = [low < true < high for (low, high), true in zip(drift.interval(0.99), (0.0, -STIFF, -DAMPED))]
    low, high = gamma.interval(0.99)[0]
    return list(drift.selected) == [False, True, True] and all(held[1:]) and low < GAMMA < high


def _fit(columns, observed, **changed):
    data = ito.Trajectories(np.column_stack(list(columns.values())), dt=STEP, names=list(columns))
    return ito.discover(data, LINEAR, observed=observed, measurement_noise="estimate", **(SHORT | changed))


def test_accelerations_alone_show_the_motion():
    """With a zero that is not known. Taken for places the same readings are another motion."""
    x = _oscillating()
    y = _accelerations(x)
    result = _fit(
        {"acc": y + 7.0}, {"acc": ito.Acceleration("x1")}, offset={"acc": "estimate"}, exclude={"v1": ["1"]}
    )
    assert _right(result)
    assert result.settings["observed"] == ["acceleration(x1)"] and result.states == ("x1", "v1")
    smoothed = result.smoothed()
    for state in (0, 1):
        assert np.corrcoef(smoothed.mean[0][20:, state], x[20:, state])[0, 1] > 0.95
    assert abs(result.diagnostics["offsets"]["acc"]["mean"] - 7.0) < 0.2
    assert np.isnan(smoothed.readings[0][0, 0]) and np.isfinite(smoothed.readings[0][1:]).all()
    assert not _right(_fit({"acc": y}, {"acc": "x1"}))


def test_accelerations_beside_places_at_a_tenth_of_the_rate(tmp_path):
    x = _oscillating(seed=2)
    places = np.where(np.arange(len(x)) % 10 == 0, x[:, 0] + 0.01, np.nan)
    places += 0.01 * np.random.default_rng(3).standard_normal(len(x))
    observed = {"acc": ito.Acceleration("x1"), "place": "x1"}
    result = _fit({"acc": _accelerations(x), "place": places}, observed)
    assert _right(result)
    np.testing.assert_allclose(result.observer.shown, [[0.0, 1.0], [1.0, 0.0]])
    result.save(tmp_path / "acc.json")
    again = ito.Discovery.load(tmp_path / "acc.json").smoothed(result.data)
    np.testing.assert_allclose(again.mean[0], result.smoothed().mean[0], rtol=1e-10, atol=1e-12)


def _forced(n=1500, seed=0):
    """An oscillator under a force that relaxes, and what an accelerometer and a gauge of place show of it."""
    sde = ito.SDE(
        ["v1", f"-{STIFF}*x1 - {DAMPED}*v1 + u", "-2*u"],
        gamma=[["0", "0", "0"], ["0", "0", "0"], ["0", "0", "60"]],
        states=["x1", "v1", "u"],
    )
    path = sde.simulate([0.0, 0.0, 0.0], dt=STEP, n_steps=n, substeps=50, seed=seed).paths[0]
    rng = np.random.default_rng(seed)
    shown = {"acc": path @ [-STIFF, -DAMPED, 1.0], "place": path[:, 0]}
    return {name: y + 0.05 * y.std() * rng.standard_normal(len(y)) for name, y in shown.items()}


def test_an_acceleration_without_white_noise_is_its_value(monkeypatch):
    """Taken for an average over the step, it is read half a step late, and what is left over is not white."""
    observed = {"acc": ito.Acceleration("x1"), "place": "x1"}

    def found():
        result = _fit(_forced(), observed, forcing="coloured", diffusion="full", exclude={"v1": ["1"]})
        drift, force = result.drift["v1"], result.diagnostics["forces"]["v1"]
        bounds = [*drift.interval(0.99)[1:3], (force["low"], force["high"])]
        held = [low < true < high for (low, high), true in zip(bounds, (-STIFF, -DAMPED, 0.5))]
        right = list(drift.selected[:3]) == [False, True, True] and all(held)
        return right, any("innovations of acc are not independent" in said for said in result.warnings)

    assert found() == (True, False)
    monkeypatch.setattr("itoscope.fit.question.at_once", lambda _, __, gathered, ___: dict(gathered))
    assert found()[1]


def test_which_accelerations_have_a_value():
    data = ito.Trajectories(np.zeros((5, 2)), dt=0.5, names=["a", "b"])
    shown = {0: Gathered("acceleration", "x1"), 1: Gathered("average", "x1")}
    velocity = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = at_once(data, velocity, shown, {0})
    assert found[0].window.exposure == pytest.approx(0.005) and found[1] == shown[1]
    assert at_once(data, velocity, shown, {1}) == shown


def test_which_velocities_are_shown():
    stages = get_backend("reference")
    states, known = ["x1", "x2", "v1", "v2"], {"x1": "v1", "x2": "v2"}
    shown = np.array([[-1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    found, ties = velocities(
        ["a", "b"], states, shown, {0: Gathered("acceleration", "x2 - x1")}, known, stages
    )
    np.testing.assert_array_equal(found, [[0.0, 0.0, -1.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(ties > 0.0, [[True] * 4, [True, False, False, False]])
    with pytest.raises(
        ArgumentError, match=r"observed\['b'\] = 'acceleration\(x1\)': an expression of positions"
    ):
        velocities(["a", "b"], states, shown, {1: Gathered("acceleration", "x1")}, {}, stages)


def test_accelerations_of_what_has_no_velocity():
    data = ito.Trajectories(np.random.default_rng(1).standard_normal(40), dt=0.1, names=["acc"])
    with pytest.raises(ArgumentError, match="an expression of positions"):
        ito.discover(data, LINEAR, observed={"acc": ito.Acceleration("x1")})
    with pytest.raises(ArgumentError, match="Acceleration = 3"):
        ito.Acceleration(3)


def test_the_rate_of_swinging():
    y = _oscillating(4000)[:, 1:]
    y[100:120] = np.nan
    assert abs(swing(ito.Trajectories(y, dt=STEP), 0) / np.sqrt(STIFF) - 1.0) < 0.1


def test_what_an_accelerometer_records_of_a_path():
    sight = Sight(("a", "b"), gathered=(1,), differences=(1,))
    path = np.column_stack([np.zeros(9), np.arange(9.0) ** 2])
    found = sight.recorded(path, np.array([0, 4, 8]), np.array([[1.0, 0.0], [0.0, 1.0]]), 0.5)
    np.testing.assert_allclose(found[1:, 1], [16.0 / 2.0, 48.0 / 2.0])
