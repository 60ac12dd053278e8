"""Averages over the step: with and without noise, of even and uneven steps, beside the same data taken for places."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.data.sight import Sight
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.kinds import Gathered, sensors_of, shown

LINEAR = ito.Library.polynomials(1)
SHORT = dict(diffusion="constant", n_chains=2, n_samples=200, n_burn=50, seed=1)
FINE, RATE, GAMMA = 50, 1.0, 2.0


def _filmed(steps, noise=0.0, seed=5):
    """Averages of a relaxing state over given steps, from exact places at a fiftieth of each."""
    rng = np.random.default_rng(seed)
    spread, x, found = np.sqrt(GAMMA / (2 * RATE)), 0.0, []
    for step in steps:
        decay = np.exp(-RATE * step / FINE)
        kicks = spread * np.sqrt(1.0 - decay**2) * rng.standard_normal(FINE)
        places = [x]
        for kick in kicks:
            places.append(decay * places[-1] + kick)
        x = places[-1]
        found.append((np.sum(places) - 0.5 * (places[0] + x)) / FINE)
    return np.array(found) + noise * rng.standard_normal(len(steps))


def _of(result):
    drift, gamma = result.drift["x1"], result.diffusion["x1", "x1"]
    return drift.interval(0.95)[1], gamma.interval(0.95)[0]


def test_what_a_text_shows():
    assert shown("x2 - x1") == ("x2 - x1", None)
    assert shown(" average(x2 - x1) ") == ("x2 - x1", Gathered("average", "x2 - x1"))
    assert sensors_of(["x1", "average(x1)"]) == (["x1", "x1"], {1: Gathered("average", "x1")})
    assert sensors_of(["acceleration(x1)"]) == (["x1"], {0: Gathered("acceleration", "x1")})
    assert sensors_of(None) == (None, {})


@pytest.mark.parametrize(
    "wrong", [lambda: ito.Average(3), lambda: ito.Average(""), lambda: ito.Average("x1", 0.0)]
)
def test_averages_that_are_none(wrong):
    with pytest.raises(ArgumentError, match=r"Average|exposure"):
        wrong()


def test_what_is_recorded_of_a_path():
    sight = Sight(("a", "b"), gathered=(1,))
    ramp = np.arange(9.0)[:, None]
    found = sight.recorded(ramp, np.array([0, 4, 8]), np.ones((2, 1)))
    np.testing.assert_allclose(found, [[0.0, 0.0], [4.0, 2.0], [8.0, 6.0]])


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_an_average_is_no_place(noise):
    """The intervals hold rate and Gamma; taken for places both come out far too small."""
    data = ito.Trajectories(_filmed(np.full(2500, 0.4), noise), dt=0.4, names=["bead"])
    asked = SHORT | {"measurement_noise": "estimate" if noise else 0.0}
    told = ito.discover(data, LINEAR, observed={"bead": ito.Average("x1")}, **asked)
    rate, gamma = _of(told)
    assert rate[0] < -RATE < rate[1] and gamma[0] < GAMMA < gamma[1]
    rate, gamma = _of(ito.discover(data, LINEAR, observed={"bead": "x1"}, **asked))
    assert rate[0] > -0.9 * RATE and gamma[1] < 0.9 * GAMMA
    assert told.settings["observed"] == ["average(x1)"] and told.states == ("x1",)


def test_averages_over_uneven_steps(tmp_path):
    steps = np.random.default_rng(2).choice([0.2, 0.5], 2000)
    data = ito.Trajectories(_filmed(steps), t=np.cumsum(steps), names=["bead"])
    result = ito.discover(data, LINEAR, observed={"bead": "average(x1)"}, measurement_noise=0.0, **SHORT)
    rate, gamma = _of(result)
    assert rate[0] < -RATE < rate[1] and gamma[0] < GAMMA < gamma[1]
    np.testing.assert_allclose(result.observer.shown, [[1.0]])
    result.save(tmp_path / "film.json")
    again = ito.Discovery.load(tmp_path / "film.json").smoothed(data)
    np.testing.assert_allclose(again.mean[0], result.smoothed().mean[0], rtol=1e-12)
    assert again.mean[0].shape == (2000, 1)


def test_an_exact_place_and_an_exact_average_are_two_things():
    x = np.random.default_rng(1).normal(size=(400, 1)).cumsum(axis=0)
    data = ito.Trajectories(np.hstack([x, x]), dt=0.1, names=["a", "b"])
    with pytest.raises(ArgumentError, match="none follows"):
        ito.discover(data, LINEAR, observed={"a": "x1", "b": "x1"}, measurement_noise=0.0, **SHORT)
    both = {"a": "x1", "b": ito.Average("x1")}
    found = ito.discover(data, LINEAR, observed=both, measurement_noise=0.0, max_rounds=1, **SHORT)
    assert found.states == ("x1",)
