"""The likelihood of a recording under a result, and the numbers that regressions report."""

import itoscope as ito
import numpy as np
import pytest
from results import measured, noisy, one_state, with_custom_terms

QUICK = {"seed": 1, "n_samples": 150, "n_burn": 50, "n_chains": 2}


def linear(noise=0.0, order=1, **asked):
    """Decay with a push: recordings, fit, and the law of a step."""
    data = ito.SDE(["-1.5*x"], [["0.8"]], ["x"]).simulate(
        [0.2], dt=0.1, n_steps=400, n_paths=3, substeps=20, seed=1
    )
    if noise:
        data = data.add_noise(sd=noise, seed=2)
    return data, ito.discover(data, ito.Library.expressions("x"), diffusion="constant", **asked, **QUICK)


def kalman(y, rate, gamma, h, noise):
    """Log-likelihood of the samples after the first: a textbook filter of a decay, from a wide start."""
    a, q = np.exp(rate * h), gamma * (np.exp(2 * rate * h) - 1) / (2 * rate)
    mean, var, total = 0.0, 1e8, 0.0
    for n, seen in enumerate(y):
        if n:
            mean, var = a * mean, a * a * var + q
        if np.isnan(seen):
            continue
        s = var + noise
        if n:
            total -= 0.5 * ((seen - mean) ** 2 / s + np.log(2 * np.pi * s))
        mean, var = mean + var / s * (seen - mean), var * noise / s
    return total


def test_exact_states_have_the_likelihood_of_an_autoregression():
    data, result = linear()
    rate, gamma = result.drift["x"].mean[0], result.diffusion["x"].mean[0]
    wanted = sum(kalman(path[:, 0], rate, gamma, 0.1, 0.0) for path in data.paths)
    assert result.loglik() == pytest.approx(wanted, rel=1e-9)
    assert result.criteria().samples == 1200


def test_noisy_ones_that_of_a_filter():
    data, result = linear(0.1, measurement_noise="estimate")
    rate, gamma = result.drift["x"].mean[0], result.diffusion["x"].mean[0]
    noise = result.measurement_noise**2
    wanted = sum(kalman(path[:, 0], rate, gamma, 0.1, noise) for path in data.paths)
    assert result.loglik() == pytest.approx(wanted, rel=2e-3)  # whose first sample is seen from another start
    exact = ito.discover(data, ito.Library.expressions("x"), diffusion="constant", **QUICK)
    assert result.loglik() > exact.loglik() + 5
    assert result.criteria().parameters == exact.criteria().parameters + 1


def test_a_missing_sample_counts_not():
    data, result = linear()
    paths = [path.copy() for path in data.paths]
    paths[0][50:60] = np.nan
    gone = ito.Trajectories(paths, dt=0.1, names=["x"])
    assert result.criteria(gone).samples == 1190
    rate, gamma = result.drift["x"].mean[0], result.diffusion["x"].mean[0]
    wanted = sum(kalman(path[:, 0], rate, gamma, 0.1, 0.0) for path in paths)
    assert result.loglik(gone) == pytest.approx(wanted, rel=1e-9)


def test_a_wrong_model_is_less_probable():
    data, result = linear()
    fast = ito.SDE(["-3.0*x"], [["0.8"]], ["x"]).simulate(
        [0.2], dt=0.1, n_steps=400, n_paths=3, substeps=20, seed=5
    )
    other = ito.discover(fast, ito.Library.expressions("x"), diffusion="constant", **QUICK)
    assert result.loglik(data) > other.loglik(data) + 10
    assert other.loglik(fast) > result.loglik(fast) + 10


def test_states_that_are_driven_and_rows_that_are_given_have_one():
    model = ito.SDE(["-x + 3*u"], [["0.2"]], ["x"], inputs=["u"])
    known = {"u": ito.Input(np.sin, between="linear")}
    data = model.simulate([0.0], dt=0.05, n_steps=800, substeps=10, seed=1, inputs=known)
    driven = ito.discover(data, ito.Library.polynomials(1), inputs=known, **QUICK)
    alone = ito.discover(
        ito.Trajectories(data.paths, dt=0.05, names=["x"]), ito.Library.polynomials(1), **QUICK
    )
    assert driven.loglik() > alone.loglik() + 10
    assert np.isfinite(measured().loglik())  # a row that is given, and a variance that vanishes


def test_functions_of_python_go_by_euler_steps():
    result = with_custom_terms()
    written = one_state()
    assert result.loglik() == pytest.approx(written.loglik(), rel=0.02)


def test_without_noise_or_recording_there_is_none(tmp_path):
    data, _ = linear()
    with pytest.raises(ito.errors.ArgumentError, match="no row has noise"):
        ito.discover(data, ito.Library.polynomials(1), diffusion="none", **QUICK).loglik()
    loaded = ito.Discovery.load(one_state().save(tmp_path / "found"))
    with pytest.raises(ito.errors.ArgumentError, match="a saved result does not hold"):
        loaded.loglik()
    assert loaded.loglik(one_state().data) == pytest.approx(one_state().loglik())
    assert loaded.summary().criteria is None and "log-likelihood" not in str(loaded.summary())


@pytest.mark.parametrize("make", [measured, one_state, noisy])
def test_a_summary_has_size_likelihood_and_coefficients(make):
    result = make()
    summary = result.summary()
    criteria, text = summary.criteria, str(summary)
    assert criteria.aic == pytest.approx(2 * criteria.parameters - 2 * criteria.loglik)
    assert criteria.bic - criteria.aic == pytest.approx(criteria.parameters * (np.log(criteria.samples) - 2))
    for word in ("samples", "log-likelihood", "AIC", "BIC", "95 % interval"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 100


def test_parameters_errors_and_intervals_by_equation_and_term():
    pd = pytest.importorskip("pandas")
    result = measured()
    params, errors, intervals = result.params, result.bse, result.conf_int()
    assert isinstance(params, pd.Series) and params.index.names == ["equation", "term"]
    equation = result.drift["x2"]
    k = equation.terms.index("x1")
    assert params["dx2", "x1"] == equation.mean[k] and errors["dx2", "x1"] == equation.sd[k]
    np.testing.assert_array_equal(intervals.loc[("dx2", "x1")], equation.interval(0.95)[k])
    wide = result.conf_int(0.01)
    assert ((wide[1] - wide[0]) >= (intervals[1] - intervals[0])).all()
    with pytest.raises(ito.errors.ArgumentError, match="alpha"):
        result.conf_int(1.5)


def test_without_pandas_they_are_dicts(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert measured().params["dx2", "x1"] < 0 < measured().bse["dx2", "x1"]
    low, high = measured().conf_int()["dx2", "x1"]
    assert low < high
