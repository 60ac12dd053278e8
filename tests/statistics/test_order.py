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


def test_white_noise_a_constant_and_uneven_steps_are_not_classified():
    rng = np.random.default_rng(1)
    assert ito.classify_order(rng.normal(size=1000), dt=0.1).order is None
    assert ito.classify_order(np.ones(1000), dt=0.1).reason == "the recording is constant"
    uneven = ito.Trajectories(rng.normal(size=100), t=np.cumsum(rng.uniform(0.1, 0.2, size=100)))
    with pytest.raises(DataError, match="uneven"):
        ito.classify_order(uneven)
