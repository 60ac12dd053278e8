"""Angles that wrap: a motor with and without noise beside the same data taken as they are, pendulums, advice; what
leads behind the filter through gaps, noise and fast turning."""

from unittest import mock

import itoscope as ito
import numpy as np
import pytest
from itoscope.data.angles import Circle, unwrapped
from itoscope.errors import ArgumentError
from itoscope.fit.sensors.angles import harmonics, pieces_of

SHORT = dict(n_chains=2, n_samples=300, n_burn=100, seed=1)
MOTOR = ito.SDE(["1 + 0.5*sin(theta)"], [["0.5"]], ["theta"])


def _turning(noise=0.0, n=4000, seed=1, period=2 * np.pi, low=0.0):
    x = MOTOR.simulate([0.3], dt=0.02, n_steps=n, substeps=20, seed=seed).paths[0][:, 0]
    y = (x + noise * np.random.default_rng(seed).standard_normal(len(x))) * period / (2 * np.pi)
    return ito.Trajectories(low + np.mod(y - low, period), dt=0.02, names=["theta"])


def _holds(result, scale=1.0, term="sin(theta)"):
    drift = result.drift["theta"]
    chosen = {t for t, z in zip(drift.terms, drift.selected) if z}
    interval = dict(zip(drift.terms, drift.interval(0.99)))
    low, high = result.diffusion["theta", "theta"].interval(0.99)[0]
    inside = interval["1"][0] < scale < interval["1"][1]
    inside &= interval[term][0] < 0.5 * scale < interval[term][1]
    return chosen == {"1", term} and bool(inside) and bool(low < 0.25 * scale**2 < high)


@pytest.mark.parametrize("noise", [0.0, 0.09])
def test_a_motor_is_found_with_nothing_to_unwrap(noise, tmp_path):
    data = _turning(noise)
    asked = {"measurement_noise": "estimate" if noise else None, **SHORT}
    result = ito.discover(data, observed={"theta": ito.Angle("theta")}, **asked)
    assert _holds(result) and not [check for check in result.diagnostics["checks"] if check["fired"]]
    assert result.settings["scheme"] == ("filter" if noise else "trapezoid")
    assert result.settings["observed"] == ["angle(theta)"] and result.settings["library"][:3] == [
        "1", "sin(theta)", "cos(theta)",
    ]  # fmt: skip
    # as they are, with the same terms, the data show another motion
    same = ito.Library.expressions(*result.settings["library"])
    assert not _holds(ito.discover(data, same, **asked))
    # a recording that wraps may be shown to the result again
    result.save(tmp_path / "motor.json")
    again = ito.Discovery.load(tmp_path / "motor.json").with_data(data)
    assert not [check for check in again.check() if check["fired"]]
    np.testing.assert_allclose(again.data.paths[0], result.data.paths[0], rtol=1e-12)


def test_an_angle_in_degrees_about_zero():
    data = _turning(period=360.0, low=-180.0)
    result = ito.discover(data, observed={"theta": "angle(theta, 360)"}, **SHORT)
    scale, term = 180 / np.pi, "sin(pi theta/180)"
    assert term in result.drift["theta"].terms and _holds(result, scale, term)
    assert result.circles["theta"] == (360.0, -180.0)


def test_a_period_that_is_not_that_of_the_jumps_is_refused():
    with pytest.raises(ArgumentError, match=r"observed\['theta'\] = 'angle\(theta\)': .*angle\(theta, 360\)"):
        ito.discover(_turning(period=360.0, n=1500), observed={"theta": "angle(theta)"}, **SHORT)
    # where a half turn is the same place, readings over a whole one are as good
    half = ito.discover(_turning(period=360.0, n=1500), observed={"theta": "angle(theta, 180)"}, **SHORT)
    assert "sin(pi theta/90)" in half.drift["theta"].terms


