"""A result on another recording: silent where it is the same system, loud where it is not."""

import itoscope as ito
import numpy as np
import pytest

DT, N = 0.01, 10_000


def recording(seed, stiffness=1.0, noise=1.0, n=N):
    w = noise * np.sqrt(DT) * np.random.default_rng(seed).normal(size=n)
    x = np.zeros((n, 1))
    for k in range(1, n):
        x[k] = x[k - 1] * (1 - stiffness * DT) + w[k]
    return ito.Trajectories(x, dt=DT)


@pytest.fixture(scope="module")
def result():
    return ito.discover(recording(1), ito.Library.polynomials(3), seed=1, n_samples=200)


def fired(checks):
    return {check["name"] for check in checks if check["fired"]}


def test_the_recording_of_the_fit_and_others_of_the_system_are_the_model_still(result):
    own = result.check()
    assert fired(own) == set() and {"same drift", "same noise", "slow scales"} <= {c["name"] for c in own}
    alarms = [fired(result.check(recording(seed))) for seed in range(2, 12)]
    assert sum(bool(one) for one in alarms) <= 1, alarms  # of 120 recordings one fired


def test_a_much_longer_recording_is_compared_within_the_errors_of_the_fit(result):
    checks = {check["name"]: check for check in result.check(recording(20, n=10 * N))}
    assert not checks["same drift"]["fired"] and not checks["same noise"]["fired"]


def test_noise_in_proportion_to_the_state_is_the_same_still():
    """Its variance changes over a step by the noise of that step: those that change it most are not to be left out."""
    sde = ito.SDE(["1.5 x1 - 1.5 x1^2"], [["0.6 x1"]], ["x1"])
    first, *others = (sde.simulate([1.0], dt=0.05, n_steps=4000, substeps=20, seed=seed) for seed in range(9))
    library = ito.Library.expressions("x1", "x1^2")
    found = ito.discover(first, library, diffusion_library=ito.Library.expressions("x1^2"), seed=1)
    alarms = [fired(found.check(data)) & {"same noise", "noise shape"} for data in others]
    assert sum(bool(one) for one in alarms) == 0, alarms  # of 40 recordings none
    twice = ito.SDE(["1.5 x1 - 1.5 x1^2"], [["0.7 x1"]], ["x1"])
    assert "same noise" in fired(
        found.check(twice.simulate([1.0], dt=0.05, n_steps=4000, substeps=20, seed=9))
    )


def test_another_system_is_named(result):
    assert "same drift" in fired(result.check(recording(3, stiffness=3.0)))
    noisy = result.check(recording(3, noise=1.3))
    assert "same noise" in fired(noisy)
    assert any("1.6" in check["sentence"] or "1.7" in check["sentence"] for check in noisy if check["fired"])


def test_a_recording_is_needed_and_has_the_columns_of_the_fit(result, tmp_path):
    result.save(tmp_path / "found.npz")
    loaded = ito.Discovery.load(tmp_path / "found.npz")
    with pytest.raises(ito.errors.ArgumentError, match="holds no recording"):
        loaded.check()
    assert fired(loaded.check(recording(4))) == set()
    with pytest.raises(ito.errors.ArgumentError, match="a recording of the states of the model"):
        result.check(ito.Trajectories(np.zeros((50, 2)), dt=DT))


def test_noisy_results_are_asked_by_their_innovations():
    def seen(stiffness, seed):
        exact = recording(seed, stiffness, n=3000)
        return ito.Trajectories(
            exact.paths[0] + 0.05 * np.random.default_rng(seed + 100).normal(size=(3000, 1)), dt=DT
        )

    found = ito.discover(
        seen(1.0, 5), ito.Library.polynomials(1), measurement_noise=0.05, diffusion="constant", seed=1, n_samples=200
    )  # fmt: skip
    assert fired(found.check(seen(1.0, 6))) == set()
    assert fired(found.check(seen(60.0, 6)))
