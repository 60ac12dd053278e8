"""Whether raw displacements are recognised as diffusive or ballistic, and what is not recognisable as such."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import DataError

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


def test_white_noise_a_constant_and_uneven_steps_are_not_classified():
    rng = np.random.default_rng(1)
    assert ito.classify_order(rng.normal(size=1000), dt=0.1).order is None
    assert ito.classify_order(np.ones(1000), dt=0.1).reason == "the recording is constant"
    uneven = ito.Trajectories(rng.normal(size=100), t=np.cumsum(rng.uniform(0.1, 0.2, size=100)))
    with pytest.raises(DataError, match="uneven"):
        ito.classify_order(uneven)