def test_forecasts_are_wrapped():
    result = ito.discover(_turning(), observed={"theta": ito.Angle("theta")}, **SHORT)
    found = result.forecast([6.0], duration=4.0, n_paths=50, seed=1)
    assert found.mean.min() >= 0.0 and found.mean.max() < 2 * np.pi
    low, high = found.bands[0.9][:, 0].T
    assert ((high - low) < 2 * np.pi).all() and (high > found.mean[:, 0])[1:].all()
    # it went through the end of the circle, which no line is drawn across
    assert np.isnan(found._broken()[0]).any() and found.paths.paths[0].max() > 7.0
    for line in np.atleast_1d(result.plot.forecast(seed=1)).flat[0].get_lines():
        y = np.asarray(line.get_ydata(), dtype=float)
        assert np.nanmax(np.abs(np.diff(y))) < np.pi and np.nanmax(y) < 2 * np.pi + 1e-9


def test_smoothed_angles_have_no_jumps_and_their_picture_is_wrapped():
    result = ito.discover(
        _turning(0.09, 1500), observed={"theta": ito.Angle("theta")}, measurement_noise=0.09, **SHORT
    )
    mean = result.smoothed().mean[0][:, 0]
    assert np.abs(np.diff(mean)).max() < 1.0 and mean.max() > 4 * np.pi
    for line in np.atleast_1d(result.plot.states()).flat[0].get_lines():
        y = np.asarray(line.get_ydata(), dtype=float)
        assert np.nanmin(y) >= -1e-9 and np.nanmax(y) < 2 * np.pi + 1e-9


@pytest.mark.parametrize("period", [2 * np.pi, 360.0])
def test_the_advice_on_an_angle_makes_the_call(period):
    result = ito.discover(_turning(period=period), **SHORT)
    text = "angle(theta)" if period < 7 else "angle(theta, 360)"
    (advice,) = result.advice
    assert advice.arguments == {"observed": {"theta": text}} and text in advice.sentence
    tried = result.try_advice(0)
    term = "sin(theta)" if period < 7 else "sin(pi theta/180)"
    assert _holds(tried.result, period / (2 * np.pi), term) and tried.after > tried.before + 100
    # a library of one's own is kept
    own = ito.discover(_turning(), ito.Library.polynomials(1) + ito.Library.trig(1), **SHORT)
    assert "theta" in own.try_advice(0).result.settings["library"]


def test_a_pendulum_that_goes_over_the_top_from_its_angle_alone():
    model = ito.SDE(["v1", "-9*sin(x1) - 0.5*v1"], gamma=[["0", "0"], ["0", "16"]], states=["x1", "v1"])
    x = model.simulate([0.0, 0.0], dt=0.02, n_steps=6000, substeps=20, seed=2).paths[0][:, 0]
    assert np.ptp(x) > 4 * np.pi
    y = x + 0.02 * np.random.default_rng(3).standard_normal(len(x))
    data = ito.Trajectories(np.mod(y + np.pi, 2 * np.pi) - np.pi, dt=0.02, names=["x1"])
    result = ito.discover(data, order=2, observed={"x1": ito.Angle("x1")}, diffusion="constant", **SHORT)
    drift = result.drift["v1"]
    assert {t for t, z in zip(drift.terms, drift.selected) if z} == {"sin(x1)", "v1"}
    for term, true in (("sin(x1)", -9.0), ("v1", -0.5)):
        low, high = drift.interval(0.99)[drift.terms.index(term)]
        assert low < true < high


def test_harmonics():
    assert harmonics(["a", "v"], {"a": Circle(2 * np.pi, 0.0)}, 2).terms(["a", "v"]) == [
        "1", "v", "sin(a)", "cos(a)", "v^2", "sin(a) v", "cos(a) v", "sin(2 a)", "cos(2 a)",
    ]  # fmt: skip
    assert harmonics(["a"], {"a": Circle(1.0, 0.0)}, 1).terms(["a"])[1] == "sin(2 pi a)"
    # axes without a direction turn by half a turn, cranks of four strokes by two
    assert harmonics(["a"], {"a": Circle(np.pi, 0.0)}, 1).terms(["a"])[1] == "sin(2 a)"
    assert harmonics(["a"], {"a": Circle(4 * np.pi, 0.0)}, 1).terms(["a"])[1] == "sin(a/2)"


