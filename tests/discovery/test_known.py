"""What is known goes into the question: inputs and the time, of measured and of noisy recordings."""

import itoscope as ito
import numpy as np
import pytest

LIBRARY = ito.Library.polynomials(2)
HELD = np.repeat(np.random.default_rng(5).normal(size=40), 50)


@pytest.fixture(scope="module")
def pushed():
    """`dx = -x + 2 u`, u held for fifty samples."""
    sde = ito.SDE(["-x + 2*u"], [["0.5"]], ["x"], inputs=["u"])
    path = sde.simulate(
        [0.0], dt=0.02, n_steps=len(HELD) - 1, inputs={"u": HELD}, substeps=10, scheme="taylor15", seed=3
    ).paths[0]
    return path


def recorded(path, noise=0.0):
    x = path + noise * np.random.default_rng(2).normal(size=path.shape)
    return ito.Trajectories(np.column_stack([x, HELD]), dt=0.02, names=["x", "u"])


def close(equation, truth):
    terms = {t: k for k, t in enumerate(equation.terms)}
    assert {t for t, z in zip(equation.terms, equation.selected) if z} == set(truth)
    for term, value in truth.items():
        k = terms[term]
        assert abs(equation.mean[k] - value) < 4 * equation.sd[k], (term, equation.mean[k], equation.sd[k])


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_an_input_is_found_in_the_drift(pushed, noise):
    data = recorded(pushed, noise)
    asked = {"measurement_noise": "estimate"} if noise else {}
    result = ito.discover(data, LIBRARY, inputs=["u"], diffusion="constant", seed=1, **asked)
    assert result.states == ("x",)
    assert result.inputs == ("u",)
    close(result.drift["x"], {"x": -1.0, "u": 2.0})
    assert not [check for check in result.check(data) if check["fired"]]
    if noise:
        assert result.smoothed(data).names == ("x",)


def test_left_out_an_input_is_missed(pushed):
    """The negative control: without the input the residuals are not white."""
    alone = ito.Trajectories(pushed, dt=0.02, names=["x"])
    assert any("independent" in warning or "slow" in warning or "vary" in warning
               for warning in ito.discover(alone, LIBRARY, seed=1).warnings)  # fmt: skip


def test_held_is_not_straight():
    """An input of a digital controller changes at every sample: taken as straight, it comes half a step late."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=4000)
    sde = ito.SDE(["-4*x + 20*u"], [["0.2"]], ["x"], inputs=["u"])
    held = {"u": ito.Input(u, between="held")}
    x = sde.simulate([0.0], dt=0.1, n_steps=3999, inputs=held, substeps=20, scheme="taylor15", seed=1).paths[
        0
    ]
    data = ito.Trajectories(np.column_stack([x, u]), dt=0.1, names=["x", "u"])
    asked = {"library": ito.Library.polynomials(1), "diffusion": "constant", "seed": 1}
    right = ito.discover(data, inputs={"u": "held"}, **asked)
    wrong = ito.discover(data, inputs={"u": "linear"}, **asked)
    found = [dict(zip(r.drift["x"].terms, r.drift["x"].mean)) for r in (right, wrong)]
    assert found[0]["u"] == pytest.approx(20.0, rel=0.02)
    assert abs(found[1]["u"] - 20.0) > 1.5
    exact = ito.discover(data, inputs={"u": "held"}, measurement_noise=1e-3, **asked)
    assert dict(zip(exact.drift["x"].terms, exact.drift["x"].mean))["u"] == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_time_is_a_name_in_terms(noise):
    sde = ito.SDE(["-y + 3*cos(2*pi*t)"], [["0.5"]], ["y"])
    data = sde.simulate([0.0], dt=0.05, n_steps=3000, substeps=5, seed=2)
    data = data.add_noise(sd=noise, seed=1) if noise else data
    asked = {"measurement_noise": "estimate"} if noise else {}
    library = ito.Library.polynomials(1) + ito.Library.fourier(1, 2)
    result = ito.discover(data, library, diffusion="constant", seed=1, **asked)
    close(result.drift["y"], {"y": -1.0, "cos(2 pi t)": 3.0})
    assert "cos(2 pi t)" in result.equations()[0]
    assert result.inputs == ("t",)
    a, b = (result.simulate([0.0], n_steps=40, dt=0.05, posterior=False, seed=1, start=s) for s in (0.0, 0.5))
    assert np.abs(a.paths[0] - b.paths[0]).max() > 0.5  # half a period later the force has the other sign


def test_a_given_row_may_contain_inputs_and_time(pushed):
    """A second state that only the input and the time move is given."""
    t = 0.02 * np.arange(len(HELD))
    ramp = np.concatenate([[0.0], np.cumsum(HELD[:-1] * 0.02)]) + t**2 / 2
    data = ito.Trajectories(np.column_stack([pushed, ramp, HELD]), dt=0.02, names=["x", "y", "u"])
    result = ito.discover(
        data,
        ito.Library.polynomials(1),
        inputs=["u"],
        known_drift={"y": "u + t"},
        diffusion="constant",
        seed=1,
    )
    close(result.drift["x"], {"x": -1.0, "u": 2.0})
    assert result.inputs == ("u", "t")
    assert "dy = (u + t) dt" in result.equations()


def test_a_result_with_inputs_is_kept_and_used_again(pushed, tmp_path):
    data = recorded(pushed, 0.05)
    result = ito.discover(
        data,
        ito.Library.polynomials(1),
        inputs=["u"],
        diffusion="constant",
        measurement_noise="estimate",
        seed=1,
    )
    loaded = ito.Discovery.load(result.save(tmp_path / "found"))
    assert loaded.inputs == ("u",)
    np.testing.assert_allclose(loaded.smoothed(data).mean[0], result.smoothed(data).mean[0])
    future = loaded.forecast([0.0], duration=1.0, inputs={"u": np.cos}, seed=1)
    assert future.names == ("x",)
    with pytest.raises(ito.errors.ArgumentError, match="driven by u"):
        loaded.forecast([0.0], duration=1.0)
    assert loaded.with_data(data).self_check(seed=2)["consistent"]
    assert "\\mathrm{d}x" in loaded.equations("latex")[0]
    assert "u" in str(loaded.equations("sympy")[0])


def test_the_estimator_takes_inputs(pushed):
    pytest.importorskip("sklearn")
    data = recorded(pushed)
    estimator = ito.SDEDiscovery(ito.Library.polynomials(1), inputs=["u"], diffusion="constant", seed=1).fit(
        data
    )
    np.testing.assert_allclose(estimator.predict([[1.0, 1.0]]), [[1.0]], atol=0.4)
    assert np.isfinite(estimator.score(data))


@pytest.mark.parametrize("text", ["", "x2 + (", "unheard"])
def test_a_text_that_does_not_parse_is_told_with_its_argument(text):
    data = ito.Trajectories(np.random.default_rng(0).standard_normal((50, 2)).cumsum(axis=0), dt=0.1)
    with pytest.raises(ito.errors.ExpressionError, match=r"^known_drift\['x1'\]: "):
        ito.discover(data, known_drift={"x1": text})
    with pytest.raises(ito.errors.ExpressionError, match=r"^observed: "):
        ito.discover(data, states=["x1", "x2"], observed=[text, "x2"])
    with pytest.raises(ito.errors.ExpressionError, match=r"^drift\[1\]: "):
        ito.SDE(["0", text], [["1", "0"], ["0", "1"]], ["x1", "x2"])
