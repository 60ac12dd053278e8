"""Each cause is named on a recording that has it, nothing is said of recordings without one, no wrong cause is told."""

import importlib.util
import sys
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benches" / "accuracy" / "advice.py"
QUICK = {"seed": 1, "n_samples": 200}


def _load():
    spec = importlib.util.spec_from_file_location("advice_cases", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["advice_cases"] = module
    spec.loader.exec_module(module)
    return module


cases = _load()


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: f"{case.cause}: {case.what}")
def test_the_cause_is_named(case):
    assert case.cause in cases.advised(case, 1)[:2]


@pytest.mark.parametrize("case", cases.CLEAN, ids=lambda case: case.what)
def test_nothing_is_said_of_what_is_right(case):
    assert cases.advised(case, 2) == []


def discovered(data, **asked):
    return ito.discover(data, **{"library": ito.Library.polynomials(3), **QUICK, **asked})


def test_an_advice_is_a_frozen_record_with_figures_and_arguments():
    result = discovered(cases.noisy(cases.well(3, 10_000), 0.05, 3))
    (advice,) = result.advice
    assert (advice.cause, advice.about) == ("measurement noise", "x")
    assert dict(advice.arguments) == {"measurement_noise": "estimate"} and advice.can_be_tried
    assert advice.evidence["noise"] == pytest.approx(0.05, rel=0.15)
    assert str(advice) == advice.sentence and 'measurement_noise="estimate"' in advice.sentence
    with pytest.raises(AttributeError):
        advice.cause = "another"


def test_the_two_gravest_are_printed_and_all_are_kept(tmp_path):
    result = discovered(cases.derived(1, 10_000), known_drift={"x": "v"})
    assert len(result.advice) == 2
    printed = " ".join(str(result).split())
    assert printed.count("advice: ") == 2 and result.advice[0].sentence in printed
    assert "Advice:" in result._repr_html_()
    result.save(tmp_path / "found.npz")
    assert ito.Discovery.load(tmp_path / "found.npz").advice == result.advice
    assert discovered(cases.linear(2, 5000)).advice == ()


def test_averages_and_forces_with_a_memory_are_fitted_as_such_by_one_call():
    averaged = discovered(cases.averaged(8, 4000))
    assert averaged.advice[0].arguments["observed"] == {"x": "average(x)"}
    tried = averaged.try_advice(0)
    assert tried.after > tried.before + 50
    low, high = tried.result.diffusion["x", "x"].interval(0.95)[0]
    assert low < 1.0 < high  # from the averages as they are it is 0.69
    assert "averaged samples" not in [advice.cause for advice in tried.result.advice]
    pushed = ito.SDE(["-x + f", "-10 f"], [["0", "0"], ["0", "30"]], ["x", "f"])
    run = pushed.simulate([0.0, 0.0], dt=0.02, n_steps=4000, substeps=10, scheme="taylor15", seed=9)
    coloured = discovered(run.select("x"), library=ito.Library.polynomials(1), diffusion="constant")
    assert coloured.advice[0].arguments == {"forcing": {"x": "coloured"}}
    tried = coloured.try_advice(0)
    assert tried.after > tried.before + 50
    assert "forcing=" not in " ".join(advice.sentence for advice in tried.result.advice)


# -- what used to be told --------------------------------------------------------------------------------------
@pytest.mark.parametrize("period", [2 * np.pi, 360.0])
def test_a_wrapped_angle_is_not_called_noise(period):
    result = discovered(cases.angle(period)(4, 10_000))
    text = " ".join([*result.warnings, *(advice.sentence for advice in result.advice)])
    assert [advice.cause for advice in result.advice] == ["wrapped angle"]
    assert "estimate" not in text and "measurement noise" not in text


def test_jumps_are_not_called_noise():
    result = discovered(cases.jumps(5, 10_000))
    assert [advice.cause for advice in result.advice] == ["jumps"]
    assert "estimate" not in " ".join([*result.warnings, result.advice[0].sentence])


def test_rounded_samples_are_not_called_coarse():
    data = cases.rounded(0.25)(6, 10_000)
    for asked in (
        {},
        {"measurement_noise": 0.01, "diffusion": "constant", "library": ito.Library.polynomials(1)},
    ):
        result = discovered(data, **asked)
        assert [advice.cause for advice in result.advice] == ["quantised"]
        assert "too coarse" not in " ".join(result.warnings)


