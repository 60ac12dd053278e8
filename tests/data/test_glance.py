"""What is seen of a recording before a fit, and the call that it leads to."""

import re

import itoscope as ito
import numpy as np
import pytest
from itoscope.cli import main

OSCILLATOR = ito.problems.duffing_van_der_pol()
LINEAR = ito.problems.ornstein_uhlenbeck()


@pytest.fixture(scope="module")
def motion():
    return OSCILLATOR.simulate(duration=1.0, dt=1e-3, n_paths=20, substeps=5, seed=1)


def test_a_noisy_displacement_is_of_second_order_with_noise_to_estimate(motion):
    seen = ito.advise(motion.positions(noise=0.05, seed=2))
    assert seen.settings == {"order": 2, "measurement_noise": "estimate"}
    assert seen.call in str(seen) and "ballistic" in str(seen)


def test_a_rate_beside_its_displacement_is_a_given_row(motion):
    assert ito.advise(motion).settings == {"known_drift": {"x1": "x2"}}
    swapped = ito.Trajectories([path[:, ::-1] for path in motion.paths], dt=motion.dt, names=["v", "x"])
    assert ito.advise(swapped).settings == {"known_drift": {"x": "v"}}


@pytest.mark.parametrize("seed", range(5))
def test_noise_on_a_diffusion_is_estimated_and_none_is_not(seed):
    clean = LINEAR.simulate(duration=200.0, dt=0.01, n_paths=1, substeps=5, seed=seed)
    assert ito.advise(clean).settings == {}
    noise = 0.3 * clean.sd()[0] * np.random.default_rng(seed).standard_normal(clean.paths[0].shape)
    assert ito.advise(clean.paths[0] + noise, dt=0.01).settings == {"measurement_noise": "estimate"}


def test_uneven_steps_and_gaps_are_told():
    times = np.cumsum(np.random.default_rng(1).uniform(0.5, 1.5, 200))
    values = np.sin(times)
    values[20:30] = np.nan
    said = str(ito.advise(ito.Trajectories(values, t=times)))
    assert "steps: 0.5" in said and "10 missing" in said


def test_what_is_no_recording_is_refused():
    with pytest.raises(ito.errors.DataError):
        ito.advise([1.0], dt=0.1)


def test_noise_is_asked_for_where_it_is_there_and_not_by_chance():
    """Clean states of a first-order motion: a constant of the fitted displacement is as often above as below zero."""
    truth = ito.SDE(["-5 x"], [["1"]], ["x"])
    for seed in range(8):
        data = truth.simulate([0.0], dt=0.01, n_steps=3000, substeps=10, seed=seed)
        assert ito.advise(data).settings == {}
    noisy = ito.Trajectories(
        data.paths[0] + 0.06 * np.random.default_rng(1).normal(size=(3001, 1)), dt=0.01, names=["x"]
    )
    seen = ito.advise(noisy)
    assert seen.settings == {"measurement_noise": "estimate"} and "noise: x about 0.06" in str(seen)


def test_what_the_samples_show_of_their_sensor_is_said(tmp_path, capsys):
    made = ito.SDE(["2 + 0.5*sin(x)"], [["1"]], ["x"]).simulate(
        [0.0], dt=0.01, n_steps=20_000, substeps=10, seed=1
    )
    wrapped = ito.Trajectories(np.mod(made.paths[0], 2 * np.pi), dt=0.01, names=["x"])
    assert "angle(x)" in ito.advise(wrapped).call
    coarse = ito.Trajectories(0.2 * np.round(made.paths[0] / 0.2), dt=0.01, names=["x"])
    seen = ito.advise(coarse)
    assert "quantised: x lies on a grid of 0.2" in str(seen)
    assert seen.settings in ({"resolution": {"x": 0.2}}, {})
    path = tmp_path / "angle.csv"
    np.savetxt(
        path, np.column_stack([wrapped.times[0], wrapped.paths[0]]), delimiter=",", header="t,x", comments=""
    )
    assert main(["look", str(path)]) == 0
    assert "--sensor 'x=angle(x)'" in capsys.readouterr().out


def test_velocities_that_somebody_smoothed_are_left_out_of_the_call(tmp_path, capsys):
    rows = ito.SDE(["v", "-4*x - v/2"], [["0"], ["1"]], ["x", "v"])
    made = rows.simulate([0.0, 0.0], dt=0.02, n_steps=19_999, substeps=10, seed=1)
    x = made.paths[0][:, 0] + 0.005 * np.random.default_rng(1).normal(size=20_000)
    v = np.convolve(np.gradient(x, 0.02), np.ones(7) / 7, "same")
    data = ito.Trajectories(np.stack([x, v], axis=1)[10:-10], dt=0.02, names=["x", "v"])
    seen = ito.advise(data)
    assert seen.call == "itoscope.discover(data.select(['x']), order=2)"
    path = tmp_path / "made.csv"
    np.savetxt(
        path, np.column_stack([data.times[0], data.paths[0]]), delimiter=",", header="t,x,v", comments=""
    )
    assert main(["look", str(path)]) == 0
    assert "made.csv --columns x --order 2" in capsys.readouterr().out


