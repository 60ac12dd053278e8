"""A noisy result is as good as any: checks, pictures, saved files, self-check, forecasts; with failing controls."""

import pickle
from dataclasses import replace

import itoscope as ito
import numpy as np
import pytest
from itoscope.backends import reference
from results import noisy, one_state


@pytest.fixture
def loaded(tmp_path):
    noisy().save(tmp_path / "noisy.npz")
    return ito.Discovery.load(tmp_path / "noisy.npz")


# -- innovations -------------------------------------------------------------------------------------------
def test_innovations_are_those_of_the_likelihood():
    observer, data = noisy().observer, noisy().data[0]
    z = observer.innovations(data, piece=2000).z[:, 0]
    assert len(z) == len(data.paths[0]) - 20
    # Independent and standard normal: five standard errors each, false alarms below 1e-5.
    n = len(z)
    assert abs(z.mean()) < 5 / np.sqrt(n) and abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    longer = data.paths[0].copy()
    longer[-1] += 0.01
    both = [reference.filter_loglik(observer.space(), [x], [data.dt])[0] for x in (data.paths[0], longer)]
    moved = observer.innovations(ito.Trajectories(longer, dt=data.dt, names=data.names), piece=2000).z[:, 0]
    assert both[1] - both[0] == pytest.approx((z[-1] ** 2 - moved[-1] ** 2) / 2, rel=1e-6)


def test_innovations_of_missing_samples_and_of_stretches():
    observer, data = noisy().observer, noisy().data
    path = data.paths[0].copy()
    path[450:470] = np.nan
    seen = observer.innovations(
        ito.Trajectories([path, data.paths[1][:300]], dt=data.dt, names=data.names), piece=250
    )
    assert np.isnan(seen.z[(seen.path == 0) & (seen.step >= 450) & (seen.step < 470)]).all()
    assert np.isnan(seen.z).sum() == 20 and len(np.unique(seen.piece)) == 5 + 2
    with pytest.raises(ito.errors.ArgumentError, match="data have the states y: the model was fitted to"):
        observer.innovations(ito.Trajectories(path, dt=1e-3, names=["y"]))


def test_checks_of_a_right_model_pass_and_of_a_wrong_one_fire():
    from itoscope.checks.filtered import looked_at

    def fired(result):
        return {check["name"] for check in result.diagnostics["checks"] if check["fired"]}

    result = noisy()
    assert {"whiteness", "jumps", "innovation variance", "innovation mean"} <= {
        check["name"] for check in result.diagnostics["checks"]
    }
    assert not fired(result)
    bare = replace(result, diagnostics={"checks": []}, warnings=[], states=tuple(result.states))
    loud = replace(result.observer, noise=4 * result.observer.noise)
    wrong = looked_at(replace(bare, observer=loud))
    assert "innovation variance" in fired(wrong) and any("variance" in line for line in wrong.warnings)
    stiff = replace(result.observer, drift=0.7 * result.observer.drift)
    assert "whiteness" in fired(looked_at(replace(bare, observer=stiff)))


# -- files -------------------------------------------------------------------------------------------------
def test_a_saved_noisy_result_loses_nothing(loaded):
    result = noisy()
    assert str(loaded) == str(result) and loaded._repr_html_() == result._repr_html_()
    assert loaded.diagnostics["checks"] == result.diagnostics["checks"]
    assert loaded.measurement_noise == result.measurement_noise
    with pytest.raises(ito.errors.ArgumentError, match="give the recording"):
        loaded.smoothed()
    again, before = loaded.smoothed(result.data), result.smoothed()
    for one, other in zip(again.mean + again.sd, before.mean + before.sd):
        np.testing.assert_array_equal(one, other)
    beside = loaded.with_data(result.data)
    np.testing.assert_array_equal(beside.smoothed().mean[1], before.mean[1])
    with pytest.raises(ito.errors.ArgumentError, match="recordings of x1"):
        loaded.with_data(one_state().data.select("x1").__class__(np.zeros((5, 1)), dt=1.0, names=["z"]))


def test_pickled_with_its_filter():
    result = noisy()
    back = pickle.loads(pickle.dumps(result))
    assert str(back) == str(result)
    np.testing.assert_array_equal(back.smoothed().mean[0], result.smoothed().mean[0])


def test_with_data_of_a_measured_result():
    result = one_state()
    assert result.with_data(result.data[:2]).data.n_paths == 2
    with pytest.raises(ito.errors.ArgumentError, match="data = 'y': a recording of the states"):
        result.with_data(ito.Trajectories(np.zeros((5, 1)), dt=1.0, names=["y"]))


# -- carrying on -------------------------------------------------------------------------------------------
def test_self_check_of_a_noisy_result_and_after_loading(loaded):
    with pytest.raises(ito.errors.ArgumentError, match=r"self_check\(data=...\)"):
        loaded.self_check()
    found = loaded.self_check(seed=1, data=noisy().data)
    assert {row["term"] for row in found["terms"] if row["equation"] == "dv1"} >= {"x1", "v1"}
    assert set(found["spread"]) == {"x1"} and found["largest"] < 6
    before, after = found["spread"]["x1"]
    assert 0.5 < after / before < 2


def test_self_check_after_loading_is_that_before(tmp_path):
    result = one_state()
    result.save(tmp_path / "r.npz")
    again = ito.Discovery.load(tmp_path / "r.npz").self_check(seed=1, data=result.data)
    assert again == result.self_check(seed=1)


def test_forecast_picture_starts_from_the_smoothed_state():
    pytest.importorskip("matplotlib").use("Agg")
    result = noisy()
    axes = result.plot.forecast(seed=1, n_paths=5)
    start = result.smoothed().mean[0][0]
    assert [ax.lines[0].get_ydata()[0] for ax in axes] == pytest.approx(start)
    assert len(axes[0].lines) == 2 and len(axes[1].lines) == 1