def test_a_given_noise_that_is_too_small_is_not_called_a_coarse_step():
    data = cases.noisy(cases.linear(7, 10_000), 0.05, 7)
    asked = {"diffusion": "constant", "library": ito.Library.polynomials(1)}
    result = discovered(data, measurement_noise=0.01, **asked)
    assert [advice.cause for advice in result.advice] == ["measurement noise"]
    assert "coarse" not in " ".join(result.warnings)
    assert discovered(data, measurement_noise=0.05, **asked).advice == ()


def test_shares_and_autocorrelations_are_such():
    """All samples where Gamma is negative are 100 %, and an autocorrelation is between -1 and 1 among few pairs too."""
    from itoscope.backends.records import ResidualSums, Survey
    from itoscope.checks.check import statistics
    from itoscope.checks.measured import check_survey

    survey = Survey(2000, np.zeros(1), -np.ones(1), np.zeros(1, dtype=np.int64), 2000, -1.0, 0, 0)
    assert "2000 of 2000 samples (100 %;" in check_survey(["x"], survey, np.zeros(1))[0].sentence
    lagged, pairs = np.zeros(10), np.full(10, 20.0)
    lagged[0], lagged[1] = -33.0, 51.0
    found = statistics(ResidualSums(100, np.array([0.0, 100.0, 0.0, 300.0]), lagged, pairs, 3.0, 0, 0))
    assert found.autocorrelation[:2] == [-1.0, 1.0]


# -- tried -----------------------------------------------------------------------------------------------------
def test_trying_an_advice_gives_the_new_result_and_both_evidences():
    result = discovered(cases.well(8, 20_000), library=ito.Library.polynomials(1))
    assert dict(result.advice[0].arguments) == {"library": ["x^3"]}
    tried = result.try_advice(0)
    assert set(tried.result.coefficients()["dx"]) == {"x", "x^3"}
    assert tried.comparable and tried.after > tried.before + 10
    assert isinstance(tried.result, ito.Discovery) and tried.result.advice == ()


def test_the_log_evidence_is_that_of_the_model():
    """Of exact samples: the likelihood of a Gaussian step by step, less half log n for each coefficient."""
    from itoscope.discovery.trial import log_evidence

    data = cases.linear(9, 5000)
    result = discovered(data, library=ito.Library.polynomials(1), diffusion="constant")
    x = data.paths[0][:, 0]
    rate, gamma = result.coefficients()["dx"]["x"], result.coefficients()["Gamma[x, x]"]["1"]
    left = np.diff(x) - 0.01 * rate * x[:-1]
    exact = -0.5 * np.sum(left**2 / (0.01 * gamma) + np.log(2 * np.pi * 0.01 * gamma))
    assert log_evidence(result, data) == pytest.approx(exact - np.log(len(left)), rel=1e-9)


def test_a_mended_recording_is_another_one():
    result = discovered(cases.angle(360.0)(10, 10_000))
    tried = result.try_advice()
    assert not tried.comparable
    assert tried.result.data.paths[0].max() > 1000
    drift = tried.result.coefficients()["dx"]["1"]
    assert drift == pytest.approx(2 * 360 / (2 * np.pi), rel=0.1)
    positions = discovered(cases.derived(11, 4000), known_drift={"x": "v"}).try_advice(0)
    assert positions.result.states == ("x", "v1") and positions.result.data.names == ("x",)


def test_what_cannot_be_tried_says_why(tmp_path):
    result = discovered(cases.one("-x + t/50", 12, 20_000))
    assert not result.advice[0].can_be_tried
    with pytest.raises(ito.errors.ArgumentError, match="no call does what is advised"):
        result.try_advice(0)
    with pytest.raises(ito.errors.ArgumentError, match="k = 3: the number of an advice, 0 to 0"):
        result.try_advice(3)
    with pytest.raises(ito.errors.ArgumentError, match="no advice"):
        discovered(cases.linear(2, 5000)).try_advice()
    noisy = discovered(cases.noisy(cases.well(3, 10_000), 0.05, 3))
    noisy.save(tmp_path / "found.npz")
    with pytest.raises(ito.errors.ArgumentError, match="holds no recording"):
        ito.Discovery.load(tmp_path / "found.npz").try_advice()


def test_nothing_is_said_of_the_recording_that_comes_with_the_package():
    data = ito.read(FILE.parents[2] / "examples" / "data" / "duffing.csv")
    result = ito.discover(data, known_drift={"x1": "x2"}, **QUICK)
    assert result.advice == ()
