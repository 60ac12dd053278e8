"""What is seen of a recording before a fit, and the call that it leads to."""

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
    assert seen.settings == {"measurement_noise": "estimate"} and "measurement noise: x carries" in str(seen)


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
