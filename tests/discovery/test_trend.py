"""`vary={"x1": ["1", "trend"]}`: a constant that drifts along each recording, by a slope of its own."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.errors import ArgumentError

ASKED = {"diffusion": "constant", "seed": 1, "n_samples": 500, "n_burn": 200}
BOTH = {"vary": {"x1": ["1", "trend"]}}
DT = 0.05


def drifting(seed, count=30, steps=300, slope=0.1, noise=0.0):
    """Exact recordings of `dx = -(x - c - a t) dt + 0.5 dB`, centres `c ~ N(1.2, 0.8)`, `a ~ N(0, slope)`."""
    rng = np.random.default_rng(seed)
    centre, slopes = 1.2 + 0.8 * rng.normal(size=count), slope * rng.normal(size=count)
    sd, keep = 0.5 / np.sqrt(2.0), np.exp(-DT)
    about = [sd * rng.normal(size=count)]
    for _ in range(steps):
        about.append(keep * about[-1] + sd * np.sqrt(1 - keep**2) * rng.normal(size=count))
    time = DT * np.arange(steps + 1)
    paths = np.array(about).T + centre[:, None] + slopes[:, None] * (time - 1.0)
    return ito.Trajectories(list(paths + noise * rng.normal(size=paths.shape)), dt=DT), slopes


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_rate_and_slopes_are_found(noise):
    data, slopes = drifting(2, noise=noise)
    level = {"measurement_noise": "estimate"} if noise else {}
    result = ito.discover(data, ito.Library.polynomials(1), **BOTH, **level, **ASKED)
    equation = result.drift["x1"]
    rate = equation.terms.index("x1")
    assert abs(equation.mean[rate] + 1.0) < 3 * equation.sd[rate] < 0.4
    found = result.varying["x1"]["t"]
    assert found.interval[0] < 0.1 < found.interval[1] and found.gain > 10
    assert np.corrcoef(found.values, slopes)[0, 1] > 0.9
    assert np.mean(np.abs(found.values - slopes) < 3 * found.errors) > 0.9
    assert "differs by recording" in result.equations()[0] and "t" in result.equations()[0]


def test_without_it_the_rate_is_too_slow():
    data, _ = drifting(2)
    plain = ito.discover(data, ito.Library.polynomials(1), vary={"x1": ["1"]}, **ASKED)
    equation = plain.drift["x1"]
    rate = equation.terms.index("x1")
    assert equation.mean[rate] + 1.0 > 3 * equation.sd[rate]


def test_what_drifts_no_more_than_by_chance_is_said():
    data, _ = drifting(3, slope=0.0)
    result = ito.discover(data, ito.Library.polynomials(1), **BOTH, **ASKED)
    assert result.varying["x1"]["t"].gain < 3 < result.varying["x1"]["1"].gain
    assert any("coefficient of t in dx1" in one for one in result.warnings)


def test_both_backends_say_the_same():
    data, _ = drifting(4, count=8, steps=100)
    one, two = (
        ito.discover(data, ito.Library.polynomials(1), backend=name, sampler="exact", **BOTH, **ASKED)
        for name in ("rust", "reference")
    )
    np.testing.assert_allclose(one.drift["x1"].mean, two.drift["x1"].mean, rtol=1e-5)
    assert one.varying["x1"]["t"].spread == pytest.approx(two.varying["x1"]["t"].spread, rel=1e-3)


def test_other_rows_have_no_time_and_the_settings_ask_again(tmp_path):
    rng = np.random.default_rng(5)
    paths = [rng.normal(size=(60, 2)).cumsum(axis=0) for _ in range(6)]
    data = ito.Trajectories(paths, dt=0.1, names=["x", "y"])
    result = ito.discover(data, ito.Library.polynomials(1), vary={"x": ["trend"]}, **ASKED)
    assert set(result.varying) == {"x"} and list(result.varying["x"]) == ["t"]
    assert result.settings["vary"] == {"x": ["t"]} and result.settings["exclude"]["y"] == ["t"]
    assert str(ito.Discovery.load(result.save(tmp_path / "r"))) == str(result)
    kept = result.settings
    again = ito.discover(
        data, ito.Library.expressions(*kept["library"]), vary=kept["vary"], exclude=kept["exclude"], **ASKED
    )
    np.testing.assert_allclose(again.drift["y"].mean, result.drift["y"].mean, rtol=0.2, atol=0.05)
    beside = ito.Library.polynomials(1) + ito.Library.expressions("t")
    kept = ito.discover(data, beside, vary={"x": ["trend"]}, **ASKED)
    assert "t" in kept.drift["y"].terms and "exclude" not in kept.settings


def test_a_state_called_like_it_is_a_term_and_one_called_like_the_time_is_refused():
    paths = list(np.random.default_rng(6).normal(size=(5, 40, 1)).cumsum(axis=1))
    named = ito.Trajectories(paths, dt=0.1, names=["trend"])
    result = ito.discover(named, ito.Library.polynomials(1), vary={"trend": ["trend"]}, **ASKED)
    assert list(result.varying["trend"]) == ["trend"]
    taken = ito.Trajectories(paths, dt=0.1, names=["t"])
    with pytest.raises(ArgumentError, match="no state of the name t"):
        ito.discover(taken, ito.Library.polynomials(1), vary={"t": ["trend"]}, **ASKED)
