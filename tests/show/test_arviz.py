"""Groups of ArviZ data beside the posterior, and what ArviZ makes of them."""

import itoscope as ito
import numpy as np
import pytest
from results import measured, noisy, one_state, with_custom_terms

az = pytest.importorskip("arviz")
pytestmark = pytest.mark.filterwarnings("ignore")

QUICK = {"seed": 1, "n_samples": 300, "n_burn": 100, "n_chains": 2}


@pytest.fixture(scope="module")
def wells():
    model = ito.SDE(["x - x^3"], [["0.6"]], ["x"])
    return model.simulate([1.0], dt=0.05, n_steps=2000, n_paths=2, substeps=5, seed=1)


def test_leave_one_out_prefers_the_equation_that_made_the_data(wells):
    kinds = {"cubic": 3, "linear": 1}
    made = {k: ito.discover(wells, ito.Library.polynomials(d), **QUICK).to_arviz() for k, d in kinds.items()}
    likelihood = made["cubic"].log_likelihood["step_x"]
    assert likelihood.dims == ("chain", "draw", "step") and likelihood.shape == (2, 100, 4000)
    assert 1 < az.loo(made["cubic"]).p_loo < 8  # two terms of the drift and one of the noise
    table = az.compare(made)
    assert table.index[0] == "cubic" and table["elpd_diff"].iloc[1] > 3 * table["dse"].iloc[1]


def test_the_likelihood_of_steps_is_that_of_the_model(wells):
    result = ito.discover(wells, ito.Library.polynomials(3), **QUICK)
    total = result.to_arviz().log_likelihood["step_x"].sum("step").mean().item()
    assert total == pytest.approx(result.loglik(), abs=25)


def test_noisy_samples_have_the_likelihood_of_the_filter():
    result = noisy()
    each = result.to_arviz(draws=40).log_likelihood["step_x"]
    assert each.shape == (2, 20, 4 * 1000)
    total = each.sum("step")
    assert (
        total.max().item() == pytest.approx(result.loglik(), abs=25) and (total < result.loglik() + 5).all()
    )


def test_leave_one_out_prefers_the_cubic_spring_behind_the_noise():
    seen = noisy().data
    quick = {
        "order": 2,
        "measurement_noise": "estimate",
        "n_chains": 2,
        "n_samples": 150,
        "n_burn": 50,
        "seed": 1,
    }
    linear = ito.discover(seen, ito.Library.polynomials(1), **quick)
    table = az.compare({"cubic": noisy().to_arviz(draws=60), "linear": linear.to_arviz(draws=60)})
    assert table.index[0] == "cubic" and table["elpd_diff"].iloc[1] > 3 * table["dse"].iloc[1]


def test_predictions_look_like_the_data(wells):
    pytest.importorskip("matplotlib").use("Agg")
    result = ito.discover(wells, ito.Library.polynomials(3), **QUICK)
    data = result.to_arviz(draws=40)
    made, seen = data.posterior_predictive["x"], data.observed_data["x"]
    assert made.dims == ("chain", "draw", "path", "time", "state") and made.shape == (1, 40, 2, 2001, 1)
    spread = made.std(("path", "time", "state"))
    low, high = np.quantile(spread, [0.01, 0.99])
    assert low < seen.std().item() < high
    az.plot_ppc(data, num_pp_samples=10)


def test_the_prior_is_wider_than_the_posterior_and_empty_a_third_of_the_time(wells):
    data = ito.discover(wells, ito.Library.polynomials(3), **QUICK).to_arviz(draws=2000)
    prior = data.prior["drift"].values[0, :, 0]
    assert (prior.std(axis=0) > 3 * data.posterior["drift"].std(("chain", "draw")).values[0]).all()
    none = (prior == 0).all(axis=1).mean()
    assert none == pytest.approx(1 / 3, abs=0.05)  # 4.5 standard errors


def test_the_same_seed_gives_the_same_draws():
    one, other, another = (measured().to_arviz(draws=20, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.posterior_predictive["x"], other.posterior_predictive["x"])
    assert not np.array_equal(one.posterior_predictive["x"], another.posterior_predictive["x"])


def test_what_there_is_not_is_left_out():
    assert set(measured().to_arviz(draws=0).groups()) == {"posterior", "sample_stats", "observed_data"}
    custom = with_custom_terms().to_arviz(draws=20).groups()
    assert "log_likelihood" not in custom and "posterior_predictive" not in custom
    assert "log_likelihood" in one_state().to_arviz(draws=20).groups()
    with pytest.raises(ito.errors.ArgumentError, match="draws"):
        measured().to_arviz(draws=-1)
