"""Whether raw displacements are recognised as diffusive or ballistic, and what is not recognisable as such."""

import itoscope as ito
import numpy as np
import pytest

OSCILLATORS = {
    "duffing_van_der_pol": {"duration": 1.0, "dt": 1e-3, "n_paths": 20},
    "two_storey_building": {"duration": 1.0, "dt": 1e-3, "n_paths": 20},
    "van_der_pol": {"duration": 20.0, "dt": 5e-3, "n_paths": 5},
}


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("name", OSCILLATORS)
def test_positions_of_oscillators_are_ballistic(name, noise):
    data = getattr(ito.problems, name)().simulate(seed=1, substeps=5, **OSCILLATORS[name])
    assert ito.classify_order(data.positions(noise=noise, seed=2)).order == 2


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("name", ["ornstein_uhlenbeck", "double_well"])
def test_states_driven_by_noise_are_diffusive(name, noise):
    data = getattr(ito.problems, name)().simulate(duration=20.0, dt=1e-2, n_paths=5, substeps=5, seed=1)
    answer = ito.classify_order(data.add_noise(noise, seed=2))
    assert answer.order == 1
    assert "diffusive" in answer.reason


def position(period, damping, n, paths=1, seed=3):
    """Positions of an oscillator of so many samples a period."""
    w = 2 * np.pi / period
    sde = ito.SDE(["v", f"-{w * w}*x - {2 * damping * w}*v"], [["0"], [str(w)]], ["x", "v"])
    data = sde.simulate(
        [0.0, 0.0], dt=1.0, n_steps=n + 100, n_paths=paths, substeps=20, scheme="taylor15", seed=seed
    )
    return ito.Trajectories([x[100:, :1] for x in data.paths], dt=1.0)


def state(rate, n, paths=1, seed=3):
    """A state that forgets at this rate."""
    sde = ito.SDE([f"-{rate}*x"], [["1"]], ["x"])
    data = sde.simulate(
        [0.0], dt=1.0, n_steps=n + 100, n_paths=paths, substeps=20, scheme="taylor15", seed=seed
    )
    return ito.Trajectories([x[100:] for x in data.paths], dt=1.0)


def with_gaps(data):
    rng, found = np.random.default_rng(5), []
    for path in data.paths:
        x = path.copy()
        for start in rng.integers(0, len(x), size=len(x) // 50):
            x[start : start + 10] = np.nan
        found.append(x)
    return ito.Trajectories(found, dt=1.0)


def ragged(data):
    """Tracks of 15 to 80 samples, about centres that are further apart than they move."""
    rng, spread = np.random.default_rng(6), float(data.sd()[0])
    tracks = [x[: rng.integers(15, 81)] + 3 * spread * rng.normal() for x in data.paths]
    return ito.Trajectories(tracks, dt=1.0)


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seen", [lambda data: data, with_gaps], ids=["whole", "gaps"])
@pytest.mark.parametrize("period", [8, 12, 20, 30])
def test_ringing_of_few_samples_a_period_is_ballistic(period, seen, noise):
    data = seen(position(period, 0.05, 2000).add_noise(noise, seed=2))
    assert ito.classify_order(data).order == 2


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("seen", [lambda data: data, with_gaps], ids=["whole", "gaps"])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_states_that_forget_within_few_samples_are_diffusive(rate, seen, noise):
    assert ito.classify_order(seen(state(rate, 2000).add_noise(noise, seed=2))).order == 1


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize(
    ("make", "order"), [(lambda: position(20, 0.1, 80, 60), 2), (lambda: state(0.1, 80, 60), 1)]
)
def test_ragged_tracks_with_centres_of_their_own(make, order, noise):
    data = make()
    assert ito.classify_order(ragged(data.add_noise(noise, seed=2))).order == order


def test_what_hides_the_order_is_not_guessed():
    """Positions under noise of their own size, and a plane spiral whose kicks are as large as its turns."""
    assert ito.classify_order(position(8, 0.4, 300).add_noise(2.0, seed=2)).order is None
    spiral = ito.SDE(["-0.1*x - 0.6*y", "0.6*x - 0.1*y"], [["1", "0"], ["0", "1"]], ["x", "y"])
    turned = spiral.simulate([0.0, 0.0], dt=1.0, n_steps=4000, substeps=50, scheme="taylor15", seed=4)
    assert ito.classify_order(ito.Trajectories([turned.paths[0][:, :1]], dt=1.0)).order != 2


def test_white_noise_and_a_constant_are_not_classified():
    rng = np.random.default_rng(1)
    assert ito.classify_order(rng.normal(size=1000), dt=0.1).order is None
    assert ito.classify_order(np.ones(1000), dt=0.1).reason == "the recording is constant"
    uneven = ito.Trajectories(rng.normal(size=1000), t=np.cumsum(rng.uniform(0.1, 0.2, size=1000)))
    assert ito.classify_order(uneven).order is None


def picked(data, seed=7):
    """Half of the samples, with their times: steps of 1, 2, 3, ... of the even ones."""
    rng, kept = np.random.default_rng(seed), []
    for x in data.paths:
        kept.append(np.sort(rng.choice(len(x), len(x) // 2, replace=False)))
    return ito.Trajectories([x[k] for x, k in zip(data.paths, kept)], t=[k.astype(float) for k in kept])


def ragged_times(data, seed=8):
    """Each of every ten samples within three of its place, so that steps are 4 to 16 of the even ones."""
    rng, kept = np.random.default_rng(seed), []
    for x in data.paths:
        kept.append(np.arange(5, len(x) - 5, 10) + rng.integers(-3, 4, len(np.arange(5, len(x) - 5, 10))))
    return ito.Trajectories([x[k] for x, k in zip(data.paths, kept)], t=[k.astype(float) for k in kept])


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize(
    ("make", "seen", "order"),
    [
        (lambda: position(20, 0.05, 4000), picked, 2),
        (lambda: state(0.1, 4000), picked, 1),
        (lambda: position(400, 0.1, 40_000), ragged_times, 2),
        (lambda: state(0.002, 40_000), ragged_times, 1),
    ],
    ids=["position, picked", "state, picked", "position, ragged", "state, ragged"],
)
def test_uneven_steps(make, seen, order, noise):
    data = seen(make().add_noise(noise, seed=2))
    assert data.dt is None
    assert ito.classify_order(data).order == order


def test_fast_motion_with_ragged_times_is_not_guessed():
    """Of 12 samples a period line and parabola hold over too few lags, and rings are told of even steps alone."""
    data = ragged_times(position(120, 0.05, 20_000))
    assert ito.classify_order(data).order is None
    assert (
        ito.classify_order(
            ito.Trajectories([x[::10] for x in position(120, 0.05, 20_000).paths], dt=10.0)
        ).order
        == 2
    )


def test_a_gap_is_no_lag():
    """Two tracks behind each other with a gap of a thousand steps are two tracks."""
    data, gap = position(200, 0.1, 4000).paths[0][:, 0], 1000.0
    times = np.arange(len(data)) + np.where(np.arange(len(data)) < 2000, 0.0, gap)
    jitter = times + np.random.default_rng(1).uniform(-0.3, 0.3, len(times))
    for stamps in (times, jitter):
        answer = ito.classify_order(ito.Trajectories(data, t=stamps))
        assert answer.order == 2