def test_turns_that_nobody_can_count_are_said():
    walk = np.cumsum(1.5 * np.random.default_rng(1).standard_normal(800)) + 0.1 * np.arange(800)
    data = ito.Trajectories(np.mod(walk, 2 * np.pi), dt=1.0, names=["theta"])
    result = ito.discover(data, observed={"theta": ito.Angle("theta")}, **SHORT)
    assert "turns are counted wrongly" in result.warnings[0]


def test_angles_beside_other_states():
    """Columns that are states in an order of their own stay measured."""
    x = MOTOR.simulate([0.3], dt=0.02, n_steps=1500, substeps=10, seed=4).paths[0][:, 0]
    z = np.cumsum(0.1 * np.random.default_rng(1).standard_normal(len(x)))
    data = ito.Trajectories(np.column_stack([np.mod(x, 2 * np.pi), z]), dt=0.02, names=["theta", "a"])
    result = ito.discover(data, observed={"theta": ito.Angle("theta")}, diffusion="diagonal", **SHORT)
    assert result.states == ("theta", "a") and result.settings["scheme"] == "trapezoid"
    assert "a^3" in result.settings["library"] and "sin(2 theta) a" in result.settings["library"]


@pytest.mark.parametrize("wrong", [lambda: ito.Angle(3), lambda: ito.Angle("x", 0.0), lambda: ito.Angle("")])
def test_angles_that_are_none(wrong):
    with pytest.raises(ArgumentError, match=r"Angle|period"):
        wrong()


def test_texts_that_are_none():
    with pytest.raises(ArgumentError, match="a positive period"):
        ito.discover(_turning(n=300), observed={"theta": "angle(theta, nothing)"}, **SHORT)


def _gaps(y, gap=40):
    for start in range(100, len(y), 200):
        y[start : start + gap] = np.nan
    return y


def _counted(call):
    """The same fit with turns that are counted before it, and nothing else."""
    with mock.patch("itoscope.fit.question.Question.periods", {}):
        return call()


def test_a_slow_angle_keeps_its_answer():
    data = _turning(0.09, 1500)
    asked = dict(observed={"theta": ito.Angle("theta")}, measurement_noise="estimate", **SHORT)
    result, counted = ito.discover(data, **asked), _counted(lambda: ito.discover(data, **asked))
    np.testing.assert_array_equal(result.drift["theta"].mean, counted.drift["theta"].mean)
    np.testing.assert_array_equal(
        result.diffusion["theta", "theta"].mean, counted.diffusion["theta", "theta"].mean
    )
    assert (
        result.diagnostics["loglik"] == counted.diagnostics["loglik"] and result.warnings == counted.warnings
    )


def test_the_model_leads_where_noise_and_gaps_spoil_the_count(tmp_path):
    """Errors of a tenth of a turn: a turn in a thousand is counted wrongly, and all that comes after is off by it."""
    x = MOTOR.simulate([0.3], dt=0.2, n_steps=2000, substeps=20, seed=1).paths[0][:, 0]
    y = _gaps(np.mod(x + 0.2 * np.pi * np.random.default_rng(1).standard_normal(len(x)), 2 * np.pi))
    data = ito.Trajectories(y, dt=0.2, names=["theta"])
    asked = dict(
        observed={"theta": ito.Angle("theta")}, measurement_noise="estimate", diffusion="constant", **SHORT
    )
    result, counted = ito.discover(data, **asked), _counted(lambda: ito.discover(data, **asked))
    assert _holds(result) and not _holds(counted)
    (said,) = [text for text in result.warnings if "turns" in text]
    assert said.startswith("theta: between 1 pairs") and "next to each other)" in said
    off = [np.round((one.smoothed().mean[0][:, 0] - x) / (2 * np.pi)) for one in (result, counted)]
    assert np.ptp(off[0]) == 0.0 and np.ptp(off[1]) == 1.0
    result.save(tmp_path / "motor.json")
    again = ito.Discovery.load(tmp_path / "motor.json")
    assert again.observer.periods == (2 * np.pi,)
    np.testing.assert_allclose(again.smoothed(data).mean[0], result.smoothed().mean[0], rtol=1e-12)


