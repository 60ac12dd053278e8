"""Friction with a memory: kernels found from displacements alone, beside white friction; refused, kept, asked again."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ItoscopeError
from itoscope.fit.memory import memories_of
from itoscope.fit.options import Options
from itoscope.fit.question import Question

LINEAR = ito.Library.polynomials(1)


def bead(kernel, n_steps=6000, seed=1):
    """A bead in a trap of stiffness 4 and temperature 1, its friction the kernel; displacements with 2 % noise."""
    names = ["x1", "v1", *(f"z{k}" for k in range(len(kernel)))]
    drift = ["v1", " + ".join(["-4*x1", *names[2:]])]
    drift += [f"-{z}/{tau} - {c}*v1" for z, (c, tau) in zip(names[2:], kernel)]
    noise = np.vstack([np.zeros((2, len(kernel))), np.diag([np.sqrt(2 * c / tau) for c, tau in kernel])])
    sde = ito.SDE(drift, [[repr(value) for value in row] for row in noise.tolist()], names)
    path = sde.simulate(
        [0.0] * len(names), dt=0.05, n_steps=n_steps, substeps=10, scheme="taylor15", seed=seed
    ).paths[0][:, :1]
    return ito.Trajectories(
        path + 0.01 * np.random.default_rng(seed).normal(size=path.shape), dt=0.05, names=["x1"]
    )


@pytest.fixture(scope="module")
def one():
    return ito.discover(bead([(6.0, 0.2)]), LINEAR, order=2, forcing={"v1": "memory"}, seed=1)


def test_a_kernel_is_found(one):
    found = one.parameters
    for name, true in {"c_v1": 6.0, "tau_v1": 0.2, "temperature_v1": 1.0}.items():
        assert abs(found[name].mean - true) < 4 * found[name].sd, name
        assert found[name].sd < 0.2 * true
    row = one.drift["v1"]
    assert {t for t, z in zip(row.terms, row.selected) if z} == {"x1", "friction_v1"}
    kernel = one.diagnostics["memory"]["v1"]
    assert kernel["log_bayes_factor"] > 20.0
    assert kernel["times"] == [found["tau_v1"].mean] and kernel["parameters"] == list(found)
    assert "memory of the friction on v1: kernel" in str(one) and "Bayes" in str(one)
    assert not any("independent" in warning for warning in one.warnings)


def test_white_friction_is_warned_of_where_there_is_a_memory_and_preferred_where_there_is_none():
    slow = bead([(2.0, 3.0), (6.0, 0.2)], n_steps=8000)
    white = ito.discover(slow, LINEAR, order=2, seed=1)
    assert any("not independent" in warning for warning in white.warnings)
    sde = ito.SDE(["v1", "-4*x1 - v1"], [["0"], ["1.4142135623730951"]], ["x1", "v1"])
    path = sde.simulate([0.0, 0.0], dt=0.05, n_steps=6000, substeps=10, scheme="taylor15", seed=3).paths[0]
    noisy = path[:, :1] + 0.01 * np.random.default_rng(3).normal(size=(6001, 1))
    data = ito.Trajectories(noisy, dt=0.05, names=["x1"])
    found = ito.discover(data, LINEAR, order=2, forcing="memory", seed=1)
    assert found.diagnostics["memory"]["v1"]["log_bayes_factor"] < 0.0
    assert any("more probable without a memory" in one for one in found.warnings)
    assert "ask with forcing='white'" in " ".join(str(found).split())


def test_in_rest_the_rate_has_the_temperature(one):
    """The noise of a hidden force belongs to its friction: the variance of the velocity is the temperature."""
    run = {"dt": 0.05, "n_steps": 100_000, "scheme": "taylor15", "substeps": 5, "seed": 4}
    path = one.model().simulate([0.0, 0.0, 0.0], **run).paths[0]
    assert np.var(path[5000:, 1]) == pytest.approx(one.parameters["temperature_v1"].mean, rel=0.1)


def test_it_is_kept_and_asked_again(one, tmp_path):
    loaded = ito.Discovery.load(one.save(tmp_path / "one.npz"))
    assert str(loaded) == str(one) and loaded.settings["forcing"] == {"v1": "memory:1"}
    assert "parameters" not in loaded.settings
    assert one.forecast([0.0, 0.0, 0.0], duration=1.0, n_paths=20, seed=1).mean.shape[1] == 3


def test_several_exponentials_and_a_parameter_of_ones_own():
    data = bead([(6.0, 0.2)], n_steps=300)
    question = Question.of(
        data,
        Options(
            library=LINEAR,
            order=2,
            forcing={"v1": ("memory", 2)},
            known_drift={"v1": "-k*x1 + ..."},
            parameters={"k": (1.0, 2.0, 9.0)},
        ),
    )
    assert question.states == ("x1", "v1", "friction1_v1", "friction2_v1")
    assert question.numbers.names == ("k", "c1_v1", "c2_v1", "tau1_v1", "tau2_v1", "temperature_v1")
    assert question.asked.parts["v1"] == "-k*x1 + friction1_v1 + friction2_v1"
    assert question.asked.noise["friction2_v1", "friction2_v1"] == "2*temperature_v1*c2_v1/tau2_v1"
    assert {"v1", "x1"} <= question.said["v1"].excluded  # white friction; the term of a parameter
    starts = np.array(question.numbers.starts())
    assert np.all(starts >= question.numbers.low) and np.all(starts <= question.numbers.high)
    assert np.all(starts[:, 4] > starts[:, 3]) and len(starts) == 6
    assert question.settings()["parameters"] == {"k": [1.0, 2.0, 9.0]}
    assert question.settings()["forcing"] == {"v1": "memory:2"}


def test_names_that_are_taken_are_avoided():
    (memory,) = memories_of("memory", ["v"], ["friction_v", "tau_v"])
    assert memory.states == ("friction_v_",) and memory.times == ("tau_v_",)


@pytest.mark.parametrize(
    ("forcing", "words"),
    [
        ("memory:0", "1 to 3"),
        ({"v1": ("memory", 9)}, "1 to 3"),
        ({"v1": ("memory", "two")}, "forcing"),
        ({"x1": "memory"}, "a row that is sought"),
        ("memories", "forcing = 'memories'"),
    ],
)
def test_refused(forcing, words):
    with pytest.raises(ItoscopeError, match=words):
        ito.discover(bead([(6.0, 0.2)], n_steps=100), LINEAR, order=2, forcing=forcing)