def _run(drift, dt, n, seed, noise="1", start=0.0):
    states = ["x", "v"][: len(drift)]
    g = [["0"]] * (len(drift) - 1) + [[noise]]
    return ito.SDE(drift, g, states).simulate(
        [start, 0.0][: len(drift)], dt=dt, n_steps=n, substeps=max(10, int(30 * dt)), seed=seed
    )


def _line(seen, start):
    return next((line for line in str(seen).splitlines() if line.startswith(start)), "")


def test_samples_in_a_period_or_in_a_relaxation_time_are_told_with_their_unit():
    ringing = _run(["v", "-x - 0.2*v"], 0.1, 8000, 1)
    seen = ito.advise(ito.Trajectories(ringing.paths[0][:, :1], dt=0.1, time_unit="s", names=["x"]))
    assert seen.pace["x"].rings and seen.pace["x"].samples == pytest.approx(62.8, rel=0.05)
    assert re.fullmatch(r"pace: x has about 6\d samples in a period of 6\.\d s", _line(seen, "pace:"))
    forgets = ito.advise(_run(["-2*x"], 0.02, 20_000, 1))
    assert not forgets.pace["x"].rings and forgets.pace["x"].samples == pytest.approx(25, rel=0.15)
    assert "samples in its relaxation time" in _line(forgets, "pace:")
    walk = np.cumsum(np.random.default_rng(1).standard_normal(3000))
    assert "does not settle" in _line(ito.advise(walk, dt=1.0), "pace:")


def test_too_few_samples_are_told_and_far_too_many():
    blind = ito.advise(_run(["-x"], 0.7, 4000, 1))
    assert "too few to tell the shape of a drift" in _line(blind, "pace:")
    assert blind.settings == {}  # what a coarse step looks like is no noise, and the fit sees to the scheme
    few = ito.advise(_run(["v", "-x - 0.2*v"], 0.5, 4000, 1))
    assert few.settings == {"known_drift": {"x": "v"}, "scheme": "filter"}
    assert "too few for a regression" in _line(few, "pace:")
    many = ito.advise(_run(["-x"], 1 / 3000, 150_000, 1))
    assert many.pace["x"].thin > 1 and f"data.thin({many.pace['x'].thin})" in _line(many, "pace:")
    for dt, drift in ((0.05, ["-x"]), (0.1, ["v", "-x - 0.2*v"])):
        assert "too few" not in str(right := ito.advise(_run(drift, dt, 4000, 1)))
        assert "thin(" not in str(right)


def _set(drifts, dt=0.05, noise=None, ids=None):
    paths = [
        _run(drift, dt, 4000, k + 1, noise[k] if noise else "1").paths[0][:, :1]
        for k, drift in enumerate(drifts)
    ]
    return ito.Trajectories(paths, dt=dt, names=["x"])


def test_recordings_that_differ_are_named_with_what_to_let_vary():
    seen = ito.advise(_set([["-x"]] * 6 + [["2 - x"]]))
    assert "x differs in its mean in recording 6 from the others" in str(seen)
    assert seen.settings == {"vary": {"x": ["1"]}}
    assert ito.advise(_set([[f"-{k}*x"] for k in (0.6, 1, 1.6, 2.5, 4)])).settings == {"vary": {"x": ["x"]}}
    noisier = ito.advise(_set([["-x"]] * 5, noise=["1", "1", "2", "1", "1"]))
    assert "spread in recording 2" in str(noisier) and "discover_many(data)" in str(noisier)
    assert noisier.settings == {}
    two = ito.advise(_set([["-x"], ["2 - x"]]))
    assert "differs in its mean" in str(two) and two.settings == {}  # a spread is told by three
    rings = ito.advise(_set([["v", f"{c} - x - 0.4*v"] for c in (0, 0, 3, 0)], dt=0.1))
    assert rings.settings["vary"] == {"v1": ["1"]} and rings.settings["order"] == 2


def test_recordings_of_one_system_are_alike():
    for seed in range(3):
        linear = ito.SDE(["-x"], [["1"]], ["x"]).simulate(
            [0.0], dt=0.05, n_steps=4000, n_paths=8, substeps=5, seed=seed
        )
        seen = ito.advise(linear)
        assert "alike in mean, spread and time scale of x" in str(seen) and seen.settings == {}
    walks = np.cumsum(np.random.default_rng(1).standard_normal((8, 2000, 1)), axis=1)
    assert not ito.advise(walks, dt=1.0).alike.asked  # what does not settle is not compared


def test_the_offset_is_told_always_and_what_follows_where_it_is_far():
    near, far = (
        ito.advise(_run(["-x"], 0.05, 4000, 1)),
        ito.advise(_run(["50 - x"], 0.05, 4000, 1, start=50.0)),
    )
    assert _line(near, "offset:").endswith("standard deviations from zero")
    assert "about the mean if the data say so" in _line(far, "offset:")


def test_times_that_were_given_are_no_equal_steps():
    times = np.cumsum(np.random.default_rng(1).uniform(0.5, 1.5, 200))
    assert "equal steps" not in str(ito.advise(ito.Trajectories(np.sin(times / 5), t=times)))


def test_look_names_what_varies_for_the_shell(tmp_path, capsys):
    path = tmp_path / "sets.csv"
    _set([["-x"]] * 6 + [["2 - x"]]).to_csv(path)
    assert main(["look", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "sets.csv --vary x=1" in printed and "recording 6" in printed