def _thrown(rate, n, seed=1, dt=0.2):
    """A driven pendulum that turns over by so many turns a sample: angle, rate, and the angle without turns."""
    turn = 2 * np.pi
    drift = ["v1", f"-4*sin(x1) - 0.5*v1 + {0.5 * rate * turn / dt!r}"]
    model = ito.SDE(drift, gamma=[["0", "0"], ["0", "4"]], states=["x1", "v1"])
    x = model.simulate([0.0, rate * turn / dt], dt=dt, n_steps=n, substeps=50, seed=seed).paths[0]
    rng = np.random.default_rng(seed)
    angle = np.mod(x[:, 0] + 0.1 * turn * rng.standard_normal(len(x)), turn)
    y = _gaps(np.column_stack([angle, x[:, 1] + 0.5 * rng.standard_normal(len(x))]), 20)
    return ito.Trajectories(y, dt=dt, names=["a", "w"]), x[:, 0]


def test_readings_of_the_rate_tell_turns_that_the_count_cannot():
    """Seven tenths of a turn a sample look like three tenths backwards."""
    data, x = _thrown(0.7, 700)
    library = ito.Library.expressions("1", "v1", "sin(x1)", "cos(x1)")
    asked = dict(
        order=2, measurement_noise="estimate", diffusion="constant", noise_law={"a": "outliers"}, **SHORT
    )
    result = ito.discover(data, library, observed={"a": ito.Angle("x1"), "w": "v1"}, **asked)
    drift = result.drift["v1"]
    low, high = drift.interval(0.99)[drift.terms.index("sin(x1)")]
    assert low < -4.0 < high < 0.0
    (said,) = [text for text in result.warnings if "number of turns" in text]
    assert "it goes by 0.69 of 6.283 from sample to sample" in said or "it goes by 0.7 of" in said
    off = np.round((result.smoothed().mean[0][:, 0] - x) / (2 * np.pi))[np.isfinite(data.paths[0][:, 0])]
    assert np.count_nonzero(np.diff(off)) <= 4  # gaps of fourteen turns, no other step
    assert len(result.outliers) < 10  # readings are beside the state on its circle
    for line in np.atleast_1d(result.plot.sensors()).flat[0].get_lines():
        y = np.asarray(line.get_ydata(), dtype=float)
        assert np.nanmin(y) >= -1e-9 and np.nanmax(y) < 2 * np.pi + 1e-9


def test_an_angle_alone_does_not_tell_fast_turning():
    """Even readings of an angle are those of a motor a turn a sample slower: nothing is said of what nobody can see."""
    rng = np.random.default_rng(2)
    theta = 0.7 * 2 * np.pi * np.arange(600) + np.cumsum(0.1 * rng.standard_normal(600))
    theta += 0.1 * rng.standard_normal(600)
    data = ito.Trajectories(np.mod(theta, 2 * np.pi), dt=1.0, names=["theta"])
    result = ito.discover(
        data,
        ito.Library.expressions("1"),
        observed={"theta": ito.Angle("theta")},
        measurement_noise="estimate",
        **SHORT,
    )
    assert result.drift["theta"].mean[0] == pytest.approx(-0.3 * 2 * np.pi, abs=0.02)
    assert not [text for text in result.warnings if "turns" in text]


def test_steps_of_the_filter_are_short_beside_the_circle():
    data, observation = _thrown(0.7, 400)[0], np.eye(2)
    periods = {"a": 2 * np.pi}
    counted = unwrapped(data, periods)
    assert pieces_of(counted, observation, periods, {0: 1}) == 7
    assert pieces_of(counted, observation, periods, {}) == 3  # by the count, which has it backwards
    assert pieces_of(counted, 2.0 * observation, {"a": 4 * np.pi}, {0: 1}) == 4
    slow = _turning(n=300)
    assert pieces_of(slow, np.eye(1), {"theta": 2 * np.pi}, {}) == 1
