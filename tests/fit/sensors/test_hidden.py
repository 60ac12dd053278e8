"""Zeros of sensors that are not known: constants and random walks, beside the same data taken as they are."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.hidden import hidden_of
from itoscope.fit.sensors.kinds import Gathered

SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
LINEAR = ito.Library.polynomials(1)
RATE, GAMMA, STEP = 1.5, 0.8, 0.05


def _relaxing(n=1500, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    decay, spread = np.exp(-RATE * STEP), np.sqrt(GAMMA / (2 * RATE))
    x = [spread * rng.standard_normal()]
    for kick in spread * np.sqrt(1.0 - decay**2) * rng.standard_normal(n - 1):
        x.append(decay * x[-1] + kick)
    return np.array(x) + noise * rng.standard_normal(n)


def _fit(y, kind, **changed):
    data = ito.Trajectories(y, dt=STEP, names=["gauge"])
    asked = {"observed": {"gauge": "x1"}, "offset": {"gauge": kind} if kind else None}
    return ito.discover(data, LINEAR, **asked, **(SHORT | changed))


def _holds(result):
    rate, gamma = result.drift["x1"].interval(0.99)[1], result.diffusion["x1", "x1"].interval(0.99)[0]
    return bool(rate[0] < -RATE < rate[1]) and bool(gamma[0] < GAMMA < gamma[1])


def test_a_zero_far_away_is_found():
    """The motion is that of the same data about their own zero; taken as they are they have no zero to relax to."""
    y = _relaxing()
    result = _fit(y + 100.0, "estimate")
    assert list(result.drift["x1"].selected) == [False, True] and _holds(result)
    zero = result.diagnostics["offsets"]["gauge"]
    assert abs(zero["mean"] - 100.0) < 4 * zero["sd"] and zero["rate"] is None
    assert "offset of gauge: 99.9" in str(result) or "offset of gauge: 100" in str(result)
    assert list(_fit(y + 100.0, None).drift["x1"].selected) == [True, True]
    assert result.settings["offset"] == {"gauge": "estimate"} and result.states == ("x1",)


def test_every_path_has_a_zero_of_its_own():
    y = [_relaxing(500, seed) + off for seed, off in enumerate((-3.0, 0.0, 4.0))]
    result = ito.discover(
        ito.Trajectories(y, dt=STEP, names=["gauge"]), LINEAR, observed={"gauge": "x1"},
        offset={"gauge": "estimate"}, **SHORT,
    )  # fmt: skip
    found = [path[0] for path in result.smoothed().offsets["gauge"]]
    np.testing.assert_allclose(found, [-3.0, 0.0, 4.0], atol=0.5)
    assert _holds(result)


def test_a_zero_that_moves_is_followed(tmp_path):
    y = _relaxing(2500, 1)
    away = np.sin(np.arange(len(y)) * 2 * np.pi / 1200)
    result = _fit(y + away, "drift")
    assert _holds(result)
    smoothed = result.smoothed()
    assert np.corrcoef(smoothed.offsets["gauge"][0], away)[0, 1] > 0.8
    # what the gauge would show is where the state is and the zero
    together = smoothed.mean[0][:, 0] + smoothed.offsets["gauge"][0]
    np.testing.assert_allclose(smoothed.readings[0][:, 0], together, atol=1e-9)
    assert (smoothed.readings_sd[0] < smoothed.sd[0]).all()
    result.save(tmp_path / "gauge.json")
    again = ito.Discovery.load(tmp_path / "gauge.json").smoothed(result.data)
    np.testing.assert_allclose(again.offsets["gauge"][0], smoothed.offsets["gauge"][0], rtol=1e-10)
    assert not _holds(_fit(y + away, None))


def test_a_zero_that_goes_smoothly_takes_nothing_of_the_motion(tmp_path):
    """A wave of two thirds of the motion: with its rate as a state, noise of sensor and path are as without it."""
    rng = np.random.default_rng(0)
    k, c, gamma, dt = 40.0, 0.8, 3.0, 0.05
    sde = ito.SDE(["v1", f"-{k}*x1 - {c}*v1"], gamma=[["0", "0"], ["0", str(gamma)]], states=["x1", "v1"])
    x = sde.simulate([0.0, 0.0], dt=dt, n_steps=2000, substeps=50, seed=4).paths[0][:, 0]
    y = x + 0.05 * x.std() * rng.standard_normal(len(x))
    wave = x.std() * np.sin(np.arange(len(x)) * 2 * np.pi / 700)
    asked = {"order": 2, "exclude": {"v1": ["1"]}} | SHORT

    def of(values, kind):
        data = ito.Trajectories(values, dt=dt, names=["gauge"])
        offset = {"gauge": kind} if kind else None
        found = ito.discover(data, LINEAR, observed={"gauge": "x1"}, offset=offset, **asked)
        return found, np.array([found.measurement_noise**2, found.diffusion["v1", "v1"].mean[0]])

    slow, without = of(y + wave, "slow"), of(y, None)
    np.testing.assert_allclose(slow[1] / without[1], 1.0, atol=0.07)
    assert of(y + wave, "drift")[1][0] < 0.85 * without[1][0]
    drift = slow[0].drift["v1"]
    for term, true in (("x1", -k), ("v1", -c)):
        low, high = drift.interval(0.99)[drift.terms.index(term)]
        assert low < true < high
    smoothed = slow[0].smoothed()
    assert smoothed.names == ("x1", "v1")
    assert np.corrcoef(smoothed.offsets["gauge"][0], wave)[0, 1] > 0.95
    assert "its rate drifts by" in str(slow[0])
    slow[0].save(tmp_path / "gauge.json")
    again = ito.Discovery.load(tmp_path / "gauge.json").smoothed(slow[0].data)
    np.testing.assert_allclose(again.offsets["gauge"][0], smoothed.offsets["gauge"][0], rtol=1e-8)


def test_a_simulated_recording_has_the_zero_of_the_data():
    from itoscope.result.likeness import likenesses

    result = _fit(_relaxing(600) + 50.0, "estimate")
    (made,) = likenesses(result, result.data, 1, 3, posterior=False)
    assert abs(np.mean(made.paths[0]) - 50.0) < 1.0


def test_states_of_sensors():
    found = hidden_of(
        ["a", "b", "c"], np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
        {0: Gathered("average", "x1"), 1: Gathered("acceleration", "x1")}, {0: "estimate", 1: "drift", 2: "drift"}, 0.5,
    )  # fmt: skip
    assert found.drift == {
        "sum_of_a": "x1 + offset_of_a", "before_b": "-offset_of_b",
        "offset_of_a": "0", "offset_of_b": "0", "offset_of_c": "0",
    }  # fmt: skip
    np.testing.assert_array_equal(
        found.observation, [[0, 0, 2, 0, 0, 0, 0], [0, 2, 0, -2, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1]]
    )
    np.testing.assert_array_equal(found.resets[0][2:4], [[0] * 7, [0, 1, 0, 0, 0, 0, 0]])
    assert found.zeros == {0: 4, 1: 5, 2: 6} and found.drifting == {1: 5, 2: 6}


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        ({"y": "drift"}, "offset = 'y': a column of the data: gauge"),
        ({"gauge": "much"}, r"offset\['gauge'\] = 'much'"),
        ("drift", "offset = 'drift': columns and the kind"),
    ],
)
def test_offsets_that_are_none(offset, words):
    data = ito.Trajectories(_relaxing(50), dt=STEP, names=["gauge"])
    with pytest.raises(ArgumentError, match=words):
        ito.discover(data, LINEAR, observed={"gauge": "x1"}, offset=offset)
